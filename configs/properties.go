package configs

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
)

// PropertiesMax bounds a properties file.
const PropertiesMax = 1 << 20

// Property is one name and value of a properties file, with the line that it begins on.
type Property struct {
	Name, Value string
	Line        int
}

// ParseProperties reads Java's .properties notation: # and ! comments, = : or a blank between name and value, lines that go
// on after a backslash, and escapes. The text is UTF-8. A name that comes twice is given twice: the last one counts.
//
//fuzz:parser class=config FuzzProperties
func ParseProperties(text []byte) ([]Property, error) {
	if len(text) > PropertiesMax {
		return nil, fmt.Errorf("read properties: %d bytes, more than %d", len(text), PropertiesMax)
	}
	s := &lines{rest: string(text)}
	var all []Property
	for {
		line, number, ok := s.logical()
		if !ok {
			return all, nil
		}
		name, value := splitProperty(line)
		n, err := unescape(name)
		if err != nil {
			return nil, fmt.Errorf("read properties: line %d: %w", number, err)
		}
		v, err := unescape(value)
		if err != nil {
			return nil, fmt.Errorf("read properties: line %d: %w", number, err)
		}
		all = append(all, Property{n, v, number})
	}
}

// lines takes a text apart into logical lines.
type lines struct {
	rest   string
	number int
}

const blanks = " \t\f"

// logical is the next line that says something, with those that continue it and without the blanks at its start.
func (l *lines) logical() (line string, number int, ok bool) {
	for l.rest != "" {
		text := l.natural()
		if text == "" || text[0] == '#' || text[0] == '!' {
			continue
		}
		number = l.number
		var whole strings.Builder
		for goesOn(text) {
			whole.WriteString(text[:len(text)-1])
			if l.rest == "" {
				return whole.String(), number, true
			}
			text = l.natural()
		}
		whole.WriteString(text)
		return whole.String(), number, true
	}
	return "", 0, false
}

// natural is the next line without the blanks at its start; it ends at \n, \r or both.
func (l *lines) natural() string {
	l.number++
	end := strings.IndexAny(l.rest, "\r\n")
	if end < 0 {
		text := l.rest
		l.rest = ""
		return strings.TrimLeft(text, blanks)
	}
	text, after := l.rest[:end], end+1
	if strings.HasPrefix(l.rest[end:], "\r\n") {
		after++
	}
	l.rest = l.rest[after:]
	return strings.TrimLeft(text, blanks)
}

// goesOn says whether a line ends with a backslash that is not itself escaped.
func goesOn(s string) bool {
	return (len(s)-len(strings.TrimRight(s, `\`)))%2 == 1
}

// splitProperty cuts a logical line at the first =, : or blank that is not escaped.
func splitProperty(line string) (name, value string) {
	end := 0
	for end < len(line) && !strings.ContainsRune(blanks+"=:", rune(line[end])) {
		if line[end] == '\\' {
			end++
		}
		end++
	}
	end = min(end, len(line))
	value = strings.TrimLeft(line[end:], blanks)
	if value != "" && (value[0] == '=' || value[0] == ':') {
		value = strings.TrimLeft(value[1:], blanks)
	}
	return line[:end], value
}

var errEscape = errors.New(`\u is not followed by four hexadecimal digits`)

func unescape(s string) (string, error) {
	if !strings.Contains(s, `\`) {
		return s, nil
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			if s[i] != '\\' {
				out.WriteByte(s[i])
			}
			continue
		}
		i++
		switch s[i] {
		case 't':
			out.WriteByte('\t')
		case 'n':
			out.WriteByte('\n')
		case 'r':
			out.WriteByte('\r')
		case 'f':
			out.WriteByte('\f')
		case 'u':
			r, width, err := unicodeEscape(s[i-1:])
			if err != nil {
				return "", err
			}
			out.WriteRune(r)
			i += width - 2
		default:
			out.WriteByte(s[i])
		}
	}
	return out.String(), nil
}

// unicodeEscape reads \uXXXX, or two of them that are one letter, at the start of s.
func unicodeEscape(s string) (r rune, width int, err error) {
	r, err = hex4(s)
	if err != nil || !utf16.IsSurrogate(r) {
		return r, 6, err
	}
	if second, err := hex4(s[6:]); err == nil {
		if whole := utf16.DecodeRune(r, second); whole != '\uFFFD' {
			return whole, 12, nil
		}
	}
	return '\uFFFD', 6, nil
}

func hex4(s string) (rune, error) {
	if len(s) < 6 || s[:2] != `\u` {
		return 0, errEscape
	}
	n, err := strconv.ParseUint(s[2:6], 16, 16)
	if err != nil {
		return 0, errEscape
	}
	return rune(n), nil
}
