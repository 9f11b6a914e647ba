package protobuf

import "strings"

// optionLines are options as statements, a line each.
func (p *printer) optionLines(options []Option) string {
	var b strings.Builder
	for _, o := range p.kept(options) {
		b.WriteString("option " + p.option(o) + ";\n")
	}
	return b.String()
}

// inline are options in brackets behind a field, with a space before; empty when there are none.
func (p *printer) inline(options []Option) string {
	options = p.kept(options)
	if len(options) == 0 {
		return ""
	}
	return " " + p.list(options, p.option)
}

// list is one element in brackets, or more on lines of their own.
func (p *printer) list(items []Option, text func(Option) string) string {
	if len(items) == 1 {
		return "[" + text(items[0]) + "]"
	}
	var b strings.Builder
	b.WriteString("[\n")
	for i, item := range items {
		end := ","
		if i == len(items)-1 {
			end = ""
		}
		b.WriteString(indent(text(item) + end))
	}
	b.WriteString("]")
	return b.String()
}

func (p *printer) kept(options []Option) []Option {
	if p.plain {
		var own []Option
		for _, o := range options {
			if !o.Extension || strings.HasPrefix(o.Name, "confluent.") {
				own = append(own, o)
			}
		}
		options = own
	}
	if p.normal != nil {
		return p.normal.options(options)
	}
	return options
}

func (p *printer) option(o Option) string {
	name := o.Name
	if o.Extension {
		name = "(" + name + ")"
	}
	switch o.Kind {
	case OptionNested:
		return name + "." + p.option(o.Items[0])
	case OptionList:
		return name + " = " + p.list(o.Items, p.value)
	}
	return name + " = " + p.value(o)
}

// value is a value of an option, an entry of a map or an element of a list.
func (p *printer) value(o Option) string {
	switch o.Kind {
	case OptionString:
		return `"` + escaped(o.Text) + `"`
	case OptionNumber:
		if p.normal != nil {
			return normalNumber(o.Text)
		}
		return o.Text
	case OptionMap:
		return "{\n" + p.entries(o.Items) + "}"
	case OptionList:
		return p.nestedList(o.Items)
	case OptionNested:
		return p.option(o)
	}
	return o.Text
}

func (p *printer) nestedList(items []Option) string {
	if p.normal != nil && len(items) == 1 {
		return p.value(items[0])
	}
	var b strings.Builder
	b.WriteString("[\n")
	for i, item := range items {
		end := ","
		if i == len(items)-1 {
			end = ""
		}
		b.WriteString(indent(p.value(item) + end))
	}
	b.WriteString("]")
	return b.String()
}

func (p *printer) entries(items []Option) string {
	if p.normal != nil {
		items = p.normal.entries(items)
	}
	var b strings.Builder
	for i, item := range items {
		end := ","
		if i == len(items)-1 {
			end = ""
		}
		b.WriteString(indent(item.Name + ": " + p.value(item) + end))
	}
	return b.String()
}

// escaped is a string as literals write it. A null character may stand in none; octal digits have an end, whatever follows.
func escaped(s string) string {
	return strings.NewReplacer(
		"\a", `\a`, "\b", `\b`, "\f", `\f`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\v", `\v`, "\x00", `\000`, `\`, `\\`, "'", `\'`, `"`, `\"`,
	).Replace(s)
}
