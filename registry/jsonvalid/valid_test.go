package jsonvalid

import (
	"strings"
	"testing"
)

// refused is a value, and a part of what is said of it.
type refused struct{ value, why string }

func TestValues(t *testing.T) {
	const d4, d19, d20 = `"$schema":"http://json-schema.org/draft-04/schema#",`, `"$schema":"https://json-schema.org/draft/2019-09/schema",`, `"$schema":"https://json-schema.org/draft/2020-12/schema",`
	for schema, c := range map[string]struct {
		fits []string
		not  []refused
	}{
		`true`:                          {[]string{`1`, `null`}, nil},
		`{"properties":{"a":false}}`:    {[]string{`{}`}, []refused{{`{"a":1}`, "at '/a': nothing may stand here"}}},
		`{"type":["integer","string"]}`: {[]string{`1`, `1.0`, `1e2`, `"a"`}, []refused{{`1.5`, "at '': got number, want string or integer"}, {`null`, "got null"}}},
		`{"properties":{"a/b":{"items":{"type":"string"}}},"required":["c"]}`: {
			[]string{`{"c":1,"a/b":["x"]}`, `3`}, []refused{{`{"a/b":["x",7]}`, "at '/a~1b/1': got number, want string"}, {`{}`, "at '': missing 'c'"}},
		},
		`{"enum":[1,"a",{"b":[2,1.50]}]}`: {[]string{`1.0`, `{"b":[2e0,1.5]}`}, []refused{{`2`, `one of 1, "a"`}}},
		`{"const":{"a":1}}`:               {[]string{`{"a":1.0}`}, []refused{{`{"a":2}`, `the value must be {"a":1}`}}},
		`{"minimum":1e3,"exclusiveMaximum":10000000000000000000001}`: {
			[]string{`1000`, `10000000000000000000000`, `1000.0000000000000000000000000001`},
			[]refused{{`999.9999999999999999999999`, "is below the minimum, 1000"}, {`10000000000000000000001`, "is not below"}, {`1e999999999999999999999`, "is not below"}},
		},
		`{"multipleOf":0.01}`:                                             {[]string{`0.07`, `1e99999999`, `0`, `19.99`}, []refused{{`0.075`, "is not a multiple of 0.01"}, {`1e-99999999`, "multiple"}}},
		`{"minLength":2,"maxLength":3,"pattern":"^\\u0061"}`:              {[]string{`"aé"`}, []refused{{`"a"`, "1 characters are too few"}, {`"abcd"`, "too many"}, {`"bb"`, "does not match the pattern"}}},
		`{"format":"date-time"}`:                                          {[]string{`"2026-11-30T23:59:60Z"`, `1`}, []refused{{`"2026-11-31T00:00:00Z"`, "is no date-time"}}},
		`{` + d20 + `"format":"date-time"}`:                               {[]string{`"x"`}, nil},
		`{"uniqueItems":true,"contains":{"type":"string"}}`:               {[]string{`["a",1]`}, []refused{{`["a",1,1.0]`, "items 1 and 2 are equal"}, {`[1]`, "at least 1 must"}}},
		`{"items":[{"type":"string"}],"additionalItems":{"type":"null"}}`: {[]string{`["a",null]`, `[]`}, []refused{{`["a",1]`, "at '/1'"}}},
		`{` + d20 + `"prefixItems":[true],"unevaluatedItems":false}`:      {[]string{`[1]`}, []refused{{`[1,2]`, "at '/1'"}}},
		`{"additionalProperties":false,"patternProperties":{"^x":{"type":"null"}}}`: {
			[]string{`{"xa":null}`}, []refused{{`{"y":1}`, "at '': the property 'y' is not one that may be here"}, {`{"x":1}`, "at '/x'"}},
		},
		`{"propertyNames":{"maxLength":1},"maxProperties":2,"minProperties":1}`: {[]string{`{"a":1}`}, []refused{{`{"ab":1}`, "at '/ab'"}, {`{}`, "too few"}}},
		`{"dependencies":{"a":["b"],"c":{"required":["d"]}}}`:                   {[]string{`{"a":1,"b":1}`}, []refused{{`{"a":1}`, "missing 'b'"}, {`{"c":1}`, "missing 'd'"}}},
		`{"anyOf":[{"type":"null"},{"properties":{"a":{"type":"string"}}}]}`:    {[]string{`null`}, []refused{{`{"a":1}`, "none of anyOf fits: (at '': got object, want null, at '/a': got number, want string)"}}},
		`{"oneOf":[{"minimum":1},{"maximum":5}]}`:                               {[]string{`7`}, []refused{{`3`, "more than one of oneOf fits: 0 and 1"}}},
		`{"not":{"type":"null"},"if":{"type":"string"},"then":{"minLength":1},"else":{"minimum":3}}`: {
			[]string{`"a"`, `3`}, []refused{{`null`, "what not has"}, {`""`, "too few"}, {`2`, "minimum"}},
		},
		`{` + d4 + `"minimum":1,"exclusiveMinimum":true,"definitions":{"a":{"id":"#x","type":"number"}},"allOf":[{"$ref":"#x"}]}`: {
			[]string{`2`}, []refused{{`1`, "is not above 1"}, {`"a"`, "want number"}},
		},
		`{` + d19 + `"$recursiveAnchor":true,"properties":{"n":{"$recursiveRef":"#"}},"unevaluatedProperties":false}`: {
			[]string{`{"n":{"n":{}}}`}, []refused{{`{"n":{"m":1}}`, "at '/n': the property 'm'"}},
		},
		`{"$ref":"#/definitions/a%20b","definitions":{"a b":{"type":"null"}}}`: {[]string{`null`}, []refused{{`1`, "want null"}}},
		`{"$ref":"http://json-schema.org/draft-07/schema#"}`:                   {[]string{`{"type":"null"}`, `true`}, []refused{{`{"properties":{"a":{"type":"x"}}}`, "it is no schema: at '/properties/a/type'"}}},
	} {
		s, err := Compile(schema, nil)
		if err != nil {
			t.Errorf("%s: %v", schema, err)
			continue
		}
		for _, value := range c.fits {
			if err := s.Validate(value); err != nil {
				t.Errorf("%s: %s: %v", schema, value, err)
			}
		}
		for _, r := range c.not {
			if err := s.Validate(r.value); err == nil || !strings.Contains(err.Error(), r.why) {
				t.Errorf("%s: %s: %v, want %s", schema, r.value, err, r.why)
			}
		}
	}
}

func TestReferences(t *testing.T) {
	documents := []Document{
		{"c.json", `{"definitions":{"id":{"type":"integer"}},"$ref":"#/definitions/id"}`}, {"./d.json", `{"$ref":"c.json"}`},
		{"https://example.com/e.json", `{"$id":"https://example.com/other/e.json","allOf":[{"$ref":"f.json"}]}`}, {"https://example.com/other/f.json", `{"type":"integer"}`},
	}
	for _, ref := range []string{"c.json", "./c.json", "d.json", "c.json#/definitions/id", "https://example.com/e.json", "https://example.com/other/e.json"} {
		for _, id := range []string{"", `"$id":"https://example.org/x/y.json",`} {
			if id != "" && ref != "c.json" {
				continue // relative to another place, a name is taken as it is written
			}
			s, err := Compile(`{`+id+`"properties":{"a":{"$ref":"`+ref+`"}}}`, documents)
			if err != nil {
				t.Errorf("%s: %v", ref, err)
			} else if s.Validate(`{"a":1}`) != nil || s.Validate(`{"a":"x"}`) == nil {
				t.Errorf("%s leads to something else", ref)
			}
		}
	}
	for _, ref := range []string{"http://localhost/x.json", "file:///etc/passwd", "/etc/passwd", "../x.json", "#/definitions/no", "#no", "c.json#/no", "http://json-schema.org/draft-07/schema#/definitions/x/y%"} {
		if _, err := Compile(`{"$ref":"`+ref+`"}`, documents); err == nil || !strings.Contains(err.Error(), ref) {
			t.Errorf("%s: %v", ref, err)
		}
	}
}

func TestSchemasThatAreRefused(t *testing.T) {
	for schema, why := range map[string]string{
		`[]`:                                  "at '': array is no schema",
		`{"type":"text"}`:                     "at '/type': it must be one of null",
		`{"properties":{"a":{"minimum":""}}}`: "at '/properties/a/minimum': it must be a number",
		`{"definitions":{"a":{"allOf":[]}}}`:  "at '/definitions/a/allOf'",
		`{"required":["a","a"]}`:              "none of them twice",
		`{"maxLength":-1}`:                    "a whole number",
		`{"multipleOf":0}`:                    "a number above 0",
		`{"pattern":"(?=a)b"}`:                `pattern "(?=a)b" has (?=: looking around and back is not possible here`,
		`{"patternProperties":{"(a)\\1":{}}}`: `has \1`,
		`{"pattern":"["}`:                     "missing closing ]",
		`{"pattern":"((a{100}){100}){100}"}`:  "pattern",
		`{"a":`:                               "",
	} {
		if _, err := Compile(schema, nil); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %s", schema, err, why)
		}
	}
}

// TestBounds: what would take for ever ends, and says why.
func TestBounds(t *testing.T) {
	doubling := `{"definitions":{"d0":{"type":"null"}`
	for i := range 40 {
		ref := `{"$ref":"#/definitions/d` + string(rune('0'+i/10)) + string(rune('0'+i%10)) + `"}`
		next := i + 1
		doubling += `,"d` + string(rune('0'+next/10)) + string(rune('0'+next%10)) + `":{"anyOf":[` + ref + `,` + ref + `]}`
	}
	doubling = strings.ReplaceAll(doubling, `"d0"`, `"d00"`) + `},"anyOf":[{"$ref":"#/definitions/d40"}]}`
	many := `{"allOf":[` + strings.Repeat(`{"pattern":"(x+){200}y"},`, 50) + `true]}`
	for name, c := range map[string]struct{ schema, value, why string }{
		"itself":   {`{"$ref":"#"}`, `1`, errDepth.Error()},
		"each":     {`{"anyOf":[{"$ref":"#/definitions/a"}],"definitions":{"a":{"not":{"$ref":"#"}}}}`, `1`, errDepth.Error()},
		"doubling": {doubling, `1`, errWork.Error()},
		"patterns": {many, `"` + strings.Repeat("x", 1<<20) + `"`, errWork.Error()},
		"pattern":  {`{"pattern":"(x+){200}y"}`, `"` + strings.Repeat("x", 1<<14) + `"`, "does not match"},
		"deep":     {`{}`, strings.Repeat("[", 300), "nested deeper"},
	} {
		s, err := Compile(c.schema, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := s.validate(c.value, maxWork/20); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v, want %s", name, err, c.why)
		}
	}
}

// FuzzValidate: any value under any schema, which the schema itself is a reference of.
func FuzzValidate(f *testing.F) {
	f.Add(`{"properties":{"a":{"$ref":"c.json#/x"}},"unevaluatedProperties":false,"$schema":"https://json-schema.org/draft/2020-12/schema"}`, `{"a":1}`)
	f.Add(`{"items":[{"pattern":"\\u0061"},{"multipleOf":0.1,"format":"email"}],"uniqueItems":true,"$id":"c.json","x":{"$ref":"#"}}`, `["a",1.5,null]`)
	f.Add(`{"$ref":"http://json-schema.org/draft-04/schema#"}`, `{"type":"null","enum":[]}`)
	f.Fuzz(func(t *testing.T, schema, value string) {
		if len(schema) > 4096 || len(value) > 4096 {
			return
		}
		s, err := Compile(schema, []Document{{"c.json", schema}})
		if err != nil {
			return
		}
		first := s.validate(value, maxWork/1000) // to be quick
		if second := s.validate(value, maxWork/1000); (first == nil) != (second == nil) {
			t.Fatalf("%s: %s: %v, then %v", schema, value, first, second)
		}
	})
}
