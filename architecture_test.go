package doze_test

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// saidInWords are rows of ARCHITECTURE.md whose imports are told in words, not as a list.
var saidInWords = []string{"doze", "conformance", "registry/serde"}

// TestArchitectureTellsTheImportTable: what the page says a package may import of ours is what the table above lets it.
func TestArchitectureTellsTheImportTable(t *testing.T) {
	page, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rows, _ := strings.Cut(string(page), "\n## Packages\n")
	rows, _, _ = strings.Cut(rows, "\n## ")
	told := map[string]bool{".": true}
	for _, row := range strings.Split(rows, "\n") {
		cells := strings.Split(row, " | ")
		if len(cells) != 4 || !strings.HasPrefix(row, "| `") {
			continue
		}
		pkg, _, _ := strings.Cut(strings.TrimPrefix(cells[0], "| `"), "`")
		told[pkg] = true
		if slices.Contains(saidInWords, pkg) {
			continue
		}
		if want, got := mayImport[pkg].own, importsTold(cells[2]); !slices.Equal(want, got) {
			t.Errorf("ARCHITECTURE.md lets %s import %q, the import table %q", pkg, got, want)
		}
	}
	for pkg := range mayImport {
		if !told[pkg] {
			t.Errorf("ARCHITECTURE.md has no row for package %s", pkg)
		}
	}
}

// importsTold are the packages of a cell, in the order of the import table.
func importsTold(cell string) []string {
	var all []string
	for _, name := range strings.Split(cell, ", ") {
		switch name {
		case "-":
		case "doze":
			all = append(all, ".")
		default:
			all = append(all, name)
		}
	}
	return slices.Sorted(slices.Values(all))
}
