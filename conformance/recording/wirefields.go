package recording

import (
	"bytes"
	"reflect"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// wireFields holds the paths (".Topics", ".Topics[].ErrorCode") that a message has on the wire at one version.
type wireFields map[string]bool

type messageKind struct {
	typ     reflect.Type
	version int16
}

var (
	wireFieldsMu   sync.Mutex
	wireFieldsSeen = map[messageKind]wireFields{}
)

// wireFieldsOf finds the fields of a message by trial: kmsg does not tell which versions have a field, but changing
// one changes the encoded bytes exactly when it is on the wire.
func wireFieldsOf(m Message) wireFields {
	kind := messageKind{reflect.TypeOf(m).Elem(), m.GetVersion()}
	wireFieldsMu.Lock()
	defer wireFieldsMu.Unlock()
	if found, ok := wireFieldsSeen[kind]; ok {
		return found
	}
	p := newProbe(kind)
	p.fields(p.root.Elem(), "")
	wireFieldsSeen[kind] = p.found
	return p.found
}

// probe holds a message in which every array has one element and every pointer is set.
type probe struct {
	root     reflect.Value
	baseline []byte
	found    wireFields
}

func newProbe(kind messageKind) *probe {
	p := &probe{root: reflect.New(kind.typ), found: wireFields{}}
	fill(p.root.Elem())
	p.message().SetVersion(kind.version)
	p.baseline = p.message().AppendTo(nil)
	return p
}

func (p *probe) message() Message { return p.root.Interface().(Message) }

func (p *probe) fields(v reflect.Value, path string) {
	for i := range v.NumField() {
		f, name := v.Field(i), v.Type().Field(i).Name
		if _, isTags := f.Interface().(kmsg.Tags); isTags || path == "" && name == "Version" {
			continue
		}
		at := path + "." + name
		if p.onWire(f) {
			p.found[at] = true
			p.inside(f, at)
		}
	}
}

// inside goes on with the structs that a field holds.
func (p *probe) inside(f reflect.Value, at string) {
	switch f.Kind() {
	case reflect.Slice:
		if f.Type().Elem().Kind() == reflect.Struct {
			p.fields(f.Index(0), at+"[]")
		}
	case reflect.Pointer:
		p.inside(f.Elem(), at)
	case reflect.Struct:
		p.fields(f, at)
	}
}

// onWire changes one field, looks whether the bytes change, and puts the field back.
func (p *probe) onWire(f reflect.Value) bool {
	before := reflect.New(f.Type()).Elem()
	before.Set(f)
	f.Set(other(f))
	changed := !bytes.Equal(p.message().AppendTo(nil), p.baseline)
	f.Set(before)
	return changed
}

// fill gives every field a value that is not its default in any message of Kafka.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if _, isTags := v.Interface().(kmsg.Tags); isTags {
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Array:
		fill(v.Index(0))
	default:
		v.Set(scalar(v.Type(), filled))
	}
}

// filled and changed are the two values that a scalar takes; neither is a default of the protocol.
const (
	filled  = 77
	changed = 78
)

// other gives a value that differs from what fill gave, also in the bytes.
func other(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Struct:
		return otherStruct(v)
	case reflect.Slice, reflect.Pointer:
		if v.Kind() == reflect.Pointer {
			n := reflect.New(v.Type().Elem())
			n.Elem().Set(other(v.Elem()))
			return n
		}
		return twice(v)
	case reflect.Array:
		n := reflect.New(v.Type()).Elem()
		n.Index(1).Set(scalar(v.Type().Elem(), changed))
		return n
	default:
		return scalar(v.Type(), changed)
	}
}

func twice(v reflect.Value) reflect.Value {
	return reflect.AppendSlice(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, 2), v), v)
}

// otherStruct changes all fields: a struct is on the wire when any of them is.
func otherStruct(v reflect.Value) reflect.Value {
	n := reflect.New(v.Type()).Elem()
	n.Set(v)
	for i := range n.NumField() {
		if _, isTags := n.Field(i).Interface().(kmsg.Tags); !isTags {
			n.Field(i).Set(other(n.Field(i)))
		}
	}
	return n
}

func scalar(t reflect.Type, n int) reflect.Value {
	v := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.Bool:
		v.SetBool(n == filled)
	case reflect.String:
		v.SetString(string(rune(n)))
	case reflect.Float64:
		v.SetFloat(float64(n))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(n))
	default:
		v.SetInt(int64(n))
	}
	return v
}
