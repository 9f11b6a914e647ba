package load

import (
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"

	"github.com/twmb/franz-go/pkg/kmsg"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// The places of a batch's fields that are changed after it was built.
const (
	batchCRCAt       = 17
	batchAttrsAt     = 21
	batchFirstTimeAt = 27
	batchMaxTimeAt   = 35
)

// Batch builds an uncompressed record batch of n records with values of valueSize random bytes, one millisecond apart.
func Batch(n, valueSize int, firstTime int64) []byte {
	random := rand.NewChaCha8([32]byte{1})
	value := make([]byte, valueSize)
	var records []byte
	for i := range n {
		random.Read(value)
		records = appendRecord(records, i, value)
	}
	b := kmsg.NewRecordBatch()
	b.PartitionLeaderEpoch = -1
	b.Magic = 2
	b.LastOffsetDelta = int32(n - 1)
	b.ProducerID, b.ProducerEpoch, b.FirstSequence = -1, -1, -1
	b.NumRecords = int32(n)
	b.Records = records
	b.Length = int32(49 + len(records))
	raw := b.AppendTo(nil)
	SetTime(raw, firstTime)
	return raw
}

func appendRecord(dst []byte, i int, value []byte) []byte {
	r := kmsg.NewRecord()
	r.OffsetDelta = int32(i)
	r.TimestampDelta64 = int64(i)
	r.Value = value
	body := r.AppendTo(nil)
	// AppendTo wrote the length as the zero it was: one byte. The true one goes in front of the rest.
	dst = binary.AppendVarint(dst, int64(len(body)-1))
	return append(dst, body[1:]...)
}

// SetTime moves a batch of Batch to another first timestamp.
func SetTime(batch []byte, firstTime int64) {
	last := int64(binary.BigEndian.Uint32(batch[23:]))
	binary.BigEndian.PutUint64(batch[batchFirstTimeAt:], uint64(firstTime))
	binary.BigEndian.PutUint64(batch[batchMaxTimeAt:], uint64(firstTime+last))
	binary.BigEndian.PutUint32(batch[batchCRCAt:], crc32.Checksum(batch[batchAttrsAt:], castagnoli))
}

// Span is where one batch of a fetched set lies.
type Span struct {
	FirstOffset, LastOffset int64
	Bytes                   int
}

// NextBatch reads the frame of the first batch in a fetched set; ok is false at a batch that was cut, or none.
func NextBatch(set []byte) (s Span, ok bool) {
	if len(set) < 61 {
		return s, false
	}
	s.FirstOffset = int64(binary.BigEndian.Uint64(set))
	s.LastOffset = s.FirstOffset + int64(binary.BigEndian.Uint32(set[23:]))
	s.Bytes = 12 + int(binary.BigEndian.Uint32(set[8:]))
	return s, s.Bytes <= len(set)
}
