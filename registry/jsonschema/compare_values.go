package jsonschema

import (
	"slices"

	"doze/registry/ordered"
)

// sameValue compares values: numbers by how they are written.
func sameValue(a, b *ordered.Node) bool { return a.Equal(b) }

// bound compares a whole number that is a limit.
func (c *comparison) bound(keyword, kind string, original, update *int64) {
	switch {
	case original == nil && update == nil:
	case original == nil:
		c.addUnder(keyword, kind+"_ADDED")
	case update == nil:
		c.addUnder(keyword, kind+"_REMOVED")
	case *original < *update:
		c.addUnder(keyword, kind+"_INCREASED")
	case *original > *update:
		c.addUnder(keyword, kind+"_DECREASED")
	}
}

func (c *comparison) limit(keyword, kind string, original, update *number) {
	switch {
	case original == nil && update == nil:
	case original == nil:
		c.addUnder(keyword, kind+"_ADDED")
	case update == nil:
		c.addUnder(keyword, kind+"_REMOVED")
	case original.value < update.value:
		c.addUnder(keyword, kind+"_INCREASED")
	case original.value > update.value:
		c.addUnder(keyword, kind+"_DECREASED")
	}
}

func (c *comparison) strings(original, update *Schema) {
	c.bound("maxLength", "MAX_LENGTH", original.maxLen, update.maxLen)
	c.bound("minLength", "MIN_LENGTH", original.minLength, update.minLength)
	switch {
	case original.pattern == nil && update.pattern == nil:
	case original.pattern == nil:
		c.addUnder("pattern", "PATTERN_ADDED")
	case update.pattern == nil:
		c.addUnder("pattern", "PATTERN_REMOVED")
	case *original.pattern != *update.pattern:
		c.addUnder("pattern", "PATTERN_CHANGED")
	}
}

func (c *comparison) numbers(original, update *Schema) {
	c.limit("maximum", "MAXIMUM", original.maximum, update.maximum)
	c.limit("minimum", "MINIMUM", original.minimum, update.minimum)
	c.limit("exclusiveMaximum", "EXCLUSIVE_MAXIMUM", original.below, update.below)
	c.limit("exclusiveMinimum", "EXCLUSIVE_MINIMUM", original.above, update.above)
	c.multiples(original.multipleOf, update.multipleOf)
	switch {
	case original.integer && !update.integer:
		c.add("TYPE_EXTENDED")
	case !original.integer && update.integer:
		c.add("TYPE_NARROWED")
	}
}

func (c *comparison) multiples(original, update *number) {
	switch {
	case original.equal(update):
	case original == nil:
		c.addUnder("multipleOf", "MULTIPLE_OF_ADDED")
	case update == nil:
		c.addUnder("multipleOf", "MULTIPLE_OF_REMOVED")
	case update.multiple(original):
		c.addUnder("multipleOf", "MULTIPLE_OF_EXPANDED")
	case original.multiple(update):
		c.addUnder("multipleOf", "MULTIPLE_OF_REDUCED")
	default:
		c.addUnder("multipleOf", "MULTIPLE_OF_CHANGED")
	}
}

func (c *comparison) enums(original, update *Schema) {
	more, fewer := covers(update.values, original.values), covers(original.values, update.values)
	switch {
	case more && fewer:
	case more:
		c.addUnder("enum", "ENUM_ARRAY_EXTENDED")
	case fewer:
		c.addUnder("enum", "ENUM_ARRAY_NARROWED")
	default:
		c.addUnder("enum", "ENUM_ARRAY_CHANGED")
	}
}

// covers says whether all of the values are among those.
func covers(those, values []*ordered.Node) bool {
	set := make(map[string]bool, len(those))
	for _, v := range those {
		set[v.Sorted().String()] = true
	}
	return !slices.ContainsFunc(values, func(v *ordered.Node) bool { return !set[v.Sorted().String()] })
}

func (c *comparison) negations(original, update *Schema) {
	c.under("not", func() {
		if c.fine(c.apart(update.not, original.not)) {
			c.add("NOT_TYPE_NARROWED")
		} else {
			c.add("NOT_TYPE_EXTENDED")
		}
	})
}
