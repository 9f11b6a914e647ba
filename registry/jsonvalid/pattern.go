package jsonvalid

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode/utf16"
)

// Bounds of patterns: the text of one, and the instructions of all that a schema has.
const (
	maxPattern      = 10_000
	maxInstructions = 500_000
)

// pattern is a regular expression with what it costs to look at one byte.
type pattern struct {
	text string
	re   *regexp.Regexp
	cost int
}

// newPattern compiles an expression of ECMAScript as far as Go's engine can, whose time is linear.
func newPattern(text string, left *int) (*pattern, error) {
	cost, err := parsePattern(text, left)
	if err != nil {
		return nil, err
	}
	re, err := regexp.Compile(fromECMA(text))
	if err != nil {
		return nil, patternError(text, err)
	}
	return &pattern{text, re, cost}, nil
}

// parsePattern reads an expression and takes its instructions from what is left, before anybody makes them.
func parsePattern(text string, left *int) (cost int, err error) {
	if len(text) > maxPattern {
		return 0, fmt.Errorf("a pattern of %d bytes is too long: %d at most", len(text), maxPattern)
	}
	parsed, err := syntax.Parse(fromECMA(text), syntax.Perl)
	if err != nil {
		return 0, patternError(text, err)
	}
	cost = instructions(parsed)
	if *left -= cost; *left < 0 {
		return 0, errors.New("the patterns of the schema are too large")
	}
	return cost, nil
}

func patternError(text string, err error) error {
	for _, ahead := range []string{"(?=", "(?!", "(?<=", "(?<!", `\1`, `\k<`} {
		if strings.Contains(text, ahead) {
			return fmt.Errorf("pattern %q has %s: looking around and back is not possible here, write it without", clip(text, 200), ahead)
		}
	}
	return fmt.Errorf("pattern %q: %w", clip(text, 200), err)
}

// instructions is about how many an expression has when its repetitions are written out. Go bounds those by 1,000, nested ones too.
func instructions(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)/8
	for _, sub := range re.Sub {
		n += instructions(sub)
	}
	if re.Op == syntax.OpLiteral {
		return 1 + len(re.Rune)
	}
	if re.Op == syntax.OpRepeat {
		return n * max(re.Min, re.Max, 1)
	}
	return n
}

// fromECMA writes \uXXXX and \cX as Go has them.
func fromECMA(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			i++
			continue
		}
		made, length := escapeOf(text[i:])
		b.WriteString(made)
		i += length
	}
	return b.String()
}

// escapeOf is the escape that a text begins with, for Go, and how long it was.
func escapeOf(text string) (made string, length int) {
	if r, ok := unit(text); ok {
		length = 6
		if low, ok := unit(text[6:]); ok && utf16.IsSurrogate(r) {
			if both := utf16.DecodeRune(r, low); both != '\uFFFD' {
				r, length = both, 12
			}
		}
		return fmt.Sprintf(`\x{%x}`, r), length
	}
	if len(text) > 2 && text[1] == 'c' && (text[2]|0x20 >= 'a' && text[2]|0x20 <= 'z') {
		return fmt.Sprintf(`\x%02x`, text[2]&31), 3
	}
	return text[:2], 2
}

// unit is \u and four digits.
func unit(text string) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	v, err := strconv.ParseUint(text[2:6], 16, 16)
	return rune(v), err == nil
}
