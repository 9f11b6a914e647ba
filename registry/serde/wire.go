package serde

import (
	"encoding/binary"
	"errors"
)

// Headers of records that hold a schema's prefix in place of the payload's first bytes.
const (
	KeyHeader   = "__key_schema_id"
	ValueHeader = "__value_schema_id"
)

const (
	magicID   = 0
	magicGUID = 1
)

// ErrFormat is what is not written in the wire format of a schema registry.
var ErrFormat = errors.New("not in the wire format of a schema registry")

// Ref names a schema: by its id in the default context, or by its guid.
type Ref struct {
	ID      int32
	GUID    [16]byte
	HasGUID bool
}

// Parse takes the prefix off: of a key, a value, or a record's header.
//
//fuzz:parser class=payload FuzzPrefix
func Parse(b []byte) (r Ref, payload []byte, err error) {
	switch {
	case len(b) >= 5 && b[0] == magicID:
		r.ID = int32(binary.BigEndian.Uint32(b[1:]))
		if r.ID < 0 {
			return r, nil, ErrFormat
		}
		return r, b[5:], nil
	case len(b) >= 17 && b[0] == magicGUID:
		copy(r.GUID[:], b[1:])
		r.HasGUID = true
		return r, b[17:], nil
	}
	return r, nil, ErrFormat
}

// Append adds the prefix.
func Append(b []byte, r Ref) []byte {
	if r.HasGUID {
		return append(append(b, magicGUID), r.GUID[:]...)
	}
	return binary.BigEndian.AppendUint32(append(b, magicID), uint32(r.ID))
}

// maxIndexes is the deepest message that indexes can lead to.
const maxIndexes = 100

// ParseIndexes reads the message indexes of a Protobuf payload.
//
//fuzz:parser class=payload FuzzIndexes
func ParseIndexes(b []byte) (indexes []int, payload []byte, err error) {
	count, n := binary.Varint(b)
	if n <= 0 || count < 0 || count > maxIndexes {
		return nil, nil, ErrFormat
	}
	if b = b[n:]; count == 0 {
		return []int{0}, b, nil
	}
	for range count {
		i, n := binary.Varint(b)
		if n <= 0 || i < 0 || i > 1<<20 {
			return nil, nil, ErrFormat
		}
		indexes = append(indexes, int(i))
		b = b[n:]
	}
	return indexes, b, nil
}

// AppendIndexes adds message indexes.
func AppendIndexes(b []byte, indexes []int) []byte {
	if len(indexes) == 1 && indexes[0] == 0 {
		return append(b, 0)
	}
	b = binary.AppendVarint(b, int64(len(indexes)))
	for _, i := range indexes {
		b = binary.AppendVarint(b, int64(i))
	}
	return b
}
