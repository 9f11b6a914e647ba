package jsonschema

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestClassesAsEverit holds the classes of texts of ours to what everit 1.14.6 made of them (drafts to 7). The parts of a
// combination are compared without their order, of which everit has none.
func TestClassesAsEverit(t *testing.T) {
	f, err := os.Open("testdata/everit.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var want struct{ In, Model, Error string }
		if err := json.Unmarshal(lines.Bytes(), &want); err != nil {
			t.Fatal(err)
		}
		p, err := Parse(want.In, nil)
		if err != nil {
			if want.Model != "" {
				t.Errorf("%s: %v\neverit %s", want.In, err, want.Model)
			}
			continue
		}
		if strings.Contains(want.Error, "UnknownHost") {
			continue // everit asks the network for what is in the text
		}
		if got := describe(p.Root, 0); bag(got) != bag(want.Model) {
			t.Errorf("%s\nis     %s\neverit %s %s", want.In, got, want.Model, want.Error)
		}
	}
}

// bag is the words of a description without their order.
func bag(s string) string {
	words := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" ()[]{},", r) })
	slices.Sort(words)
	return strings.Join(words, " ")
}

func describe(s *Schema, depth int) string {
	if s == nil {
		return "-"
	}
	if depth > 12 {
		return "..."
	}
	var b strings.Builder
	b.WriteString(classNames[s.Class] + "(")
	word := func(name string, is bool, value any) {
		if is && value == nil {
			b.WriteString(name + " ")
		} else if is {
			fmt.Fprintf(&b, "%s=%v ", name, value)
		}
	}
	inner := func(name string, of *Schema) { word(name, of != nil, describe(of, depth+1)) }
	if s.Title != nil {
		word("title", true, *s.Title)
	}
	if s.Default != nil {
		word("default", true, strings.Trim(s.Default.String(), `"`))
	}
	word("connect", s.connectType != "", s.connectType)
	word("req", s.Required && s.Class != Null && s.Class != Boolean, nil)
	for name, n := range map[string]*int64{"min": s.minLength, "max": s.maxLen, "min ": s.minItems, "max ": s.maxItems, "min  ": s.minProps, "max  ": s.maxProps} {
		if n != nil {
			word(strings.TrimSpace(name), true, *n)
		}
	}
	if s.pattern != nil {
		word("pattern", true, *s.pattern)
	}
	word("int", s.integer, nil)
	for name, n := range map[string]*number{"min": s.minimum, "max": s.maximum, "emin": s.above, "emax": s.below, "mult": s.multipleOf} {
		if n != nil {
			word(name, true, n.value)
		}
	}
	word("unique", s.unique, nil)
	inner("all", s.items)
	if s.isTuple {
		b.WriteString("items=[")
		for _, item := range s.tuple {
			b.WriteString(describe(item, depth+1) + " ")
		}
		b.WriteString("] ")
	}
	word("closed", s.noMoreItems || s.noMore, nil)
	inner("more", s.moreItems)
	inner("contains", s.contains)
	for _, p := range s.properties {
		inner(p.name, p.schema)
	}
	if len(s.requires) > 0 {
		word("required", true, "["+strings.Join(slices.Sorted(maps.Keys(s.requires)), ", ")+"]")
	}
	inner("more", s.more)
	inner("names", s.names)
	for _, d := range s.needs {
		word("dep:"+d.name, true, slices.Sorted(maps.Keys(d.needs)))
	}
	for _, d := range s.schemaNeeds {
		inner("sdep:"+d.name, d.schema)
	}
	for _, v := range s.values {
		b.WriteString(strings.NewReplacer(`"`, "", ":", "=").Replace(v.String()) + " ")
	}
	if s.Class == Not {
		b.WriteString(describe(s.not, depth+1))
	}
	if s.Class == Conditional {
		for _, c := range s.condition {
			b.WriteString(describe(c, depth+1) + " ")
		}
	}
	if s.Class == Combined {
		b.WriteString(s.criterion + " ")
		for _, p := range s.parts {
			b.WriteString(describe(p, depth+1) + " ")
		}
	}
	if s.Class == Reference {
		b.WriteString(s.reference + " ")
		if depth > 3 {
			b.WriteString("...")
		} else {
			b.WriteString(describe(s.target, depth+4))
		}
	}
	return strings.TrimSpace(b.String()) + ")"
}
