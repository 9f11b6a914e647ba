package configs

import (
	"os"
	"strings"
	"testing"
)

// TestOwnDefaultsAreDocumented holds docs/configuration.md to the table.
func TestOwnDefaultsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range BrokerKeys.All() {
		if d.KafkaDefault != "" && !strings.Contains(string(text), "`"+d.Name+"`") {
			t.Errorf("docs/configuration.md does not tell of doze's own default of %s", d.Name)
		}
	}
}

// TestStoragePageSaysWhatActs holds the two tables of docs/storage.md to the topic's keys.
func TestStoragePageSaysWhatActs(t *testing.T) {
	text, err := os.ReadFile("../docs/storage.md")
	if err != nil {
		t.Fatal(err)
	}
	_, tables, _ := strings.Cut(string(text), "## Topic configs")
	acting, kept, _ := strings.Cut(tables, "| kept, do not act")
	for _, d := range TopicKeys.All() {
		if d.Internal {
			continue
		}
		name := "`" + d.Name + "`"
		if d.Acts != strings.Contains(acting, name) || d.Acts == strings.Contains(kept, name) {
			t.Errorf("docs/storage.md has %s in the wrong table, or in none", d.Name)
		}
	}
}
