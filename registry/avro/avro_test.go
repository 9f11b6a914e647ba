package avro

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"doze/registry/internal/vectors"
)

// answered is one text with what Apache Avro for Java 1.12.1 makes of it, read strictly (names and defaults held to the rules) and
// leniently.
type answered struct {
	In, Strict, Lenient       string
	StrictError, LenientError string
}

// TestAsJava holds what parses, and the text that comes back, to what Java printed for texts of ours.
func TestAsJava(t *testing.T) {
	f, err := os.Open("testdata/java.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var want answered
		if err := json.Unmarshal(lines.Bytes(), &want); err != nil {
			t.Fatal(err)
		}
		for strict, canonical := range map[bool]string{true: want.Strict, false: want.Lenient} {
			p, err := Parse(want.In, Options{Strict: strict})
			if err != nil {
				if canonical != "" {
					t.Errorf("%s (strict %t): %v\nJava: %s", want.In, strict, err, canonical)
				}
				continue
			}
			// Stored schemas are held to a rule for names that Java's parser was told to leave to Confluent.
			if got := p.Canonical(); got != canonical {
				t.Errorf("%s (strict %t)\nis   %s\nJava %s %s%s", want.In, strict, got, canonical, want.StrictError, want.LenientError)
			}
		}
	}
}

// vectorsOf reads what others answered.
func vectorsOf(t *testing.T, name string, into any) {
	t.Helper()
	if err := json.Unmarshal(vectors.Read(t, name), into); err != nil {
		t.Fatal(err)
	}
}

type answeredPair struct {
	Test              string
	Reader, Writer    json.RawMessage
	Compatible        bool
	Incompatibilities []Difference
}

func (d *Difference) UnmarshalJSON(b []byte) error {
	var m struct{ Type, Location, Message string }
	err := json.Unmarshal(b, &m)
	*d = Difference(m)
	return err
}

func TestVerdictsOfJava(t *testing.T) {
	for _, file := range []string{"apache-avro/java-avro-1.12.1-on-karapace-pairs.json", "apache-avro/java-avro-1.12.1-probes.json"} {
		var pairs []answeredPair
		vectorsOf(t, file, &pairs)
		for _, p := range pairs {
			reader, err1 := Parse(string(p.Reader), Options{})
			writer, err2 := Parse(string(p.Writer), Options{})
			if err := errors.Join(err1, err2); err != nil {
				if p.Compatible || len(p.Incompatibilities) > 0 {
					t.Errorf("%s: %v", p.Test, err)
				}
				continue
			}
			got, err := Compare(reader.Root, writer.Root)
			if (err == nil && len(got) == 0) != p.Compatible || !slices.Equal(got, p.Incompatibilities) {
				t.Errorf("%s: %s\nreads %s\nis   %v, %v\nJava %v %v", p.Test, p.Reader, p.Writer, got, err, p.Compatible, p.Incompatibilities)
			}
		}
		t.Logf("%s: %d pairs", file, len(pairs))
	}
}

func mustParse(t *testing.T, text string, refs ...string) *Parsed {
	t.Helper()
	p, err := Parse(text, Options{Strict: true, References: refs})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestReferencesStayNames(t *testing.T) {
	ref := `{"type":"record","name":"a.B","fields":[{"name":"x","type":{"type":"fixed","name":"F","size":2}}]}`
	p := mustParse(t, `{"type":"record","name":"a.C","fields":[{"name":"b","type":"B"},{"name":"l","type":{"type":"array","items":"a.B"}}]}`, ref)
	if got, want := p.Canonical(), `{"type":"record","name":"C","namespace":"a","fields":[{"name":"b","type":"B"},{"name":"l","type":{"type":"array","items":"B"}}]}`; got != want {
		t.Errorf("canonical %s", got)
	}
	if got := p.Resolved(); !strings.Contains(got, `{"name":"b","type":{"type":"record","name":"B","fields":[{"name":"x","type":{"type":"fixed","name":"F","size":2}}]}}`) {
		t.Errorf("resolved %s", got)
	}
	if _, err := Parse(`{"type":"record","name":"a.C","fields":[{"name":"b","type":"B"}]}`, Options{}); err == nil || !strings.Contains(err.Error(), "a.B") {
		t.Errorf("without the reference: %v", err)
	}
}

func TestNormalize(t *testing.T) {
	for in, want := range map[string]string{
		`{"type":"long","z":1,"logicalType":"timestamp-millis","b":{"y":1,"a":2}}`: `{"type":"long","logicalType":"timestamp-millis","b":{"a":2,"y":1},"z":1}`,
		`{"type":"bytes","scale":1,"precision":4,"logicalType":"decimal"}`:         `{"type":"bytes","logicalType":"decimal","precision":4,"scale":1}`,
		`{"type":"int","zz":1,"logicalType":"uuid"}`:                               `{"type":"int","logicalType":"uuid","zz":1}`,
		`{"doc":"","name":"R","type":"record","aliases":["Z","A"],"fields":[{"name":"d","default":1,"type":{"type":"double"},"order":"ascending","aliases":["q","b"]}]}`: `{"type":"record","name":"R","fields":[{"name":"d","type":"double","default":1.0,"aliases":["b","q"]}],"aliases":["A","Z"]}`,
	} {
		p := mustParse(t, in)
		p.Normalize()
		if got := p.Canonical(); got != want {
			t.Errorf("%s is normalised to %s, want %s", in, got, want)
		}
	}
}

func TestAmbiguousAliasHasNoAnswer(t *testing.T) {
	reader := mustParse(t, `{"type":"record","name":"R","fields":[{"name":"a","type":"int","aliases":["b"]}]}`)
	writer := mustParse(t, `{"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"b","type":"int"}]}`)
	if found, err := Compare(reader.Root, writer.Root); err == nil {
		t.Errorf("found %v", found)
	}
}

// Work is bounded: unions of thousands of branches, names that are used before they are defined, deep nesting.
func TestBombsAreRefused(t *testing.T) {
	reader, writer := mustParse(t, records(3000, "x")), mustParse(t, records(3000, "y"))
	if found, err := Compare(reader.Root, writer.Root); err != nil || len(found) != 3000 {
		t.Errorf("unions of 3000 names that differ: %d, %v", len(found), err)
	}
	twice := mustParse(t, sameNames(500, "x"))
	if _, err := Compare(twice.Root, mustParse(t, sameNames(500, "y")).Root); !errors.Is(err, errSteps) {
		t.Errorf("unions of 500 records of one simple name: %v", err)
	}
	if _, err := Parse(strings.Repeat(`{"type":"array","items":`, 5000)+`"int"`+strings.Repeat("}", 5000), Options{}); err == nil {
		t.Error("5000 levels are taken")
	}
	if _, err := Parse(chain(1000), Options{}); err == nil {
		t.Error("a chain of names makes a text of 1000 levels")
	}
}

// records is a union of records with names that begin alike.
func records(n int, begin string) string {
	parts := make([]string, n)
	for i := range n {
		parts[i] = fmt.Sprintf(`{"type":"record","name":"%s%d","fields":[]}`, begin, i)
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// sameNames is a union of records that have one simple name and a field that differs.
func sameNames(n int, field string) string {
	parts := make([]string, n)
	for i := range n {
		parts[i] = fmt.Sprintf(`{"type":"record","name":"n%d.R","fields":[{"name":"%s%d","type":"int"}]}`, i, field, i)
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// chain is a union of records, each of which names the next one before it is defined.
func chain(n int) string {
	parts := make([]string, n)
	for i := range n {
		next := `"int"`
		if i+1 < n {
			next = `"` + recordName(i+1) + `"`
		}
		parts[i] = `{"type":"record","name":"` + recordName(i) + `","fields":[{"name":"f","type":` + next + `}]}`
	}
	return "[" + strings.Join(parts, ",") + "]"
}

func recordName(i int) string {
	return "N" + strings.Repeat("x", i%30) + strings.Repeat("y", i/30)
}

// What parses prints a text that parses to the same.
func FuzzParse(f *testing.F) {
	raw, err := os.ReadFile("testdata/java.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		var a answered
		_ = json.Unmarshal([]byte(line), &a)
		f.Add(a.In)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse(text, Options{Strict: true})
		if err != nil {
			return
		}
		canonical := p.Canonical()
		again, err := Parse(canonical, Options{})
		if err != nil || again.Canonical() != canonical {
			t.Fatalf("%s\nis      %s\nand then %v", text, canonical, err)
		}
		if found, err := Compare(p.Root, again.Root); err != nil || len(found) > 0 {
			t.Fatalf("%s does not read itself: %v %v", text, found, err)
		}
		p.Normalize()
		normal := p.Canonical()
		if again, err = Parse(normal, Options{}); err != nil {
			t.Fatalf("%s is normalised to %s: %v", text, normal, err)
		}
		if again.Normalize(); again.Canonical() != normal {
			t.Fatalf("%s is normalised again to %s", normal, again.Canonical())
		}
	})
}

func FuzzCompare(f *testing.F) {
	f.Add(`["int","string"]`, `"long"`)
	f.Add(chain(5), chain(4))
	f.Fuzz(func(t *testing.T, a, b string) {
		r, err1 := Parse(a, Options{})
		w, err2 := Parse(b, Options{})
		if err1 != nil || err2 != nil {
			return
		}
		first, err1 := Compare(r.Root, w.Root)
		second, err2 := Compare(r.Root, w.Root)
		if !reflect.DeepEqual(first, second) || (err1 == nil) != (err2 == nil) {
			t.Fatalf("%v, then %v", first, second)
		}
	})
}
