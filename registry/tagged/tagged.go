// Package tagged is what the three kinds of schemas have in common about tags that stand in their texts: entities, which are
// records and fields with a path. A leaf: it knows no schema.
package tagged

import "slices"

// Key is the name of the member that holds tags in Avro and JSON Schema.
const Key = "confluent:tags"

// Entity is a record or a field of a schema.
type Entity struct {
	Path  string
	Short string // another path of it, without a namespace; empty: none
	Field bool
	Tags  []string
	// Set puts tags in the place of those it has; none takes them away. nil: the entity stands in another schema.
	Set func(tags []string)
}

// Is says whether the path is one of the entity's.
func (e *Entity) Is(path string, field bool) bool {
	return e.Field == field && (e.Path == path || e.Short != "" && e.Short == path)
}

// Changed are the tags with some more and then some less.
func Changed(tags, add, remove []string) (changed []string) {
	for _, tag := range slices.Concat(tags, add) {
		if !slices.Contains(changed, tag) && !slices.Contains(remove, tag) {
			changed = append(changed, tag)
		}
	}
	return changed
}
