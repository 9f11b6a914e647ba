package console

import (
	"encoding/binary"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// headOnly is a record batch as far as its header goes.
func headOnly(first int64, delta, records int32, producer int64, attributes uint16) []byte {
	b := make([]byte, batchHeaderBytes)
	binary.BigEndian.PutUint64(b, uint64(first))
	binary.BigEndian.PutUint32(b[batchLengthAt:], batchHeaderBytes-batchLengthAt-4)
	b[batchMagicAt] = 2
	binary.BigEndian.PutUint16(b[batchAttributesAt:], attributes)
	binary.BigEndian.PutUint32(b[batchLastDeltaAt:], uint32(delta))
	binary.BigEndian.PutUint64(b[batchProducerAt:], uint64(producer))
	binary.BigEndian.PutUint32(b[batchRecordsAt:], uint32(records))
	return b
}

func TestCountRecords(t *testing.T) {
	const tx, control = transactionalBit, transactionalBit | controlBit
	var log []byte
	log = append(log, headOnly(0, 4, 5, -1, 0)...)      // 0 to 4: five records
	log = append(log, headOnly(5, 2, 3, 7, tx)...)      // 5 to 7: aborted
	log = append(log, headOnly(8, 0, 1, 7, control)...) // its marker
	log = append(log, headOnly(9, 1, 2, 7, tx)...)      // 9, 10: committed, by the same producer
	log = append(log, headOnly(11, 0, 1, 7, control)...)
	log = append(log, headOnly(12, 7, 3, -1, 0)...) // 12 to 19: three of eight are left
	aborted := []kmsg.FetchResponseTopicPartitionAbortedTransaction{{ProducerID: 7, FirstOffset: 5}}
	batches := parseBatches(log, aborted)
	for _, c := range []struct {
		from, end, want int64
		known           bool
	}{
		{0, 20, 10, true}, {2, 20, 8, true}, {0, 12, 7, true}, {5, 9, 0, true}, {11, 12, 0, true}, {10, 12, 1, true},
		{0, 15, 0, false}, {0, 21, 10, false}, {20, 20, 0, true},
	} {
		if n, known := countIn(batches, c.from, c.end); known != c.known || known && n != c.want {
			t.Errorf("from %d before %d: %d, %t; want %d, %t", c.from, c.end, n, known, c.want, c.known)
		}
	}
}

// FuzzBatches: any bytes give batches of as many bytes at most, and counts that are not negative where they are known.
func FuzzBatches(f *testing.F) {
	f.Add(headOnly(0, 4, 5, -1, 0), int64(0), int64(0))
	f.Add(append(headOnly(5, 2, 3, 7, transactionalBit), headOnly(8, 0, 1, 7, controlBit)...), int64(7), int64(5))
	f.Fuzz(func(t *testing.T, b []byte, producer, first int64) {
		batches := parseBatches(b, []kmsg.FetchResponseTopicPartitionAbortedTransaction{{ProducerID: producer, FirstOffset: first}})
		if len(batches)*batchHeaderBytes > len(b) {
			t.Fatalf("%d batches in %d bytes", len(batches), len(b))
		}
		countIn(batches, 0, 1<<62)
		kept, cut := batchesBefore(b, first)
		if len(kept) > len(b) || cut == (len(kept) == len(b)) {
			t.Fatalf("of %d bytes %d are kept, cut: %v", len(b), len(kept), cut)
		}
	})
}
