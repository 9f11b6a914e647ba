package console

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
)

const maxMsgpackDepth = 64

var errMsgpack = errors.New("it is no MessagePack, or not whole")

// msgpackJSON writes MessagePack as JSON: numbers exactly, bytes as base64. It allocates by what is there, never by what a length
// promises.
//
//fuzz:parser class=payload FuzzDecodings
func msgpackJSON(b []byte) ([]byte, error) {
	m := msgpackReader{rest: b}
	if err := m.value(0, false); err != nil {
		return nil, err
	}
	if len(m.rest) > 0 {
		return nil, fmt.Errorf("%d bytes follow the value of MessagePack", len(m.rest))
	}
	return m.out, nil
}

type msgpackReader struct{ rest, out []byte }

func (m *msgpackReader) take(n uint64) ([]byte, error) {
	if n > uint64(len(m.rest)) {
		return nil, errMsgpack
	}
	b := m.rest[:n]
	m.rest = m.rest[n:]
	return b, nil
}

// uint takes a big-endian number of 1, 2, 4 or 8 bytes.
func (m *msgpackReader) uint(size uint64) (uint64, error) {
	b, err := m.take(size)
	if err != nil {
		return 0, err
	}
	var wide [8]byte
	copy(wide[8-size:], b)
	return binary.BigEndian.Uint64(wide[:]), nil
}

// value writes one value; as a key of an object it is a text.
func (m *msgpackReader) value(depth int, key bool) error {
	if depth > maxMsgpackDepth {
		return errors.New("MessagePack that deep is not decoded")
	}
	head, err := m.uint(1)
	if err != nil {
		return err
	}
	switch {
	case head <= 0x7f:
		return m.number(strconv.FormatUint(head, 10), key)
	case head >= 0xe0:
		return m.number(strconv.Itoa(int(int8(head))), key)
	case head <= 0x8f:
		return m.pairs(head&0x0f, depth, key)
	case head <= 0x9f:
		return m.items(head&0x0f, depth, key)
	case head <= 0xbf:
		return m.text(head & 0x1f)
	}
	return m.typed(byte(head), depth, key)
}

func (m *msgpackReader) typed(head byte, depth int, key bool) error {
	switch head {
	case 0xc0:
		return m.number("null", key)
	case 0xc2:
		return m.number("false", key)
	case 0xc3:
		return m.number("true", key)
	case 0xca, 0xcb:
		return m.float(head, key)
	case 0xcc, 0xcd, 0xce, 0xcf:
		n, err := m.uint(1 << (head - 0xcc))
		return errors.Join(err, m.number(strconv.FormatUint(n, 10), key))
	case 0xd0, 0xd1, 0xd2, 0xd3:
		size := uint64(1) << (head - 0xd0)
		n, err := m.uint(size)
		return errors.Join(err, m.number(strconv.FormatInt(int64(n<<(64-8*size))>>(64-8*size), 10), key))
	case 0xd4, 0xd5, 0xd6, 0xd7, 0xd8:
		return m.extension(1 << (head - 0xd4))
	}
	sizes := map[byte]uint64{0xc4: 1, 0xc5: 2, 0xc6: 4, 0xc7: 1, 0xc8: 2, 0xc9: 4, 0xd9: 1, 0xda: 2, 0xdb: 4, 0xdc: 2, 0xdd: 4, 0xde: 2, 0xdf: 4}
	size, known := sizes[head]
	if !known {
		return errMsgpack
	}
	n, err := m.uint(size)
	switch {
	case err != nil:
		return err
	case head <= 0xc6:
		return m.binary(n)
	case head <= 0xc9:
		return m.extension(n)
	case head <= 0xdb:
		return m.text(n)
	case head <= 0xdd:
		return m.items(n, depth, key)
	}
	return m.pairs(n, depth, key)
}

func (m *msgpackReader) number(s string, key bool) error {
	if key {
		s = `"` + s + `"`
	}
	m.out = append(m.out, s...)
	return nil
}

func (m *msgpackReader) float(head byte, key bool) error {
	size := uint64(4) << (head - 0xca)
	n, err := m.uint(size)
	if err != nil {
		return err
	}
	f := math.Float64frombits(n)
	if size == 4 {
		f = float64(math.Float32frombits(uint32(n)))
	}
	s := strconv.FormatFloat(f, 'g', -1, int(8*size))
	return m.number(s, key || math.IsNaN(f) || math.IsInf(f, 0))
}

func (m *msgpackReader) text(n uint64) error {
	b, err := m.take(n)
	if err != nil {
		return err
	}
	quoted, err := json.Marshal(string(b))
	m.out = append(m.out, quoted...)
	return err
}

func (m *msgpackReader) binary(n uint64) error {
	b, err := m.take(n)
	m.out = append(m.out, `"`+base64.StdEncoding.EncodeToString(b)+`"`...)
	return err
}

// extension writes an application's own type with its number.
func (m *msgpackReader) extension(n uint64) error {
	kind, err := m.uint(1)
	if err != nil {
		return err
	}
	b, err := m.take(n)
	m.out = append(m.out, fmt.Sprintf(`"ext %d: %s"`, int8(kind), base64.StdEncoding.EncodeToString(b))...)
	return err
}

func (m *msgpackReader) items(n uint64, depth int, key bool) error {
	if key {
		return errors.New("a key of MessagePack that is an array is not decoded")
	}
	m.out = append(m.out, '[')
	for i := range n {
		if i > 0 {
			m.out = append(m.out, ',')
		}
		if err := m.value(depth+1, false); err != nil {
			return err
		}
	}
	m.out = append(m.out, ']')
	return nil
}

func (m *msgpackReader) pairs(n uint64, depth int, key bool) error {
	if key {
		return errors.New("a key of MessagePack that is a map is not decoded")
	}
	m.out = append(m.out, '{')
	for i := range n {
		if i > 0 {
			m.out = append(m.out, ',')
		}
		if err := m.value(depth+1, true); err != nil {
			return err
		}
		m.out = append(m.out, ':')
		if err := m.value(depth+1, false); err != nil {
			return err
		}
	}
	m.out = append(m.out, '}')
	return nil
}
