package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/vmihailenco/msgpack/v5"
)

// Msgpack in its shortest form, appended to a slice: what the hot events, the cause and the body around them are made of.

func appendUint(b []byte, n uint64) []byte {
	switch {
	case n <= math.MaxInt8:
		return append(b, byte(n))
	case n <= math.MaxUint8:
		return append(b, 0xcc, byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, 0xcd), uint16(n))
	case n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(b, 0xce), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(b, 0xcf), n)
}

func appendInt(b []byte, n int64) []byte {
	switch {
	case n >= 0:
		return appendUint(b, uint64(n))
	case n >= -32:
		return append(b, byte(n))
	case n >= math.MinInt8:
		return append(b, 0xd0, byte(n))
	case n >= math.MinInt16:
		return binary.BigEndian.AppendUint16(append(b, 0xd1), uint16(n))
	case n >= math.MinInt32:
		return binary.BigEndian.AppendUint32(append(b, 0xd2), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(b, 0xd3), uint64(n))
}

func appendString(b []byte, s string) []byte {
	switch n := len(s); {
	case n < 32:
		b = append(b, 0xa0|byte(n))
	case n <= math.MaxUint8:
		b = append(b, 0xd9, byte(n))
	case n <= math.MaxUint16:
		b = binary.BigEndian.AppendUint16(append(b, 0xda), uint16(n))
	default:
		b = binary.BigEndian.AppendUint32(append(b, 0xdb), uint32(n))
	}
	return append(b, s...)
}

func appendID(b []byte, id [16]byte) []byte {
	return append(append(b, 0xc4, 16), id[:]...)
}

func appendArray(b []byte, n int) []byte {
	switch {
	case n < 16:
		return append(b, 0x90|byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, 0xdc), uint16(n))
	}
	return binary.BigEndian.AppendUint32(append(b, 0xdd), uint32(n))
}

// unpacker reads a body whose shape has been checked. The first mistake is kept in err; every read after it gives zero.
type unpacker struct {
	b     []byte
	err   error
	names names
	check bytes.Buffer // re-encoding of mapped events
}

var errNotCanonical = errors.New("not in the form this version writes")

func (u *unpacker) fail(format string, args ...any) {
	if u.err == nil {
		u.err = fmt.Errorf(format, args...)
	}
	u.b = nil
}

func (u *unpacker) head() (byte, bool) {
	if u.err != nil || len(u.b) == 0 {
		u.fail("body ends early")
		return 0, false
	}
	return u.b[0], true
}

// take returns the next n bytes after the head of h bytes.
func (u *unpacker) take(h, n int) []byte {
	if len(u.b)-h < n {
		u.fail("body ends early")
		return nil
	}
	p := u.b[h : h+n]
	u.b = u.b[h+n:]
	return p
}

func (u *unpacker) uint() uint64 {
	c, ok := u.head()
	if !ok {
		return 0
	}
	switch {
	case c <= 0x7f:
		u.b = u.b[1:]
		return uint64(c)
	case c >= 0xcc && c <= 0xcf:
		return bigEndian(u.take(1, 1<<(c-0xcc)))
	}
	u.fail("byte %#02x where an unsigned integer belongs", c)
	return 0
}

func (u *unpacker) int() int64 {
	c, ok := u.head()
	if !ok {
		return 0
	}
	switch {
	case c >= 0xe0:
		u.b = u.b[1:]
		return int64(int8(c))
	case c >= 0xd0 && c <= 0xd3:
		n := 1 << (c - 0xd0)
		shift := 64 - 8*n
		return int64(bigEndian(u.take(1, n))<<shift) >> shift
	}
	n := u.uint()
	if n > math.MaxInt64 {
		u.fail("integer %d out of range", n)
		return 0
	}
	return int64(n)
}

func (u *unpacker) int32() int32 {
	n := u.int()
	if n != int64(int32(n)) {
		u.fail("integer %d out of range", n)
	}
	return int32(n)
}

func (u *unpacker) int16() int16 {
	n := u.int()
	if n != int64(int16(n)) {
		u.fail("integer %d out of range", n)
	}
	return int16(n)
}

func (u *unpacker) raw() []byte {
	c, ok := u.head()
	if !ok {
		return nil
	}
	switch {
	case c&0xe0 == 0xa0:
		return u.take(1, int(c&0x1f))
	case c >= 0xd9 && c <= 0xdb:
		return u.sized(1 << (c - 0xd9))
	}
	u.fail("byte %#02x where a string belongs", c)
	return nil
}

// sized reads a length of n bytes and as many bytes as it says.
func (u *unpacker) sized(n int) []byte {
	return u.take(0, int(bigEndian(u.take(1, n))))
}

// name is string for values that come again and again: groups, topics, client ids.
func (u *unpacker) name() string { return u.names.of(u.raw()) }

func (u *unpacker) id() (id [16]byte) {
	if c, ok := u.head(); ok && c != 0xc4 {
		u.fail("byte %#02x where an id belongs", c)
	}
	if b := u.sized(1); len(b) != len(id) {
		u.fail("id of %d bytes", len(b))
	} else {
		copy(id[:], b)
	}
	return id
}

func (u *unpacker) array() int {
	c, ok := u.head()
	if !ok {
		return 0
	}
	switch {
	case c&0xf0 == 0x90:
		u.b = u.b[1:]
		return int(c & 0x0f)
	case c == 0xdc || c == 0xdd:
		return int(bigEndian(u.take(1, 2<<(c-0xdc))))
	}
	u.fail("byte %#02x where an array belongs", c)
	return 0
}

// fields reads the head of an array that has exactly n elements.
func (u *unpacker) fields(n int) {
	if got := u.array(); got != n && u.err == nil {
		u.fail("%d fields where %d belong", got, n)
	}
}

func bigEndian(b []byte) (n uint64) {
	for _, c := range b {
		n = n<<8 | uint64(c)
	}
	return n
}

// names gives equal strings the same memory. It holds at most maxNames of them and then begins again.
type names map[string]string

const (
	maxNames      = 4096
	maxNameLength = 256
)

func (n names) of(b []byte) string {
	if len(b) == 0 { // most metadata and principals are
		return ""
	}
	if s, ok := n[string(b)]; ok {
		return s
	}
	s := string(b)
	if n == nil || len(s) > maxNameLength {
		return s
	}
	if len(n) >= maxNames {
		clear(n)
	}
	n[s] = s
	return s
}

// packMapped appends the map encoding of an event: its fields in order of declaration, integers at their shortest.
func packMapped(b []byte, e Event) ([]byte, error) {
	buf := bytes.NewBuffer(b)
	if err := encodeMapped(buf, e); err != nil {
		return b, err
	}
	return buf.Bytes(), nil
}

func encodeMapped(buf *bytes.Buffer, e Event) error {
	enc := msgpack.GetEncoder()
	defer msgpack.PutEncoder(enc)
	enc.Reset(buf)
	enc.UseCompactInts(true)
	return enc.Encode(e)
}

// unpackMapped decodes one event and refuses what packMapped would not have written: unknown, missing, repeated or
// reordered fields, integers out of range.
func unpackMapped(u *unpacker, e Event) error {
	n, err := valueSize(u.b)
	if err != nil {
		return err
	}
	payload := u.take(0, n)
	dec := msgpack.GetDecoder()
	defer msgpack.PutDecoder(dec)
	dec.Reset(bytes.NewReader(payload))
	dec.DisallowUnknownFields(true)
	if err := dec.Decode(e); err != nil {
		return err
	}
	u.check.Reset()
	if err := encodeMapped(&u.check, e); err != nil {
		return err
	}
	if !bytes.Equal(u.check.Bytes(), payload) {
		return errNotCanonical
	}
	return nil
}
