package jsonvalid

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// suiteGroup is a schema of the JSON Schema Test Suite with its cases.
type suiteGroup struct {
	Description string
	Schema      json.RawMessage
	Tests       []struct {
		Description string
		Data        json.RawMessage
		Valid       bool
	}
}

// TestSuiteOfOthers counts what a checkout of json-schema-org/JSON-Schema-Test-Suite says, where DOZE_JSON_SCHEMA_SUITE names one. It
// is not a part of the project; the package's README has the counts.
func TestSuiteOfOthers(t *testing.T) {
	dir := os.Getenv("DOZE_JSON_SCHEMA_SUITE")
	if dir == "" {
		t.Log("DOZE_JSON_SCHEMA_SUITE names no checkout: nothing of others is looked at")
		return
	}
	for _, d := range []struct{ name, url string }{
		{"draft4", "http://json-schema.org/draft-04/schema#"}, {"draft6", "http://json-schema.org/draft-06/schema#"},
		{"draft7", "http://json-schema.org/draft-07/schema#"}, {"draft2019-09", "https://json-schema.org/draft/2019-09/schema"},
		{"draft2020-12", "https://json-schema.org/draft/2020-12/schema"},
	} {
		remotes := suiteRemotes(t, filepath.Join(dir, "remotes"), d.name)
		for _, part := range []string{"", "optional", "optional/format"} {
			passed, all := 0, 0
			files, err := filepath.Glob(filepath.Join(dir, "tests", d.name, part, "*.json"))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				for _, g := range suiteGroups(t, file) {
					p, n := runSuiteGroup(t, d.url, filepath.Join(d.name, part, filepath.Base(file)), g, remotes)
					passed, all = passed+p, all+n
				}
			}
			t.Logf("%s %s: %d of %d", d.name, part, passed, all)
		}
	}
}

func suiteGroups(t *testing.T, file string) (groups []suiteGroup) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, &groups)
	}
	if err != nil {
		t.Fatalf("read %s: %v", file, err)
	}
	return groups
}

// suiteRemotes are the documents that the suite serves at localhost:1234, as references.
func suiteRemotes(t *testing.T, dir, draft string) (documents []Document) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".json") {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if first, _, _ := strings.Cut(name, "/"); err != nil || strings.HasPrefix(first, "draft") && first != draft || first == "v1" {
			return err
		}
		b, err := os.ReadFile(path)
		documents = append(documents, Document{"http://localhost:1234/" + name, string(b)})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return documents
}

// runSuiteGroup tells the cases that fail.
func runSuiteGroup(t *testing.T, draft, where string, g suiteGroup, remotes []Document) (passed, all int) {
	t.Helper()
	text := string(g.Schema)
	if strings.HasPrefix(text, "{") && !strings.Contains(text, `"$schema"`) {
		text = strings.Replace(text, "{", `{"$schema":"`+draft+`",`, 1)
		text = strings.Replace(text, `",}`, `"}`, 1)
	}
	s, err := Compile(text, remotes)
	for _, c := range g.Tests {
		all++
		fits := err == nil && s.Validate(string(c.Data)) == nil
		if fits == c.Valid && err == nil {
			passed++
			continue
		}
		t.Logf("%s: %s: %s: fits is %v (%v)", where, g.Description, c.Description, fits, err)
	}
	return passed, all
}
