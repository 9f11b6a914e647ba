package recording

import (
	"encoding/hex"
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Message is what kmsg's requests and responses share.
type Message interface {
	Key() int16
	GetVersion() int16
	SetVersion(int16)
	AppendTo([]byte) []byte
}

// APIName is "CreateTopics v7".
func APIName(key, version int16) string {
	return fmt.Sprintf("%s v%d", kmsg.NameForKey(key), version)
}

// MessageValue shows a message: every field that its version has on the wire, in kmsg's order.
func MessageValue(m Message) Object {
	shown := wireFieldsOf(m)
	return structValue(reflect.ValueOf(m).Elem(), "", shown)
}

func structValue(v reflect.Value, path string, shown wireFields) Object {
	obj := Object{}
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if tags, ok := v.Field(i).Interface().(kmsg.Tags); ok {
			obj = append(obj, unknownTags(tags)...)
			continue
		}
		at := path + "." + name
		if shown[at] {
			obj = append(obj, Field{name, fieldValue(v.Field(i), at, shown)})
		}
	}
	return obj
}

func unknownTags(tags kmsg.Tags) Object {
	if tags.Len() == 0 {
		return nil
	}
	obj := Object{}
	tags.Each(func(tag uint32, val []byte) {
		obj = append(obj, Field{fmt.Sprint(tag), bytesValue(val)})
	})
	return Object{{"UnknownTags", obj}}
}

func fieldValue(v reflect.Value, path string, shown wireFields) Value {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return fieldValue(v.Elem(), path, shown)
	case reflect.Struct:
		return structValue(v, path, shown)
	case reflect.Slice:
		return sliceValue(v, path, shown)
	case reflect.Array:
		return UUID(v.Interface().([16]byte))
	case reflect.Bool:
		return v.Bool()
	case reflect.String:
		return v.String()
	case reflect.Float64:
		return float(v.Float())
	case reflect.Uint32, reflect.Uint16:
		return int64(v.Uint())
	default:
		return v.Int()
	}
}

func sliceValue(v reflect.Value, path string, shown wireFields) Value {
	if v.IsNil() {
		return nil
	}
	if raw, ok := v.Interface().([]byte); ok {
		if isRecords(path) {
			return RecordsValue(raw)
		}
		return bytesValue(raw)
	}
	list := []Value{}
	for i := range v.Len() {
		list = append(list, fieldValue(v.Index(i), path+"[]", shown))
	}
	return list
}

// isRecords says whether a bytes field holds record batches.
func isRecords(path string) bool {
	return strings.HasSuffix(path, ".Records") || strings.HasSuffix(path, ".RecordBatches")
}

// UUID shows a topic id, directory id and the like: in hex and not in the base64 of Kafka, so that it is seen at once
// when all is zero.
func UUID(id [16]byte) Value {
	return UUIDPrefix + hex.EncodeToString(id[:])
}

// UUIDPrefix begins every id that UUID shows.
const UUIDPrefix = "uuid:"

// hexPrefix begins bytes that are not text.
const hexPrefix = "hex:"

func bytesValue(b []byte) Value {
	if b == nil {
		return nil
	}
	if isText(b) && !strings.HasPrefix(string(b), hexPrefix) {
		return string(b)
	}
	return hexPrefix + hex.EncodeToString(b)
}

func isText(b []byte) bool {
	if !utf8.Valid(b) {
		return false
	}
	for _, r := range string(b) {
		if !unicode.IsPrint(r) && r != '\n' && r != '\t' {
			return false
		}
	}
	return true
}
