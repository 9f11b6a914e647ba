package handlers

import (
	"strings"
	"testing"
	"time"
)

// FuzzCompilePattern: a pattern that is taken matches a long name within moments, and matches whole names only.
func FuzzCompilePattern(f *testing.F) {
	for _, pattern := range []string{
		"orders.*", "(a|b)*c", "a{1000}", "(((a{10}){10}){10}){10}", "(?i)x", "[", "a(?=b)", "\\pL+", "a|", "^$", ")(", "(?P<n>a)", "a**", "\\8",
	} {
		f.Add(pattern)
	}
	name := strings.Repeat("a", 249)
	f.Fuzz(func(t *testing.T, pattern string) {
		start := time.Now()
		compiled, _, wrong := compilePattern(pattern)
		if (compiled == nil) != (wrong != "") {
			t.Fatalf("%q: compiled %v, and %q", pattern, compiled != nil, wrong)
		}
		if compiled != nil && compiled.MatchString(name) {
			if at := compiled.FindStringIndex(name); at[0] != 0 || at[1] != len(name) {
				t.Fatalf("%q matches a part only: %v", pattern, at)
			}
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Fatalf("%q took %s", pattern, took)
		}
	})
}
