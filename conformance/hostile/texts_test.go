package hostile

import (
	"regexp"
	"testing"
)

// There are at least two hundred texts, no two alike, and topics' names that Kafka takes.
func TestTexts(t *testing.T) {
	seen := map[string]bool{}
	kinds := map[string]int{}
	for _, text := range Texts() {
		if seen[text.Text] {
			t.Errorf("%q is there twice", text.Text)
		}
		seen[text.Text] = true
		kinds[text.Kind]++
	}
	if len(seen) < 200 || len(kinds) < 15 {
		t.Errorf("%d texts of %d kinds", len(seen), len(kinds))
	}
	for _, name := range TopicNames() {
		if !regexp.MustCompile(`^[a-zA-Z0-9._-]{1,249}$`).MatchString(name) || name == "." || name == ".." {
			t.Errorf("%q is no name of a topic", name)
		}
	}
	t.Log(len(seen), "texts:", kinds)
}
