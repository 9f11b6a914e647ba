package jsonschema

import (
	"maps"
	"slices"
)

func (c *comparison) objects(original, update *Schema) {
	c.under("required", func() { c.required(original, update) })
	c.under("properties", func() { c.properties(original, update) })
	c.under("dependencies", func() { c.dependencies(original, update) })
	c.under("additionalProperties", func() {
		c.additional("ADDITIONAL_PROPERTIES", original.noMore, update.noMore, original.more, update.more)
	})
	c.under("unevaluatedProperties", func() {
		c.unevaluatedSchemas("UNEVALUATED_PROPERTIES", original.unevaluated, update.unevaluated)
	})
	c.bound("maxProperties", "MAX_PROPERTIES", original.maxProps, update.maxProps)
	c.bound("minProperties", "MIN_PROPERTIES", original.minProps, update.minProps)
}

func (c *comparison) required(original, update *Schema) {
	for _, p := range original.properties {
		now := update.propertyOf[p.name]
		if now == nil {
			continue
		}
		switch before, after := original.requires[p.name], update.requires[p.name]; {
		case before && !after:
			c.addUnder(p.name, "REQUIRED_ATTRIBUTE_REMOVED")
		case !before && after && now.Default != nil:
			c.addUnder(p.name, "REQUIRED_ATTRIBUTE_WITH_DEFAULT_ADDED")
		case !before && after:
			c.addUnder(p.name, "REQUIRED_ATTRIBUTE_ADDED")
		}
	}
}

func (c *comparison) properties(original, update *Schema) {
	for _, p := range original.properties {
		c.under(p.name, func() {
			if now := update.propertyOf[p.name]; now != nil {
				c.compare(p.schema, now)
			} else {
				c.propertyRemoved(p, update)
			}
		})
	}
	for _, p := range update.properties {
		if original.propertyOf[p.name] == nil {
			c.under(p.name, func() { c.propertyAdded(p, original, update) })
		}
	}
}

// propertyRemoved goes by what the update permits beside its properties.
func (c *comparison) propertyRemoved(p property, update *Schema) {
	covering := c.covering(update, p.name)
	switch {
	case update.open():
		c.add("PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL")
	case covering != nil:
		c.covered("PROPERTY_REMOVED", p.schema, covering)
	case p.schema.Class == False:
		c.add("PROPERTY_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL")
	default:
		c.add("PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL")
	}
}

// covered compares with the schema that patterns or additional properties have, and says whether it does.
func (c *comparison) covered(kind string, original, update *Schema) {
	found := c.apart(original, update)
	c.found = append(c.found, found...)
	if c.fine(found) {
		c.add(kind + "_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL")
	} else {
		c.add(kind + "_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL")
	}
}

// propertyAdded goes by what the original permitted beside its properties.
func (c *comparison) propertyAdded(p property, original, update *Schema) {
	model := "UNOPEN"
	if original.open() {
		if p.schema.permitsAll() {
			c.add("PROPERTY_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL")
			return
		}
		model = "OPEN"
	} else if covering := c.covering(original, p.name); covering != nil {
		c.covered("PROPERTY_ADDED", covering, p.schema)
	}
	switch {
	case !update.requires[p.name]:
		c.add("OPTIONAL_PROPERTY_ADDED_TO_" + model + "_CONTENT_MODEL")
	case p.schema.Default != nil:
		c.add("REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_" + model + "_CONTENT_MODEL")
	default:
		c.add("REQUIRED_PROPERTY_ADDED_TO_" + model + "_CONTENT_MODEL")
	}
}

// open says whether the object may have any property beside those it describes.
func (s *Schema) open() bool {
	return !s.noMore && s.more == nil && len(s.patterns) == 0 && (s.unevaluated == nil || s.unevaluated.permitsAll())
}

// covering is the schema of a property that is not described, or nil when there is none.
func (c *comparison) covering(s *Schema, name string) *Schema {
	for _, p := range s.patterns {
		if c.match -= p.cost * (len(name) + 1); c.match < 0 {
			panic(failure{errSteps})
		}
		if p.pattern != nil && p.pattern.MatchString(name) {
			return p.schema
		}
	}
	if s.more != nil {
		return s.more
	}
	if u := s.unevaluated; !s.noMore && u != nil && u.Class != False && !u.permitsAll() {
		return u
	}
	return nil
}

func (c *comparison) dependencies(original, update *Schema) {
	before, after := map[string]map[string]bool{}, map[string]map[string]bool{}
	for _, d := range original.needs {
		before[d.name] = d.needs
	}
	for _, d := range update.needs {
		after[d.name] = d.needs
	}
	for _, name := range union(before, after) {
		c.under(name, func() { c.dependency(before[name], after[name]) })
	}
	schemasBefore, schemasAfter := map[string]*Schema{}, map[string]*Schema{}
	for _, d := range original.schemaNeeds {
		schemasBefore[d.name] = d.schema
	}
	for _, d := range update.schemaNeeds {
		schemasAfter[d.name] = d.schema
	}
	for _, name := range union(schemasBefore, schemasAfter) {
		c.under(name, func() {
			switch x, y := schemasBefore[name], schemasAfter[name]; {
			case y == nil:
				c.add("DEPENDENCY_SCHEMA_REMOVED")
			case x == nil:
				c.add("DEPENDENCY_SCHEMA_ADDED")
			default:
				c.compare(x, y)
			}
		})
	}
}

// union are the keys of both, in order.
func union[V any](a, b map[string]V) []string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}

func (c *comparison) dependency(before, after map[string]bool) {
	more, fewer := subset(before, after), subset(after, before)
	switch {
	case after == nil:
		c.add("DEPENDENCY_ARRAY_REMOVED")
	case before == nil:
		c.add("DEPENDENCY_ARRAY_ADDED")
	case more && fewer:
	case more:
		c.add("DEPENDENCY_ARRAY_EXTENDED")
	case fewer:
		c.add("DEPENDENCY_ARRAY_NARROWED")
	default:
		c.add("DEPENDENCY_ARRAY_CHANGED")
	}
}

func subset(a, of map[string]bool) bool {
	for name := range a {
		if !of[name] {
			return false
		}
	}
	return true
}

// additional compares what is permitted beside properties or items.
func (c *comparison) additional(kind string, noBefore, noAfter bool, before, after *Schema) {
	switch {
	case noBefore && !noAfter:
		c.add(kind + "_ADDED")
	case !noBefore && noAfter:
		c.add(kind + "_REMOVED")
	case before == nil && after != nil:
		c.add(kind + "_NARROWED")
	case before != nil && after == nil:
		c.add(kind + "_EXTENDED")
	default:
		c.compare(before, after)
	}
}

func (c *comparison) unevaluatedSchemas(kind string, before, after *Schema) {
	no := func(s *Schema) bool { return s != nil && s.Class == False }
	all := func(s *Schema) bool { return s == nil || s.permitsAll() }
	switch {
	case before == nil && after == nil:
	case no(before) && !no(after):
		c.add(kind + "_ADDED")
	case !no(before) && no(after):
		c.add(kind + "_REMOVED")
	case before == nil || all(before) && !all(after):
		c.add(kind + "_NARROWED")
	case after == nil || !all(before) && all(after):
		c.add(kind + "_EXTENDED")
	default:
		c.compare(before, after)
	}
}
