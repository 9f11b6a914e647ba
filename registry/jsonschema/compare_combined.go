package jsonschema

import "strconv"

func (c *comparison) combinations(original, update *Schema) {
	if !c.criteria(original, update) {
		return
	}
	before, after := distinct(original.parts), distinct(update.parts)
	c.sizes(original, update, len(before), len(after))
	// Which part of the original each part of the update may take the place of, and with which differences.
	edges := make([]map[int][]Difference, len(before))
	for i, x := range before {
		edges[i] = map[int][]Difference{}
		c.under(original.criterion+"/"+strconv.Itoa(i), func() {
			for j, y := range after {
				if found := c.apart(x, y); c.fine(found) {
					edges[i][j] = found
				}
			}
		})
	}
	matched := match(edges, len(after))
	size := 0
	for i, j := range matched {
		if j >= 0 {
			size++
			c.found = append(c.found, edges[i][j]...)
		}
	}
	if size < min(len(before), len(after)) {
		c.add("COMBINED_TYPE_SUBSCHEMAS_CHANGED")
	}
}

// criteria compares allOf, anyOf and oneOf; false when there is no use in comparing the parts.
func (c *comparison) criteria(original, update *Schema) bool {
	x, y := original.criterion, update.criterion
	one, other := len(original.parts) == 1, len(update.parts) == 1
	switch {
	case x == y:
	case y == "anyOf", one && other, one && y == "oneOf", other && x == "allOf":
		c.add("COMBINED_TYPE_EXTENDED")
	default:
		c.add("COMBINED_TYPE_CHANGED")
		return false
	}
	return true
}

func (c *comparison) sizes(original, update *Schema, before, after int) {
	switch {
	case before < after && update.criterion == "allOf":
		c.add("PRODUCT_TYPE_EXTENDED")
	case before < after:
		c.add("SUM_TYPE_EXTENDED")
	case before > after && original.criterion == "allOf":
		c.add("PRODUCT_TYPE_NARROWED")
	case before > after:
		c.add("SUM_TYPE_NARROWED")
	}
}

// distinct leaves the first of parts that are the same.
func distinct(parts []*Schema) (kept []*Schema) {
	seen := make(map[[16]byte]bool, len(parts))
	for _, p := range parts {
		if !seen[p.key] {
			seen[p.key] = true
			kept = append(kept, p)
		}
	}
	return kept
}

// match pairs as many as can be: for each left one the right one that it is paired with, or -1. Augmenting paths, in order.
func match(edges []map[int][]Difference, rights int) []int {
	left, right := make([]int, len(edges)), make([]int, rights)
	for i := range left {
		left[i] = -1
	}
	for j := range right {
		right[j] = -1
	}
	var seen []bool
	var augment func(i int) bool
	augment = func(i int) bool {
		for j := range rights {
			if _, edge := edges[i][j]; !edge || seen[j] {
				continue
			}
			seen[j] = true
			if right[j] < 0 || augment(right[j]) {
				left[i], right[j] = j, i
				return true
			}
		}
		return false
	}
	for i := range edges {
		seen = make([]bool, rights)
		augment(i)
	}
	return left
}
