package journal

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Field is a named value of an event, for people and programs.
//
// Value is a string (a number that has a name: that), int64, uint64, bool, [16]byte (an id), []byte, []any of such, or []Field for a struct inside.
type Field struct {
	Name  string
	Value any
}

// Fields gives an event's fields in order of declaration. A field is named as in Go with a lower-case beginning, as Kafka
// names the fields of its messages, or as its tag `field:"name"` says.
func Fields(e Event) []Field {
	return structFields(reflect.ValueOf(e).Elem())
}

func structFields(v reflect.Value) []Field {
	names := fieldNames(v.Type())
	fields := make([]Field, len(names))
	for i, name := range names {
		fields[i] = Field{name, fieldValue(v.Field(i))}
	}
	return fields
}

var fieldNamesOf sync.Map // reflect.Type to []string

func fieldNames(t reflect.Type) []string {
	if names, ok := fieldNamesOf.Load(t); ok {
		return names.([]string)
	}
	names := make([]string, t.NumField())
	for i := range names {
		f := t.Field(i)
		if names[i] = f.Tag.Get("field"); names[i] == "" {
			names[i] = lowerFirst(f.Name)
		}
	}
	fieldNamesOf.Store(t, names)
	return names
}

// lowerFirst gives the name as Kafka would write it: TopicID is topicId, ISR is isr.
func lowerFirst(name string) string {
	words := []rune(name)
	for i := range words {
		upperBefore := i > 0 && unicode.IsUpper(rune(name[i-1]))
		lowerAfter := i+1 < len(words) && unicode.IsLower(words[i+1])
		if i == 0 || upperBefore && !lowerAfter {
			words[i] = unicode.ToLower(words[i])
		}
	}
	return string(words)
}

func fieldValue(v reflect.Value) any {
	switch v.Kind() {
	case reflect.String:
		return v.String()
	case reflect.Bool:
		return v.Bool()
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.Int()
	case reflect.Uint8:
		if named, ok := v.Interface().(fmt.Stringer); ok {
			return named.String()
		}
		return v.Uint()
	case reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return v.Uint()
	case reflect.Struct:
		return structFields(v)
	case reflect.Array:
		if id, ok := v.Interface().([16]byte); ok {
			return id
		}
		b := make([]byte, v.Len())
		reflect.Copy(reflect.ValueOf(b), v)
		return b
	}
	if v.Type().Elem().Kind() == reflect.Uint8 {
		return v.Bytes()
	}
	list := make([]any, v.Len())
	for i := range list {
		list[i] = fieldValue(v.Index(i))
	}
	return list
}

// ID is a topic's or cluster's id as Kafka shows it: 22 characters of URL-safe base64.
func ID(id [16]byte) string { return base64.RawURLEncoding.EncodeToString(id[:]) }

const (
	shownItems = 16 // of a list
	shownBytes = 32 // of a byte string
)

// Line is the event in one line for people: its kind and its fields. Long lists are cut.
func Line(e Event) string {
	b := appendFields([]byte(e.Kind().Name()), Fields(e), ' ')
	return string(b)
}

// appendFields appends name=value for each field, with the separator before each (and not before the first when b
// opens a bracket).
func appendFields(b []byte, fields []Field, separator byte) []byte {
	for i, f := range fields {
		if i > 0 || len(b) == 0 || b[len(b)-1] != '{' {
			b = append(b, separator)
		}
		b = append(append(b, f.Name...), '=')
		b = appendValue(b, f.Value)
	}
	return b
}

func appendValue(b []byte, value any) []byte {
	switch v := value.(type) {
	case []Field:
		return append(appendFields(append(b, '{'), v, ' '), '}')
	case []any:
		return appendList(b, v)
	case []byte:
		if len(v) > shownBytes && len(v) != 32 {
			b = hex.AppendEncode(b, v[:shownBytes])
			return strconv.AppendInt(append(b, "...+"...), int64(len(v)-shownBytes), 10)
		}
		return hex.AppendEncode(b, v)
	}
	return append(b, Quoted(ValueText(value))...)
}

func appendList(b []byte, list []any) []byte {
	b = append(b, '[')
	for i, item := range list {
		if i > 0 {
			b = append(b, ' ')
		}
		if i == shownItems {
			b = strconv.AppendInt(append(b, '+'), int64(len(list)-i), 10)
			break
		}
		b = appendValue(b, item)
	}
	return append(b, ']')
}

// ValueText is a single value of a [Field] as text; empty for lists and structs.
func ValueText(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	case uint64:
		return strconv.FormatUint(v, 10)
	case bool:
		return strconv.FormatBool(v)
	case [16]byte:
		return ID(v)
	case []byte:
		return hex.EncodeToString(v)
	}
	return ""
}

// Quoted is the text as it is when it stands for itself in a line of words, else as a Go string: what a client named
// cannot break the line or the terminal.
func Quoted(s string) string {
	if s == "" || !utf8.ValidString(s) || strings.ContainsFunc(s, needsQuote) {
		return strconv.Quote(s)
	}
	return s
}

func needsQuote(r rune) bool {
	return r == ' ' || r == '"' || r == '=' || r == '[' || r == ']' || r == '{' || r == '}' || !strconv.IsPrint(r)
}
