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
