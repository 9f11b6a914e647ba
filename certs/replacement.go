package certs

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// replacement is what stands in the place of a match: texts, and groups of the match.
type replacement []piece

// piece is a text, or a group when it has no text. Group 0 is the match.
type piece struct {
	text  string
	group int
}

// parseReplacement reads Java's form: $1 and ${name} are groups, a backslash takes the next character as it is. A number that
// the pattern has no group for is text, when it has groups at all.
//
//fuzz:not-a-parser ParseRules is its only caller.
func parseReplacement(text string, p *pattern) (replacement, error) {
	var all replacement
	for text != "" {
		i := strings.IndexAny(text, `\$`)
		if i < 0 {
			return append(all, piece{text: text}), nil
		}
		if i > 0 {
			all = append(all, piece{text: text[:i]})
		}
		text = text[i:]
		if len(text) == 1 {
			return nil, fmt.Errorf("it ends with %s", text)
		}
		if text[0] == '\\' {
			n := runeAt(text[1:])
			all, text = append(all, piece{text: text[1 : 1+n]}), text[1+n:]
			continue
		}
		piece, n, err := parseGroup(text, p)
		if err != nil {
			return nil, err
		}
		all, text = append(all, piece), text[n:]
	}
	return all, nil
}

// parseGroup reads a group's reference at the front of a text, and gives its length.
//
//fuzz:not-a-parser ParseRules leads to it.
func parseGroup(text string, p *pattern) (piece, int, error) {
	groups := p.whole.NumSubexp()
	if text[1] == '{' {
		name, _, closed := strings.Cut(text[2:], "}")
		i := p.whole.SubexpIndex(name)
		if !closed || i < 0 {
			return piece{}, 0, fmt.Errorf("${%s} is no group of the pattern", shortened(name))
		}
		return piece{group: i}, len(name) + 3, nil
	}
	if text[1] < '0' || text[1] > '9' {
		return piece{}, 0, errors.New(`a $ stands for no group; write \$ for the character`)
	}
	group, n := int(text[1]-'0'), 2
	if group > groups {
		if groups == 0 {
			return piece{}, 0, fmt.Errorf("$%d: the pattern has no group", group)
		}
		return piece{text: "$" + strconv.Itoa(group)}, n, nil
	}
	for n < len(text) && text[n] >= '0' && text[n] <= '9' && group*10+int(text[n]-'0') <= groups {
		group = group*10 + int(text[n]-'0')
		n++
	}
	return piece{group: group}, n, nil
}

// expand writes the replacement of a match of [pattern].first or next in s.
func (r replacement) expand(b *strings.Builder, s string, m []int) {
	for _, p := range r {
		if p.text != "" {
			b.WriteString(p.text)
			continue
		}
		if at := 2 * (p.group + 1); m[at] >= 0 {
			b.WriteString(s[m[at]:m[at+1]])
		}
	}
}

func runeAt(s string) int {
	_, n := utf8.DecodeRuneInString(s)
	return n
}

func runeBefore(s string) int {
	_, n := utf8.DecodeLastRuneInString(s)
	return n
}
