package registry

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestExamplesOfTheDocs runs the commands of docs/schema-registry.md: what is below each is its answer.
func TestExamplesOfTheDocs(t *testing.T) {
	raw, err := os.ReadFile("../docs/schema-registry.md")
	if err != nil {
		t.Fatal(err)
	}
	h, lines, ran := newHarness(t), strings.Split(string(raw), "\n"), 0
	for i, line := range lines {
		if !strings.HasPrefix(line, "curl ") {
			continue
		}
		method, path, body := "GET", "", ""
		for words := shellWords(line)[1:]; len(words) > 0; words = words[1:] {
			switch word := words[0]; {
			case word == "-X":
				method, words = words[1], words[1:]
			case word == "-H":
				words = words[1:]
			case word == "-d":
				body, words = words[1], words[1:]
				if method == "GET" {
					method = "POST"
				}
			default:
				path = strings.TrimPrefix(word, "localhost:8081")
			}
		}
		if _, answer := h.do(method, path, body); answer != lines[i+1] {
			t.Errorf("%s\nis   %s\nsaid %s", line, answer, lines[i+1])
		}
		ran++
	}
	if ran < 5 {
		t.Errorf("%d examples", ran)
	}
}

// shellWords splits a command at spaces outside of single quotes.
func shellWords(line string) (words []string) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	return words
}

func TestRoutesAreInTheDocs(t *testing.T) {
	raw, err := os.ReadFile("../docs/schema-registry.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(raw), "\n")
	for _, r := range routes {
		if !slices.ContainsFunc(lines, func(l string) bool {
			return strings.HasPrefix(l, "| `"+r.pattern+"` |") && strings.Contains(l, r.method)
		}) {
			t.Errorf("%s %s is not listed", r.method, r.pattern)
		}
	}
}
