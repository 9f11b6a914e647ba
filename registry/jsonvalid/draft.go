package jsonvalid

import (
	"strings"

	"doze/registry/ordered"
)

// draft is a version of JSON Schema.
type draft int

const (
	draft4    draft = 4
	draft6    draft = 6
	draft7    draft = 7
	draft2019 draft = 2019
	draft2020 draft = 2020
)

// draftOf goes by the URL of $schema.
func draftOf(url string) (d draft, known bool) {
	url = strings.TrimSuffix(url, "#")
	_, url, _ = strings.Cut(url, "://")
	switch url {
	case "json-schema.org/draft-04/schema":
		return draft4, true
	case "json-schema.org/draft-06/schema":
		return draft6, true
	case "json-schema.org/draft-07/schema":
		return draft7, true
	case "json-schema.org/draft/2019-09/schema":
		return draft2019, true
	case "json-schema.org/draft/2020-12/schema":
		return draft2020, true
	}
	return 0, false
}

// metaOf is the draft of a URL that is a schema of schemas, or one of the vocabularies that the newer drafts put it together from.
func metaOf(url string) (d draft, known bool) {
	url, _, _ = strings.Cut(url, "#")
	if base, _, part := strings.Cut(url, "/meta/"); part {
		d, known = draftOf(base + "/schema")
		return d, known && d >= draft2019
	}
	return draftOf(url)
}

// id is the keyword that names a schema; a reference of an old draft hides everything beside it.
func (d draft) id(n *ordered.Node) string {
	switch {
	case d <= draft7 && n.Get("$ref").Is(ordered.String):
		return ""
	case d == draft4:
		return n.Get("id").Str()
	}
	return n.Get("$id").Str()
}

// shape is the form that the value of a keyword must have.
type shape int

const (
	anything shape = iota
	aSchema
	schemaList
	schemaMap
	schemaOrList
	dependencies
	aString
	aBool
	boolOrNumber
	aNumber
	aboveZero
	aCount
	names
	namesMap
	aType
	anArray
	aPattern
)

// shapeOf is the form of a keyword in a draft.
func shapeOf(key string, d draft) shape {
	switch key {
	case "not", "additionalProperties":
		return aSchema
	case "allOf", "anyOf", "oneOf":
		return schemaList
	case "properties", "patternProperties", "definitions":
		return schemaMap
	case "dependencies":
		return dependencies
	case "$ref", "$schema", "format", "title", "description":
		return aString
	case "multipleOf":
		return aboveZero
	case "minimum", "maximum":
		return aNumber
	case "exclusiveMinimum", "exclusiveMaximum":
		if d == draft4 {
			return aBool
		}
		return aNumber
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		return aCount
	case "required":
		return names
	case "type":
		return aType
	case "enum":
		return anArray
	case "pattern":
		return aPattern
	case "uniqueItems":
		return aBool
	}
	return laterShape(key, d)
}

// laterShape is about keywords that not every draft has.
func laterShape(key string, d draft) shape {
	is := func(there bool, s shape) shape {
		if there {
			return s
		}
		return anything
	}
	switch key {
	case "id":
		return is(d == draft4, aString)
	case "$id", "$comment", "contentEncoding", "contentMediaType":
		return is(d > draft4, aString)
	case "$anchor":
		return is(d >= draft2019, aString)
	case "$recursiveRef":
		return is(d == draft2019, aString)
	case "$recursiveAnchor":
		return is(d == draft2019, aBool)
	case "$dynamicRef", "$dynamicAnchor":
		return is(d == draft2020, aString)
	case "items":
		if d == draft2020 {
			return aSchema
		}
		return schemaOrList
	case "additionalItems":
		return is(d < draft2020, aSchema)
	case "prefixItems":
		return is(d == draft2020, schemaList)
	case "contains", "propertyNames":
		return is(d > draft4, aSchema)
	case "if", "then", "else":
		return is(d >= draft7, aSchema)
	case "unevaluatedItems", "unevaluatedProperties", "contentSchema":
		return is(d >= draft2019, aSchema)
	case "minContains", "maxContains":
		return is(d >= draft2019, aCount)
	case "$defs", "dependentSchemas":
		return is(d >= draft2019, schemaMap)
	case "dependentRequired":
		return is(d >= draft2019, namesMap)
	}
	return anything
}
