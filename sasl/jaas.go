package sasl

import (
	"errors"
	"strings"
)

// errJAAS does not repeat the text, which holds passwords.
var errJAAS = errors.New(`not a JAAS line; write it as MODULE required user_NAME="PASSWORD" ...;`)

// ParseJAAS reads what Java's sasl.jaas.config holds, MODULE FLAG NAME=VALUE ...; and gives its options by name. Empty text
// has none. Values stand in double quotes, in which a backslash takes the next character as it is, or are one word.
//
//fuzz:parser class=config FuzzJAAS
func ParseJAAS(text string) (map[string]string, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, nil
	}
	module, rest := word(text)
	flag, rest := word(rest)
	if module == "" || !oneOfFlags(flag) {
		return nil, errJAAS
	}
	options := map[string]string{}
	for rest = strings.TrimSpace(rest); rest != ";"; rest = strings.TrimSpace(rest) {
		name, after, ok := strings.Cut(rest, "=")
		name = strings.TrimSpace(name)
		if !ok || name == "" || strings.ContainsAny(name, " \t\r\n;\"") {
			return nil, errJAAS
		}
		value, after, ok := jaasValue(strings.TrimSpace(after))
		if !ok {
			return nil, errJAAS
		}
		options[name], rest = value, after
	}
	return options, nil
}

func oneOfFlags(flag string) bool {
	switch strings.ToLower(flag) {
	case "required", "requisite", "sufficient", "optional":
		return true
	}
	return false
}

// word is the text up to the next space or semicolon.
func word(text string) (first, rest string) {
	text = strings.TrimSpace(text)
	if end := strings.IndexAny(text, " \t\r\n;"); end >= 0 {
		return text[:end], text[end:]
	}
	return text, ""
}

func jaasValue(text string) (value, rest string, ok bool) {
	if !strings.HasPrefix(text, `"`) {
		value, rest = word(text)
		return value, rest, value != ""
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '"':
			return b.String(), text[i+1:], true
		case '\\':
			i++
			if i == len(text) {
				return "", "", false
			}
		}
		b.WriteByte(text[i])
	}
	return "", "", false
}
