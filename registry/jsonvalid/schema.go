package jsonvalid

import (
	"math"
	"strconv"

	"doze/registry/ordered"
)

// schema is a compiled one. What is nil or empty says nothing.
type schema struct {
	in    *resource
	meta  draft // a schema of schemas: the value must be a schema of the draft
	never bool  // the schema false
	ref   *schema
	more  *reference // a second one: $dynamicRef or $recursiveRef

	types              types // a bit for each of typeNames
	enum               *choices
	multipleOf         *decimal
	least, most        *decimal
	above, below       *decimal
	minLength, maxLen  *int64
	pattern            *pattern
	format             string
	arrays             *arrayRules
	objects            *objectRules
	allOf, anyOf       []*schema
	oneOf              []*schema
	not                *schema
	when, then, orElse *schema
}

// reference is one that the outermost resource on the way decides about, when it has the anchor.
type reference struct {
	to     *schema
	anchor string // of a dynamic reference; "" for one that goes where it says
	recurs bool   // the anchor of recursive references
}

// choices are the values of enum or const.
type choices struct {
	keys map[string]bool // as [key] writes them
	text string          // in words
}

type arrayRules struct {
	prefix                   []*schema
	rest                     *schema // of the items behind prefix
	contains                 *schema
	minItems, maxItems       *int64
	minContains, maxContains *int64
	unique                   bool
	unevaluated              *schema
}

type objectRules struct {
	properties         map[string]*schema
	patterns           []patternRule
	rest, names        *schema
	required           []string
	minProps, maxProps *int64
	needs              []need
	unevaluated        *schema
}

type patternRule struct {
	pattern *pattern
	schema  *schema
}

// need is what must be there, or hold, when a property is there.
type need struct {
	of     string
	names  []string
	schema *schema
}

// count reads a keyword that is a whole number; one beyond reason is the largest.
func count(n *ordered.Node) *int64 {
	if n == nil {
		return nil
	}
	c, d := int64(math.MaxInt64), newDecimal(n.Text)
	if int64(len(d.digits))+d.exp <= 18 {
		c, _ = strconv.ParseInt("0"+d.digits, 10, 64)
		for range d.exp {
			c *= 10
		}
	}
	return &c
}

func limit(n *ordered.Node) *decimal {
	if !n.Is(ordered.Number) {
		return nil
	}
	d := newDecimal(n.Text)
	return &d
}
