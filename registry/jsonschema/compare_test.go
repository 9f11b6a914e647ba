package jsonschema

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"doze/registry/internal/vectors"
)

// vectorsOf reads what others answered.
func vectorsOf(t *testing.T, name string, into any) {
	t.Helper()
	if err := json.Unmarshal(vectors.Read(t, name), into); err != nil {
		t.Fatal(err)
	}
}

type example struct {
	Description       string
	Original          json.RawMessage `json:"original_schema"`
	Update            json.RawMessage `json:"update_schema"`
	Changes           []string
	Compatible        bool
	CompatibleLenient *bool `json:"compatible_lenient"`
}

func TestDifferencesOfConfluent(t *testing.T) {
	for _, file := range []string{
		"diff-schema-examples.json", "diff-schema-examples-2020-12.strict.json", "diff-combined-schema-examples.json", "diff-combined-schema-examples-2020-12.json",
	} {
		var examples []example
		vectorsOf(t, "confluent-json/"+file, &examples)
		for _, e := range examples {
			original, err1 := Parse(string(e.Original), nil)
			update, err2 := Parse(string(e.Update), nil)
			if err := errors.Join(err1, err2); err != nil {
				t.Errorf("%s: %s: %v", file, e.Description, err)
				continue
			}
			found, err := Compare(Strict, original.Root, update.Root)
			if err != nil {
				t.Errorf("%s: %s: %v", file, e.Description, err)
				continue
			}
			var got []string
			for _, d := range found {
				got = append(got, d.Type+" "+d.Path)
			}
			slices.Sort(got)
			slices.Sort(e.Changes)
			fine := (&shared{policy: Strict}).fine(found)
			if fine != e.Compatible || !slices.Equal(got, e.Changes) {
				t.Errorf("%s: %s\n%s\n%s\nis        %v %v\nConfluent %v %v", file, e.Description, e.Original, e.Update, fine, got, e.Compatible, e.Changes)
			}
			if e.CompatibleLenient != nil {
				found, _ := Compare(Lenient, original.Root, update.Root)
				if fine := (&shared{policy: Lenient}).fine(found); fine != *e.CompatibleLenient {
					t.Errorf("%s: %s: lenient is %v", file, e.Description, fine)
				}
			}
		}
		t.Logf("%s: %d examples", file, len(examples))
	}
}

// A schema of draft 7 and one of 2020-12 that say the same have the same classes.
func TestDraftsOfConfluent(t *testing.T) {
	var pairs []struct {
		Target json.RawMessage `json:"target_schema"`
		Source json.RawMessage `json:"source_schema"`
		Refs   bool
		Skip   bool
	}
	vectorsOf(t, "confluent-json/all-schemas.json", &pairs)
	skipped := 0
	for _, p := range pairs {
		source := string(p.Source)
		if strings.HasPrefix(source, "{") && !strings.Contains(source, `"$schema"`) {
			source = strings.Replace(source, "{", `{"$schema":"https://json-schema.org/draft/2020-12/schema",`, 1)
			source = strings.Replace(source, ",}", "}", 1)
		}
		if p.Skip || p.Refs {
			skipped++ // the pairs with references leave the definitions away on one side
			continue
		}
		target, err1 := Parse(string(p.Target), nil)
		modern, err2 := Parse(source, nil)
		if err := errors.Join(err1, err2); err != nil {
			t.Errorf("%s and %s: %v", p.Target, p.Source, err)
			continue
		}
		// Where they come from the printed models are compared, which do not tell classes that say nothing apart.
		nothing := strings.NewReplacer("array()", "empty()", "object()", "empty()", "true()", "empty()", "string()", "empty()")
		if a, b := nothing.Replace(describe(target.Root, 0)), nothing.Replace(describe(modern.Root, 0)); bag(a) != bag(b) {
			t.Errorf("%s and %s are\n%s\n%s", p.Target, p.Source, a, b)
		}
	}
	t.Logf("%d pairs, %d of them not compared", len(pairs), skipped)
}

func TestMessages(t *testing.T) {
	for kind, want := range map[string]string{
		openOptional:    `{errorType:"OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL", description:"The new schema has an open content model and has a property or item at path '#/p' which is missing in the old schema'}`,
		"MAXIMUM_ADDED": `{errorType:"MAXIMUM_ADDED", description:"The keyword at path '#/p' in the new schema is not present in the old schema'}`,
		"SCHEMA_ADDED":  `{errorType:"SCHEMA_ADDED", description:"'}`,
	} {
		if got := (Difference{kind, "#/p"}).Message("new", "old"); got != want {
			t.Errorf("%s\n%s", got, want)
		}
	}
	if Advice([]Difference{{openOptional, "#/p"}}) == "" || Advice(nil) != "" {
		t.Error("advice")
	}
}

func mustParse(t *testing.T, text string, documents ...Document) *Parsed {
	t.Helper()
	p, err := Parse(text, documents)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return p
}

func TestReferences(t *testing.T) {
	documents := []Document{
		{"common.json", `{"$id":"http://x/common.json","definitions":{"a":{"type":"integer"},"b":{"$ref":"#/definitions/a"},"c":{"$id":"#anchor","type":"null"}}}`},
		{"http://y/other.json", `{"type":"string"}`},
	}
	for ref, want := range map[string]Class{
		"common.json": Empty, "./common.json#/definitions/a": Number, "common.json#/definitions/b": Number, "common.json#anchor": Null,
		"http://y/other.json": String, "http://x/common.json#/definitions/a": Number, "#": Object, "#/definitions/z": Boolean, "#/$defs/z": Boolean,
		"http://json-schema.org/draft-07/schema#": Empty,
	} {
		p := mustParse(t, `{"properties":{"a":{"$ref":"`+ref+`"}},"definitions":{"z":{"type":"boolean"}}}`, documents...)
		if got := p.Root.propertyOf["a"].follow().Class; got != want {
			t.Errorf("%s is %s", ref, classNames[got])
		}
	}
	for _, ref := range []string{"http://z/none.json", "file:///etc/passwd", "#/definitions/none", "none.json", "#none"} {
		if _, err := Parse(`{"$ref":"`+ref+`"}`, documents); err == nil || !strings.Contains(err.Error(), ref) {
			t.Errorf("%s: %v", ref, err)
		}
	}
	mustParse(t, `{"$ref":"#"}`).Root.follow()
}

func TestCanonicalAndNormalized(t *testing.T) {
	p := mustParse(t, ` { "type" : "object" , "properties" : {"b":{"maximum":1.50}, "a":true} } `)
	if p.Canonical() != `{"type":"object","properties":{"b":{"maximum":1.5},"a":true}}` || p.Normalized() != `{"properties":{"a":true,"b":{"maximum":1.5}},"type":"object"}` {
		t.Errorf("%s, %s", p.Canonical(), p.Normalized())
	}
}

// bombs are schemas that took others long; each is compared with one that differs a little.
func bombs() map[string][2]string {
	recursive := func(title string) string {
		var b strings.Builder
		b.WriteString(`{"$ref":"#/definitions/d0","definitions":{`)
		for i := range 40 {
			fmt.Fprintf(&b, `"d%d":{"title":"%s","oneOf":[`, i, title)
			for j := range 40 {
				fmt.Fprintf(&b, `{"$ref":"#/definitions/d%d"},`, j)
			}
			b.WriteString(`{"type":"null"}]},`)
		}
		return strings.TrimSuffix(b.String(), ",") + `}}`
	}
	wide := func(kind string) string {
		var b strings.Builder
		b.WriteString(`{"anyOf":[`)
		for i := range 5000 {
			fmt.Fprintf(&b, `{"type":"%s","maxLength":%d,"maximum":%d},`, kind, i, i)
		}
		return strings.TrimSuffix(b.String(), ",") + `]}`
	}
	chain := func(last string) string {
		var b strings.Builder
		b.WriteString(`{"$ref":"#/definitions/d0","definitions":{`)
		for i := range 20_000 {
			fmt.Fprintf(&b, `"d%d":{"items":{"$ref":"#/definitions/d%d"}},`, i, i+1)
		}
		return b.String() + `"d20000":` + last + `}}`
	}
	return map[string][2]string{
		"recursive": {recursive("a"), recursive("b")}, "wide": {wide("string"), wide("number")}, "chain": {chain(`{}`), chain(`false`)},
		"deep":   {strings.Repeat(`{"items":`, 150) + "{}" + strings.Repeat("}", 150), "{}"},
		"number": {`{"multipleOf":1e-999999999}`, `{"multipleOf":1e999999999}`},
		"circle": {`{"$ref":"#/definitions/a","definitions":{"a":{"$ref":"#/definitions/b"},"b":{"$ref":"#/definitions/a"}}}`, `{"type":"string"}`},
	}
}

func TestBombsTakeBoundedTime(t *testing.T) {
	for name, b := range bombs() {
		start := time.Now()
		original, update := mustParse(t, b[0]), mustParse(t, b[1])
		_, err := Compare(Strict, original.Root, update.Root)
		if took := time.Since(start); took > time.Minute {
			t.Errorf("%s took %v", name, took)
		} else {
			t.Logf("%s: %v, %v", name, took, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	raw, err := os.ReadFile("testdata/everit.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		var a struct{ In string }
		_ = json.Unmarshal([]byte(line), &a)
		f.Add(a.In)
		f.Add(strings.Replace(a.In, "{", `{"$schema":"https://json-schema.org/draft/2020-12/schema",`, 1))
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse(text, []Document{{"other.json", `{"definitions":{"a":{"type":"string"}}}`}})
		if err != nil {
			return
		}
		canonical := p.Canonical()
		if again, err := Parse(canonical, []Document{{"other.json", `{"definitions":{"a":{"type":"string"}}}`}}); err != nil || again.Canonical() != canonical {
			t.Fatalf("%s is %s, and then %v", text, canonical, err)
		}
		found, err := Compare(Strict, p.Root, p.Root)
		if err == nil && !(&shared{policy: Strict}).fine(found) {
			t.Fatalf("%s differs from itself: %v", text, found)
		}
	})
}

func FuzzCompare(f *testing.F) {
	f.Add(`{"type":"string"}`, `{"anyOf":[{"type":"string"}]}`)
	f.Add(`{"properties":{"a":{"$ref":"#"}}}`, `{"properties":{"a":{"$ref":"#"},"b":{}},"additionalProperties":false}`)
	f.Fuzz(func(t *testing.T, a, b string) {
		x, err1 := Parse(a, nil)
		y, err2 := Parse(b, nil)
		if err1 != nil || err2 != nil {
			return
		}
		first, err1 := Compare(Strict, x.Root, y.Root)
		second, err2 := Compare(Strict, x.Root, y.Root)
		if !slices.Equal(first, second) || (err1 == nil) != (err2 == nil) {
			t.Fatalf("%v, then %v", first, second)
		}
	})
}
