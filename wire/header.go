package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

const (
	keyProduce     int16 = 0
	keyAPIVersions int16 = 18
)

var errShort = errors.New("ends early")

// header is a request header v1 or v2.
type header struct {
	key, version int16
	correlation  int32
	clientID     []byte // aliases the frame; nil for null
}

// parseHeader reads the fixed part of a request header, which every version shares: key, version, correlation id and
// the client id, a nullable string with a 2-byte length even in the flexible header. It returns the bytes after it.
//
//fuzz:parser class=header FuzzParseHeader
func parseHeader(b []byte) (header, []byte, error) {
	if len(b) < 10 {
		return header{}, nil, fmt.Errorf("parse request header of %d bytes: %w", len(b), errShort)
	}
	h := header{
		key:         int16(binary.BigEndian.Uint16(b)),
		version:     int16(binary.BigEndian.Uint16(b[2:])),
		correlation: int32(binary.BigEndian.Uint32(b[4:])),
	}
	n := int(int16(binary.BigEndian.Uint16(b[8:])))
	b = b[10:]
	if n < 0 {
		return h, b, nil
	}
	if n > len(b) {
		return h, nil, fmt.Errorf("parse request header: client id of %d bytes: %w", n, errShort)
	}
	h.clientID = b[:n:n]
	return h, b[n:], nil
}

// skipTags skips a tag section whose tags are all unknown.
//
//fuzz:parser class=header FuzzSkipTags
func skipTags(b []byte) ([]byte, error) {
	count, b, err := uvarint(b)
	if err != nil {
		return nil, fmt.Errorf("parse tag count: %w", err)
	}
	for ; count > 0; count-- {
		if _, b, err = uvarint(b); err != nil {
			return nil, fmt.Errorf("parse tag: %w", err)
		}
		var size uint32
		if size, b, err = uvarint(b); err != nil {
			return nil, fmt.Errorf("parse tag size: %w", err)
		}
		if size > math.MaxInt32 || int(size) > len(b) {
			return nil, fmt.Errorf("parse tag of %d bytes: %w", size, errShort)
		}
		b = b[size:]
	}
	return b, nil
}

// uvarint reads Kafka's unsigned varint: 32 bits in at most five bytes.
//
//fuzz:parser class=body FuzzUvarint
func uvarint(b []byte) (uint32, []byte, error) {
	var v uint32
	for i := range min(5, len(b)) {
		c := b[i]
		if c < 0x80 {
			return v | uint32(c)<<(7*i), b[i+1:], nil
		}
		v |= uint32(c&0x7f) << (7 * i)
	}
	if len(b) < 5 {
		return 0, nil, errShort
	}
	return 0, nil, errors.New("varint longer than five bytes")
}
