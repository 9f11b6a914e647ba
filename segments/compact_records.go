package segments

import (
	"encoding/binary"
	"hash/crc32"
	"io"
)

// keyedRecord is a record as compaction needs it: where it is, whose it is, and its bytes.
type keyedRecord struct {
	offsetDelta    int32
	timestampDelta int64
	attributes     byte   // none is defined
	key            []byte // nil: null
	tombstone      bool   // the value is null
	whole          []byte // with its length
	rest           []byte // what is behind the timestamp delta
}

// eachKeyed calls f with the records of a batch's inflated bytes, until it says stop. ok is false when the bytes are not
// count records and nothing else.
//
//fuzz:parser class=records FuzzKeyedRecords
func eachKeyed(b []byte, count int32, f func(*keyedRecord) bool) (ok bool) {
	var r keyedRecord
	for range count {
		n := r.parse(b)
		if n == 0 {
			return false
		}
		if !f(&r) {
			return true
		}
		b = b[n:]
	}
	return len(b) == 0
}

// parse reads the record at the start of b and returns its size, 0 when there is none. Headers are not looked at.
//
//fuzz:parser class=records FuzzKeyedRecords
func (r *keyedRecord) parse(b []byte) int {
	size, n := varint(b)
	if n <= 0 || size < 1 || size > int64(len(b)-n) {
		return 0
	}
	whole := b[:n+int(size)]
	r.attributes = whole[n]
	body := whole[n+1:]
	stamp, n := varint(body)
	if n <= 0 {
		return 0
	}
	body = body[n:]
	r.whole, r.rest, r.timestampDelta = whole, body, stamp
	offset, n := varint(body)
	if n <= 0 || offset != int64(int32(offset)) {
		return 0
	}
	r.offsetDelta = int32(offset)
	var valid bool
	if r.key, body, valid = nullable(body[n:]); !valid {
		return 0
	}
	value, _, valid := nullable(body)
	if !valid {
		return 0
	}
	r.tombstone = value == nil
	return len(whole)
}

// varint is binary.Varint, quick for the numbers of one byte and two that most are.
func varint(b []byte) (int64, int) {
	if len(b) > 1 {
		if v := uint64(b[0]); v < 0x80 {
			return int64(v>>1) ^ -int64(v&1), 1
		} else if b[1] < 0x80 {
			v = v&0x7f | uint64(b[1])<<7
			return int64(v>>1) ^ -int64(v&1), 2
		}
	}
	return binary.Varint(b)
}

// nullable takes bytes with their length off b; nil for null.
func nullable(b []byte) (v, rest []byte, ok bool) {
	size, n := varint(b)
	if n <= 0 || size > int64(len(b)-n) {
		return nil, nil, false
	}
	b = b[n:]
	if size < 0 {
		return nil, b, true
	}
	return b[:size:size], b[size:], true
}

// inflater gives the records of batches as bytes, in one buffer for all.
type inflater struct{ buf []byte }

// records are the inflated records of a batch that is in raw. The bytes are valid until the next call. An error is a
// *CheckError: the batch cannot be read.
//
//fuzz:parser class=inflate FuzzInflate
func (w *inflater) records(h *Header, raw []byte) ([]byte, error) {
	if h.Codec() == None {
		return raw[headerBytes:], nil
	}
	src, err := openSource(h.Codec(), raw[headerBytes:])
	if err != nil {
		return nil, err
	}
	defer src.close()
	w.buf = w.buf[:0]
	for {
		chunk, err := src.next()
		if err == io.EOF {
			return w.buf, nil
		}
		if err == nil && len(w.buf)+len(chunk) > DefaultInflateBytes {
			err = refuse(InflateLimit, "records inflate to more than the limit")
		}
		if err != nil {
			return nil, err
		}
		w.buf = append(w.buf, chunk...)
	}
}

// emptied writes the batch's header as that of a batch without records: its offsets, producer and sequences stay known.
func emptied(b []byte, h *Header) []byte {
	from := len(b)
	b = append(b, make([]byte, headerBytes)...)
	fillHeader(b[from:], h, h.Attributes&(attrLogAppendTime|attrTransactional|attrControl), -1, h.MaxTimestamp, 0)
	return b
}

// fillHeader writes the header of a batch that compaction changed; b is the batch with its records in place.
func fillHeader(b []byte, h *Header, attributes int16, baseTimestamp, maxTimestamp int64, records int32) {
	binary.BigEndian.PutUint64(b[atBaseOffset:], uint64(h.BaseOffset))
	binary.BigEndian.PutUint32(b[atLength:], uint32(len(b)-logOverhead))
	binary.BigEndian.PutUint32(b[atLeaderEpoch:], uint32(h.LeaderEpoch))
	b[atMagic] = 2
	binary.BigEndian.PutUint16(b[atAttributes:], uint16(attributes))
	binary.BigEndian.PutUint32(b[atLastOffsetDelta:], uint32(h.LastOffsetDelta))
	binary.BigEndian.PutUint64(b[atBaseTimestamp:], uint64(baseTimestamp))
	binary.BigEndian.PutUint64(b[atMaxTimestamp:], uint64(maxTimestamp))
	binary.BigEndian.PutUint64(b[atProducerID:], uint64(h.ProducerID))
	binary.BigEndian.PutUint16(b[atProducerEpoch:], uint16(h.ProducerEpoch))
	binary.BigEndian.PutUint32(b[atBaseSequence:], uint32(h.BaseSequence))
	binary.BigEndian.PutUint32(b[atRecords:], uint32(records))
	binary.BigEndian.PutUint32(b[atCRC:], crc32.Checksum(b[atAttributes:], castagnoli))
}

// appendAt appends the record with another timestamp delta. Attributes, of which none is defined, do not come along.
func (r *keyedRecord) appendAt(b []byte, delta int64) []byte {
	if delta == r.timestampDelta && r.attributes == 0 {
		return append(b, r.whole...)
	}
	var stamp [binary.MaxVarintLen64]byte
	n := binary.PutVarint(stamp[:], delta)
	b = binary.AppendVarint(b, int64(1+n+len(r.rest)))
	b = append(b, 0)
	b = append(b, stamp[:n]...)
	return append(b, r.rest...)
}
