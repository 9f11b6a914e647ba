package jsonschema

import (
	"strings"

	"doze/registry/ordered"
)

// dialect is what differs between drafts.
type dialect struct {
	modern  bool // 2019-09 and 2020-12
	draft4  bool
	draft6  bool
	id      string
	arrays  []string
	objects []string
}

var (
	numberKeys = []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
	stringKeys = []string{"minLength", "maxLength", "pattern", "format"}

	draft4 = dialect{
		id: "id", draft4: true, arrays: []string{"items", "additionalItems", "minItems", "maxItems", "uniqueItems"},
		objects: []string{"properties", "required", "minProperties", "maxProperties", "dependencies", "patternProperties", "additionalProperties"},
	}
	draft7 = dialect{
		id: "$id", arrays: append([]string{"contains"}, draft4.arrays...), objects: append([]string{"propertyNames"}, draft4.objects...),
	}
	draft6 = dialect{id: "$id", draft6: true, arrays: draft7.arrays, objects: draft7.objects}
	modern = dialect{
		id: "$id", modern: true,
		arrays: []string{"items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains", "unevaluatedItems"},
		objects: []string{
			"properties", "required", "minProperties", "maxProperties", "dependentRequired", "dependentSchemas", "patternProperties",
			"additionalProperties", "propertyNames", "unevaluatedProperties",
		},
	}
)

// dialectOf goes by $schema; what says nothing, or something unknown, is draft 7.
func dialectOf(n *ordered.Node) *dialect {
	url := strings.TrimSuffix(n.Get("$schema").Str(), "#")
	_, url, _ = strings.Cut(url, "://")
	switch url {
	case "json-schema.org/draft-04/schema":
		return &draft4
	case "json-schema.org/draft-06/schema":
		return &draft6
	case "json-schema.org/draft/2019-09/schema", "json-schema.org/draft/2020-12/schema":
		return &modern
	}
	return &draft7
}

// strings: a modern format says nothing about the class.
func (d *dialect) strings() []string {
	if d.modern {
		return stringKeys[:3]
	}
	return stringKeys
}
