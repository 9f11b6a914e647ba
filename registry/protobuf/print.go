package protobuf

import (
	"strconv"
	"strings"
)

// Canonical is the text that a registry stores.
func (p *Parsed) Canonical() string { return (&printer{}).file(p.File) }

// WithoutExtensions is the text without extensions and options that are not Protobuf's own or Confluent's.
func (p *Parsed) WithoutExtensions() string { return (&printer{plain: true}).file(p.File) }

// printer writes a file in the layout of Confluent's registry: messages before enums, a blank line between kinds of members.
type printer struct {
	plain  bool
	normal *resolver // names are resolved and members sorted by it; nil: as they are
}

// section joins lines that belong together, with a line break before them.
func section(lines ...string) string {
	all := strings.Join(lines, "")
	if all == "" {
		return ""
	}
	return "\n" + all
}

func (p *printer) file(f *File) string {
	var b strings.Builder
	switch {
	case f.Syntax == "":
	case f.Edition:
		b.WriteString("edition = \"" + f.Syntax + "\";\n")
	case p.normal == nil || f.Syntax == "proto3":
		b.WriteString("syntax = \"" + f.Syntax + "\";\n")
	}
	if f.Package != "" {
		b.WriteString("package " + f.Package + ";\n")
	}
	b.WriteString(section(p.imports("import ", f.Imports), p.imports("import public ", f.Public)))
	b.WriteString(section(p.optionLines(f.Options)))
	b.WriteString(section(p.types(f.Messages, f.Enums)))
	b.WriteString(section(p.extends(f.Extends)))
	var services strings.Builder
	for _, s := range f.Services {
		services.WriteString(p.service(s))
	}
	b.WriteString(section(services.String()))
	return b.String()
}

func (p *printer) imports(keyword string, names []string) string {
	if p.normal != nil {
		names = sortedOnce(names)
	}
	var b strings.Builder
	for _, name := range names {
		b.WriteString(keyword + `"` + name + "\";\n")
	}
	return b.String()
}

func (p *printer) types(messages []*Message, enums []*Enum) string {
	var b strings.Builder
	for _, m := range messages {
		if p.normal != nil && p.normal.isMapEntry(m.Name) {
			continue
		}
		b.WriteString(p.message(m))
	}
	for _, e := range enums {
		b.WriteString(p.enum(e))
	}
	return b.String()
}

// block is a definition in braces with its sections indented.
func block(head string, sections ...string) string {
	var b strings.Builder
	b.WriteString(head + " {")
	for _, s := range sections {
		if s == "" {
			continue
		}
		b.WriteString("\n")
		b.WriteString(indent(s))
	}
	b.WriteString("}\n")
	return b.String()
}

func indent(s string) string {
	s = strings.TrimRight(s, "\n")
	return "  " + strings.ReplaceAll(s, "\n", "\n  ") + "\n"
}

func (p *printer) message(m *Message) string {
	if p.normal != nil {
		defer p.normal.enter(m.Name)()
	}
	sections := []string{p.values("reserved ", m.Reserved), p.optionLines(m.Options), p.fields(m.Fields), p.oneOfs(m.OneOfs), p.groups(m.Groups)}
	if !p.plain {
		sections = append(sections, p.values("extensions ", m.Extensions), p.extends(m.Extends))
	}
	return block("message "+m.Name, append(sections, p.types(m.Messages, m.Enums))...)
}

func (p *printer) enum(e *Enum) string {
	if p.normal != nil {
		defer p.normal.enter(e.Name)()
	}
	var constants strings.Builder
	for _, c := range p.constants(e.Constants) {
		constants.WriteString(c.Name + " = " + strconv.FormatInt(c.Tag, 10) + p.inline(c.Options) + ";\n")
	}
	return block("enum "+e.Name, p.values("reserved ", e.Reserved)+p.optionLines(e.Options)+constants.String())
}

func (p *printer) service(s Service) string {
	var methods strings.Builder
	for _, m := range s.Methods {
		methods.WriteString(p.method(m))
	}
	return block("service "+s.Name, p.optionLines(s.Options), methods.String())
}

func (p *printer) method(m Method) string {
	stream := func(is bool, name string) string {
		if name = p.resolved(name); is {
			return "stream " + name
		}
		return name
	}
	text := "rpc " + m.Name + " (" + stream(m.InputStream, m.Input) + ") returns (" + stream(m.OutputStream, m.Output) + ")"
	if options := p.optionLines(m.Options); options != "" {
		text += " {\n" + indent(options) + "}"
	}
	return text + ";\n"
}

func (p *printer) values(keyword string, all []Values) string {
	if p.normal != nil {
		all = sortedValues(all)
	}
	var b strings.Builder
	for _, v := range all {
		items := make([]string, len(v.Items))
		for i, item := range v.Items {
			items[i] = p.valueText(item)
		}
		b.WriteString(keyword + strings.Join(items, ", ") + p.inline(v.Options) + ";\n")
	}
	return b.String()
}

func (p *printer) valueText(v Value) string {
	switch {
	case v.Name != "":
		return `"` + v.Name + `"`
	case !v.Range || p.normal != nil && v.From == v.To:
		return strconv.FormatInt(v.From, 10)
	case v.To >= maxTag:
		return strconv.FormatInt(v.From, 10) + " to max"
	}
	return strconv.FormatInt(v.From, 10) + " to " + strconv.FormatInt(v.To, 10)
}

func (p *printer) oneOfs(all []OneOf) string {
	if p.normal != nil {
		all = sortedOneOfs(all)
	}
	var b strings.Builder
	for _, o := range all {
		b.WriteString(block("oneof "+o.Name, p.optionLines(o.Options), p.fields(o.Fields), p.groups(o.Groups)))
	}
	return b.String()
}

func (p *printer) groups(all []Group) string {
	var b strings.Builder
	for _, g := range p.sortedGroups(all) {
		b.WriteString(block(withLabel(g.Label, "group "+g.Name+" = "+strconv.FormatInt(g.Tag, 10)), p.fields(g.Fields)))
	}
	return b.String()
}

func withLabel(label, text string) string {
	if label == "" {
		return text
	}
	return label + " " + text
}

func (p *printer) extends(all []Extend) string {
	if p.plain {
		return ""
	}
	if p.normal != nil {
		all = p.joinedExtends(all)
	}
	var b strings.Builder
	for _, e := range all {
		b.WriteString(block("extend "+e.Name, p.fields(e.Fields)))
	}
	return b.String()
}

func (p *printer) fields(all []*Field) string {
	var b strings.Builder
	for _, f := range p.sortedFields(all) {
		b.WriteString(p.field(f))
	}
	return b.String()
}

func (p *printer) field(f *Field) string {
	label, typ := f.Label, f.Type
	if p.normal != nil {
		label, typ = p.normal.fieldType(f)
	}
	options := f.Options
	if f.Default != nil {
		options = append(options[:len(options):len(options)], Option{Name: "default", Kind: kindOf(typ), Text: *f.Default})
	}
	if f.JSONName != nil {
		options = append(options[:len(options):len(options)], Option{Name: "json_name", Kind: OptionString, Text: *f.JSONName})
	}
	return withLabel(label, typ+" "+f.Name+" = "+strconv.FormatInt(f.Tag, 10)) + p.inline(options) + ";\n"
}

// kindOf is how a default of the type is written.
func kindOf(t string) OptionKind {
	switch t {
	case "string":
		return OptionString
	case "bool":
		return OptionBool
	}
	if isScalar(t) {
		return OptionNumber
	}
	return OptionEnum
}

func isScalar(t string) bool {
	switch t {
	case "double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64", "sfixed32", "sfixed64", "bool", "string", "bytes":
		return true
	}
	return false
}
