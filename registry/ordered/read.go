package ordered

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Bounds of a text.
const (
	MaxDepth = 200
	MaxNodes = 200_000
)

// Errors that are not about the form of the text.
var (
	ErrDeep  = fmt.Errorf("nested deeper than %d levels", MaxDepth)
	ErrLarge = fmt.Errorf("more than %d values", MaxNodes)
	ErrMore  = errors.New("dangling content after the end")
)

// Parse reads one JSON value and nothing after it. Of a key that is there twice the last value counts, in the place of the first.
//
//fuzz:parser class=schema FuzzParse
func Parse(text string) (*Node, error) { return ParseUpTo(text, MaxNodes) }

// ParseUpTo is Parse with another bound on the number of values.
//
//fuzz:parser class=schema FuzzParse
func ParseUpTo(text string, values int) (*Node, error) {
	p := parser{s: valid(text), left: values, most: values}
	n, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if p.space(); p.at < len(p.s) {
		return nil, ErrMore
	}
	return n, nil
}

type parser struct {
	s    string
	at   int
	left int // values that may still come, of most
	most int
}

func (p *parser) bad(what string) error {
	found := "the end"
	if p.at < len(p.s) {
		r, _ := utf8.DecodeRuneInString(p.s[p.at:])
		found = strconv.QuoteRune(r)
	}
	return fmt.Errorf("%s expected at byte %d, found %s", what, p.at, found)
}

func (p *parser) large() error {
	if p.most == MaxNodes {
		return ErrLarge
	}
	return fmt.Errorf("more than %d values", p.most)
}

func (p *parser) space() {
	for p.at < len(p.s) {
		switch p.s[p.at] {
		case ' ', '\t', '\r', '\n':
			p.at++
		default:
			return
		}
	}
}

// next skips white space and gives the byte that follows, 0 at the end.
func (p *parser) next() byte {
	p.space()
	if p.at == len(p.s) {
		return 0
	}
	return p.s[p.at]
}

func (p *parser) value(depth int) (*Node, error) {
	if p.left--; p.left < 0 {
		return nil, p.large()
	}
	if depth > MaxDepth {
		return nil, ErrDeep
	}
	switch c := p.next(); {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == '"':
		s, err := p.str()
		return &Node{Kind: String, Text: s}, err
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	}
	for _, w := range words {
		if strings.HasPrefix(p.s[p.at:], w.text) {
			p.at += len(w.text)
			return &Node{Kind: w.kind}, nil
		}
	}
	return nil, p.bad("a value")
}

var words = []struct {
	text string
	kind Kind
}{{"null", Null}, {"true", True}, {"false", False}}

func (p *parser) array(depth int) (*Node, error) {
	n := &Node{Kind: Array}
	p.at++
	if p.next() == ']' {
		p.at++
		return n, nil
	}
	for {
		item, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		n.Items = append(n.Items, item)
		if more, err := p.more(']'); err != nil || !more {
			return n, err
		}
	}
}

func (p *parser) object(depth int) (*Node, error) {
	n := &Node{Kind: Object}
	p.at++
	if p.next() == '}' {
		p.at++
		return n, nil
	}
	keys := keySet{}
	for {
		if p.next() != '"' {
			return nil, p.bad("a key")
		}
		key, err := p.str()
		if err != nil {
			return nil, err
		}
		if p.next() != ':' {
			return nil, p.bad("':'")
		}
		p.at++
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		if i, twice := keys.add(n.Members, key); twice {
			n.Members[i].Value = v
		} else {
			n.Members = append(n.Members, Member{key, v})
		}
		if more, err := p.more('}'); err != nil || !more {
			return n, err
		}
	}
}

// more takes the comma or the end of an array or object.
func (p *parser) more(end byte) (bool, error) {
	switch p.next() {
	case ',':
		p.at++
		return true, nil
	case end:
		p.at++
		return false, nil
	}
	return false, p.bad("',' or '" + string(end) + "'")
}

// keySet finds a key that was there before; it costs nothing while an object is small.
type keySet struct{ at map[string]int }

func (k *keySet) add(members []Member, key string) (int, bool) {
	if len(members) < 16 {
		for i := range members {
			if members[i].Key == key {
				return i, true
			}
		}
		return 0, false
	}
	if k.at == nil {
		k.at = make(map[string]int, 2*len(members))
		for i := range members {
			k.at[members[i].Key] = i
		}
	}
	i, twice := k.at[key]
	if !twice {
		k.at[key] = len(members)
	}
	return i, twice
}

func (p *parser) number() (*Node, error) {
	start := p.at
	if p.s[p.at] == '-' {
		p.at++
	}
	switch {
	case p.at < len(p.s) && p.s[p.at] == '0':
		p.at++
	case p.digits() == 0:
		return nil, p.bad("a digit")
	}
	if p.at < len(p.s) && p.s[p.at] == '.' {
		p.at++
		if p.digits() == 0 {
			return nil, p.bad("a digit")
		}
	}
	if p.at < len(p.s) && (p.s[p.at] == 'e' || p.s[p.at] == 'E') {
		p.at++
		if p.at < len(p.s) && (p.s[p.at] == '+' || p.s[p.at] == '-') {
			p.at++
		}
		if p.digits() == 0 {
			return nil, p.bad("a digit")
		}
	}
	if p.at-start > 1000 {
		return nil, fmt.Errorf("number of %d characters", p.at-start)
	}
	return &Node{Kind: Number, Text: p.s[start:p.at]}, nil
}

func (p *parser) digits() (n int) {
	for p.at < len(p.s) && p.s[p.at] >= '0' && p.s[p.at] <= '9' {
		p.at++
		n++
	}
	return n
}

// str reads a string; most have no escape and are a part of the text.
func (p *parser) str() (string, error) {
	p.at++
	start := p.at
	for ; p.at < len(p.s); p.at++ {
		switch c := p.s[p.at]; {
		case c == '"':
			p.at++
			return p.s[start : p.at-1], nil
		case c == '\\':
			return p.escaped(start)
		case c < 0x20:
			return "", p.bad("no control character in a string")
		}
	}
	return "", p.bad("'\"'")
}

func (p *parser) escaped(start int) (string, error) {
	b := []byte(p.s[start:p.at])
	for p.at < len(p.s) {
		c := p.s[p.at]
		switch {
		case c == '"':
			p.at++
			return string(b), nil
		case c < 0x20:
			return "", p.bad("no control character in a string")
		case c != '\\':
			b = append(b, c)
			p.at++
			continue
		}
		var err error
		if b, err = p.escape(b); err != nil {
			return "", err
		}
	}
	return "", p.bad("'\"'")
}

func (p *parser) escape(b []byte) ([]byte, error) {
	p.at++
	if p.at == len(p.s) {
		return nil, p.bad("an escape")
	}
	c := p.s[p.at]
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 {
		p.at++
		return append(b, "\"\\/\b\f\n\r\t"[i]), nil
	}
	if c != 'u' {
		return nil, p.bad("an escape")
	}
	r, err := p.unit()
	if err != nil {
		return nil, err
	}
	if utf16.IsSurrogate(r) && strings.HasPrefix(p.s[p.at:], `\u`) {
		before := p.at
		p.at++
		low, err := p.unit()
		if err != nil {
			return nil, err
		}
		if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
			return utf8.AppendRune(b, both), nil
		}
		p.at = before
	}
	return utf8.AppendRune(b, r), nil
}

// unit reads u and four digits.
func (p *parser) unit() (rune, error) {
	p.at++
	if len(p.s)-p.at < 4 {
		return 0, p.bad("four hexadecimal digits")
	}
	v, err := strconv.ParseUint(p.s[p.at:p.at+4], 16, 16)
	if err != nil {
		return 0, p.bad("four hexadecimal digits")
	}
	p.at += 4
	return rune(v), nil
}
