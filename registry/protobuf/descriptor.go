package protobuf

import (
	"errors"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

func protoOf(d protoreflect.FileDescriptor) *descriptorpb.FileDescriptorProto {
	return protodesc.ToFileDescriptorProto(d)
}

func splitDots(s string) []string { return strings.Split(s, ".") }

func localName(full, pkg string) string { return strings.TrimPrefix(full, pkg+".") }

// maxMessages bounds the messages that decoding a descriptor makes.
const maxMessages = 100_000

var errDescriptor = errors.New("no descriptor")

// checkWire counts the messages of a serialized descriptor before they are made.
func checkWire(raw []byte) error {
	left := maxMessages
	return countMessages(raw, (*descriptorpb.FileDescriptorProto)(nil).ProtoReflect().Descriptor(), 0, &left)
}

func countMessages(raw []byte, of protoreflect.MessageDescriptor, depth int, left *int) error {
	if depth > MaxDepth {
		return errDeep
	}
	for len(raw) > 0 {
		if *left--; *left < 0 {
			return errLarge
		}
		num, typ, n := protowire.ConsumeTag(raw)
		if n < 0 {
			return errDescriptor
		}
		raw = raw[n:]
		size := protowire.ConsumeFieldValue(num, typ, raw)
		if size < 0 {
			return errDescriptor
		}
		if f := of.Fields().ByNumber(num); f != nil && f.Message() != nil && typ == protowire.BytesType {
			inner, _ := protowire.ConsumeBytes(raw)
			if err := countMessages(inner, f.Message(), depth+1, left); err != nil {
				return err
			}
		}
		raw = raw[size:]
	}
	return nil
}

func fileOfDescriptor(d *descriptorpb.FileDescriptorProto) (*File, error) {
	f := &File{Package: d.GetPackage()}
	if s := d.GetSyntax(); s == "proto2" || s == "proto3" {
		f.Syntax = s
	}
	public := map[int32]bool{}
	for _, i := range d.PublicDependency {
		public[i] = true
	}
	for i, name := range d.Dependency {
		if public[int32(i)] {
			f.Public = append(f.Public, name)
		} else {
			f.Imports = append(f.Imports, name)
		}
	}
	r := descriptorReader{proto3: f.Syntax == "proto3"}
	f.Options = optionsOf(d.Options, "confluent.file_meta")
	for _, m := range d.MessageType {
		f.Messages = append(f.Messages, r.message(m))
	}
	for _, e := range d.EnumType {
		f.Enums = append(f.Enums, enumOfDescriptor(e))
	}
	f.Extends = r.extends(d.Extension)
	for _, s := range d.Service {
		f.Services = append(f.Services, serviceOfDescriptor(s))
	}
	return f, r.err
}

type descriptorReader struct {
	proto3 bool
	err    error
}

func (r *descriptorReader) message(d *descriptorpb.DescriptorProto) *Message {
	m := &Message{Name: d.GetName(), Options: optionsOf(d.Options, "confluent.message_meta"), Extends: r.extends(d.Extension)}
	oneOfs := make([]OneOf, len(d.OneofDecl))
	for i, o := range d.OneofDecl {
		oneOfs[i].Name = o.GetName()
	}
	for _, fd := range d.Field {
		in := fd.OneofIndex != nil && !fd.GetProto3Optional()
		f := r.field(fd, in)
		switch {
		case !in:
			m.Fields = append(m.Fields, f)
		case int(*fd.OneofIndex) < len(oneOfs) && *fd.OneofIndex >= 0:
			o := &oneOfs[*fd.OneofIndex]
			o.Fields = append(o.Fields, f)
		default:
			r.err = errDescriptor
		}
	}
	for _, o := range oneOfs {
		if len(o.Fields) > 0 {
			m.OneOfs = append(m.OneOfs, o)
		}
	}
	for _, nested := range d.NestedType {
		m.Messages = append(m.Messages, r.message(nested))
	}
	for _, e := range d.EnumType {
		m.Enums = append(m.Enums, enumOfDescriptor(e))
	}
	for _, v := range d.ReservedRange {
		m.Reserved = append(m.Reserved, rangeValues(v.GetStart(), v.GetEnd()-1))
	}
	for _, name := range d.ReservedName {
		m.Reserved = append(m.Reserved, Values{Items: []Value{{Name: name}}})
	}
	for _, v := range d.ExtensionRange {
		m.Extensions = append(m.Extensions, rangeValues(v.GetStart(), v.GetEnd()-1))
	}
	return m
}

func rangeValues(from, to int32) Values {
	return Values{Items: []Value{{From: int64(from), To: int64(to), Range: from != to}}}
}

func (r *descriptorReader) extends(fields []*descriptorpb.FieldDescriptorProto) (all []Extend) {
	at := map[string]int{}
	for _, fd := range fields {
		i, known := at[fd.GetExtendee()]
		if !known {
			i = len(all)
			at[fd.GetExtendee()] = i
			all = append(all, Extend{Name: fd.GetExtendee()})
		}
		all[i].Fields = append(all[i].Fields, r.field(fd, false))
	}
	return all
}

func (r *descriptorReader) field(d *descriptorpb.FieldDescriptorProto, inOneOf bool) *Field {
	f := &Field{Name: d.GetName(), Tag: int64(d.GetNumber()), Type: d.GetTypeName(), Options: optionsOf(d.Options, "confluent.field_meta"), JSONName: d.JsonName}
	if d.TypeName == nil {
		f.Type = strings.ToLower(strings.TrimPrefix(d.GetType().String(), "TYPE_"))
	}
	if !r.proto3 {
		f.Default = d.DefaultValue
	}
	switch l := d.GetLabel(); {
	case inOneOf:
	case d.GetProto3Optional():
		f.Label = "optional"
	case l == descriptorpb.FieldDescriptorProto_LABEL_REPEATED:
		f.Label = "repeated"
	case !r.proto3:
		f.Label = strings.ToLower(strings.TrimPrefix(l.String(), "LABEL_"))
	}
	return f
}

func enumOfDescriptor(d *descriptorpb.EnumDescriptorProto) *Enum {
	e := &Enum{Name: d.GetName(), Options: optionsOf(d.Options, "confluent.enum_meta")}
	for _, v := range d.Value {
		e.Constants = append(e.Constants, Constant{v.GetName(), int64(v.GetNumber()), optionsOf(v.Options, "confluent.enum_value_meta")})
	}
	for _, v := range d.ReservedRange {
		e.Reserved = append(e.Reserved, rangeValues(v.GetStart(), v.GetEnd()))
	}
	for _, name := range d.ReservedName {
		e.Reserved = append(e.Reserved, Values{Items: []Value{{Name: name}}})
	}
	return e
}

func serviceOfDescriptor(d *descriptorpb.ServiceDescriptorProto) Service {
	s := Service{Name: d.GetName(), Options: optionsOf(d.Options, "")}
	for _, m := range d.Method {
		s.Methods = append(s.Methods, Method{
			Name: m.GetName(), Input: m.GetInputType(), Output: m.GetOutputType(),
			InputStream: m.GetClientStreaming(), OutputStream: m.GetServerStreaming(), Options: optionsOf(m.Options, ""),
		})
	}
	return s
}

// optionsOf are Protobuf's own options in the order of their numbers, and Confluent's. Others cannot be read without the file that
// defines them: they are left away, as in the reference.
func optionsOf(m proto.Message, confluent string) (options []Option) {
	r := m.ProtoReflect()
	if !r.IsValid() {
		return nil
	}
	fields := r.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if !r.Has(f) || f.Name() == "uninterpreted_option" {
			continue
		}
		v := r.Get(f)
		if f.IsList() {
			for j := range v.List().Len() {
				options = append(options, optionOf(string(f.Name()), f, v.List().Get(j)))
			}
			continue
		}
		options = append(options, optionOf(string(f.Name()), f, v))
	}
	if meta, has := metaOf(r.GetUnknown(), confluent); has {
		options = append(options, meta)
	}
	return options
}

func optionOf(name string, f protoreflect.FieldDescriptor, v protoreflect.Value) Option {
	switch f.Kind() {
	case protoreflect.StringKind:
		return Option{Name: name, Kind: OptionString, Text: v.String()}
	case protoreflect.BoolKind:
		return Option{Name: name, Kind: OptionBool, Text: strconv.FormatBool(v.Bool())}
	case protoreflect.EnumKind:
		if e := f.Enum().Values().ByNumber(v.Enum()); e != nil {
			return Option{Name: name, Kind: OptionEnum, Text: string(e.Name())}
		}
		return Option{Name: name, Kind: OptionNumber, Text: strconv.Itoa(int(v.Enum()))}
	case protoreflect.MessageKind:
		o := Option{Name: name, Kind: OptionMap}
		inner := v.Message()
		fields := inner.Descriptor().Fields()
		for i := range fields.Len() {
			if f := fields.Get(i); inner.Has(f) && !f.IsList() {
				o.Items = append(o.Items, optionOf(string(f.Name()), f, inner.Get(f)))
			}
		}
		return o
	}
	return Option{Name: name, Kind: OptionNumber, Text: v.String()}
}

// metaNumber is the number of Confluent's options in all kinds of options.
const metaNumber = 1088

// metaOf reads Confluent's option of the raw options.
func metaOf(raw []byte, name string) (Option, bool) {
	o := Option{Name: name, Extension: true, Kind: OptionMap}
	var params, tags, rules []Option
	if name == "" {
		return o, false
	}
	eachField(raw, func(num protowire.Number, meta []byte) {
		if num != metaNumber {
			return
		}
		eachField(meta, func(num protowire.Number, v []byte) {
			switch num {
			case 1:
				o.Items = append(o.Items, Option{Name: "doc", Kind: OptionString, Text: string(v)})
			case 2:
				params = append(params, paramOf(v))
			case 3:
				tags = append(tags, Option{Kind: OptionString, Text: string(v)})
			case 4:
				if rule := stringFields(v, "name", "doc", "expr", "sql"); len(rule) > 0 {
					rules = append(rules, Option{Kind: OptionMap, Items: rule})
				}
			}
		})
	})
	for _, list := range []Option{{Name: "params", Items: params}, {Name: "tags", Items: tags}, {Name: "rules", Items: rules}} {
		if len(list.Items) > 0 {
			list.Kind = OptionList
			o.Items = append(o.Items, list)
		}
	}
	return o, len(o.Items) > 0
}

// paramOf is an entry of params: the value comes first for those two that once came so.
func paramOf(v []byte) Option {
	entry := stringFields(v, "key", "value")
	if len(entry) == 2 && (entry[0].Text == "precision" || entry[0].Text == "scale") {
		entry[0], entry[1] = entry[1], entry[0]
	}
	return Option{Kind: OptionMap, Items: entry}
}

// stringFields are the fields 1, 2, ... of a message that are set, under the names.
func stringFields(raw []byte, names ...string) (fields []Option) {
	values := make([]string, len(names))
	eachField(raw, func(num protowire.Number, v []byte) {
		if i := int(num) - 1; i >= 0 && i < len(names) {
			values[i] = string(v)
		}
	})
	for i, v := range values {
		if v != "" {
			fields = append(fields, Option{Name: names[i], Kind: OptionString, Text: v})
		}
	}
	return fields
}

// eachField calls f with the fields of a message that have bytes.
func eachField(raw []byte, f func(num protowire.Number, v []byte)) {
	for len(raw) > 0 {
		num, typ, n := protowire.ConsumeTag(raw)
		if n < 0 {
			return
		}
		size := protowire.ConsumeFieldValue(num, typ, raw[n:])
		if size < 0 {
			return
		}
		if typ == protowire.BytesType {
			v, _ := protowire.ConsumeBytes(raw[n:])
			f(num, v)
		}
		raw = raw[n+size:]
	}
}
