package main

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// span is a range of versions; the zero span{0, -1} of "none" is empty.
type span struct{ from, to int }

const last = 127 // the end of "3+"

var none = span{0, -1}

func (s span) has(v int) bool { return s.from <= v && v <= s.to }

// String is the span in the table's source.
func (s span) String() string {
	switch s {
	case none:
		return "never"
	case span{0, last}:
		return "always"
	}
	return fmt.Sprintf("span{%d, %d}", s.from, s.to)
}

func parseSpan(s string) (span, error) {
	if s == "" || s == "none" {
		return none, nil
	}
	from, to, ranged := strings.Cut(strings.TrimSuffix(s, "+"), "-")
	if !ranged {
		to = from
	}
	a, err := strconv.Atoi(from)
	if err != nil {
		return none, fmt.Errorf("parse versions %q: %w", s, err)
	}
	b, err := strconv.Atoi(to)
	if err != nil {
		return none, fmt.Errorf("parse versions %q: %w", s, err)
	}
	if strings.HasSuffix(s, "+") {
		b = last
	}
	return span{a, b}, nil
}

// message and field are what of a definition the table keeps.
type message struct {
	key      int
	name     string
	versions span
	flexible span
	fields   []field
}

type field struct {
	name     string
	kind     string // a constant of package wire
	array    bool
	versions span
	nullable span
	tag      int // -1: none
	fields   []field
}

// definition is a message file.
type definition struct {
	ApiKey           int
	Type, Name       string
	Listeners        []string
	ValidVersions    string
	FlexibleVersions string
	Fields           []definitionField
	CommonStructs    []definitionField
}

type definitionField struct {
	Name, Type, Versions             string
	NullableVersions, TaggedVersions string
	Tag                              json.Number // some files quote it
	Fields                           []definitionField
}

var comment = regexp.MustCompile(`(?m)^\s*//.*$`)

func readJar(name string) ([]message, error) {
	jar, err := zip.OpenReader(name)
	if err != nil {
		return nil, err
	}
	defer jar.Close()
	var all []message
	for _, f := range jar.File {
		if ok, _ := path.Match("common/message/*Request.json", f.Name); !ok {
			continue
		}
		d, err := readDefinition(f)
		if err == nil && d.served() {
			var m message
			m, err = d.message()
			all = append(all, m)
		}
		if err != nil {
			return nil, fmt.Errorf("%s in %s: %w", f.Name, name, err)
		}
	}
	return all, nil
}

func readDefinition(f *zip.File) (definition, error) {
	r, err := f.Open()
	if err != nil {
		return definition{}, err
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		return definition{}, err
	}
	var d definition
	return d, json.Unmarshal(comment.ReplaceAll(b, nil), &d)
}

// served says that a definition is a request of today's servers: not one that only ZooKeeper-era brokers sent each other.
func (d definition) served() bool {
	zooKeeper := len(d.Listeners) == 1 && d.Listeners[0] == "zkBroker"
	return d.Type == "request" && d.ValidVersions != "none" && !zooKeeper
}

func (d definition) message() (m message, err error) {
	m = message{key: d.ApiKey, name: strings.TrimSuffix(d.Name, "Request")}
	if m.versions, err = parseSpan(d.ValidVersions); err != nil {
		return m, err
	}
	if m.flexible, err = parseSpan(d.FlexibleVersions); err != nil {
		return m, err
	}
	m.fields, err = d.convert(d.Fields)
	return m, err
}

func (d definition) convert(from []definitionField) ([]field, error) {
	var to []field
	for _, f := range from {
		c, err := d.convertField(f)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", f.Name, err)
		}
		to = append(to, c)
	}
	return to, nil
}

var kinds = map[string]string{
	"bool": "fixed1", "int8": "fixed1", "int16": "fixed2", "uint16": "fixed2", "int32": "fixed4", "uint32": "fixed4",
	"int64": "fixed8", "float64": "fixed8", "uuid": "fixed16", "string": "text", "bytes": "blob", "records": "blob",
}

func (d definition) convertField(f definitionField) (c field, err error) {
	element, array := strings.CutPrefix(f.Type, "[]")
	c = field{name: f.Name, array: array, tag: -1}
	if c.versions, err = parseSpan(f.Versions); err != nil {
		return c, err
	}
	if c.nullable, err = parseSpan(f.NullableVersions); err != nil {
		return c, err
	}
	if f.Tag != "" {
		if f.TaggedVersions != f.Versions {
			return c, fmt.Errorf("tagged in %s only", f.TaggedVersions)
		}
		if c.tag, err = strconv.Atoi(f.Tag.String()); err != nil {
			return c, err
		}
	}
	if kind, ok := kinds[element]; ok {
		c.kind = kind
		return c, nil
	}
	c.kind = "group"
	inner := f.Fields
	for _, common := range d.CommonStructs {
		if common.Name == element {
			inner = common.Fields
		}
	}
	if inner == nil {
		return c, fmt.Errorf("type %s is not defined", f.Type)
	}
	c.fields, err = d.convert(inner)
	return c, err
}
