package traffic

import (
	"encoding/binary"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// recordSum is what is kept of the records of a partition: how many there are, in how many bytes.
type recordSum struct {
	bytes   int
	batches int
	records int64
	codec   int8
}

var codecNames = [8]string{"uncompressed", "gzip", "snappy", "lz4", "zstd", "codec 5", "codec 6", "codec 7"}

func (r recordSum) String() string {
	if r.bytes == 0 {
		return "none"
	}
	return fmt.Sprintf("(not kept) %d records in %d batches, %d B, %s", r.records, r.batches, r.bytes, codecNames[r.codec&7])
}

// Where the header of a batch has what is told of it.
const (
	batchLengthAt  = 8
	batchAttrsAt   = 21
	batchRecordsAt = 57
	batchHead      = 61
)

// maxSummed bounds the batches of a partition that are looked at.
const maxSummed = 64

// sumRecords reads the headers of record batches.
//
//fuzz:parser class=observer FuzzWords
func sumRecords(b []byte) recordSum {
	sum := recordSum{bytes: len(b)}
	for len(b) >= batchHead && sum.batches < maxSummed {
		length := int64(int32(binary.BigEndian.Uint32(b[batchLengthAt:])))
		if length < batchHead-12 {
			break
		}
		sum.batches++
		sum.records += max(int64(int32(binary.BigEndian.Uint32(b[batchRecordsAt:]))), 0)
		sum.codec = int8(b[batchAttrsAt+1] & 7)
		b = b[min(length+12, int64(len(b))):]
	}
	return sum
}

// withoutRecords is a copy of a produce request that keeps nothing of the buffer that its records are in, and what they were.
func withoutRecords(req *kmsg.ProduceRequest) (*kmsg.ProduceRequest, []recordSum) {
	c := *req
	c.Topics = make([]kmsg.ProduceRequestTopic, len(req.Topics))
	var sums []recordSum
	for i, t := range req.Topics {
		partitions := make([]kmsg.ProduceRequestTopicPartition, len(t.Partitions))
		for j, p := range t.Partitions {
			partitions[j] = kmsg.ProduceRequestTopicPartition{Partition: p.Partition}
			sums = append(sums, sumRecords(p.Records))
		}
		c.Topics[i] = kmsg.ProduceRequestTopic{Topic: t.Topic, TopicID: t.TopicID, Partitions: partitions}
	}
	return &c, sums
}
