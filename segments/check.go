package segments

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
)

// Reason says what is wrong with the bytes that a producer sent. Handlers map reasons to Kafka's codes.
type Reason uint8

const (
	// NoBatch: there is no complete batch. Kafka: INVALID_RECORD.
	NoBatch Reason = iota + 1
	// MoreBatches: more than one batch. Kafka: INVALID_RECORD.
	MoreBatches
	// OldFormat: message format 0 or 1. Kafka: INVALID_RECORD.
	OldFormat
	// Corrupt: a length, magic or CRC that does not fit. Kafka: CORRUPT_MESSAGE.
	Corrupt
	// BadHeader: base offset, counts, control bit or sequence that a producer must not send. Kafka: INVALID_RECORD.
	BadHeader
	// BatchTooLarge: more than Rules.MaxBatchBytes. Kafka: MESSAGE_TOO_LARGE.
	BatchTooLarge
	// ZstdTooEarly: zstd in a request that may not have it. Kafka: UNSUPPORTED_COMPRESSION_TYPE.
	ZstdTooEarly
	// UnknownCodec: a compression that does not exist. Kafka: UNKNOWN_SERVER_ERROR.
	UnknownCodec
	// Undecodable: the compressed stream is broken. Kafka: UNKNOWN_SERVER_ERROR.
	Undecodable
	// InflateLimit: the records inflate to more than Rules.InflateBytes or need a window above 8 MiB. Kafka has no limit for
	// the first, and takes windows of up to 128 MiB (beyond: Undecodable). Here: MESSAGE_TOO_LARGE.
	InflateLimit
	// BadRecord: a record's structure is broken, or records are missing or left over. Kafka: INVALID_RECORD.
	BadRecord
	// BadLength: a length that with the head before it is more than 2^31-1. Kafka: UNKNOWN_SERVER_ERROR.
	BadLength
	// Unstorable: nothing is wrong but that the records cannot be written anew for the topic's compression.type: a
	// timestamp below -1, a producer id without epoch. Kafka: UNKNOWN_SERVER_ERROR.
	Unstorable
	// Rejected: the records are well formed but may not be stored, see CheckError.Faults. Kafka: INVALID_TIMESTAMP when
	// one of them is a timestamp fault, else INVALID_RECORD.
	Rejected
)

var reasonNames = [...]string{"", "no batch", "more than one batch", "old message format", "corrupt batch", "bad batch header",
	"batch too large", "zstd too early", "unknown codec", "undecodable records", "inflate limit", "bad record", "bad length", "unstorable records", "rejected records"}

func (r Reason) String() string { return reasonNames[r] }

// FaultKind says why a record was rejected.
type FaultKind uint8

const (
	// NoKey: a record without key for a compacted topic.
	NoKey FaultKind = iota + 1
	// TimestampRange: the timestamp is too far from the broker's time.
	TimestampRange
	// TimestampType: the producer claims log append time.
	TimestampType
)

// RecordFault is one rejected record.
type RecordFault struct {
	Index                int32 // in the batch
	Kind                 FaultKind
	Timestamp            int64
	KeyBytes, ValueBytes int32 // -1: null
}

// maxFaults bounds what one batch can make us list; Kafka lists all.
const maxFaults = 1000

// CheckError is what CheckBatch returns for a batch that may not be stored.
type CheckError struct {
	Reason Reason
	Detail string
	Faults []RecordFault // for Rejected: in order, the first 1,000
	Total  int           // for Rejected: how many there are
	Codec  Codec         // for Rejected: of the batch; None when it was to be stored with another one
}

func (e *CheckError) Error() string { return "check batch: " + e.Detail }

// TimestampFault tells whether one of the faults is about a timestamp.
func (e *CheckError) TimestampFault() bool {
	for _, f := range e.Faults {
		if f.Kind != NoKey {
			return true
		}
	}
	return false
}

func refuse(reason Reason, format string, args ...any) error {
	return &CheckError{Reason: reason, Detail: fmt.Sprintf(format, args...)}
}

// DefaultInflateBytes bounds what the records of one batch may inflate to.
const DefaultInflateBytes = 64 << 20

// Rules are what a topic and a request allow. The zero value takes everything that is well formed.
type Rules struct {
	MaxBatchBytes int   // max.message.bytes; 0: no bound
	InflateBytes  int64 // 0: DefaultInflateBytes
	NoZstd        bool  // Produce below version 7
	LogAppendTime bool  // message.timestamp.type
	NeedKey       bool  // cleanup.policy has compact

	Compression *Compression // compression.type; nil: batches are stored as they were sent

	CheckStamps bool  // look at the next three; they are Kafka's config values, 2^63-1 for no bound
	Now         int64 // ms
	BeforeMaxMs int64 // message.timestamp.before.max.ms
	AfterMaxMs  int64 // message.timestamp.after.max.ms
}

// CheckBatch checks the records of one partition in a Produce request as Kafka does: exactly one batch, its header, its
// CRC, and every record through its codec, in one pass that holds a decompressor's window and a buffer but never the
// inflated records. What follows the batch without being a whole batch is ignored, as Kafka ignores it.
//
// The batch that it returns aliases records, and the header in there is put right where Kafka puts it right: a max
// timestamp that is not the largest of the records' is corrected (with the CRC), so the bytes may change. A batch of
// another codec than Rules.Compression is written anew in the same pass; the caller says [Batch.Done] after its use.
//
// An error is always a *[CheckError].
//
//fuzz:parser class=batch FuzzCheckBatch
func CheckBatch(records []byte, rules *Rules) (Batch, error) {
	raw, err := singleBatch(records, rules.NoZstd)
	if err != nil {
		return Batch{}, err
	}
	if len(raw) < headerBytes {
		return Batch{}, refuse(Corrupt, "batch of %d bytes, less than its header", len(raw))
	}
	b := Batch{Header: parseHeader(raw), raw: raw}
	if b.BaseOffset != 0 {
		return Batch{}, refuse(BadHeader, "base offset %d, should be 0", b.BaseOffset)
	}
	if rules.MaxBatchBytes > 0 && len(raw) > rules.MaxBatchBytes {
		return Batch{}, refuse(BatchTooLarge, "batch of %d bytes, the maximum is %d", len(raw), rules.MaxBatchBytes)
	}
	if crc := crc32.Checksum(raw[atAttributes:], castagnoli); crc != b.CRC {
		return Batch{}, refuse(Corrupt, "stored CRC %d, computed %d", b.CRC, crc)
	}
	if b.Codec() > Zstd {
		return Batch{}, refuse(UnknownCodec, "compression type %d", b.Codec())
	}
	if err := checkHeader(&b.Header); err != nil {
		return Batch{}, err
	}
	if c := rules.Compression; c != nil && c.Codec != b.Codec() {
		return checkAnew(&b, rules)
	}
	max, err := checkRecords(&b, rules, nil)
	if err != nil {
		return Batch{}, err
	}
	if !rules.LogAppendTime {
		b.setTime(max, false)
	}
	return b, nil
}

// FirstBatch looks at the head of the first batch, as Kafka does with every partition of a request before it does anything
// else: an error fails the whole request. It tells whether the batch is transactional; without a whole batch it says no.
//
// An error is always a *[CheckError], of Reason Corrupt or BadLength; Kafka sends its Detail.
//
//fuzz:parser class=batch FuzzCheckBatch
func FirstBatch(records []byte) (transactional bool, err error) {
	size, err := nextBatch(records)
	if err != nil || size == 0 || records[atMagic] != 2 {
		return false, err
	}
	h := Header{Attributes: int16(binary.BigEndian.Uint16(records[atAttributes:]))}
	return h.Transactional(), nil
}

// HeadOf is the header of the first batch; false when the bytes are too few for one. Nothing of it is checked.
//
//fuzz:parser class=batch FuzzCheckBatch
func HeadOf(records []byte) (Header, bool) {
	if len(records) < headerBytes {
		return Header{}, false
	}
	return parseHeader(records), true
}

// CheckShape checks that there is exactly one batch, of the right format, and no zstd too early: what Kafka checks of all
// partitions before it appends to any. [CheckBatch] checks it too.
//
// An error is always a *[CheckError].
//
//fuzz:parser class=batch FuzzCheckBatch
func CheckShape(records []byte, noZstd bool) error {
	_, err := singleBatch(records, noZstd)
	return err
}

// singleBatch finds the one batch in the bytes. It may be shorter than a header.
func singleBatch(records []byte, noZstd bool) ([]byte, error) {
	size, err := nextBatch(records)
	if err != nil {
		return nil, err
	}
	if size == 0 {
		return nil, refuse(NoBatch, "no complete record batch")
	}
	raw := records[:size:size]
	if raw[atMagic] != 2 {
		return nil, refuse(OldFormat, "message format %d, only 2 is taken", raw[atMagic])
	}
	switch codec := Codec(raw[atAttributes+1] & attrCodec); {
	case noZstd && codec == Zstd:
		return nil, refuse(ZstdTooEarly, "zstd compression is not allowed in this version of the request")
	case noZstd && codec > Zstd: // who looks for zstd trips over what is none
		return nil, refuse(UnknownCodec, "compression type %d", codec)
	}
	more, err := nextBatch(records[size:])
	if err != nil {
		return nil, err
	}
	if more > 0 {
		return nil, refuse(MoreBatches, "more than one record batch")
	}
	return raw, nil
}

// nextBatch returns the size of the batch at the start of b, 0 when there is not all of one. A batch has at least 26 bytes.
func nextBatch(b []byte) (int, error) {
	if len(b) < logOverhead {
		return 0, nil
	}
	length := int32(binary.BigEndian.Uint32(b[atLength:]))
	if length < minLegacySize {
		return 0, refuse(Corrupt, "Record size %d is less than the minimum record overhead (%d)", length, minLegacySize)
	}
	if len(b) <= atMagic {
		return 0, nil
	}
	if magic := int8(b[atMagic]); magic < 0 || magic > 2 {
		return 0, refuse(Corrupt, "Invalid magic found in record: %d", magic)
	}
	size := int64(length) + logOverhead
	if size > math.MaxInt32 {
		return 0, refuse(BadLength, "batch of %d bytes", size)
	}
	if int64(len(b)) < size {
		return 0, nil
	}
	return int(size), nil
}

func checkHeader(h *Header) error {
	switch {
	case h.LastOffsetDelta < 0:
		return refuse(BadHeader, "invalid offset range [0, %d]", h.LastOffsetDelta)
	case h.Records <= 0:
		return refuse(BadHeader, "invalid record count %d", h.Records)
	case int64(h.LastOffsetDelta)+1 != int64(h.Records):
		return refuse(BadHeader, "offset range [0, %d] and record count %d do not agree", h.LastOffsetDelta, h.Records)
	case h.Control():
		return refuse(BadHeader, "clients are not allowed to write control records")
	case h.Idempotent() && h.BaseSequence < 0:
		return refuse(BadHeader, "invalid sequence number %d with producer id %d", h.BaseSequence, h.ProducerID)
	}
	return nil
}

// checkRecords walks the records, gives them to anew when there is one, and returns the largest timestamp.
func checkRecords(b *Batch, rules *Rules, anew *rewrite) (int64, error) {
	w, err := openRecords(&b.Header, b.raw[headerBytes:], rules.InflateBytes)
	if err != nil {
		return 0, err
	}
	defer w.close()
	w.anew = anew
	c := recordChecker{rules: rules, header: &b.Header, anew: anew != nil, max: -1}
	for i := range b.Records {
		var r record
		if err := w.next(&r); err != nil {
			return 0, err
		}
		if r.offsetDelta != i {
			return 0, refuse(BadRecord, "record %d has offset delta %d", i, r.offsetDelta)
		}
		c.check(i, &r)
	}
	if err := w.end(); err != nil {
		return 0, err
	}
	return c.max, c.verdict()
}

// recordChecker applies a topic's rules to well-formed records.
type recordChecker struct {
	rules  *Rules
	header *Header
	anew   bool
	max    int64
	before int64 // a timestamp below -1; 0: there was none
	faults []RecordFault
	total  int
}

func (c *recordChecker) check(i int32, r *record) {
	timestamp := c.header.BaseTimestamp + r.timestampDelta
	if c.header.LogAppendTime() {
		timestamp = c.header.MaxTimestamp
	}
	c.max = max(c.max, timestamp)
	if timestamp < -1 {
		c.before = timestamp
	}
	switch {
	case c.rules.NeedKey && r.keyBytes < 0:
		c.fault(i, r, NoKey, timestamp)
	case !c.rules.LogAppendTime && timestamp != -1:
		if c.outOfRange(timestamp) {
			c.fault(i, r, TimestampRange, timestamp)
		}
	case c.header.LogAppendTime():
		c.fault(i, r, TimestampType, timestamp)
	}
}

// outOfRange computes as Kafka does, wrapping where it wraps.
func (c *recordChecker) outOfRange(timestamp int64) bool {
	if !c.rules.CheckStamps {
		return false
	}
	age := c.rules.Now - timestamp
	return age > c.rules.BeforeMaxMs || -age > c.rules.AfterMaxMs
}

func (c *recordChecker) fault(i int32, r *record, kind FaultKind, timestamp int64) {
	c.total++
	if len(c.faults) < maxFaults {
		c.faults = append(c.faults, RecordFault{Index: i, Kind: kind, Timestamp: timestamp,
			KeyBytes: r.keyBytes, ValueBytes: r.valueBytes})
	}
}

func (c *recordChecker) verdict() error {
	codec := c.header.Codec()
	if c.anew {
		codec = None
	}
	switch {
	case c.total == 0 && c.anew && c.before < 0:
		return refuse(Unstorable, "records with time %d cannot be written anew", c.before)
	case c.total == 0:
		return nil
	}
	return &CheckError{Reason: Rejected, Faults: c.faults, Total: c.total, Codec: codec,
		Detail: fmt.Sprintf("%d records may not be stored, the first is record %d", c.total, c.faults[0].Index)}
}
