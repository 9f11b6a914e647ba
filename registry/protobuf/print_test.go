package protobuf

import (
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/structpb"
)

var update = flag.Bool("update", false, "rewrite the expected texts")

func mustParse(t testing.TB, text string, imports ...Import) *Parsed {
	t.Helper()
	p, err := Parse(text, imports)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return p
}

func read(t testing.TB, name string) string {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func compareWith(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile("testdata/"+name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := read(t, name); got != want {
		t.Errorf("%s is\n%s\nwant\n%s", name, got, want)
	}
}

var other = Import{Name: "other.proto", Subject: "other", Version: 1, Text: `syntax = "proto3"; package other; message O {}`}

func TestLayouts(t *testing.T) {
	p := mustParse(t, read(t, "all.proto"), other)
	compareWith(t, "all.canonical", p.Canonical())
	if again := mustParse(t, p.Canonical()).Canonical(); again != p.Canonical() {
		t.Errorf("the canonical text is printed as\n%s", again)
	}
	normal, err := p.Normalized()
	if err != nil {
		t.Fatal(err)
	}
	compareWith(t, "all.normalized", normal)
	again, err := mustParse(t, normal, other).Normalized()
	if err != nil || again != normal {
		t.Errorf("the normalised text is normalised to\n%s, %v", again, err)
	}
	if plain := p.WithoutExtensions(); strings.Contains(plain, "extend") || strings.Contains(plain, "extensions") || !strings.Contains(plain, "confluent.file_meta") {
		t.Errorf("without extensions:\n%s", plain)
	}
}

func TestTypesMustBeKnown(t *testing.T) {
	p := mustParse(t, `syntax = "proto3"; import "none.proto"; message A { none.B b = 1; }`)
	if _, err := p.Normalized(); err == nil || !strings.Contains(err.Error(), "none.B") {
		t.Errorf("an unknown type: %v", err)
	}
	if _, err := p.Link(t.Context()); err == nil || !strings.Contains(err.Error(), "none.proto") {
		t.Errorf("an unknown import is linked: %v", err)
	}
}

func TestKnownImportsResolve(t *testing.T) {
	names := KnownImports()
	if len(names) != 30 {
		t.Errorf("%d files are known", len(names))
	}
	var text strings.Builder
	text.WriteString("syntax = \"proto3\";\n")
	for _, name := range names {
		text.WriteString("import \"" + name + "\";\n")
	}
	text.WriteString("message A { google.protobuf.Timestamp a = 1; google.type.Money b = 2; confluent.type.Decimal c = 3; google.type.PhoneNumber d = 4; }")
	p := mustParse(t, text.String())
	if _, err := p.Normalized(); err != nil {
		t.Error(err)
	}
	if _, err := p.Link(t.Context()); err != nil {
		t.Error(err)
	}
}

// A client that looks up what format=serialized gave it means the schema that it was given: no JSON name is in it that no text said.
func TestDescriptorIsTheSameSchema(t *testing.T) {
	p := mustParse(t, `syntax = "proto3"; package shop; message O { int32 a_b = 1; string c = 2 [json_name = "C"];
oneof which { string d = 3; } message In { bool e = 1; } map<string, int32> f = 4; }`)
	serialized, err := p.Serialized(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	back := mustParse(t, serialized)
	if strings.Count(back.Canonical(), "json_name") != 1 {
		t.Error(back.Canonical())
	}
	plain := mustParse(t, `syntax = "proto3"; package shop; message O { int32 a_b = 1; string c = 2 [json_name = "C"]; }`)
	if serialized, err = plain.Serialized(t.Context()); err != nil {
		t.Fatal(err)
	}
	if back = mustParse(t, serialized); back.Canonical() != plain.Canonical() {
		t.Errorf("there\n%s\nback\n%s", plain.Canonical(), back.Canonical())
	}
}

// What a client gets as format=serialized and registers again is the same file.
func TestDescriptorsThereAndBack(t *testing.T) {
	p := mustParse(t, read(t, "all.proto"), other)
	serialized, err := p.Serialized(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	raw, err := base64.StdEncoding.DecodeString(serialized)
	if err != nil {
		t.Fatal(err)
	}
	var d descriptorpb.FileDescriptorProto
	if err := proto.Unmarshal(raw, &d); err != nil || d.GetName() != "default" || d.GetPackage() != "shop.v1" {
		t.Errorf("%v, %v", &d, err)
	}
	back := mustParse(t, serialized, other)
	compareWith(t, "all.descriptor", back.Canonical())
	if _, err := back.Normalized(); err != nil {
		t.Error(err)
	}
	again, err := back.Serialized(t.Context())
	if err != nil || len(again) == 0 {
		t.Errorf("serialized again: %v", err)
	}
	if found, err := Compare(p, back); err != nil {
		t.Error(err)
	} else {
		for _, f := range found {
			if !Allowed(f.Type) && !strings.Contains(f.Type, "KIND") { // groups are fields of a message in a descriptor
				t.Errorf("%v", f)
			}
		}
	}
}

func TestDescriptorOfAClient(t *testing.T) {
	raw, err := proto.Marshal(protodesc.ToFileDescriptorProto(structpb.File_google_protobuf_struct_proto))
	if err != nil {
		t.Fatal(err)
	}
	p := mustParse(t, base64.StdEncoding.EncodeToString(raw))
	if !strings.Contains(p.Canonical(), "message Struct {\n  repeated .google.protobuf.Struct.FieldsEntry fields = 1") {
		t.Errorf("%s", p.Canonical())
	}
	if normal, err := p.Normalized(); err != nil || !strings.Contains(normal, "map<string, .google.protobuf.Value> fields = 1") || strings.Contains(normal, "FieldsEntry") {
		t.Errorf("%s, %v", normal, err)
	}
}

func TestMessages(t *testing.T) {
	if got, want := (Difference{"FIELD_KIND_CHANGED", "#/A/1"}).Message("new", "old"), `{errorType:"FIELD_KIND_CHANGED", description:"The type of a field at path '#/A/1' in the new schema does not match the old schema"}`; got != want {
		t.Error(got)
	}
}

// diamond is a chain of files; in each a message has two fields of the message in the next.
func diamond(n int, last string) (string, []Import) {
	var imports []Import
	for i := n; i > 0; i-- {
		body := fmt.Sprintf("p%d.M a = 1; p%d.M b = 2;", i+1, i+1)
		if i == n {
			body = last
		}
		imports = append(imports, Import{Name: fmt.Sprintf("p%d.proto", i), Subject: last, Version: int32(i), Text: fmt.Sprintf("syntax = \"proto3\"; package p%d; message M { %s }", i, body)})
	}
	return "syntax = \"proto3\"; message R { p1.M a = 1; p1.M b = 2; }", imports
}

func TestBombsAreBounded(t *testing.T) {
	for name, text := range map[string]string{
		"deep messages": strings.Repeat("message A {", 10_000), "deep options": "option a = " + strings.Repeat("{a:", 10_000), "brackets": strings.Repeat("[", 300_000),
		"tokens": strings.Repeat("message A {} ", 100_000), "nothing": "", "zero": "syntax\x00",
	} {
		if _, err := Parse(text, nil); err == nil && name != "nothing" {
			t.Errorf("%s is taken", name)
		}
	}
	textA, importsA := diamond(40, "int32 x = 1;")
	textB, importsB := diamond(40, "string x = 1;")
	if found, err := Compare(mustParse(t, textA, importsA...), mustParse(t, textB, importsB...)); !errors.Is(err, errSteps) {
		t.Errorf("a diamond of 40 files: %d differences, %v", len(found), err)
	}
	empty := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\x22\x00", 300_000)))
	if _, err := Parse(empty, nil); err == nil {
		t.Error("a descriptor of 300000 messages is taken")
	}
	deep := []byte{}
	for range 5_000 {
		deep = append([]byte{0x1a}, append(appendSize(len(deep)), deep...)...)
	}
	if _, err := Parse(base64.StdEncoding.EncodeToString(append([]byte{0x22}, append(appendSize(len(deep)), deep...)...)), nil); err == nil {
		t.Error("a descriptor of 5000 levels is taken")
	}
}

func appendSize(n int) (b []byte) {
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

func FuzzParse(f *testing.F) {
	f.Add(read(f, "all.proto"))
	f.Add(read(f, "all.canonical"))
	f.Add(`message A { optional int32 a = 1 [(x).y.(z).w = {a: [1, -2, inf], [b.c]: <d: 'e'>}]; }`)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse(text, nil)
		if err != nil {
			return
		}
		canonical := p.Canonical()
		again, err := Parse(canonical, nil)
		if err != nil {
			return // text that only the parser's mending made whole
		}
		if found, err := Compare(p, p); err == nil && len(found) > 0 {
			t.Fatalf("%s differs from itself: %v", text, found)
		}
		if normal, err := p.Normalized(); err == nil {
			_, _ = Parse(normal, nil)
		}
		_, _ = Compare(p, again)
	})
}

func FuzzDescriptor(f *testing.F) {
	for _, d := range []*descriptorpb.FileDescriptorProto{
		protodesc.ToFileDescriptorProto(structpb.File_google_protobuf_struct_proto),
		protodesc.ToFileDescriptorProto(descriptorpb.File_google_protobuf_descriptor_proto),
	} {
		raw, err := proto.Marshal(d)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(_ *testing.T, raw []byte) {
		file, err := parseDescriptor(raw)
		if err != nil {
			return
		}
		p := &Parsed{File: file}
		_, _ = Parse(p.Canonical(), nil)
		_, _ = p.Normalized()
		_, _ = Compare(p, p)
	})
}
