package main

import (
	"maps"
	"strings"
	"testing"
)

func TestFilesOfUsers(t *testing.T) {
	for text, want := range map[string]map[string]string{
		"alice:a\nbob:b:c \n":                       {"alice": "a", "bob": "b:c "},
		"\ufeffalice:a\r\n\r\n# x:y\r\n  # x:y\r\n": {"alice": "a"},
		"":                     {},
		"alice:a\nalice:b":     nil, // which of them?
		"alice":                nil,
		":a":                   nil,
		"alice:":               nil,
		"al\x00ice:a":          nil, // nobody could send it
		"a\x00l\x00:\x00a\x00": nil, // UTF-16
	} {
		users := map[string]string{}
		err := addUsers(users, "users.txt", strings.Split(text, "\n"))
		switch {
		case want == nil && (err == nil || !strings.Contains(err.Error(), "users.txt line")):
			t.Errorf("%q: users %v, %v", text, users, err)
		case want != nil && (err != nil || !maps.Equal(users, want)):
			t.Errorf("%q: users %v, %v", text, users, err)
		}
	}
}
