package conformance

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// namedProof is how the claims of the schema registry name what holds them.
var namedProof = regexp.MustCompile("`(Test[A-Za-z0-9]+|[a-z]+\\.txt)`")

// Every test and transcript that the claims of the schema registry name is there, and every transcript is named.
func TestClaimsOfTheRegistryNameTests(t *testing.T) {
	raw, err := os.ReadFile("claims/registry.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := testSources(t)
	named := map[string]bool{}
	for _, m := range namedProof.FindAllStringSubmatch(string(raw), -1) {
		named[m[1]] = true
		if strings.HasPrefix(m[1], "Test") && !strings.Contains(tests, "func "+m[1]+"(t *testing.T)") {
			t.Errorf("no test is called %s", m[1])
		}
	}
	files, err := filepath.Glob("../registry/testdata/transcripts/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d transcripts: %v", len(files), err)
	}
	for _, file := range files {
		if name := filepath.Base(file); !named[name] {
			t.Errorf("no claim names %s", name)
		} else {
			delete(named, name)
		}
	}
	for name := range named {
		if strings.HasSuffix(name, ".txt") {
			t.Errorf("there is no transcript %s", name)
		}
	}
}

// testSources are the tests of the registry, of the command and of what is beside them.
func testSources(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	add := func(path string) {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(raw)
	}
	err := filepath.WalkDir("../registry", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, "_test.go") {
			add(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"../registry_listen_test.go", "../cmd/doze/settings_test.go", "kill/registry_test.go"} {
		add(path)
	}
	return all.String()
}
