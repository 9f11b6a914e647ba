package protobuf

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/linker"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// defaultName is the name of the file in a descriptor; clients put their own in its place.
const defaultName = "default"

// Link makes a descriptor of the schema: everything that it refers to must be there.
func (p *Parsed) Link(ctx context.Context) (*descriptorpb.FileDescriptorProto, error) {
	file, err := p.compile(ctx)
	if err != nil {
		return nil, err
	}
	result, is := file.(linker.Result)
	if !is {
		return nil, errors.New("no descriptor was made")
	}
	d, _ := proto.Clone(result.FileDescriptorProto()).(*descriptorpb.FileDescriptorProto)
	d.SourceCodeInfo = nil
	forgetNames(d.MessageType, p.File.Messages)
	forgetFields(d.Extension, nil)
	return d, nil
}

// forgetNames takes away the JSON names that the compiler made up: a client that sends the descriptor back means the same schema,
// and a name is part of one only when its text says it.
func forgetNames(made []*descriptorpb.DescriptorProto, said []*Message) {
	byName := map[string]*Message{}
	for _, m := range said {
		byName[m.Name] = m
	}
	for _, d := range made {
		m := byName[d.GetName()]
		if m == nil {
			m = &Message{} // the entry of a map, which the text does not have
		}
		fields := m.Fields
		for _, o := range m.OneOfs {
			fields = append(fields[:len(fields):len(fields)], o.Fields...)
		}
		forgetFields(d.Field, fields)
		forgetFields(d.Extension, nil)
		forgetNames(d.NestedType, m.Messages)
	}
}

// forgetFields knows a field by its number. An extension has no JSON name of its own.
func forgetFields(made []*descriptorpb.FieldDescriptorProto, said []*Field) {
	named := map[int64]bool{}
	for _, f := range said {
		named[f.Tag] = f.JSONName != nil
	}
	for _, d := range made {
		if !named[int64(d.GetNumber())] {
			d.JsonName = nil
		}
	}
}

// Descriptor is the linked file, for messages of its types.
func (p *Parsed) Descriptor(ctx context.Context) (protoreflect.FileDescriptor, error) {
	return p.compile(ctx)
}

func (p *Parsed) compile(ctx context.Context) (linker.File, error) {
	texts := map[string]string{defaultName: sourceOf(p.File)}
	for _, i := range p.imports {
		if _, known := texts[i.Name]; !known {
			texts[i.Name] = sourceOf(i.file)
		}
	}
	resolver := protocompile.ResolverFunc(func(name string) (protocompile.SearchResult, error) {
		text, has := texts[name]
		if !has {
			text, has = knownText(name)
		}
		if !has {
			return protocompile.SearchResult{}, fmt.Errorf("no reference is named %q", name)
		}
		return protocompile.SearchResult{Source: strings.NewReader(text)}, nil
	})
	c := protocompile.Compiler{Resolver: protocompile.WithStandardImports(resolver), MaxParallelism: 1}
	files, err := c.Compile(ctx, defaultName)
	if err != nil {
		return nil, err
	}
	return files[0], nil
}

// Serialized is the descriptor in base64.
func (p *Parsed) Serialized(ctx context.Context) (string, error) {
	d, err := p.Link(ctx)
	if err != nil {
		return "", err
	}
	raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(d)
	if err != nil {
		return "", fmt.Errorf("serialize the descriptor: %w", err)
	}
	return base64.StdEncoding.EncodeToString(raw), nil
}

// sourceOf is a file as text that a compiler takes: the synthetic messages of maps are maps again.
func sourceOf(f *File) string {
	whole := *f
	whole.Messages = nil
	for _, m := range f.Messages {
		whole.Messages = append(whole.Messages, withMaps(m))
	}
	return (&printer{}).file(&whole)
}

func withMaps(m *Message) *Message {
	whole, maps := *m, map[string]string{}
	whole.Messages, whole.Fields = nil, nil
	for _, nested := range m.Messages {
		if t, is := (&typeInfo{message: nested}).mapOf(); is {
			maps[nested.Name] = t
		} else {
			whole.Messages = append(whole.Messages, withMaps(nested))
		}
	}
	for _, f := range m.Fields {
		name := f.Type[strings.LastIndexByte(f.Type, '.')+1:]
		if t, is := maps[name]; is && f.Label == "repeated" {
			changed := *f
			changed.Label, changed.Type = "", t
			f = &changed
		}
		whole.Fields = append(whole.Fields, f)
	}
	return &whole
}
