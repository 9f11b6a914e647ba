package registry

import (
	"slices"
	"strings"
	"testing"

	"doze/registry/tagged"
)

// tagSeeds are schemas with tags in each place where they may stand.
var tagSeeds = map[string][]string{
	Avro: {
		`{"type":"record","name":"R","namespace":"n","confluent:tags":["A"],"fields":[{"name":"f","type":["null","R"],"confluent:tags":["B",1]}]}`,
		`[{"type":"record","name":"D","fields":[]},{"type":"record","name":"n.D","fields":[{"name":"d","type":"D"}]}]`,
	},
	JSON: {
		`{"type":"object","confluent:tags":["A"],"properties":{"a":{"oneOf":[{"type":"null"},{"type":"object","properties":{"b":{}}}]}},"definitions":{"D":{"type":"object"}}}`,
		`{"$schema":"https://json-schema.org/draft/2020-12/schema","anyOf":[{"type":"array","items":{"type":"object","properties":{"a":true}},"maxLength":1},{"$ref":"#"}]}`,
	},
	Protobuf: {
		`import "confluent/meta.proto"; message A { option (confluent.message_meta).tags = "A"; int32 a = 1 [(confluent.field_meta) = {tags: ["A", "B"], doc: "d"}]; oneof o { string b = 2; } message B {} }`,
		`syntax = "proto3"; message A { map<string, A> m = 1 [deprecated = true]; }`,
	},
}

// FuzzTags holds the walks over schemas for their tags to one thing: tags that are put somewhere are found there in the text that is
// stored, and the same text is what parsing it gives.
func FuzzTags(f *testing.F) {
	for kind, texts := range tagSeeds {
		for _, text := range texts {
			f.Add(kind, text, "TAG")
		}
	}
	f.Fuzz(func(t *testing.T, kind, text, tag string) {
		tag = strings.ToValidUTF8(tag, "") // as reading a request's JSON leaves it
		if len(text) > 4096 || tag == "" {
			return
		}
		m, err := parse(kind, text, nil, false)
		if err != nil {
			return
		}
		found, err := m.entities()
		if err != nil {
			return
		}
		for i := range found {
			if found[i].Set == nil {
				continue
			}
			tags := tagged.Changed(found[i].Tags, []string{tag}, nil)
			found[i].Set(tags)
			checkTagged(t, kind, m.canonical(), found[i], tags)
			return
		}
	})
}

func checkTagged(t *testing.T, kind, text string, where tagged.Entity, tags []string) {
	t.Helper()
	m, err := parse(kind, text, nil, false)
	if err != nil {
		t.Fatalf("with the tag it does not parse: %v\n%s", err, text)
	}
	if again := m.canonical(); again != text {
		t.Fatalf("is   %s\nwas %s", again, text)
	}
	found, err := m.entities()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range found {
		if e.Is(where.Path, where.Field) && slices.Equal(e.Tags, tags) {
			return
		}
	}
	t.Fatalf("%v is not at %s of %s", tags, where.Path, text)
}
