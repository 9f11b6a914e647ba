package journal

import (
	"errors"
	"fmt"
)

const (
	maxDepth = 16
	// maxValues bounds how many values one body holds, and so what decoding it may allocate.
	maxValues = 1 << 22
)

var (
	errShapeShort  = errors.New("a length reaches past the end")
	errShapeLong   = errors.New("bytes after the end")
	errShapeDeep   = fmt.Errorf("nested deeper than %d", maxDepth)
	errShapeMany   = fmt.Errorf("more than %d values", maxValues)
	errShapeLonger = errors.New("a value is not at its shortest")
)

// checkShape says whether b is exactly one msgpack value that may be given to a decoder: nested at most maxDepth, every
// length within the bytes left, every integer and length at its shortest, and only the types that events are made of
// (no nil, no float, no extension). It allocates nothing and looks at each byte at most once.
//
//fuzz:parser class=event FuzzCheckShape
func checkShape(b []byte) error {
	n, err := valueSize(b)
	if err != nil {
		return err
	}
	if n != len(b) {
		return errShapeLong
	}
	return nil
}

// valueSize is the length of the first value in b, checked as checkShape does.
func valueSize(b []byte) (int, error) {
	var left [maxDepth + 1]int // values still to come, by depth
	left[0] = 1
	pos, depth, values := 0, 0, 0
	for depth >= 0 {
		if left[depth] == 0 {
			depth--
			continue
		}
		left[depth]--
		if values++; values > maxValues {
			return 0, errShapeMany
		}
		size, inner, err := valueHead(b[pos:])
		if err != nil {
			return 0, fmt.Errorf("byte %d: %w", pos, err)
		}
		pos += size
		if inner == 0 {
			continue
		}
		if inner > len(b)-pos {
			return 0, fmt.Errorf("byte %d: %w", pos, errShapeShort)
		}
		if depth++; depth > maxDepth {
			return 0, errShapeDeep
		}
		left[depth] = inner
	}
	return pos, nil
}

// valueHead reads a value's head: how many bytes it takes with its content, and for an array or map how many values
// are inside (they follow the head).
func valueHead(b []byte) (size, inner int, err error) {
	if len(b) == 0 {
		return 0, 0, errShapeShort
	}
	switch c := b[0]; {
	case c <= 0x7f, c >= 0xe0, c == 0xc2, c == 0xc3:
		return 1, 0, nil
	case c&0xf0 == 0x80:
		return 1, 2 * int(c&0x0f), nil
	case c&0xf0 == 0x90:
		return 1, int(c & 0x0f), nil
	case c&0xe0 == 0xa0:
		return content(b, 1, uint64(c&0x1f))
	default:
		return longHead(b, c)
	}
}

// longHead reads a head of more than one byte: c, then a length or an integer of 1 to 8 bytes.
func longHead(b []byte, c byte) (size, inner int, err error) {
	width, least := headForm(c)
	if width == 0 {
		return 0, 0, fmt.Errorf("type %#02x is not used here", c)
	}
	if len(b) < 1+width {
		return 0, 0, errShapeShort
	}
	n := bigEndian(b[1 : 1+width])
	if c >= 0xd0 && c <= 0xd3 {
		return negative(n, width)
	}
	if n < least {
		return 0, 0, errShapeLonger
	}
	switch {
	case c >= 0xcc && c <= 0xcf:
		return 1 + width, 0, nil
	case c >= 0xdc:
		return elements(b, c, 1+width, n)
	}
	return content(b, 1+width, n)
}

// headForm gives the width of what follows c, and the least value that needs this width; 0 for types that are refused.
func headForm(c byte) (width int, least uint64) {
	switch c {
	case 0xc4: // bin 8
		return 1, 0
	case 0xc5, 0xda: // bin 16, str 16
		return 2, 1 << 8
	case 0xc6, 0xdb, 0xdd, 0xdf: // bin 32, str 32, array 32, map 32
		return 4, 1 << 16
	case 0xcc: // uint 8
		return 1, 1 << 7
	case 0xcd: // uint 16
		return 2, 1 << 8
	case 0xce: // uint 32
		return 4, 1 << 16
	case 0xcf: // uint 64
		return 8, 1 << 32
	case 0xd0, 0xd1, 0xd2, 0xd3: // int 8 to 64
		return 1 << (c - 0xd0), 0
	case 0xd9: // str 8
		return 1, 32
	case 0xdc, 0xde: // array 16, map 16
		return 2, 16
	}
	return 0, 0
}

// negative checks a signed integer of width bytes: negative, and in need of them all.
func negative(n uint64, width int) (size, inner int, err error) {
	shift := 64 - 8*width
	v := int64(n<<shift) >> shift
	least := int64(-32) // the smallest that a shorter form holds
	if width > 1 {
		least = -1 << (4*width - 1)
	}
	if v >= least {
		return 0, 0, errShapeLonger
	}
	return 1 + width, 0, nil
}

// elements checks the length of an array or map before it is used: it may not fit an int.
func elements(b []byte, c byte, head int, n uint64) (size, inner int, err error) {
	if n > uint64(len(b)) {
		return 0, 0, errShapeShort
	}
	if c >= 0xde {
		n *= 2
	}
	return head, int(n), nil
}

func content(b []byte, head int, n uint64) (size, inner int, err error) {
	if n > uint64(len(b)-head) {
		return 0, 0, errShapeShort
	}
	return head + int(n), 0, nil
}
