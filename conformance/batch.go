package conformance

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// DayOne is the time of the first record of scripts: a fixed one, 2023-11-14, so that recordings hold it as it is.
const DayOne int64 = 1_700_000_000_000

// Record is one record of a Batch.
type Record struct {
	Key, Value string
	NullKey    bool
	NullValue  bool
	Time       int64 // milliseconds after the batch's first timestamp
	Headers    []kmsg.Header
}

// Batch builds a record batch of magic 2. The zero values are those of a producer without idempotence.
type Batch struct {
	Records    []Record
	BaseOffset int64
	Epoch      int32 // partition leader epoch
	Attributes int16
	Start      int64 // first timestamp; DayOne when 0
	Idempotent bool  // else producer id, epoch and sequence are -1
	ProducerID int64
	ProdEpoch  int16
	Sequence   int32
	Compress   func([]byte) []byte // with the codec set in Attributes
	// Edit changes the batch before its length and CRC are computed; Damage changes the bytes after.
	Edit   func(*kmsg.RecordBatch)
	Damage func([]byte)
}

// Values is a batch of records that have a value only.
func Values(values ...string) Batch {
	var b Batch
	for _, v := range values {
		b.Records = append(b.Records, Record{Value: v, NullKey: true})
	}
	return b
}

// Bytes encodes the batch.
func (b Batch) Bytes() []byte {
	raw := b.batch()
	if b.Edit != nil {
		b.Edit(&raw)
	}
	const afterLength = 49 // bytes of the head that the length counts
	raw.Length = int32(afterLength + len(raw.Records))
	out := raw.AppendTo(nil)
	const crcAt, crcFrom = 17, 21
	binary.BigEndian.PutUint32(out[crcAt:], crc32.Checksum(out[crcFrom:], crc32.MakeTable(crc32.Castagnoli)))
	if b.Damage != nil {
		b.Damage(out)
	}
	return out
}

func (b Batch) batch() kmsg.RecordBatch {
	raw := kmsg.RecordBatch{
		FirstOffset: b.BaseOffset, PartitionLeaderEpoch: b.Epoch, Magic: 2, Attributes: b.Attributes,
		LastOffsetDelta: int32(len(b.Records) - 1), FirstTimestamp: b.Start, ProducerID: -1, ProducerEpoch: -1,
		FirstSequence: -1, NumRecords: int32(len(b.Records)),
	}
	if b.Start == 0 {
		raw.FirstTimestamp = DayOne
	}
	if b.Idempotent {
		raw.ProducerID, raw.ProducerEpoch, raw.FirstSequence = b.ProducerID, b.ProdEpoch, b.Sequence
	}
	raw.MaxTimestamp = raw.FirstTimestamp
	for i, r := range b.Records {
		raw.MaxTimestamp = max(raw.MaxTimestamp, raw.FirstTimestamp+r.Time)
		raw.Records = appendRecord(raw.Records, int32(i), r)
	}
	if b.Compress != nil {
		raw.Records = b.Compress(raw.Records)
	}
	return raw
}

func appendRecord(dst []byte, i int32, r Record) []byte {
	rec := kmsg.Record{OffsetDelta: i, TimestampDelta64: r.Time, Key: []byte(r.Key), Value: []byte(r.Value), Headers: r.Headers}
	if r.NullKey {
		rec.Key = nil
	}
	if r.NullValue {
		rec.Value = nil
	}
	body := rec.AppendTo(nil)
	// AppendTo writes the length it is given, here 0 in one byte: the real one goes before what follows it.
	dst = binary.AppendVarint(dst, int64(len(body)-1))
	return append(dst, body[1:]...)
}
