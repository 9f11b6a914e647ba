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

// TestVerdicts holds pairs of ours to what a running release 8.1.5 said of them, by either policy.
func TestVerdicts(t *testing.T) {
	raw, err := os.ReadFile("testdata/verdicts.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(raw) {
		var p struct {
			ownPair
			Strict, Lenient bool
		}
		if err := json.Unmarshal(line, &p); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		for _, c := range []struct {
			policy Policy
			want   bool
		}{{Strict, p.Strict}, {Lenient, p.Lenient}} {
			if got := compatible(t, c.policy, &p.ownPair); got != c.want {
				t.Errorf("%s, lenient %t: is %t, there %t", p.About, c.policy == Lenient, got, c.want)
			}
		}
	}
}

func compatible(t *testing.T, policy Policy, p *ownPair) bool {
	t.Helper()
	original, err := Parse(string(p.Original), nil)
	if err != nil {
		t.Fatalf("%s: %v", p.About, err)
	}
	update, err := Parse(string(p.Update), nil)
	if err != nil {
		t.Fatalf("%s: %v", p.About, err)
	}
	found, err := Compare(policy, original.Root, update.Root)
	if err != nil {
		t.Fatalf("%s: %v", p.About, err)
	}
	return !slices.ContainsFunc(found, func(d Difference) bool { return !policy.Allowed(d.Type) })
}

func TestWhatDraftsRefuse(t *testing.T) {
	for _, text := range []string{
		`{"$schema":"https://json-schema.org/draft/2020-12/schema","items":[{}]}`,
		`{"$schema":"https://json-schema.org/draft/2019-09/schema","items":[{}]}`,
		`{"$schema":"http://json-schema.org/draft-04/schema#","items":true}`,
		`{"$schema":"http://json-schema.org/draft-04/schema#","dependencies":{"a":true}}`,
	} {
		if _, err := Parse(text, nil); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}

// Of several keywords that are wrong the first of a fixed order is told, each time.
func TestOfSeveralMistakesTheSameIsTold(t *testing.T) {
	for text, first := range map[string]string{
		`{"title":1,"description":2,"$id":3}`:                             "#/$id",
		`{"type":"string","maxLength":"a","minLength":"b"}`:               "#/minLength",
		`{"type":"array","maxItems":"a","minItems":"b"}`:                  "#/minItems",
		`{"type":"object","maxProperties":"a","minProperties":"b"}`:       "#/minProperties",
		`{"type":"number","multipleOf":"a","maximum":"b","minimum":"c"}`:  "#/minimum",
		`{"type":"number","exclusiveMaximum":"a","exclusiveMinimum":"b"}`: "#/exclusiveMinimum",
	} {
		for range 20 {
			if _, err := Parse(text, nil); err == nil || !strings.HasPrefix(err.Error(), first+":") {
				t.Fatalf("%s: %v, want it at %s", text, err, first)
			}
		}
	}
}
