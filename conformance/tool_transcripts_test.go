package conformance

import (
	"os"
	"strings"
	"testing"
)

// What Kafka's tools print of doze alone is listed under sections of docs/differences.md that are there.
func TestToolDifferencesAreDocumented(t *testing.T) {
	listed, err := os.ReadFile("clients/java/tools/differences.txt")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile("../docs/differences.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := 0
	for line := range strings.Lines(string(listed)) {
		id, isSection := strings.CutPrefix(strings.TrimSpace(line), "= ")
		if !isSection {
			continue
		}
		sections++
		if !strings.Contains(string(doc), "(`"+id+"`)") {
			t.Errorf("docs/differences.md has no section %s", id)
		}
	}
	if sections == 0 {
		t.Error("differences.txt has no section")
	}
}
