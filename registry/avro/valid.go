//lint:file-ignore ST1005 clients see these texts, as another registry writes them

package avro

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"doze/registry/ordered"
)

// strictName is the rule for names of new schemas: letters, digits and underscores of ASCII.
func strictName(name string) error {
	if name == "" {
		return errors.New("Empty name")
	}
	for i, r := range name {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		switch {
		case i == 0 && !letter:
			return fmt.Errorf("Illegal initial character: %s", name)
		case !letter && (r < '0' || r > '9'):
			return fmt.Errorf("Illegal character in: %s", name)
		}
	}
	return nil
}

// looseName is the rule for names of stored schemas: letters and digits of any script.
func looseName(name string) error {
	if name == "" {
		return errors.New("Empty name")
	}
	for i, r := range name {
		switch {
		case i == 0 && r != '_' && !unicode.IsLetter(r):
			return fmt.Errorf("Illegal initial character: %s", name)
		case r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r):
			return fmt.Errorf("Illegal character in: %s", name)
		}
	}
	return nil
}

func checkNames(root *Schema) error {
	return walk(root, func(s *Schema) error {
		if s.Type.Named() {
			if err := looseName(s.Name); err != nil {
				return err
			}
		}
		for _, f := range s.Fields {
			if err := looseName(f.Name); err != nil {
				return err
			}
		}
		for _, symbol := range s.Symbols {
			if err := looseName(symbol); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkDefaults holds the defaults of all fields to their types.
func (p *parser) checkDefaults(root *Schema) error {
	left := ordered.MaxNodes
	return walk(root, func(s *Schema) error {
		for _, f := range s.Fields {
			if f.Default != nil && !fits(f.Schema, f.Default, &left) {
				return fmt.Errorf("Invalid default for field %s: %s not a %s", f.Name, brief(f.Default), shown(f.Schema))
			}
		}
		return nil
	})
}

func shown(s *Schema) string {
	text := (&Parsed{Root: s}).Resolved()
	if len(text) > 200 {
		return text[:200] + "..."
	}
	return text
}

// fits says whether the value is one of the schema's; left bounds the work.
func fits(s *Schema, v *ordered.Node, left *int) bool {
	if *left--; *left < 0 {
		return false
	}
	switch s.Type {
	case Null:
		return v.Kind == ordered.Null
	case Boolean:
		return v.IsBool()
	case Int:
		return integer(v, 32)
	case Long:
		return integer(v, 64)
	case Float, Double:
		return v.Kind == ordered.Number || v.Kind == ordered.String && slices.Contains([]string{"NaN", "Infinity", "-Infinity"}, v.Text)
	case String, Bytes, Enum, Fixed:
		return v.Kind == ordered.String
	case Array:
		return v.Kind == ordered.Array && !slices.ContainsFunc(v.Items, func(item *ordered.Node) bool { return !fits(s.Items, item, left) })
	case Map:
		return v.Kind == ordered.Object && !slices.ContainsFunc(v.Members, func(m ordered.Member) bool { return !fits(s.Items, m.Value, left) })
	case Union:
		return slices.ContainsFunc(s.Branches, func(b *Schema) bool { return fits(b, v, left) })
	case Record:
		return v.Kind == ordered.Object && fitsRecord(s, v, left)
	}
	return false
}

func fitsRecord(s *Schema, v *ordered.Node, left *int) bool {
	for _, f := range s.Fields {
		value := v.Get(f.Name)
		if value == nil {
			value = f.Default
		}
		if value == nil || !fits(f.Schema, value, left) {
			return false
		}
	}
	return true
}

func integer(v *ordered.Node, bits int) bool {
	if v.Kind != ordered.Number || strings.ContainsAny(v.Text, ".eE") {
		return false
	}
	_, err := strconv.ParseInt(v.Text, 10, bits)
	return err == nil
}
