package ordered

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Append adds the value as compact JSON. Numbers are as they were written.
func (n *Node) Append(b []byte) []byte { return n.append(b, func(text string) string { return text }) }

// AppendJava adds the value as compact JSON with numbers as Java prints a double or an integer: 1e10 becomes 1.0E10.
func (n *Node) AppendJava(b []byte) []byte { return n.append(b, JavaNumber) }

// String is the value as compact JSON.
func (n *Node) String() string { return string(n.Append(nil)) }

func (n *Node) append(b []byte, number func(string) string) []byte {
	switch n.Kind {
	case Null:
		return append(b, "null"...)
	case False:
		return append(b, "false"...)
	case True:
		return append(b, "true"...)
	case Number:
		return append(b, number(n.Text)...)
	case String:
		return AppendQuoted(b, n.Text)
	case Array:
		b = append(b, '[')
		for i, item := range n.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.append(b, number)
		}
		return append(b, ']')
	}
	b = append(b, '{')
	for i, m := range n.Members {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(AppendQuoted(b, m.Key), ':')
		b = m.Value.append(b, number)
	}
	return append(b, '}')
}

const upperHex = "0123456789ABCDEF"

// AppendQuoted adds a string as JSON, escaped as Jackson does: no more than must be.
func AppendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c >= 0x20:
			b = append(b, c)
		default:
			b = appendControl(b, c)
		}
	}
	return append(b, '"')
}

func appendControl(b []byte, c byte) []byte {
	if short := strings.IndexByte("\b\t\n\f\r", c); short >= 0 {
		return append(b, '\\', "btnfr"[short])
	}
	return append(b, '\\', 'u', '0', '0', upperHex[c>>4], upperHex[c&15])
}

// JavaNumber is a JSON number as Java prints it: an integer without leading zeros as it is, anything else as a double.
func JavaNumber(text string) string {
	if !strings.ContainsAny(text, ".eE") {
		return text
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text // beyond a double: Java would say Infinity, which no JSON reader takes
	}
	return JavaDouble(f)
}

// JavaDouble is a finite number as Double.toString prints it.
func JavaDouble(f float64) string {
	if f == 0 {
		return strconv.FormatFloat(f, 'f', 1, 64)
	}
	if abs := max(f, -f); abs >= 1e-3 && abs < 1e7 {
		return withPoint(strconv.FormatFloat(f, 'f', -1, 64))
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'E', -1, 64), "E")
	e, _ := strconv.Atoi(exponent)
	return withPoint(mantissa) + "E" + strconv.Itoa(e)
}

func withPoint(s string) string {
	if strings.Contains(s, ".") {
		return s
	}
	return s + ".0"
}

// valid replaces what is no UTF-8, as a reader of Java does.
func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
