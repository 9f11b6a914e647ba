package traffic

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"doze/console/inside"
)

// Bounds of a message that is opened.
const (
	maxLines     = 600
	maxLineItems = 100 // of a list
	maxLineBytes = 400 // of a value
	maxHexBytes  = 64
	maxDepth     = 12
	maxPlainWord = 12
)

// opening is a message on its way into lines.
type opening struct {
	key     int16
	name    TopicNamer
	records []recordSum // of a produce, in order; taken one by one
	lines   []inside.Line
	left    int // fields that were cut off
}

// openFields gives a message as its decoded fields, by Kafka's names. Of a message that may hold what lets people in, only
// what mayShow lists is shown.
//
//fuzz:parser class=observer FuzzWords
func openFields(key int16, message any, records []recordSum, name TopicNamer) ([]inside.Line, string) {
	o := &opening{key: key, name: name, records: records}
	v := reflect.ValueOf(message)
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil, ""
		}
		v = v.Elem()
	}
	if v.Kind() == reflect.Struct {
		o.fields(v, 0)
	}
	if o.left > 0 {
		return o.lines, fmt.Sprintf("%d more fields are not shown", o.left)
	}
	return o.lines, ""
}

func (o *opening) line(depth int, name, value string) {
	if len(o.lines) >= maxLines {
		o.left++
		return
	}
	o.lines = append(o.lines, inside.Line{Depth: depth, Name: name, Value: value})
}

// fields adds the fields of a struct.
func (o *opening) fields(v reflect.Value, depth int) {
	t := v.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() || f.Name == "Version" || f.Name == "UnknownTags" {
			continue
		}
		o.field(kafkaName(f.Name), f.Name, v.Field(i), v, depth)
	}
}

// field adds one field; in is the struct that has it.
func (o *opening) field(shownAs, name string, v, in reflect.Value, depth int) {
	elem := v.Type()
	for elem.Kind() == reflect.Slice || elem.Kind() == reflect.Pointer {
		elem = elem.Elem()
	}
	inner := elem.Kind() == reflect.Struct
	switch {
	case secretive(o.key) && !inner && !slices.Contains(mayShow, name):
		o.line(depth, shownAs, inside.Hidden)
	case name == "Records" && elem.Kind() == reflect.Uint8:
		o.line(depth, shownAs, o.takeRecords())
	case name == "Value" && secretField(in):
		o.line(depth, shownAs, inside.Hidden)
	default:
		o.value(shownAs, v, depth)
	}
}

// secretField says whether a struct is a config whose name says that its value lets people in.
func secretField(in reflect.Value) bool {
	name := in.FieldByName("Name")
	return name.Kind() == reflect.String && inside.SecretConfig(name.String())
}

func (o *opening) takeRecords() string {
	if len(o.records) == 0 {
		return "(not kept)"
	}
	r := o.records[0]
	o.records = o.records[1:]
	return r.String()
}

func (o *opening) value(name string, v reflect.Value, depth int) {
	if depth > maxDepth {
		o.left++
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			o.line(depth, name, "null")
			return
		}
		o.value(name, v.Elem(), depth)
	case reflect.Struct:
		o.line(depth, name, "")
		o.fields(v, depth+1)
	case reflect.Slice:
		o.slice(name, v, depth)
	default:
		o.line(depth, name, o.scalar(v))
	}
}

func (o *opening) slice(name string, v reflect.Value, depth int) {
	switch {
	case v.Type().Elem().Kind() == reflect.Uint8:
		o.line(depth, name, bytesShown(v))
		return
	case v.IsNil():
		o.line(depth, name, "null")
		return
	case v.Type().Elem().Kind() != reflect.Struct && v.Type().Elem().Kind() != reflect.Slice:
		o.line(depth, name, o.list(v))
		return
	}
	o.line(depth, name, strconv.Itoa(v.Len())+" items")
	for i := range v.Len() {
		if i == maxLineItems || len(o.lines) >= maxLines {
			o.left += v.Len() - i
			return
		}
		o.value("["+strconv.Itoa(i)+"]", v.Index(i), depth+1)
	}
}

// list is a list of plain values in a line.
func (o *opening) list(v reflect.Value) string {
	var b strings.Builder
	b.WriteByte('[')
	for i := range v.Len() {
		if i > 0 {
			b.WriteString(", ")
		}
		if i == maxLineItems || b.Len() > maxLineBytes {
			fmt.Fprintf(&b, "and %d more", v.Len()-i)
			break
		}
		b.WriteString(o.scalar(v.Index(i)))
	}
	return b.String() + "]"
}

func (o *opening) scalar(v reflect.Value) string {
	switch v.Kind() {
	case reflect.String:
		return cut(v.String(), maxLineBytes)
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n := strconv.FormatInt(v.Int(), 10)
		if named, ok := v.Interface().(fmt.Stringer); ok {
			return n + " " + cut(named.String(), longestName)
		}
		return n
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return strconv.FormatUint(v.Uint(), 10)
	case reflect.Float32, reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case reflect.Array:
		if id, ok := v.Interface().([16]byte); ok {
			return o.id(id)
		}
	case reflect.Pointer:
		if v.IsNil() {
			return "null"
		}
		return o.scalar(v.Elem())
	}
	return fmt.Sprintf("(%s)", v.Kind())
}

// id is an id with the name of the topic that has it.
func (o *opening) id(id [16]byte) string {
	text := base64.RawURLEncoding.EncodeToString(id[:])
	if o.name == nil || id == ([16]byte{}) {
		return text
	}
	if name, known := o.name(id); known {
		return text + " " + cut(name, longestName)
	}
	return text
}

// bytesShown is a byte string by its length and its beginning.
func bytesShown(v reflect.Value) string {
	if v.IsNil() {
		return "null"
	}
	b := v.Bytes()
	text := fmt.Sprintf("%d B", len(b))
	if len(b) == 0 {
		return text
	}
	if len(b) > maxHexBytes {
		return text + " " + hex.EncodeToString(b[:maxHexBytes]) + "..."
	}
	return text + " " + hex.EncodeToString(b)
}

// kafkaName is a field's name as Kafka writes it.
func kafkaName(name string) string {
	r := []rune(name)
	for i := range r {
		after := i+1 < len(r) && unicode.IsLower(r[i+1])
		if i > 0 && (after || !unicode.IsUpper(r[i])) {
			break
		}
		r[i] = unicode.ToLower(r[i])
	}
	return string(r)
}
