package protobuf

import (
	"bufio"
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// allTypes are those that are allowed, and with explanations those that are not.
var allTypes = []string{
	"MESSAGE_ADDED", "MESSAGE_MOVED", "ENUM_ADDED", "ENUM_REMOVED", "ENUM_CONST_ADDED", "ENUM_CONST_CHANGED", "ENUM_CONST_REMOVED", "FIELD_ADDED",
	"FIELD_REMOVED", "FIELD_NAME_CHANGED", "FIELD_STRING_OR_BYTES_LABEL_CHANGED", "ONEOF_ADDED", "ONEOF_REMOVED", "ONEOF_FIELD_ADDED",
	"ONEOF_FIELD_MOVED_TO_TOP_LEVEL",
}

// TestOwnPairs: schemas of our own, with what changed by the rules of Confluent's registry, each type of change at least once.
func TestOwnPairs(t *testing.T) {
	raw, err := os.ReadFile("testdata/differences.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for lines := bufio.NewScanner(bytes.NewReader(raw)); lines.Scan(); {
		var p struct {
			About, Original, Update string
			Changes                 []string
		}
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			t.Fatalf("%v: %s", err, lines.Text())
		}
		original, err := Parse(p.Original, nil)
		if err != nil {
			t.Fatalf("%s: %v", p.About, err)
		}
		update, err := Parse(p.Update, nil)
		if err != nil {
			t.Fatalf("%s: %v", p.About, err)
		}
		found, err := Compare(original, update)
		if err != nil {
			t.Fatalf("%s: %v", p.About, err)
		}
		var got []string
		for _, d := range found {
			got, seen[d.Type] = append(got, d.Type+" "+d.Path), true
			if m := d.Message("new", "old"); !Allowed(d.Type) && (strings.Contains(m, "%s") || strings.Contains(m, `description:""`)) {
				t.Errorf("%s: the message is %s", p.About, m)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, p.Changes) {
			t.Errorf("%s\n%s\n%s\nis    %v\nrules %v", p.About, p.Original, p.Update, got, p.Changes)
		}
	}
	for _, kind := range append(allTypes, slices.Sorted(maps.Keys(explanations))...) {
		if !seen[kind] {
			t.Errorf("no pair has %s", kind)
		}
	}
}
