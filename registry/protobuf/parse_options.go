package protobuf

import (
	"strings"

	"github.com/bufbuild/protocompile/ast"
)

func (r treeReader) options(n *ast.CompactOptionsNode) (options []Option) {
	if n == nil {
		return nil
	}
	for _, o := range n.Options {
		options = append(options, r.option(o))
	}
	return options
}

// option is an option; the parts of a name after an extension become options inside of one another.
func (r treeReader) option(n *ast.OptionNode) Option {
	o := r.value(n.Val)
	parts := n.Name.Parts
	first := 1
	for !isExtension(parts[0]) && first < len(parts) && !isExtension(parts[first]) {
		first++ // a.b is one name
	}
	for i := len(parts) - 1; i >= first; i-- {
		o.Name, o.Extension = partName(parts[i]), isExtension(parts[i])
		o = Option{Kind: OptionNested, Items: []Option{o}}
	}
	names := make([]string, first)
	for i := range first {
		names[i] = partName(parts[i])
	}
	o.Name, o.Extension = strings.Join(names, "."), isExtension(parts[0])
	return o
}

func isExtension(n *ast.FieldReferenceNode) bool { return n.Open != nil }

func partName(n *ast.FieldReferenceNode) string { return string(n.Name.AsIdentifier()) }

func (r treeReader) value(n ast.ValueNode) Option {
	switch v := n.(type) {
	case ast.StringValueNode:
		return Option{Kind: OptionString, Text: v.AsString()}
	case *ast.MessageLiteralNode:
		return r.mapValue(v)
	case *ast.ArrayLiteralNode:
		o := Option{Kind: OptionList}
		for _, e := range v.Elements {
			o.Items = append(o.Items, r.value(e))
		}
		return o
	case ast.IdentValueNode:
		name := string(v.AsIdentifier())
		if name == "true" || name == "false" {
			return Option{Kind: OptionBool, Text: name}
		}
		return Option{Kind: OptionEnum, Text: name}
	}
	text := strings.ReplaceAll(r.raw(n), " ", "")
	if text == "inf" || text == "nan" {
		return Option{Kind: OptionEnum, Text: text}
	}
	return Option{Kind: OptionNumber, Text: text}
}

// mapValue is a message literal: an entry for each name, in the order of the first; what is there more than once is a list.
func (r treeReader) mapValue(n *ast.MessageLiteralNode) Option {
	o := Option{Kind: OptionMap}
	at := map[string]int{}
	for _, e := range n.Elements {
		v := r.value(e.Val)
		v.Name = fieldName(e.Name)
		i, twice := at[v.Name]
		if !twice {
			at[v.Name] = len(o.Items)
			o.Items = append(o.Items, v)
			continue
		}
		if known := &o.Items[i]; known.Kind != OptionList {
			*known = Option{Name: v.Name, Kind: OptionList, Items: []Option{*known}}
		}
		if v.Kind == OptionList {
			o.Items[i].Items = append(o.Items[i].Items, v.Items...)
		} else {
			o.Items[i].Items = append(o.Items[i].Items, v)
		}
	}
	return o
}

func fieldName(n *ast.FieldReferenceNode) string {
	name := partName(n)
	if n.URLPrefix != nil {
		name = string(n.URLPrefix.AsIdentifier()) + "/" + name
	}
	if isExtension(n) {
		return "[" + name + "]"
	}
	return name
}
