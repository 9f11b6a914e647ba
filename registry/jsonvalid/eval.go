package jsonvalid

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"doze/registry/ordered"
)

// Bounds of a validation.
const (
	// MaxValues is how many values a text may have.
	MaxValues = 1_000_000
	maxWork   = 500_000_000
	maxDepth  = 2_000
	maxTold   = 10
	// perSchema is the work of looking at one value with one schema; one instruction of a pattern at one byte is 1.
	perSchema = 200
	// maxNested is how deep reasons of anyOf, oneOf, not and if are told: beyond it they would cost more than the looking.
	maxNested = 3
)

var (
	errWork  = errors.New("the schema asks for too much work on this value")
	errDepth = errors.New("the schema refers to itself without end")
)

// run is one validation.
type run struct {
	told    []told
	scope   []*resource // on the way here, the outermost first
	members map[*ordered.Node]map[string]*ordered.Node
	left    int // work that may still be done
	depth   int
	nested  int   // in how many of anyOf, oneOf, not, if and contains this is
	err     error // what ended it before its time
}

// told is a reason why the value does not fit.
type told struct {
	at   *path
	text string
}

// Validate says why a JSON text does not fit the schema: where, and what would.
//
//fuzz:parser class=schema FuzzValidate
func (s *Schema) Validate(text string) error { return s.validate(text, maxWork) }

func (s *Schema) validate(text string, work int) error {
	v, err := ordered.ParseUpTo(text, MaxValues)
	if err != nil {
		return fmt.Errorf("read as JSON: %w", err)
	}
	r := &run{left: work, members: map[*ordered.Node]map[string]*ordered.Node{}}
	fits := r.fits(s.root, v, &path{}, nil)
	if r.err != nil {
		return r.err
	}
	if fits {
		return nil
	}
	lines := make([]string, len(r.told))
	for i, t := range r.told {
		lines[i] = t.String()
	}
	return fmt.Errorf("the value does not fit the schema: %s", strings.Join(lines, "; "))
}

func (t told) String() string { return fmt.Sprintf("at '%s': %s", t.at, t.text) }

// no notes a reason; beyond some they are not told.
func (r *run) no(at *path, format string, args ...any) bool {
	if len(r.told) < maxTold && r.nested <= maxNested {
		r.told = append(r.told, told{at, fmt.Sprintf(format, args...)})
	}
	return false
}

// spend takes from the work that is left.
func (r *run) spend(work int) bool {
	if r.left -= work; r.left < 0 && r.err == nil {
		r.err = errWork
	}
	return r.err == nil
}

// fits says whether a value fits a schema. What the schema has looked at is added to seen, if somebody wants to know.
func (r *run) fits(s *schema, v *ordered.Node, at *path, into *seen) bool {
	if r.depth++; r.depth > maxDepth && r.err == nil {
		r.err = errDepth
	}
	defer func() { r.depth-- }()
	switch {
	case !r.spend(perSchema):
		return false
	case s.never:
		return r.no(at, "nothing may stand here")
	case s.meta != 0:
		return r.isSchema(s.meta, v, at)
	}
	if n := len(r.scope); n == 0 || r.scope[n-1] != s.in {
		r.scope = append(r.scope, s.in)
		defer func() { r.scope = r.scope[:n] }()
	}
	own := into
	if s.wantsSeen() {
		own = &seen{}
	}
	ok := r.all(s, v, at, own)
	if own != into && ok {
		into.merge(own)
	}
	return ok
}

func (s *schema) wantsSeen() bool {
	return s.arrays != nil && s.arrays.unevaluated != nil || s.objects != nil && s.objects.unevaluated != nil
}

// all looks at every keyword, so that a person sees more than one reason.
func (r *run) all(s *schema, v *ordered.Node, at *path, own *seen) bool {
	ok := r.typed(s, v, at)
	switch v.Kind {
	case ordered.Number:
		ok = r.number(s, v, at) && ok
	case ordered.String:
		ok = r.text(s, v, at) && ok
	}
	ok = r.references(s, v, at, own) && ok
	ok = r.combined(s, v, at, own) && ok
	switch {
	case v.Kind == ordered.Array && s.arrays != nil:
		ok = r.array(s.arrays, v, at, own, s.in.draft) && ok
	case v.Kind == ordered.Object && s.objects != nil:
		ok = r.object(s.objects, v, at, own) && ok
	}
	return ok
}

func (r *run) isSchema(d draft, v *ordered.Node, at *path) bool {
	r.spend(perSchema * 100)
	x := newIndex()
	if err := x.walk(v, &resource{url: baseURL, root: v, draft: d, anchors: map[string]*ordered.Node{}}, &path{}); err != nil {
		return r.no(at, "it is no schema: %v", err)
	}
	return true
}

func (r *run) typed(s *schema, v *ordered.Node, at *path) bool {
	ok := true
	if s.types != 0 && s.types&typeBits(v) == 0 {
		ok = r.no(at, "got %s, want %s", kindOf(v), s.types)
	}
	if s.enum != nil && !s.enum.keys[string(r.key(v))] {
		if len(s.enum.keys) == 1 {
			return r.no(at, "the value must be %s", s.enum.text)
		}
		return r.no(at, "the value must be one of %s", s.enum.text)
	}
	return ok
}

// types are some of typeNames; their text is made when it is told.
type types uint8

func (t types) String() string {
	var all []string
	for i, name := range typeNames {
		if t&(1<<i) != 0 {
			all = append(all, name)
		}
	}
	return strings.Join(all, " or ")
}

// typeBits are the types that a value has, as bits for [typeNames]: a whole number has two.
func typeBits(v *ordered.Node) types {
	switch v.Kind {
	case ordered.Null:
		return 1 << 0
	case ordered.Number:
		if newDecimal(v.Text).integer() {
			return 1<<2 | 1<<6
		}
		return 1 << 2
	case ordered.String:
		return 1 << 3
	case ordered.Array:
		return 1 << 4
	case ordered.Object:
		return 1 << 5
	}
	return 1 << 1
}

func (r *run) number(s *schema, v *ordered.Node, at *path) bool {
	if s.least == nil && s.most == nil && s.above == nil && s.below == nil && s.multipleOf == nil {
		return true
	}
	d, ok := newDecimal(v.Text), true
	r.spend(len(v.Text) * 10)
	shown := clip(v.Text, 40)
	if s.least != nil && d.compare(*s.least) < 0 {
		ok = r.no(at, "%s is below the minimum, %s", shown, s.least.text())
	}
	if s.most != nil && d.compare(*s.most) > 0 {
		ok = r.no(at, "%s is above the maximum, %s", shown, s.most.text())
	}
	if s.above != nil && d.compare(*s.above) <= 0 {
		ok = r.no(at, "%s is not above %s", shown, s.above.text())
	}
	if s.below != nil && d.compare(*s.below) >= 0 {
		ok = r.no(at, "%s is not below %s", shown, s.below.text())
	}
	if s.multipleOf != nil && !d.multipleOf(*s.multipleOf) {
		ok = r.no(at, "%s is not a multiple of %s", shown, s.multipleOf.text())
	}
	return ok
}

func (r *run) text(s *schema, v *ordered.Node, at *path) bool {
	ok := true
	if s.minLength != nil || s.maxLen != nil {
		length := int64(utf8.RuneCountInString(v.Text))
		r.spend(len(v.Text))
		if s.minLength != nil && length < *s.minLength {
			ok = r.no(at, "%d characters are too few: at least %d", length, *s.minLength)
		}
		if s.maxLen != nil && length > *s.maxLen {
			ok = r.no(at, "%d characters are too many: at most %d", length, *s.maxLen)
		}
	}
	if s.pattern != nil && !r.matches(s.pattern, v.Text) {
		ok = r.no(at, "%q does not match the pattern %q", clip(v.Text, 100), clip(s.pattern.text, 100))
	}
	if s.format != "" {
		r.spend(len(v.Text))
		if !formatted(s.format, v.Text) {
			ok = r.no(at, "%q is no %s", clip(v.Text, 100), clip(s.format, 40))
		}
	}
	return ok
}

func (r *run) matches(p *pattern, text string) bool {
	return r.spend((len(text)+1)*p.cost) && p.re.MatchString(text)
}

func (r *run) references(s *schema, v *ordered.Node, at *path, own *seen) bool {
	ok := s.ref == nil || r.fits(s.ref, v, at, own)
	if s.more == nil {
		return ok
	}
	return r.fits(r.target(s.more), v, at, own) && ok
}

// target is where a dynamic reference goes: the outermost resource on the way that has the anchor decides.
func (r *run) target(ref *reference) *schema {
	for _, in := range r.scope {
		if ref.recurs && in.recursive {
			return in.compiled
		}
		if s := in.dynamic[ref.anchor]; ref.anchor != "" && s != nil {
			return s
		}
	}
	return ref.to
}
