package segments

import (
	"encoding/binary"
	"hash/crc32"
)

// Places of a version 2 record batch's fields (big endian). The CRC covers everything from the attributes on, so base
// offset and leader epoch can be written into a batch without touching it.
const (
	atBaseOffset      = 0
	atLength          = 8
	atLeaderEpoch     = 12
	atMagic           = 16
	atCRC             = 17
	atAttributes      = 21
	atLastOffsetDelta = 23
	atBaseTimestamp   = 27
	atMaxTimestamp    = 35
	atProducerID      = 43
	atProducerEpoch   = 51
	atBaseSequence    = 53
	atRecords         = 57

	headerBytes   = 61 // up to the first record
	logOverhead   = 12 // base offset and length, which the length does not count
	minLegacySize = 14 // the smallest length that any format of record ever had
)

const (
	attrCodec         = 0x07
	attrLogAppendTime = 0x08
	attrTransactional = 0x10
	attrControl       = 0x20
	attrKnown         = 0x7f // these and the delete horizon's
)

// maxOffset is the largest base offset that a log may have: what is added to it must not overflow.
const maxOffset = 1 << 62

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Header is the fixed part of a batch.
type Header struct {
	BaseOffset      int64
	Size            int32 // of the whole batch, this header included
	LeaderEpoch     int32
	Magic           int8
	CRC             uint32
	Attributes      int16
	LastOffsetDelta int32
	BaseTimestamp   int64
	MaxTimestamp    int64
	ProducerID      int64 // -1: none
	ProducerEpoch   int16
	BaseSequence    int32
	Records         int32
	Marker          StoredMarker // of a control batch in a log
}

// parseHeader reads a header of headerBytes bytes; it judges nothing.
//
//fuzz:parser class=batch FuzzCheckBatch
func parseHeader(b []byte) Header {
	_ = b[headerBytes-1]
	return Header{
		BaseOffset:      int64(binary.BigEndian.Uint64(b[atBaseOffset:])),
		Size:            int32(binary.BigEndian.Uint32(b[atLength:])) + logOverhead, // wraps: see sane
		LeaderEpoch:     int32(binary.BigEndian.Uint32(b[atLeaderEpoch:])),
		Magic:           int8(b[atMagic]),
		CRC:             binary.BigEndian.Uint32(b[atCRC:]),
		Attributes:      int16(binary.BigEndian.Uint16(b[atAttributes:])),
		LastOffsetDelta: int32(binary.BigEndian.Uint32(b[atLastOffsetDelta:])),
		BaseTimestamp:   int64(binary.BigEndian.Uint64(b[atBaseTimestamp:])),
		MaxTimestamp:    int64(binary.BigEndian.Uint64(b[atMaxTimestamp:])),
		ProducerID:      int64(binary.BigEndian.Uint64(b[atProducerID:])),
		ProducerEpoch:   int16(binary.BigEndian.Uint16(b[atProducerEpoch:])),
		BaseSequence:    int32(binary.BigEndian.Uint32(b[atBaseSequence:])),
		Records:         int32(binary.BigEndian.Uint32(b[atRecords:])),
	}
}

// LastOffset is the offset of the batch's last record.
func (h *Header) LastOffset() int64 { return h.BaseOffset + int64(h.LastOffsetDelta) }

// LastSequence is the sequence of the last record: sequences start again at 0 after 2^31-1.
func (h *Header) LastSequence() int32 {
	if h.BaseSequence < 0 {
		return -1
	}
	return addSequence(h.BaseSequence, h.LastOffsetDelta)
}

// Codec is the compression of the records.
func (h *Header) Codec() Codec { return Codec(h.Attributes & attrCodec) }

// Control tells whether the batch is a transaction marker.
func (h *Header) Control() bool { return h.Attributes&attrControl != 0 }

// Transactional tells whether the batch belongs to a transaction.
func (h *Header) Transactional() bool { return h.Attributes&attrTransactional != 0 }

// LogAppendTime tells whether the records' time is the batch's max timestamp.
func (h *Header) LogAppendTime() bool { return h.Attributes&attrLogAppendTime != 0 }

// Idempotent tells whether the batch has a producer id.
func (h *Header) Idempotent() bool { return h.ProducerID >= 0 }

// sane tells whether a header found in a file can be one that Append wrote.
func (h *Header) sane() bool {
	return h.Magic == 2 && h.Size >= headerBytes && h.BaseOffset >= 0 && h.BaseOffset <= maxOffset && h.LastOffsetDelta >= 0 && h.Records >= 0
}

// Batch is one record batch that CheckBatch found right, over the bytes that it was given.
type Batch struct {
	Header
	raw []byte
	out *output // what raw was written anew into; nil when it is what was sent
}

// Bytes are the batch as it goes to disk.
func (b *Batch) Bytes() []byte { return b.raw }

// Done gives back what the batch takes when it was written anew. Its bytes may not be used any more.
func (b *Batch) Done() {
	if b.out != nil {
		b.out.done()
		b.out, b.raw = nil, nil
	}
}

// place writes what only the log knows into the header.
func (b *Batch) place(offset int64, epoch int32) {
	b.BaseOffset, b.LeaderEpoch = offset, epoch
	binary.BigEndian.PutUint64(b.raw[atBaseOffset:], uint64(offset))
	binary.BigEndian.PutUint32(b.raw[atLeaderEpoch:], uint32(epoch))
}

// setTime rewrites the max timestamp and the kind of timestamps, and the CRC when that changed anything.
func (b *Batch) setTime(max int64, logAppendTime bool) {
	attributes := b.Attributes &^ attrLogAppendTime
	if logAppendTime {
		attributes |= attrLogAppendTime
	}
	if b.MaxTimestamp == max && b.Attributes == attributes {
		return
	}
	attributes &= attrKnown // Kafka writes what it knows
	b.MaxTimestamp, b.Attributes = max, attributes
	binary.BigEndian.PutUint16(b.raw[atAttributes:], uint16(attributes))
	binary.BigEndian.PutUint64(b.raw[atMaxTimestamp:], uint64(max))
	b.CRC = crc32.Checksum(b.raw[atAttributes:], castagnoli)
	binary.BigEndian.PutUint32(b.raw[atCRC:], b.CRC)
}

// addSequence adds to a sequence number, which wraps from 2^31-1 to 0.
func addSequence(sequence, n int32) int32 {
	return int32((int64(sequence) + int64(n)) & 0x7fffffff)
}
