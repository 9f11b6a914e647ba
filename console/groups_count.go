package console

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Offsets are not records: a transaction's marker has an offset, compaction leaves holes, and what was aborted is never given to a
// read_committed consumer. A group that has read everything would lag by one for ever, since consumers commit the offset
// after the last record and not after its marker. So where few offsets are left, the records among them are counted, by the
// headers of their batches.

// Bounds of the counting: it is done where it can change what a person thinks, and costs one request.
const (
	maxCountedGap        = 200      // offsets
	maxCountedPartitions = 200      // in one request
	maxCountedBytes      = 64 << 10 // of a partition
	maxCountedAnswer     = 4 << 20  // of all
)

// countRecords replaces small lags by the count of the records behind them, where the answer has them all.
func (g groupReader) countRecords(ctx context.Context, groups []*group, topics kadm.TopicDetails) {
	spots := map[partition][]*groupOffset{}
	for _, one := range groups {
		if one.Kind == shareGroup {
			continue
		}
		for i := range one.Offsets {
			if o := &one.Offsets[i]; o.Lag > 0 && o.Lag <= maxCountedGap && len(spots) < maxCountedPartitions {
				at := partition{o.Topic, o.Partition}
				spots[at] = append(spots[at], o)
			}
		}
	}
	if len(spots) == 0 {
		return
	}
	for node, places := range byLeader(topics, spots) {
		g.countAt(ctx, node, places)
	}
}

// place is a partition as Fetch asks for it, with the offsets of groups in it.
type place struct {
	partition
	id      kadm.TopicID
	offsets []*groupOffset
}

// byLeader finds who leads each partition.
func byLeader(topics kadm.TopicDetails, spots map[partition][]*groupOffset) map[int32][]place {
	out := map[int32][]place{}
	for at, offsets := range spots {
		if p, ok := topics[at.Topic].Partitions[at.Index]; ok && p.Err == nil && p.Leader >= 0 {
			out[p.Leader] = append(out[p.Leader], place{at, topics[at.Topic].ID, offsets})
		}
	}
	return out
}

// countAt asks one broker. A failed answer leaves the lags as the offsets say.
func (g groupReader) countAt(ctx context.Context, node int32, places []place) {
	resp, err := g.client.Broker(int(node)).Request(ctx, countRequest(places))
	if err != nil {
		return
	}
	byID := map[kadm.TopicID]map[int32]place{}
	byName := map[partition]place{}
	for _, at := range places {
		if byID[at.id] == nil {
			byID[at.id] = map[int32]place{}
		}
		byID[at.id][at.Index] = at
		byName[at.partition] = at
	}
	for _, t := range resp.(*kmsg.FetchResponse).Topics {
		for _, p := range t.Partitions {
			at, ok := byID[t.TopicID][p.Partition]
			if t.Topic != "" { // before version 13
				at, ok = byName[partition{t.Topic, p.Partition}]
			}
			if ok && p.ErrorCode == 0 {
				at.count(p)
			}
		}
	}
}

// countRequest is a Fetch of what is behind the offsets, outside any session.
func countRequest(places []place) *kmsg.FetchRequest {
	slices.SortFunc(places, func(a, b place) int { return strings.Compare(a.Topic, b.Topic) })
	req := kmsg.NewPtrFetchRequest()
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes, req.IsolationLevel = 0, 0, maxCountedAnswer, 1
	req.SessionEpoch = -1
	for i, at := range places {
		if i == 0 || places[i-1].Topic != at.Topic {
			topic := kmsg.NewFetchRequestTopic()
			topic.Topic, topic.TopicID = at.Topic, at.id
			req.Topics = append(req.Topics, topic)
		}
		part := kmsg.NewFetchRequestTopicPartition()
		part.Partition, part.PartitionMaxBytes, part.FetchOffset = at.Index, maxCountedBytes, at.lowest()
		topic := &req.Topics[len(req.Topics)-1]
		topic.Partitions = append(topic.Partitions, part)
	}
	return req
}

// lowest is the least offset that a group has here.
func (p place) lowest() int64 {
	least := max(p.offsets[0].Committed, p.offsets[0].Start)
	for _, o := range p.offsets {
		least = min(least, max(o.Committed, o.Start))
	}
	return least
}

func (p place) count(answer kmsg.FetchResponseTopicPartition) {
	batches := parseBatches(answer.RecordBatches, answer.AbortedTransactions)
	for _, o := range p.offsets {
		if n, whole := countIn(batches, max(o.Committed, o.Start), o.End); whole {
			o.Lag, o.Counted = n, true
		}
	}
}

// batchHead is what is counted of a record batch.
type batchHead struct {
	first, last int64
	records     int64 // that a read_committed consumer is given
}

// Where the fields of a batch's header are, format 2.
const (
	batchHeaderBytes  = 61
	batchLengthAt     = 8
	batchMagicAt      = 16
	batchAttributesAt = 21
	batchLastDeltaAt  = 23
	batchProducerAt   = 43
	batchRecordsAt    = 57
	transactionalBit  = 1 << 4
	controlBit        = 1 << 5
)

// parseBatches reads the headers of a Fetch answer's batches, as many as are whole. Those of aborted transactions and control
// batches count no records.
//
//fuzz:parser class=payload FuzzBatches
func parseBatches(b []byte, aborted []kmsg.FetchResponseTopicPartitionAbortedTransaction) []batchHead {
	var out []batchHead
	aborted = slices.SortedFunc(slices.Values(aborted), func(a, b kmsg.FetchResponseTopicPartitionAbortedTransaction) int {
		return cmp.Compare(a.FirstOffset, b.FirstOffset)
	})
	gone := map[int64]bool{} // producers whose transaction is, from here to its marker, an aborted one
	for len(b) >= batchHeaderBytes && b[batchMagicAt] == 2 {
		size := int64(binary.BigEndian.Uint32(b[batchLengthAt:])) + batchLengthAt + 4
		if size < batchHeaderBytes || size > int64(len(b)) {
			break
		}
		head := batchHead{first: int64(binary.BigEndian.Uint64(b)), records: max(0, int64(int32(binary.BigEndian.Uint32(b[batchRecordsAt:]))))}
		head.last = head.first + int64(int32(binary.BigEndian.Uint32(b[batchLastDeltaAt:])))
		for len(aborted) > 0 && aborted[0].FirstOffset <= head.last {
			gone[aborted[0].ProducerID] = true
			aborted = aborted[1:]
		}
		producer, attributes := int64(binary.BigEndian.Uint64(b[batchProducerAt:])), binary.BigEndian.Uint16(b[batchAttributesAt:])
		switch {
		case attributes&controlBit != 0:
			delete(gone, producer)
			head.records = 0
		case attributes&transactionalBit != 0 && gone[producer]:
			head.records = 0
		}
		out = append(out, head)
		b = b[size:]
	}
	return out
}

// countIn adds up the records from one offset to before another, and says whether that can be known: the batches reach so far,
// and where only a part of a batch counts, no record of it was compacted away.
func countIn(batches []batchHead, from, end int64) (n int64, known bool) {
	reached := from
	for _, b := range batches {
		if b.last < from || b.first >= end {
			continue
		}
		reached = max(reached, b.last+1)
		whole := b.first >= from && b.last < end
		switch {
		case b.records == 0:
		case whole:
			n += b.records
		case b.records == b.last-b.first+1:
			n += min(b.last, end-1) - max(b.first, from) + 1
		default:
			return 0, false
		}
	}
	return n, reached >= end
}
