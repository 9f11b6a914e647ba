package projections

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A snapshot row is a table's tag (1 byte) and the row's fields in order: integers as signed or unsigned varints, strings
// and bytes as an unsigned varint length and the bytes, ids as 16 bytes. The encoding is canonical, so that the hash over
// all rows names the state. A changed layout takes a new tag.

// rowWriter appends fields of one row.
type rowWriter struct{ b []byte }

func (w *rowWriter) tag(t byte)      { w.b = append(w.b[:0], t) }
func (w *rowWriter) int(v int64)     { w.b = binary.AppendVarint(w.b, v) }
func (w *rowWriter) uint(v uint64)   { w.b = binary.AppendUvarint(w.b, v) }
func (w *rowWriter) id(v ID)         { w.b = append(w.b, v[:]...) }
func (w *rowWriter) string(v string) { w.uint(uint64(len(v))); w.b = append(w.b, v...) }
func (w *rowWriter) bytes(v []byte)  { w.uint(uint64(len(v))); w.b = append(w.b, v...) }
func (w *rowWriter) bool(v bool) {
	if v {
		w.b = append(w.b, 1)
		return
	}
	w.b = append(w.b, 0)
}

var (
	errShortRow = errors.New("row ends early")
	errRowForm  = errors.New("row is not as this version writes it")
)

// rowReader reads the fields of one row; after the first error every read gives zero values and err stays.
type rowReader struct {
	b   []byte
	err error
}

func (r *rowReader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.b = nil
}

func (r *rowReader) take(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.fail(errShortRow)
		return nil
	}
	taken := r.b[:n:n]
	r.b = r.b[n:]
	return taken
}

func (r *rowReader) int() int64 {
	v := r.uint() // zigzag, as binary.AppendVarint has it
	return int64(v>>1) ^ -int64(v&1)
}

func (r *rowReader) uint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.fail(errShortRow)
		return 0
	}
	if n > 1 && r.b[n-1] == 0 {
		r.fail(errRowForm)
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *rowReader) string() string { return string(r.take(r.uint())) }
func (r *rowReader) bytes() []byte  { return append([]byte(nil), r.take(r.uint())...) }

func (r *rowReader) int32() int32 {
	v := r.int()
	if v != int64(int32(v)) {
		r.fail(errRowForm)
	}
	return int32(v)
}

func (r *rowReader) int16() int16 {
	v := r.int()
	if v != int64(int16(v)) {
		r.fail(errRowForm)
	}
	return int16(v)
}

func (r *rowReader) int8() int8 {
	v := r.int()
	if v != int64(int8(v)) {
		r.fail(errRowForm)
	}
	return int8(v)
}

// small reads an unsigned number that fits a byte.
func (r *rowReader) small() uint8 {
	v := r.uint()
	if v > 0xff {
		r.fail(errRowForm)
	}
	return uint8(v)
}

func (r *rowReader) bool() bool {
	b := r.take(1)
	if len(b) == 1 && b[0] > 1 {
		r.fail(errRowForm)
	}
	return len(b) == 1 && b[0] == 1
}

func (r *rowReader) id() (id ID) {
	copy(id[:], r.take(16))
	return id
}

// count reads a number of elements that each take at least one byte of what is left.
func (r *rowReader) count() int {
	n := r.uint()
	if n > uint64(len(r.b)) {
		r.fail(errShortRow)
		return 0
	}
	return int(n)
}

// end is the row's verdict: everything read, nothing left.
func (r *rowReader) end() error {
	if r.err == nil && len(r.b) > 0 {
		return fmt.Errorf("row has %d bytes too many", len(r.b))
	}
	return r.err
}
