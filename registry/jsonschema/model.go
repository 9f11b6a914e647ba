package jsonschema

import (
	"regexp"

	"doze/registry/ordered"
)

// Class is the class of a schema.
type Class uint8

const (
	Empty Class = iota // permits everything, says nothing
	True
	False
	String
	Number
	Boolean
	Null
	Array
	Object
	Enum
	Const
	Not
	Conditional
	Combined
	Reference
)

var classNames = [...]string{
	"empty", "true", "false", "string", "number", "boolean", "null", "array", "object", "enum", "const", "not", "conditional", "combined", "reference",
}

// Schema is a schema of one class. Fields of other classes are zero.
type Schema struct {
	Class              Class
	ID, Title, About   *string
	Default            *ordered.Node
	connectType        string
	node               *ordered.Node // what it was read from; of a combination that keywords make, that of its parts too
	Required           bool          // the value must be of the class; false for one that was guessed from keywords
	key                [16]byte
	minLength, maxLen  *int64
	pattern            *string
	integer            bool
	minimum, maximum   *number
	above, below       *number // exclusive limits
	multipleOf         *number
	values             []*ordered.Node // of an enum; of a const: one
	not                *Schema
	criterion          string // allOf, anyOf, oneOf
	parts              []*Schema
	made               bool       // of keywords side by side, not by allOf
	condition          [3]*Schema // if, then, else
	reference          string
	target             *Schema // what a reference refers to
	items              *Schema // of every item
	tuple              []*Schema
	isTuple            bool
	noMoreItems        bool
	moreItems          *Schema
	contains           *Schema
	unevaluatedItems   *Schema
	minItems, maxItems *int64
	unique             bool
	minContains        *int64
	maxContains        *int64
	object
}

// object is what an object schema has.
type object struct {
	properties         []property
	requires           map[string]bool
	noMore             bool
	more               *Schema // schema of additional properties
	unevaluated        *Schema
	patterns           []patternProperty
	names              *Schema
	minProps, maxProps *int64
	needs              []dependency
	schemaNeeds        []property
	propertyOf         map[string]*Schema
}

type property struct {
	name   string
	schema *Schema
}

type patternProperty struct {
	pattern *regexp.Regexp // nil: Java can read it, Go cannot; it matches nothing
	schema  *Schema
	cost    int // steps for one character
}

type dependency struct {
	name  string
	needs map[string]bool
}

// permitsAll says whether the schema is the empty one or true.
func (s *Schema) permitsAll() bool { return s.Class == Empty || s.Class == True }

// follow is the schema that references lead to.
func (s *Schema) follow() *Schema {
	for range 100 {
		if s == nil || s.Class != Reference {
			return s
		}
		s = s.target
	}
	return &Schema{} // references that go in a circle permit everything
}
