package protobuf

import (
	"slices"
	"strconv"
)

// place is a field and the oneof that it is in.
type place struct {
	field *Field
	oneOf string // empty: none
}

func placesOf(m *Message) map[int64]place {
	at := map[int64]place{}
	for _, f := range m.Fields {
		at[f.Tag] = place{f, ""}
	}
	for _, o := range m.OneOfs {
		for _, f := range o.Fields {
			at[f.Tag] = place{f, o.Name}
		}
	}
	return at
}

// message compares fields by tag over the whole message, whatever oneof they are in, so that none hides what changed.
func (c *comparison) message(original, update *Message) {
	if c.steps--; c.steps < 0 {
		panic(failure{errSteps})
	}
	if c.steps%256 == 0 && c.ctx.Err() != nil {
		panic(failure{c.ctx.Err()})
	}
	if !c.active[original] {
		c.active[original] = true
		c.members(original, update)
		delete(c.active, original)
	}
	c.types(original.Messages, update.Messages, original.Enums, update.Enums)
}

func (c *comparison) members(original, update *Message) {
	before, after := placesOf(original), placesOf(update)
	for _, o := range update.OneOfs {
		c.exclusion(o, before)
	}
	gone := map[string]bool{} // oneofs of which nothing is left: that is a deletion, which is fine
	for _, name := range oneOfNames(original, update) {
		x, y := oneOfNamed(original, name), oneOfNamed(update, name)
		switch {
		case y == nil:
			c.addUnder("ONEOF_REMOVED", name)
			gone[name] = !slices.ContainsFunc(x.Fields, func(f *Field) bool { return after[f.Tag].field != nil })
		case x == nil:
			c.addUnder("ONEOF_ADDED", name)
		}
	}
	for _, tag := range sortedKeys(before, after) {
		c.member(before[tag], after[tag], strconv.FormatInt(tag, 10), gone)
	}
}

func oneOfNames(original, update *Message) (all []string) {
	for _, o := range slices.Concat(original.OneOfs, update.OneOfs) {
		all = append(all, o.Name)
	}
	return sortedOnce(all)
}

func oneOfNamed(m *Message, name string) *OneOf {
	return named(m.OneOfs, name, func(o OneOf) string { return o.Name })
}

// exclusion finds fields that were independent and exclude each other now.
func (c *comparison) exclusion(o OneOf, before map[int64]place) {
	origins, topLevel := map[string]bool{}, 0
	for _, f := range o.Fields {
		switch was := before[f.Tag]; {
		case was.field == nil:
		case was.oneOf != "":
			origins["oneof:"+was.oneOf] = true
		default:
			origins["field:"+strconv.FormatInt(f.Tag, 10)] = true
			topLevel++
		}
	}
	switch {
	case len(origins) < 2:
	case topLevel > 1:
		c.addUnder("MULTIPLE_FIELDS_MOVED_TO_ONEOF", o.Name)
	default:
		c.addUnder("FIELD_MOVED_TO_EXISTING_ONEOF", o.Name)
	}
}

func (c *comparison) member(was, is place, tag string, gone map[string]bool) {
	switch {
	case is.field == nil && was.oneOf != "":
		if !gone[was.oneOf] {
			c.addUnder("ONEOF_FIELD_REMOVED", was.oneOf, tag)
		}
	case is.field == nil:
		c.addUnder(required(was.field)+"FIELD_REMOVED", tag)
	case was.field == nil && is.oneOf != "":
		c.addUnder("ONEOF_FIELD_ADDED", is.oneOf, tag)
	case was.field == nil:
		c.addUnder(required(is.field)+"FIELD_ADDED", tag)
	case is.oneOf != "":
		c.under([]string{is.oneOf, tag}, func() { c.field(was.field, is.field) })
	default:
		if was.oneOf != "" {
			c.addUnder("ONEOF_FIELD_MOVED_TO_TOP_LEVEL", tag)
		}
		c.under([]string{tag}, func() { c.field(was.field, is.field) })
	}
}

func required(f *Field) string {
	if f.Label == "required" {
		return "REQUIRED_"
	}
	return ""
}

func (c *comparison) field(original, update *Field) {
	if original.Name != update.Name {
		c.add("FIELD_NAME_CHANGED")
	}
	c.fieldTypes(original.Label, update.Label, original.Type, update.Type)
}

// Kinds of fields.
const (
	kindScalar = iota
	kindMap
	kindMessage
)

// kind is the kind of a type, the type itself (a map for the synthetic message of one) and its group when it is a scalar.
func (c *comparison) kind(t string, side int) (kind int, typ, group string) {
	if g := scalarGroup(t); g != "" {
		return kindScalar, t, g
	}
	if _, _, is := splitMap(t); is {
		return kindMap, t, ""
	}
	_, info := c.resolve(t, side)
	if m, is := info.mapOf(); is {
		return kindMap, m, ""
	}
	if info != nil && info.enum != nil {
		return kindScalar, t, "general number"
	}
	return kindMessage, t, ""
}

// scalarGroup tells scalars apart that cannot be read as one another; empty for what is none.
func scalarGroup(t string) string {
	switch t {
	case "int32", "int64", "uint32", "uint64", "bool":
		return "general number"
	case "sint32", "sint64":
		return "signed number"
	case "string", "bytes":
		return "string or bytes"
	case "fixed32", "sfixed32":
		return "fixed32"
	case "fixed64", "sfixed64":
		return "fixed64"
	case "float", "double":
		return t
	}
	return ""
}

func (c *comparison) fieldTypes(labelBefore, labelAfter, before, after string) {
	kindBefore, before, groupBefore := c.kind(before, 0)
	kindAfter, after, groupAfter := c.kind(after, 1)
	if kindBefore != kindAfter {
		c.add("FIELD_KIND_CHANGED")
		return
	}
	switch kindBefore {
	case kindScalar:
		c.scalars(labelBefore, labelAfter, groupBefore, groupAfter)
	case kindMap:
		keyBefore, valueBefore, _ := splitMap(before)
		keyAfter, valueAfter, _ := splitMap(after)
		c.fieldTypes("", "", keyBefore, keyAfter)
		c.fieldTypes("", "", valueBefore, valueAfter)
	default:
		c.messageTypes(before, after)
	}
}

func (c *comparison) scalars(labelBefore, labelAfter, before, after string) {
	switch {
	case before != after:
		c.add("FIELD_SCALAR_KIND_CHANGED")
	case labelBefore == "" || labelAfter == "" || labelBefore == labelAfter:
	case before == "string or bytes":
		c.add("FIELD_STRING_OR_BYTES_LABEL_CHANGED")
	default:
		c.add("FIELD_NUMERIC_LABEL_CHANGED")
	}
}

func (c *comparison) messageTypes(before, after string) {
	fullBefore, x := c.resolve(before, 0)
	fullAfter, y := c.resolve(after, 1)
	if x == nil || y == nil || x.message == nil || y.message == nil {
		if before != after {
			c.add("FIELD_NAMED_TYPE_CHANGED")
		}
		return
	}
	local := localName(fullBefore, x.pkg)
	if local != localName(fullAfter, y.pkg) {
		c.add("FIELD_NAMED_TYPE_CHANGED")
		return
	}
	if x.from != nil && y.from != nil && x.from.Subject == y.from.Subject && x.from.Version == y.from.Version {
		return // both of the schema itself, or of the same version of a subject
	}
	found := c.elsewhere(x, y, local)
	for range found {
		if c.found--; c.found < 0 {
			panic(failure{errSteps})
		}
	}
	c.differences = append(c.differences, found...)
	if slices.ContainsFunc(found, func(d Difference) bool { return !Allowed(d.Type) }) {
		c.add("FIELD_NAMED_TYPE_CHANGED")
	}
}

// elsewhere compares types of files that the schemas refer to, at their own place.
func (c *comparison) elsewhere(x, y *typeInfo, local string) []Difference {
	key := messages{x.message, y.message}
	if found, known := c.done[key]; known {
		return found
	}
	parts := splitDots(local)
	sub := &comparison{shared: c.shared, packages: [2]string{x.pkg, y.pkg}, path: parts, scope: slices.Clone(parts)}
	sub.message(x.message, y.message)
	if !c.active[x.message] {
		c.done[key] = sub.differences
	}
	return sub.differences
}
