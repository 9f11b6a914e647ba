package protobuf

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/bufbuild/protocompile/ast"
	"github.com/bufbuild/protocompile/parser"
	"github.com/bufbuild/protocompile/reporter"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
)

// Import is a file that a schema refers to: under the name that imports give it, as its registered version of a subject.
type Import struct {
	Name    string
	Subject string // empty: it is not one of the schema's own references
	Version int32
	Text    string
}

// Parsed is a schema with the files that it refers to.
type Parsed struct {
	File    *File
	imports []imported
}

type imported struct {
	Import
	file *File
}

// Parse reads a schema, as text or as a serialized FileDescriptorProto in base64.
//
//fuzz:parser class=schema FuzzParse
func Parse(text string, imports []Import) (*Parsed, error) {
	f, err := parseFile(text)
	if err != nil {
		return nil, err
	}
	p := &Parsed{File: f}
	for _, i := range imports {
		f, err := parseFile(i.Text)
		if err != nil {
			return nil, fmt.Errorf("referenced schema %s: %w", i.Name, err)
		}
		p.imports = append(p.imports, imported{i, f})
	}
	return p, nil
}

//fuzz:parser class=schema FuzzParse
func parseFile(text string) (*File, error) {
	if err := checkText(text); err != nil {
		return nil, err
	}
	f, err := parseText(text)
	if err == nil {
		return f, nil
	}
	if raw, no := base64.StdEncoding.DecodeString(strings.TrimSpace(text)); no == nil {
		if f, no := parseDescriptor(raw); no == nil {
			return f, nil
		}
	}
	return nil, err
}

// schemaName is how a text is called in errors of the parser.
const schemaName = "schema.proto"

//fuzz:parser class=schema FuzzParse
func parseText(text string) (*File, error) {
	var first error
	handler := reporter.NewHandler(reporter.NewReporter(func(err reporter.ErrorWithPos) error {
		if first == nil {
			first = err
		}
		return err
	}, nil))
	tree, err := parser.Parse(schemaName, strings.NewReader(text), handler)
	if first != nil {
		err = first
	}
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), schemaName+":"))
	}
	r := treeReader{tree: tree}
	return r.file(), nil
}

//fuzz:parser class=schema FuzzDescriptor
func parseDescriptor(raw []byte) (*File, error) {
	if err := checkWire(raw); err != nil {
		return nil, err
	}
	var d descriptorpb.FileDescriptorProto
	if err := (proto.UnmarshalOptions{RecursionLimit: MaxDepth, DiscardUnknown: false}).Unmarshal(raw, &d); err != nil {
		return nil, fmt.Errorf("no descriptor: %w", err)
	}
	if d.Name == nil && d.Syntax == nil && d.Package == nil && len(d.MessageType) == 0 && len(d.EnumType) == 0 {
		return nil, errors.New("no descriptor: it says nothing")
	}
	return fileOfDescriptor(&d)
}

// treeReader makes a File of a syntax tree.
type treeReader struct{ tree *ast.FileNode }

// raw is a node as it was written.
func (r treeReader) raw(n ast.Node) string { return r.tree.NodeInfo(n).RawText() }

func (r treeReader) file() *File {
	f := &File{}
	if r.tree.Syntax != nil {
		f.Syntax = r.tree.Syntax.Syntax.AsString()
	}
	if r.tree.Edition != nil {
		f.Syntax, f.Edition = r.tree.Edition.Edition.AsString(), true
	}
	for _, decl := range r.tree.Decls {
		switch d := decl.(type) {
		case *ast.PackageNode:
			f.Package = string(d.Name.AsIdentifier())
		case *ast.ImportNode:
			if d.Public != nil {
				f.Public = append(f.Public, d.Name.AsString())
			} else {
				f.Imports = append(f.Imports, d.Name.AsString())
			}
		case *ast.OptionNode:
			f.Options = append(f.Options, r.option(d))
		case *ast.MessageNode:
			f.Messages = append(f.Messages, r.message(d.Name.Val, d.Decls))
		case *ast.EnumNode:
			f.Enums = append(f.Enums, r.enum(d))
		case *ast.ExtendNode:
			f.Extends = append(f.Extends, r.extend(d))
		case *ast.ServiceNode:
			f.Services = append(f.Services, r.service(d))
		}
	}
	return f
}

func (r treeReader) message(name string, decls []ast.MessageElement) *Message {
	m := &Message{Name: name}
	for _, decl := range decls {
		switch d := decl.(type) {
		case *ast.OptionNode:
			m.Options = append(m.Options, r.option(d))
		case *ast.FieldNode:
			m.Fields = append(m.Fields, r.field(d))
		case *ast.MapFieldNode:
			m.Fields = append(m.Fields, r.mapField(d))
		case *ast.GroupNode:
			m.Groups = append(m.Groups, r.group(d))
		case *ast.OneofNode:
			m.OneOfs = append(m.OneOfs, r.oneOf(d))
		case *ast.MessageNode:
			m.Messages = append(m.Messages, r.message(d.Name.Val, d.Decls))
		case *ast.EnumNode:
			m.Enums = append(m.Enums, r.enum(d))
		case *ast.ExtendNode:
			m.Extends = append(m.Extends, r.extend(d))
		case *ast.ExtensionRangeNode:
			m.Extensions = append(m.Extensions, Values{r.ranges(d.Ranges), r.options(d.Options)})
		case *ast.ReservedNode:
			m.Reserved = append(m.Reserved, r.reserved(d))
		}
	}
	return m
}

func (r treeReader) reserved(d *ast.ReservedNode) Values {
	v := Values{Items: r.ranges(d.Ranges)}
	for _, name := range d.Names {
		v.Items = append(v.Items, Value{Name: name.AsString()})
	}
	for _, name := range d.Identifiers {
		v.Items = append(v.Items, Value{Name: name.Val})
	}
	return v
}

func (r treeReader) ranges(nodes []*ast.RangeNode) (values []Value) {
	for _, n := range nodes {
		v := Value{Range: n.To != nil}
		v.From, _ = n.StartVal.AsInt64()
		switch v.To = v.From; {
		case n.Max != nil:
			v.To = maxTag
		case n.EndVal != nil:
			v.To, _ = n.EndVal.AsInt64()
		}
		values = append(values, v)
	}
	return values
}

func (r treeReader) enum(d *ast.EnumNode) *Enum {
	e := &Enum{Name: d.Name.Val}
	for _, decl := range d.Decls {
		switch d := decl.(type) {
		case *ast.OptionNode:
			e.Options = append(e.Options, r.option(d))
		case *ast.EnumValueNode:
			tag, _ := d.Number.AsInt64()
			e.Constants = append(e.Constants, Constant{d.Name.Val, tag, r.options(d.Options)})
		case *ast.ReservedNode:
			e.Reserved = append(e.Reserved, r.reserved(d))
		}
	}
	return e
}

func (r treeReader) extend(d *ast.ExtendNode) Extend {
	e := Extend{Name: string(d.Extendee.AsIdentifier())}
	for _, decl := range d.Decls {
		if field, is := decl.(*ast.FieldNode); is {
			e.Fields = append(e.Fields, r.field(field))
		}
	}
	return e
}

func (r treeReader) service(d *ast.ServiceNode) Service {
	s := Service{Name: d.Name.Val}
	for _, decl := range d.Decls {
		switch d := decl.(type) {
		case *ast.OptionNode:
			s.Options = append(s.Options, r.option(d))
		case *ast.RPCNode:
			m := Method{
				Name: d.Name.Val, Input: string(d.Input.MessageType.AsIdentifier()), Output: string(d.Output.MessageType.AsIdentifier()),
				InputStream: d.Input.Stream != nil, OutputStream: d.Output.Stream != nil,
			}
			for _, decl := range d.Decls {
				if o, is := decl.(*ast.OptionNode); is {
					m.Options = append(m.Options, r.option(o))
				}
			}
			s.Methods = append(s.Methods, m)
		}
	}
	return s
}

func label(l ast.FieldLabel) string {
	if l.KeywordNode == nil {
		return ""
	}
	return l.KeywordNode.Val
}

func (r treeReader) field(d *ast.FieldNode) *Field {
	f := &Field{Label: label(d.Label), Type: string(d.FldType.AsIdentifier()), Name: d.Name.Val, Tag: int64(d.Tag.Val)}
	f.setOptions(r.options(d.Options))
	return f
}

func (r treeReader) mapField(d *ast.MapFieldNode) *Field {
	f := &Field{Type: mapType(d.MapType.KeyType.Val, string(d.MapType.ValueType.AsIdentifier())), Name: d.Name.Val, Tag: int64(d.Tag.Val)}
	f.setOptions(r.options(d.Options))
	return f
}

func mapType(key, value string) string { return "map<" + key + ", " + value + ">" }

// splitMap takes a map type apart.
func splitMap(t string) (key, value string, is bool) {
	inner, is := strings.CutPrefix(t, "map<")
	if !is {
		return "", "", false
	}
	key, value, is = strings.Cut(strings.TrimSuffix(inner, ">"), ", ")
	return key, value, is
}

// setOptions keeps default and json_name apart from the others.
func (f *Field) setOptions(options []Option) {
	for _, o := range options {
		switch {
		case o.Name == "default" && !o.Extension && f.Default == nil:
			f.Default = &o.Text
		case o.Name == "json_name" && !o.Extension && f.JSONName == nil:
			f.JSONName = &o.Text
		default:
			f.Options = append(f.Options, o)
		}
	}
}

func (r treeReader) group(d *ast.GroupNode) Group {
	g := Group{Label: label(d.Label), Name: d.Name.Val, Tag: int64(d.Tag.Val)}
	for _, decl := range d.Decls {
		switch d := decl.(type) {
		case *ast.FieldNode:
			g.Fields = append(g.Fields, r.field(d))
		case *ast.MapFieldNode:
			g.Fields = append(g.Fields, r.mapField(d))
		}
	}
	return g
}

func (r treeReader) oneOf(d *ast.OneofNode) OneOf {
	o := OneOf{Name: d.Name.Val}
	for _, decl := range d.Decls {
		switch d := decl.(type) {
		case *ast.OptionNode:
			o.Options = append(o.Options, r.option(d))
		case *ast.FieldNode:
			o.Fields = append(o.Fields, r.field(d))
		case *ast.GroupNode:
			o.Groups = append(o.Groups, r.group(d))
		}
	}
	return o
}
