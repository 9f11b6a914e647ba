package avro

import (
	"strings"

	"doze/registry/ordered"
)

// Type is the type of a schema.
type Type uint8

const (
	Null Type = iota
	Boolean
	Int
	Long
	Float
	Double
	Bytes
	String
	Record
	Enum
	Array
	Map
	Union
	Fixed
	unresolved // a name whose definition follows
)

var typeNames = [...]string{"null", "boolean", "int", "long", "float", "double", "bytes", "string", "record", "enum", "array", "map", "union", "fixed", "?"}

// String is the type as schemas write it.
func (t Type) String() string { return typeNames[t] }

// Named says whether schemas of the type have a name.
func (t Type) Named() bool { return t == Record || t == Enum || t == Fixed }

func primitive(name string) (Type, bool) {
	for t := Null; t <= String; t++ {
		if typeNames[t] == name {
			return t, true
		}
	}
	return 0, false
}

// Schema is one schema. A recursive one points back at itself.
type Schema struct {
	Type      Type
	Name      string // simple
	Namespace string
	Doc       *string
	Aliases   []string // full names
	Fields    []*Field
	Symbols   []string
	Default   *string // of an enum
	Size      int32
	Items     *Schema   // of an array; the values of a map
	Branches  []*Schema // of a union
	Props     []ordered.Member
	isError   bool
}

// Field is a field of a record.
type Field struct {
	Name    string
	Schema  *Schema
	Doc     *string
	Default *ordered.Node // nil: none
	Order   string        // "ascending" when nothing was said
	Aliases []string
	Props   []ordered.Member
}

// FullName is the name with its namespace; of what has no name, its type.
func (s *Schema) FullName() string {
	if !s.Type.Named() && s.Type != unresolved {
		return s.Type.String()
	}
	return join(s.Namespace, s.Name)
}

func join(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "." + name
}

// split is a name as it was written, in the namespace that is about it unless it has its own.
func split(name, about string) (namespace, simple string) {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return name[:i], name[i+1:]
	}
	return about, name
}

// Field is the field of that name, or nil.
func (s *Schema) Field(name string) *Field {
	for _, f := range s.Fields {
		if f.Name == name {
			return f
		}
	}
	return nil
}
