package jsonvalid

import (
	"slices"
	"strconv"
	"strings"

	"doze/registry/ordered"
)

func (r *run) array(a *arrayRules, v *ordered.Node, at *path, own *seen, d draft) bool {
	ok, n := true, int64(len(v.Items))
	if a.minItems != nil && n < *a.minItems {
		ok = r.no(at, "%d items are too few: at least %d", n, *a.minItems)
	}
	if a.maxItems != nil && n > *a.maxItems {
		ok = r.no(at, "%d items are too many: at most %d", n, *a.maxItems)
	}
	if a.unique {
		ok = r.unique(v, at) && ok
	}
	ok = r.items(a, v, at, own) && ok
	if a.contains != nil {
		ok = r.contains(a, v, at, own, d) && ok
	}
	if a.unevaluated != nil {
		ok = r.unevaluatedItems(a.unevaluated, v, at, own) && ok
	}
	return ok
}

func (r *run) items(a *arrayRules, v *ordered.Node, at *path, own *seen) bool {
	ok := true
	for i, item := range v.Items {
		switch {
		case r.err != nil:
			return false
		case i < len(a.prefix):
			ok = r.fits(a.prefix[i], item, at.item(i), nil) && ok
		case a.rest != nil:
			ok = r.fits(a.rest, item, at.item(i), nil) && ok
		}
	}
	if own != nil {
		own.first = max(own.first, min(len(a.prefix), len(v.Items)))
		own.all = own.all || a.rest != nil
	}
	return ok
}

// unique compares by one text for each value.
func (r *run) unique(v *ordered.Node, at *path) bool {
	at1 := make(map[string]int, len(v.Items))
	for i, item := range v.Items {
		key := string(r.key(item))
		if before, twice := at1[key]; twice {
			return r.no(at, "items %d and %d are equal", before, i)
		}
		at1[key] = i
	}
	return true
}

func (r *run) contains(a *arrayRules, v *ordered.Node, at *path, own *seen, d draft) bool {
	least, most, found := int64(1), int64(len(v.Items)), int64(0)
	if a.minContains != nil {
		least = *a.minContains
	}
	if a.maxContains != nil {
		most = *a.maxContains
	}
	for i, item := range v.Items {
		if ok, _ := r.aside(a.contains, item, at.item(i), nil); ok {
			found++
			if d == draft2020 {
				own.item(i)
			}
		}
	}
	switch {
	case found < least:
		return r.no(at, "%d items fit what contains has: at least %d must", found, least)
	case found > most:
		return r.no(at, "%d items fit what contains has: at most %d may", found, most)
	}
	return true
}

func (r *run) unevaluatedItems(s *schema, v *ordered.Node, at *path, own *seen) bool {
	if own.all {
		return true
	}
	ok := true
	for i, item := range v.Items {
		if i >= own.first && !own.items[i] {
			ok = r.fits(s, item, at.item(i), nil) && ok
		}
	}
	own.every()
	return ok
}

func (r *run) object(o *objectRules, v *ordered.Node, at *path, own *seen) bool {
	ok, n := true, int64(len(v.Members))
	if o.minProps != nil && n < *o.minProps {
		ok = r.no(at, "%d properties are too few: at least %d", n, *o.minProps)
	}
	if o.maxProps != nil && n > *o.maxProps {
		ok = r.no(at, "%d properties are too many: at most %d", n, *o.maxProps)
	}
	ok = r.required(o.required, v, at) && ok
	for _, m := range v.Members {
		if r.err != nil {
			return false
		}
		ok = r.member(o, m, at, own) && ok
	}
	for _, need := range o.needs {
		if r.get(v, need.of) == nil {
			continue
		}
		ok = r.required(need.names, v, at) && ok
		if need.schema != nil {
			ok = r.branch(need.schema, v, at, own) && ok
		}
	}
	if o.unevaluated != nil {
		ok = r.unevaluatedMembers(o.unevaluated, v, at, own) && ok
	}
	return ok
}

func (r *run) required(names []string, v *ordered.Node, at *path) bool {
	var missing []string
	for _, name := range names {
		if r.get(v, name) == nil && len(missing) < 10 {
			missing = append(missing, "'"+clip(name, 100)+"'")
		}
	}
	r.spend(len(names))
	return missing == nil || r.no(at, "missing %s", strings.Join(missing, ", "))
}

func (r *run) member(o *objectRules, m ordered.Member, at *path, own *seen) bool {
	inner, ok, known := at.member(m.Key), true, false
	if s := o.properties[m.Key]; s != nil {
		known = true
		ok = r.fits(s, m.Value, inner, nil)
	}
	for _, p := range o.patterns {
		if r.matches(p.pattern, m.Key) {
			known = true
			ok = r.fits(p.schema, m.Value, inner, nil) && ok
		}
	}
	if !known && o.rest != nil {
		known = true
		if o.rest.never {
			ok = r.no(at, "the property '%s' is not one that may be here", clip(m.Key, 100))
		} else {
			ok = r.fits(o.rest, m.Value, inner, nil) && ok
		}
	}
	if o.names != nil {
		ok = r.fits(o.names, ordered.NewString(m.Key), inner, nil) && ok
	}
	if known {
		own.name(m.Key)
	}
	return ok
}

func (r *run) unevaluatedMembers(s *schema, v *ordered.Node, at *path, own *seen) bool {
	if own.all {
		return true
	}
	ok := true
	for _, m := range v.Members {
		if own.names[m.Key] {
			continue
		}
		if s.never {
			ok = r.no(at, "the property '%s' is not one that may be here", clip(m.Key, 100))
		} else {
			ok = r.fits(s, m.Value, at.member(m.Key), nil) && ok
		}
	}
	own.every()
	return ok
}

// get is a member of an object, quickly also of one with thousands.
func (r *run) get(v *ordered.Node, key string) *ordered.Node {
	if len(v.Members) < 32 {
		return v.Get(key)
	}
	return memberOf(r.members, v, key)
}

// memberOf keeps the members of large objects by their keys.
func memberOf(known map[*ordered.Node]map[string]*ordered.Node, v *ordered.Node, key string) *ordered.Node {
	byKey := known[v]
	if byKey == nil {
		byKey = make(map[string]*ordered.Node, len(v.Members))
		for _, m := range v.Members {
			byKey[m.Key] = m.Value
		}
		known[v] = byKey
	}
	return byKey[key]
}

// key is [appendKey] as a part of the work.
func (r *run) key(v *ordered.Node) []byte {
	b := appendKey(nil, v)
	r.spend(4 * len(b))
	return b
}

// appendKey writes a value so that equal ones are written equally: numbers by their value, members in order.
func appendKey(b []byte, v *ordered.Node) []byte {
	b = append(b, byte('a'+v.Kind))
	switch v.Kind {
	case ordered.Number:
		return append(append(b, newDecimal(v.Text).String()...), ' ')
	case ordered.String:
		return appendText(b, v.Text)
	case ordered.Array:
		for _, item := range v.Items {
			b = appendKey(b, item)
		}
		return append(b, ']')
	case ordered.Object:
		members := slices.Clone(v.Members)
		ordered.SortMembers(members)
		for _, m := range members {
			b = appendKey(appendText(b, m.Key), m.Value)
		}
		return append(b, '}')
	}
	return b
}

// appendText writes a text after its length.
func appendText(b []byte, text string) []byte {
	b = append(strconv.AppendInt(b, int64(len(text)), 10), ':')
	return append(b, text...)
}
