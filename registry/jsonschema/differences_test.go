package jsonschema

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// ownPair is two schemas of our own with what changed, by the rules of Confluent's registry, from the one to the other.
type ownPair struct {
	About            string
	Original, Update json.RawMessage
	Changes          []string // types, sorted
}

func ownPairs(t *testing.T) (all []ownPair) {
	t.Helper()
	raw, err := os.ReadFile("testdata/differences.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(raw))
	for lines.Scan() {
		var p ownPair
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			t.Fatalf("%v: %s", err, lines.Text())
		}
		all = append(all, p)
	}
	return all
}

func TestOwnPairs(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range ownPairs(t) {
		original, err := Parse(string(p.Original), nil)
		if err != nil {
			t.Fatalf("%s: %v", p.About, err)
		}
		update, err := Parse(string(p.Update), nil)
		if err != nil {
			t.Fatalf("%s: %v", p.About, err)
		}
		found, err := Compare(Strict, original.Root, update.Root)
		if err != nil {
			t.Fatalf("%s: %v", p.About, err)
		}
		var got []string
		for _, d := range found {
			got, seen[d.Type] = append(got, d.Type), true
			if !strings.HasPrefix(d.Path, "#/") {
				t.Errorf("%s: the path is %q", p.About, d.Path)
			}
			// The message of SCHEMA_ADDED is empty there too.
			if m := d.Message("new", "old"); !Strict.Allowed(d.Type) && d.Type != "SCHEMA_ADDED" && (strings.Contains(m, "%s") || strings.Contains(m, `description:"'`)) {
				t.Errorf("%s: the message is %s", p.About, m)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, p.Changes) {
			t.Errorf("%s\n%s\n%s\nis    %v\nrules %v", p.About, p.Original, p.Update, got, p.Changes)
		}
	}
	all := slices.Concat(allowed, allowedLenient, []string{"SCHEMA_ADDED"})
	for _, e := range explanations {
		all = append(all, e.types...)
	}
	for _, kind := range all {
		if !seen[kind] {
			t.Errorf("no pair has %s", kind)
		}
	}
}
