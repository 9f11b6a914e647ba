package protobuf

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Normalized is the text that schemas of one meaning share. An error names a type that is in no file the schema refers to:
// it says whether a schema is valid, too.
func (p *Parsed) Normalized() (string, error) {
	r := &resolver{names: newNames(p)}
	text := (&printer{normal: r}).file(p.File)
	return text, r.err
}

func sortedOnce(names []string) []string { return slices.Compact(slices.Sorted(slices.Values(names))) }

// sortedValues has a value a line, by number; names come last, by name.
func sortedValues(all []Values) (sorted []Values) {
	for _, v := range all {
		for _, item := range v.Items {
			sorted = append(sorted, Values{[]Value{item}, v.Options})
		}
	}
	number := func(v Value) int64 {
		if v.Name != "" {
			return math.MaxInt32
		}
		return v.From
	}
	slices.SortStableFunc(sorted, func(a, b Values) int {
		return cmp.Or(cmp.Compare(number(a.Items[0]), number(b.Items[0])), strings.Compare(a.Items[0].Name, b.Items[0].Name))
	})
	return sorted
}

func byTag(a, b *Field) int { return cmp.Compare(a.Tag, b.Tag) }

func (p *printer) sortedFields(all []*Field) []*Field {
	if p.normal == nil {
		return all
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, byTag)
	return all
}

func (p *printer) sortedGroups(all []Group) []Group {
	if p.normal == nil {
		return all
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b Group) int { return cmp.Compare(a.Tag, b.Tag) })
	return all
}

func (p *printer) constants(all []Constant) []Constant {
	if p.normal == nil {
		return all
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b Constant) int {
		return cmp.Or(cmp.Compare(a.Tag, b.Tag), strings.Compare(a.Name, b.Name))
	})
	return all
}

func sortedOneOfs(all []OneOf) (sorted []OneOf) {
	first := func(o OneOf) int64 { return slices.MinFunc(o.Fields, byTag).Tag }
	for _, o := range all {
		if len(o.Fields) > 0 {
			sorted = append(sorted, o)
		}
	}
	slices.SortStableFunc(sorted, func(a, b OneOf) int { return cmp.Compare(first(a), first(b)) })
	return sorted
}

// joinedExtends has one block for each message that is extended.
func (p *printer) joinedExtends(all []Extend) (joined []Extend) {
	for _, e := range all {
		if len(e.Fields) == 0 {
			continue
		}
		name, _ := p.normal.must(e.Name)
		i := slices.IndexFunc(joined, func(j Extend) bool { return j.Name == name })
		if i < 0 {
			joined = append(joined, Extend{name, slices.Clone(e.Fields)})
		} else {
			joined[i].Fields = append(joined[i].Fields, e.Fields...)
		}
	}
	return joined
}

// options are sorted, their names resolved; (a).b = 1 becomes (a) = {b: 1}, and what sets parts of one option is one.
func (r *resolver) options(all []Option) (joined []Option) {
	sorted := make([]Option, len(all))
	for i, o := range all {
		if full, found := r.extension(o.Name); o.Extension && found {
			o = flat(o)
			o.Name = full
		}
		sorted[i] = o
	}
	slices.SortStableFunc(sorted, func(a, b Option) int { return strings.Compare(a.Name, b.Name) })
	for _, o := range sorted {
		last := len(joined) - 1
		if last >= 0 && joined[last].Name == o.Name && joined[last].Kind == OptionMap && o.Kind == OptionMap {
			if f := r.names.extension(o.Name); f != nil && f.Label != "repeated" {
				joined[last].Items = merged(joined[last].Items, o.Items)
				continue
			}
		}
		joined = append(joined, o)
	}
	return joined
}

func (r *resolver) extension(name string) (string, bool) {
	return lookUp(name, r.names.pkg, r.scope, func(full string) bool { return r.names.extension(full) != nil })
}

// flat makes a map of an option that names a part of its value.
func flat(o Option) Option {
	if o.Kind != OptionNested {
		return o
	}
	inner := flat(o.Items[0])
	if inner.Extension {
		inner.Name, inner.Extension = "["+inner.Name+"]", false
	}
	return Option{Name: o.Name, Extension: o.Extension, Kind: OptionMap, Items: []Option{inner}}
}

func merged(a, b []Option) []Option {
	a = slices.Clone(a)
	for _, o := range b {
		i := slices.IndexFunc(a, func(x Option) bool { return x.Name == o.Name })
		switch {
		case i < 0:
			a = append(a, o)
		case a[i].Kind == OptionMap && o.Kind == OptionMap:
			a[i].Items = merged(a[i].Items, o.Items)
		case a[i].Kind == OptionList && o.Kind == OptionList:
			a[i].Items = append(slices.Clip(a[i].Items), o.Items...)
		default:
			a[i] = Option{Name: o.Name, Kind: OptionList, Items: []Option{a[i], o}}
		}
	}
	return a
}

// entries of a map are sorted, extensions resolved, empty lists left away.
func (r *resolver) entries(all []Option) (sorted []Option) {
	for _, o := range all {
		if o.Kind == OptionList && len(o.Items) == 0 {
			continue
		}
		if name, is := strings.CutPrefix(o.Name, "["); is {
			if full, found := r.extension(strings.TrimSuffix(name, "]")); found {
				o.Name = "[" + full + "]"
			}
		}
		sorted = append(sorted, o)
	}
	slices.SortStableFunc(sorted, func(a, b Option) int { return strings.Compare(a.Name, b.Name) })
	return sorted
}

// normalNumber is a number as Java's default format writes it: a decimal with at most three digits after the point.
func normalNumber(text string) string {
	if i, err := strconv.ParseInt(text, 0, 64); err == nil {
		return strconv.FormatInt(i, 10)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) || math.Abs(f) > 1e15 {
		return text
	}
	short := strconv.FormatFloat(f, 'f', 3, 64)
	return strings.TrimSuffix(strings.TrimRight(short, "0"), ".")
}
