package jsonschema

import (
	"slices"
	"strings"
)

// Difference is one change between two schemas.
type Difference struct {
	Type string // as Confluent names it: PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL
	Path string // "#/properties/a"
}

// Policy says which differences a reader bears.
type Policy uint8

const (
	Strict Policy = iota
	Lenient
)

// Allowed says whether a schema with the difference reads what was written with the other.
func (p Policy) Allowed(kind string) bool {
	from, known := allowedFrom[kind]
	return known && p >= from
}

// allowedFrom is the first policy that allows the type.
var allowedFrom = func() map[string]Policy {
	from := map[string]Policy{}
	for _, kind := range allowedLenient {
		from[kind] = Lenient
	}
	for _, kind := range allowed {
		from[kind] = Strict
	}
	return from
}()

var allowed = []string{
	"ID_CHANGED", "DESCRIPTION_CHANGED", "TITLE_CHANGED", "DEFAULT_CHANGED", "SCHEMA_REMOVED", "TYPE_EXTENDED",
	"MAX_LENGTH_INCREASED", "MAX_LENGTH_REMOVED", "MIN_LENGTH_DECREASED", "MIN_LENGTH_REMOVED", "PATTERN_REMOVED",
	"MAXIMUM_INCREASED", "MAXIMUM_REMOVED", "MINIMUM_DECREASED", "MINIMUM_REMOVED",
	"EXCLUSIVE_MAXIMUM_INCREASED", "EXCLUSIVE_MAXIMUM_REMOVED", "EXCLUSIVE_MINIMUM_DECREASED", "EXCLUSIVE_MINIMUM_REMOVED",
	"MULTIPLE_OF_REDUCED", "MULTIPLE_OF_REMOVED",
	"REQUIRED_ATTRIBUTE_WITH_DEFAULT_ADDED", "REQUIRED_ATTRIBUTE_REMOVED",
	"DEPENDENCY_ARRAY_NARROWED", "DEPENDENCY_ARRAY_REMOVED", "DEPENDENCY_SCHEMA_REMOVED",
	"MAX_PROPERTIES_INCREASED", "MAX_PROPERTIES_REMOVED", "MIN_PROPERTIES_DECREASED", "MIN_PROPERTIES_REMOVED",
	"ADDITIONAL_PROPERTIES_ADDED", "ADDITIONAL_PROPERTIES_EXTENDED", "UNEVALUATED_PROPERTIES_ADDED", "UNEVALUATED_PROPERTIES_EXTENDED",
	"PROPERTY_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL", "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_UNOPEN_CONTENT_MODEL",
	"OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL", "PROPERTY_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL",
	"PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL", "PROPERTY_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
	"PROPERTY_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
	"MAX_ITEMS_INCREASED", "MAX_ITEMS_REMOVED", "MIN_ITEMS_DECREASED", "MIN_ITEMS_REMOVED",
	"MAX_CONTAINS_INCREASED", "MAX_CONTAINS_REMOVED", "MIN_CONTAINS_DECREASED", "MIN_CONTAINS_REMOVED", "UNIQUE_ITEMS_REMOVED",
	"ADDITIONAL_ITEMS_ADDED", "ADDITIONAL_ITEMS_EXTENDED", "UNEVALUATED_ITEMS_ADDED", "UNEVALUATED_ITEMS_EXTENDED",
	"ITEM_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL", "ITEM_ADDED_TO_CLOSED_CONTENT_MODEL",
	"ITEM_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL", "ITEM_REMOVED_FROM_OPEN_CONTENT_MODEL",
	"ITEM_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", "ITEM_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
	"ENUM_ARRAY_EXTENDED", "COMBINED_TYPE_EXTENDED", "PRODUCT_TYPE_NARROWED", "SUM_TYPE_EXTENDED", "NOT_TYPE_NARROWED",
}

var allowedLenient = []string{
	"ADDITIONAL_PROPERTIES_NARROWED", "ADDITIONAL_PROPERTIES_REMOVED", "UNEVALUATED_PROPERTIES_NARROWED", "UNEVALUATED_PROPERTIES_REMOVED",
	"REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL", openOptional, "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL",
	"PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", "PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
}

const openOptional = "OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL"

// explanation is a form of message and the types that have it. In a form "@" is the path, the first %s the word for the schema
// that reads ("new" or "old") and the second that for the one that wrote.
var explanations = []struct {
	form  string
	types []string
}{
	{"The keyword at path '@' in the %s schema is not present in the %s schema", []string{
		"MAXIMUM_ADDED", "MINIMUM_ADDED", "EXCLUSIVE_MAXIMUM_ADDED", "EXCLUSIVE_MINIMUM_ADDED", "MULTIPLE_OF_ADDED", "MAX_LENGTH_ADDED",
		"MIN_LENGTH_ADDED", "PATTERN_ADDED", "REQUIRED_ATTRIBUTE_ADDED", "MAX_PROPERTIES_ADDED", "MIN_PROPERTIES_ADDED",
		"DEPENDENCY_ARRAY_ADDED", "DEPENDENCY_SCHEMA_ADDED", "MAX_ITEMS_ADDED", "MIN_ITEMS_ADDED", "MAX_CONTAINS_ADDED", "MIN_CONTAINS_ADDED",
		"UNIQUE_ITEMS_ADDED", "ADDITIONAL_ITEMS_REMOVED", "ADDITIONAL_PROPERTIES_REMOVED", "UNEVALUATED_PROPERTIES_REMOVED", "UNEVALUATED_ITEMS_REMOVED",
	}},
	{"The value at path '@' in the %s schema is more than its value in the %s schema", []string{
		"MIN_LENGTH_INCREASED", "MINIMUM_INCREASED", "EXCLUSIVE_MINIMUM_INCREASED", "MIN_PROPERTIES_INCREASED", "MULTIPLE_OF_EXPANDED",
		"MIN_ITEMS_INCREASED", "MIN_CONTAINS_INCREASED",
	}},
	{"The value at path '@' in the %s schema is less than its value in the %s schema", []string{
		"MAX_LENGTH_DECREASED", "MAXIMUM_DECREASED", "MAX_ITEMS_DECREASED", "MAX_CONTAINS_DECREASED", "EXCLUSIVE_MAXIMUM_DECREASED", "MAX_PROPERTIES_DECREASED",
	}},
	{"The value at path '@' is different between the %s and %s schema", []string{"PATTERN_CHANGED", "MULTIPLE_OF_CHANGED", "DEPENDENCY_ARRAY_CHANGED"}},
	{"An array or combined type at path '@' has fewer elements in the %s schema than the %s schema", []string{
		"ADDITIONAL_ITEMS_NARROWED", "ENUM_ARRAY_NARROWED", "SUM_TYPE_NARROWED", "ADDITIONAL_PROPERTIES_NARROWED", "UNEVALUATED_PROPERTIES_NARROWED",
		"UNEVALUATED_ITEMS_NARROWED",
	}},
	{"An array or combined type at path '@' has more elements in the %s schema than the %s schema", []string{
		"DEPENDENCY_ARRAY_EXTENDED", "PRODUCT_TYPE_EXTENDED", "SUM_TYPE_EXTENDED", "NOT_TYPE_EXTENDED",
	}},
	{"A type at path '@' is different between the %s schema and the %s schema", []string{
		"TYPE_CHANGED", "TYPE_NARROWED", "COMBINED_TYPE_CHANGED", "COMBINED_TYPE_SUBSCHEMAS_CHANGED", "ENUM_ARRAY_CHANGED",
	}},
	{"The %s schema has an open content model and has a property or item at path '@' which is missing in the %s schema", []string{
		"REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL", "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL", openOptional,
		"ITEM_ADDED_TO_OPEN_CONTENT_MODEL",
	}},
	{"The %s schema has an unopen content model and has a required property at path '@' which is missing in the %s schema", []string{
		"REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL",
	}},
	{"The %s has a closed content model and is missing a property or item present at path '@' in the %s schema", []string{
		"PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL", "ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL",
	}},
	{"A property or item is missing in the %s schema but present at path '@' in the %s schema and is not covered by its partially open content model", []string{
		"PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", "ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
	}},
	{"The %s schema has a property or item at path '@' which is missing in the %s schema and is not covered by its partially open content model", []string{
		"PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", "ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
	}},
}

// Message is the difference as clients of Confluent's registry know it, down to the quotes that do not match. reader and writer
// are the words for the two schemas.
func (d Difference) Message(reader, writer string) string {
	text := ""
	for _, e := range explanations {
		if slices.Contains(e.types, d.Type) {
			text = strings.Replace(strings.Replace(e.form, "%s", reader, 1), "%s", writer, 1)
			text = strings.Replace(text, "@", d.Path, 1)
			break
		}
	}
	return `{errorType:"` + d.Type + `", description:"` + text + `'}`
}

// Advice says what would make the differences pass, where people are puzzled most; empty when there is nothing to say.
func Advice(found []Difference) string {
	for _, d := range found {
		if d.Type == openOptional {
			return "adding an optional property to an open content model is incompatible, since data written before may hold the property with another type; " +
				`set "additionalProperties": false in the schemas, or the config compatibilityPolicy to LENIENT`
		}
	}
	return ""
}
