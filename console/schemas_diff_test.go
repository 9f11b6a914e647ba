package console

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func printDiff(diff []diffLine) string {
	marks := map[diffKind]string{diffSame: " ", diffRemoved: "-", diffAdded: "+"}
	var b strings.Builder
	for _, l := range diff {
		fmt.Fprintf(&b, "%s%d,%d %s\n", marks[l.Kind], l.Old, l.New, l.Text)
	}
	return b.String()
}

func TestDiffTexts(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{"", "", ""},
		{"", "a", "+0,1 a\n"},
		{"a\n", "a", " 1,1 a\n"},
		{"a\nb\nc", "a\nx\nc", " 1,1 a\n-2,0 b\n+0,2 x\n 3,3 c\n"},
		{"a\nb\nc\nd", "b\nd\ne", "-1,0 a\n 2,1 b\n-3,0 c\n 4,2 d\n+0,3 e\n"},
	} {
		if got := printDiff(diffTexts(c.before, c.after)); got != c.want {
			t.Errorf("%q against %q:\n%swant\n%s", c.before, c.after, got, c.want)
		}
	}
}

func TestSideBySide(t *testing.T) {
	pairs := sideBySide(diffTexts("a\nb\nc\nd", "a\nx\nd\ne"))
	var got []string
	for _, p := range pairs {
		side := func(l *diffLine) string {
			if l == nil {
				return "."
			}
			return l.Text
		}
		got = append(got, side(p.Old)+"|"+side(p.New))
	}
	if want := "a|a b|x c|. d|d .|e"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// TestLargeDiff: what cannot be compared within bounds is all removed and all added, at once.
func TestLargeDiff(t *testing.T) {
	text := func(word string) string { return strings.Repeat(word+"\n", 100_000) }
	start := time.Now()
	if got := diffTexts(text("a"), text("b")); len(got) != 200_000 {
		t.Errorf("%d lines", len(got))
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %s", took)
	}
}

func TestReadable(t *testing.T) {
	if got := readable(`{"b":12345678901234567890,"a":[1]}`); got != "{\n  \"b\": 12345678901234567890,\n  \"a\": [\n    1\n  ]\n}" {
		t.Error(got)
	}
	if got := readable("syntax = \"proto3\";"); got != "syntax = \"proto3\";" {
		t.Error(got)
	}
}

// FuzzDiff: both texts can be read from their comparison, and side by side nothing is lost.
func FuzzDiff(f *testing.F) {
	f.Add("a\nb\nc", "a\nx\nc")
	f.Add("", "\n\n")
	f.Fuzz(func(t *testing.T, before, after string) {
		diff := diffTexts(before, after)
		var a, b []string
		for _, l := range diff {
			if l.Kind != diffAdded {
				a = append(a, l.Text)
			}
			if l.Kind != diffRemoved {
				b = append(b, l.Text)
			}
		}
		if strings.Join(a, "\n") != strings.Join(lines(before), "\n") || strings.Join(b, "\n") != strings.Join(lines(after), "\n") {
			t.Fatalf("%q against %q lost something:\n%s", before, after, printDiff(diff))
		}
		sides := 0
		for _, p := range sideBySide(diff) {
			if p.Old != nil {
				sides++
			}
			if p.New != nil {
				sides++
			}
		}
		if sides != len(a)+len(b) {
			t.Fatalf("side by side has %d of %d lines", sides, len(a)+len(b))
		}
	})
}
