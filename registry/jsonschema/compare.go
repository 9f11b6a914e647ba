package jsonschema

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// Bounds of a comparison.
const (
	maxSteps = 100_000
	maxDepth = 2_000
	maxFound = 50_000
	maxBytes = 8 << 20    // of paths
	maxMatch = 15_000_000 // of steps of patterns over names
)

var (
	errSteps = errors.New("the comparison takes too many steps; give the schemas fewer alternatives")
	errDepth = errors.New("the schemas are nested too deeply to compare")
)

// Compare says what changed from the original to the update. Those differences that the policy does not allow keep the
// update from reading what was written with the original. An error is a comparison without an answer.
func Compare(policy Policy, original, update *Schema) (found []Difference, err error) {
	return CompareUntil(context.Background(), policy, original, update)
}

// CompareUntil is Compare, which ends with the context's error when that is done.
func CompareUntil(ctx context.Context, policy Policy, original, update *Schema) (found []Difference, err error) {
	defer func() {
		if e, own := recover().(failure); own {
			found, err = nil, e.error
		}
	}()
	shared := &shared{ctx: ctx, policy: policy, left: maxSteps, room: maxFound, bytes: maxBytes, match: maxMatch}
	for {
		shared.begin()
		c := &comparison{shared: shared}
		c.compare(original, update)
		if !shared.assumed || !shared.learn() {
			return c.found, nil
		}
	}
}

// failure carries an error out of a comparison.
type failure struct{ error }

type pair struct{ original, update *Schema }

// shared is what all branches of one comparison know. A pair that is met again while it is compared counts as compatible;
// since that may turn out wrong, the whole is done again with what was found incompatible, until nothing new is found.
type shared struct {
	ctx          context.Context
	policy       Policy
	memo         map[pair][]Difference
	active       map[pair]bool
	incompatible map[pair][]Difference
	assumed      bool // a pair was taken for compatible
	left, room   int
	bytes, match int
}

func (s *shared) begin() {
	s.memo, s.active, s.assumed = map[pair][]Difference{}, map[pair]bool{}, false
}

// learn keeps the pairs that were found incompatible; false when there is none that was not known.
func (s *shared) learn() bool {
	known := len(s.incompatible)
	now := map[pair][]Difference{}
	for p, found := range s.memo {
		if !s.fine(found) {
			now[p] = found
		}
	}
	more := len(now) != known
	for p := range now {
		_, had := s.incompatible[p]
		more = more || !had
	}
	s.incompatible = now
	return more
}

func (s *shared) fine(found []Difference) bool {
	return !slices.ContainsFunc(found, func(d Difference) bool { return !s.policy.Allowed(d.Type) })
}

type comparison struct {
	*shared
	path  []string
	found []Difference
}

// spend counts what a path takes, for a long name may be part of thousands.
func (c *comparison) spend(path string) string {
	if c.bytes -= len(path); c.bytes < 0 {
		panic(failure{errSteps})
	}
	return path
}

func (c *comparison) at() string { return "#/" + strings.Join(c.path, "/") }

func (c *comparison) add(kind string) {
	if c.room--; c.room < 0 {
		panic(failure{errSteps})
	}
	c.found = append(c.found, Difference{kind, c.spend(c.at())})
}

// under runs f with the path one step longer.
func (c *comparison) under(step string, f func()) {
	c.path = append(c.path, step)
	f()
	c.path = c.path[:len(c.path)-1]
}

// addUnder is add one step further.
func (c *comparison) addUnder(step, kind string) { c.under(step, func() { c.add(kind) }) }

// apart compares two schemas at this path and keeps what is found apart.
func (c *comparison) apart(original, update *Schema) []Difference {
	sub := &comparison{shared: c.shared, path: slices.Clone(c.path)}
	sub.compare(original, update)
	return sub.found
}

func (c *comparison) compare(original, update *Schema) {
	switch {
	case original == nil && update == nil:
		return
	case original == nil:
		c.add("SCHEMA_ADDED")
		return
	case update == nil:
		c.add("SCHEMA_REMOVED")
		return
	}
	relative := c.remembered(original.follow(), update.follow())
	if c.room -= len(relative); c.room < 0 {
		panic(failure{errSteps})
	}
	if len(c.path) == 0 {
		c.found = append(c.found, relative...)
		return
	}
	prefix := c.at()
	for _, d := range relative {
		path := prefix
		if len(d.Path) > 2 {
			path += "/" + d.Path[2:]
		}
		c.found = append(c.found, Difference{d.Type, c.spend(path)})
	}
}

// remembered are the differences of the pair with paths from the pair on.
func (c *comparison) remembered(original, update *Schema) []Difference {
	p := pair{original, update}
	if found, known := c.memo[p]; known {
		return found
	}
	if c.active[p] {
		if found, known := c.incompatible[p]; known {
			return found
		}
		c.assumed = true
		return nil
	}
	if c.left--; c.left < 0 {
		panic(failure{errSteps})
	}
	if c.left%256 == 0 && c.ctx.Err() != nil {
		panic(failure{c.ctx.Err()})
	}
	if len(c.active) > maxDepth {
		panic(failure{errDepth})
	}
	c.active[p] = true
	sub := &comparison{shared: c.shared}
	sub.classes(original, update)
	delete(c.active, p)
	c.memo[p] = sub.found
	return sub.found
}

func (c *comparison) classes(original, update *Schema) {
	if c.oneOfParts(original, update) {
		return
	}
	if original.Class != update.Class {
		bytes := original.connectType == "bytes" && update.connectType == "bytes"
		if original.Class != False && !update.permitsAll() && !bytes {
			c.add("TYPE_CHANGED")
		}
		return
	}
	c.annotations(original, update)
	switch original.Class {
	case String:
		c.strings(original, update)
	case Number:
		c.numbers(original, update)
	case Const:
		if !sameValue(original.values[0], update.values[0]) {
			c.addUnder("const", "ENUM_ARRAY_CHANGED")
		}
	case Enum:
		c.enums(original, update)
	case Combined:
		c.combinations(original, update)
	case Not:
		c.negations(original, update)
	case Object:
		c.objects(original, update)
	case Array:
		c.arrays(original, update)
	}
}

// oneOfParts compares a combination with what is none: one of its parts may do.
func (c *comparison) oneOfParts(original, update *Schema) bool {
	combined, more := update, "SUM_TYPE_EXTENDED"
	anyDoes := update.criterion == "anyOf" || update.criterion == "oneOf"
	part := func(s *Schema) []Difference { return c.apart(original, s) }
	switch {
	case (original.Class == Combined) == (update.Class == Combined):
		return false
	case original.Class == Combined:
		combined, more, anyDoes = original, "PRODUCT_TYPE_NARROWED", original.criterion == "allOf"
		part = func(s *Schema) []Difference { return c.apart(s, update) }
	}
	single := len(combined.parts) == 1
	if !single && !anyDoes {
		return false
	}
	for _, s := range combined.parts {
		found := part(s)
		if !c.fine(found) {
			continue
		}
		c.found = append(c.found, found...)
		if !single {
			c.add(more)
		}
		return true
	}
	return false
}

func (c *comparison) annotations(original, update *Schema) {
	for _, a := range []struct {
		kind string
		x, y *string
	}{{"ID_CHANGED", original.ID, update.ID}, {"TITLE_CHANGED", original.Title, update.Title}, {"DESCRIPTION_CHANGED", original.About, update.About}} {
		if (a.x == nil) != (a.y == nil) || a.x != nil && *a.x != *a.y {
			c.add(a.kind)
		}
	}
	if !sameValue(original.Default, update.Default) {
		c.add("DEFAULT_CHANGED")
	}
}
