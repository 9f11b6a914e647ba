package jsonvalid

import (
	"strings"

	"doze/registry/ordered"
)

// aside looks at a value without telling why it does not fit; the first reason is given back.
func (r *run) aside(s *schema, v *ordered.Node, at *path, into *seen) (ok bool, why string) {
	before := r.told
	r.told = nil
	r.nested++
	ok = r.fits(s, v, at, into)
	r.nested--
	if len(r.told) > 0 && r.nested <= maxNested {
		why = r.told[0].String()
	}
	r.told = before
	return ok, why
}

func (r *run) combined(s *schema, v *ordered.Node, at *path, own *seen) bool {
	ok := true
	for _, part := range s.allOf {
		ok = r.branch(part, v, at, own) && ok
	}
	if len(s.anyOf) > 0 {
		ok = r.anyOf(s.anyOf, v, at, own) && ok
	}
	if len(s.oneOf) > 0 {
		ok = r.oneOf(s.oneOf, v, at, own) && ok
	}
	if s.not != nil {
		if fits, _ := r.aside(s.not, v, at, nil); fits {
			ok = r.no(at, "the value fits what not has")
		}
	}
	if s.when != nil {
		ok = r.when(s, v, at, own) && ok
	}
	return ok
}

// branch is a schema of the same value; what it has looked at counts only when the value fits.
func (r *run) branch(s *schema, v *ordered.Node, at *path, own *seen) bool {
	inner := own.fresh()
	ok := r.fits(s, v, at, inner)
	if ok {
		own.merge(inner)
	}
	return ok
}

func (r *run) anyOf(all []*schema, v *ordered.Node, at *path, own *seen) bool {
	found, reasons := false, few(nil)
	for _, s := range all {
		inner := own.fresh()
		ok, why := r.aside(s, v, at, inner)
		if ok {
			found = true
			own.merge(inner)
			if own == nil {
				return true
			}
		}
		reasons = reasons.add(why)
	}
	return found || r.no(at, "none of anyOf fits: %s", reasons)
}

func (r *run) oneOf(all []*schema, v *ordered.Node, at *path, own *seen) bool {
	first, reasons := -1, few(nil)
	for i, s := range all {
		inner := own.fresh()
		ok, why := r.aside(s, v, at, inner)
		switch {
		case ok && first >= 0:
			return r.no(at, "more than one of oneOf fits: %d and %d", first, i)
		case ok:
			first = i
			own.merge(inner)
		}
		reasons = reasons.add(why)
	}
	return first >= 0 || r.no(at, "none of oneOf fits: %s", reasons)
}

// few are the first of several reasons, none of them long.
type few []string

func (f few) add(why string) few {
	switch {
	case len(f) < 4:
		return append(f, clip(why, 300))
	case len(f) == 4:
		return append(f, "...")
	}
	return f
}

func (f few) String() string { return "(" + strings.Join(f, ", ") + ")" }

func (r *run) when(s *schema, v *ordered.Node, at *path, own *seen) bool {
	inner := own.fresh()
	fits, _ := r.aside(s.when, v, at, inner)
	next := s.orElse
	if fits {
		own.merge(inner)
		next = s.then
	}
	return next == nil || r.branch(next, v, at, own)
}

// seen is which members or items of one value were looked at; nil when nobody asks.
type seen struct {
	all   bool            // every one
	first int             // so many items from the first
	items map[int]bool    // others
	names map[string]bool // members
}

// fresh is a set for a part of the work, if there is one for the whole.
func (s *seen) fresh() *seen {
	if s == nil {
		return nil
	}
	return &seen{}
}

// merge adds what another one has.
func (s *seen) merge(o *seen) {
	if s == nil || o == nil {
		return
	}
	s.all = s.all || o.all
	s.first = max(s.first, o.first)
	for i := range o.items {
		s.item(i)
	}
	for name := range o.names {
		s.name(name)
	}
}

func (s *seen) item(i int) {
	if s == nil {
		return
	}
	if s.items == nil {
		s.items = map[int]bool{}
	}
	s.items[i] = true
}

func (s *seen) name(name string) {
	if s == nil {
		return
	}
	if s.names == nil {
		s.names = map[string]bool{}
	}
	s.names[name] = true
}

func (s *seen) every() {
	if s != nil {
		s.all = true
	}
}
