package wire

import "sync/atomic"

// A message is what Kafka's definition says about the body of a request in a range of versions: which fields follow one
// another, of what type, and where they may be null. Names are kept for messages to people.
type message struct {
	versions span
	flexible span
	fields   []field
}

type field struct {
	name     string
	kind     kind
	array    bool
	versions span // that have the field
	nullable span // in which it may be null
	tag      int8 // -1: not a tagged field
	fields   []field
}

// span is a range of versions.
type span struct{ from, to int16 }

var (
	always = span{0, 127}
	never  = span{0, -1}
)

func (s span) has(v int16) bool { return s.from <= v && v <= s.to }

type kind uint8

const (
	fixed1  kind = iota // bool, int8
	fixed2              // int16, uint16
	fixed4              // int32
	fixed8              // int64, float64
	fixed16             // uuid
	text                // string
	blob                // bytes, records
	group               // struct
)

// width is a fixed kind's size on the wire, 0 for the others.
func (k kind) width() int {
	if k <= fixed16 {
		return 1 << k
	}
	return 0
}

// shape is a message at one version, made ready for the walk.
type shape []step

// step is a field, or a run of fields of fixed width.
type step struct {
	op       op
	compact  bool // lengths are varints, one more than they say
	nullable bool
	n        int   // opSkip: bytes; opItems: bytes of an element
	size     int64 // bytes that the decoded element takes, what it points to not counted
	name     string
	inner    shape
	tags     []tag
}

type op uint8

const (
	opSkip   op = iota // n bytes
	opText             // a string
	opBlob             // bytes
	opItems            // an array of n-byte elements
	opTexts            // an array of strings
	opGroups           // an array of structs
	opGroup            // a struct that may be null
	opTags             // the tag section of a flexible struct
)

// tag is a tagged field that Kafka knows.
type tag struct {
	number uint32
	valid  bool // at this version
	name   string
	shape  shape
}

const maxShapeVersion = 32

var shapes [len(messages)][maxShapeVersion]atomic.Pointer[shape]

// shapeOf finds the shape of a request's body; nil: there is no such API or version.
func shapeOf(key, version int16) shape {
	if key < 0 || int(key) >= len(shapes) || version < 0 || version >= maxShapeVersion {
		return nil
	}
	at := &shapes[key][version]
	if s := at.Load(); s != nil {
		return *s
	}
	for _, m := range messages[key] {
		if m.versions.has(version) {
			s := compiler{version, m.flexible.has(version)}.compile(m.fields)
			at.Store(&s)
			return s
		}
	}
	return nil
}

type compiler struct {
	version  int16
	flexible bool
}

// compile gives the steps of a struct: its fields in order, then its tags.
func (c compiler) compile(fields []field) shape {
	s := shape{}
	var tags []tag
	for _, f := range fields {
		switch {
		case f.tag >= 0:
			tags = append(tags, c.tag(f))
		case f.versions.has(c.version):
			s = c.field(s, f)
		}
	}
	if c.flexible {
		s = append(s, step{op: opTags, tags: tags})
	}
	return s
}

func (c compiler) tag(f field) tag {
	t := tag{number: uint32(f.tag), valid: f.versions.has(c.version), name: f.name}
	if t.valid {
		t.shape = c.field(nil, f)
	}
	return t
}

func (c compiler) field(s shape, f field) shape {
	st := step{compact: c.flexible, nullable: f.nullable.has(c.version), name: f.name}
	width := f.kind.width()
	switch {
	case f.array && width > 0:
		st.op, st.n, st.size = opItems, width, int64(width)
	case f.array && f.kind == text:
		st.op, st.size = opTexts, sizeText
	case f.array:
		st.op, st.size, st.inner = opGroups, sizeOf(f.fields), c.compile(f.fields)
	case width > 0:
		return skip(s, width)
	case f.kind == text:
		st.op = opText
	case f.kind == blob:
		st.op = opBlob
	case st.nullable:
		st.op, st.size, st.inner = opGroup, sizeOf(f.fields), c.compile(f.fields)
	default:
		for _, st := range c.compile(f.fields) {
			if st.op == opSkip {
				s = skip(s, st.n)
			} else {
				s = append(s, st)
			}
		}
		return s
	}
	return append(s, st)
}

// skip adds n bytes of fixed width to the run that the steps end with.
func skip(s shape, n int) shape {
	if last := len(s) - 1; last >= 0 && s[last].op == opSkip {
		s[last].n += n
		return s
	}
	return append(s, step{op: opSkip, n: n})
}

// What values take in memory once decoded.
const (
	sizeText    = 16 // a string's header; its bytes are added where they are met, with
	sizeAlloc   = 16 // what the smallest allocation wastes at most
	sizeSlice   = 24
	sizePointer = 8
	sizeTags    = 512 // the map of a struct's unknown tags, and
	sizeTag     = 128 // each tag in it, while the map grows
)

// sizeOf reckons what a decoded struct takes, in the fields of all its versions: the struct is the same for all.
func sizeOf(fields []field) int64 {
	n := int64(sizePointer) // unknown tags
	for _, f := range fields {
		switch {
		case f.array:
			n += sizeSlice
		case f.kind == text && f.nullable == never:
			n += sizeText
		case f.kind == text:
			n += sizePointer
		case f.kind == blob:
			n += sizeSlice
		case f.kind == group && f.nullable == never:
			n += sizeOf(f.fields)
		case f.kind == fixed16:
			n += 16
		default:
			n += 8
		}
	}
	return n
}
