package protobuf

import (
	"errors"
	"fmt"
)

// Bounds of a text: what is more is refused before a parser sees it.
const (
	MaxDepth  = 100
	MaxTokens = 200_000
)

var (
	errDeep  = fmt.Errorf("nested deeper than %d levels", MaxDepth)
	errLarge = fmt.Errorf("more than %d tokens", MaxTokens)
	errText  = errors.New("a control character in the text")
)

// checkText counts tokens and brackets; strings and comments are skipped.
func checkText(s string) error {
	tokens, depth, word := 0, 0, false
	for i := 0; i < len(s); i++ {
		c := s[i]
		letter := c == '_' || c == '.' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
		if letter && word {
			continue
		}
		word = letter
		switch c {
		case ' ', '\t', '\r', '\n':
			continue
		case 0:
			return errText
		case '{', '[', '(', '<':
			depth++
		case '}', ']', ')', '>':
			depth--
		case '"', '\'':
			i = skipString(s, i)
		case '/':
			i = skipComment(s, i)
		}
		if tokens++; tokens > MaxTokens {
			return errLarge
		}
		if depth > MaxDepth {
			return errDeep
		}
	}
	return nil
}

func skipString(s string, i int) int {
	quote := s[i]
	for i++; i < len(s) && s[i] != quote && s[i] != '\n'; i++ {
		if s[i] == '\\' {
			i++
		}
	}
	return i
}

func skipComment(s string, i int) int {
	if i+1 >= len(s) {
		return i
	}
	switch s[i+1] {
	case '/':
		for i < len(s) && s[i] != '\n' {
			i++
		}
	case '*':
		for i += 2; i+1 < len(s) && (s[i] != '*' || s[i+1] != '/'); i++ {
		}
		i++
	}
	return i
}
