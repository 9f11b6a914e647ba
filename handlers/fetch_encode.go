package handlers

import (
	"encoding/binary"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/wire"
)

// fetchAnswer is a Fetch answer before it is bytes.
type fetchAnswer struct {
	code    int16
	session int32
	results []fetchResult
	leader  leader
	wait    int32 // ms, of a client that has used too much
}

// leader is the broker that leads every partition, as the client's connection must see it; without a host its address is
// not told.
type leader struct {
	id   int32
	host string
	port int32
}

// encodeFetch writes the answer by hand, since its records are sections of files that are sent without being read into
// memory: everything between two sections becomes one part. A test holds it to kmsg's encoding at every version.
func encodeFetch(version int16, a fetchAnswer) *wire.Chunked {
	e := fetchEncoder{version: version, flexible: version >= 12, leader: a.leader, b: make([]byte, 0, fetchHeadBytes)}
	e.int32(a.wait)
	if version >= 7 {
		e.int16(a.code)
		e.int32(a.session)
	}
	topics := groupByTopic(a.results)
	e.count(len(topics))
	for _, partitions := range topics {
		e.topic(partitions)
	}
	e.endpoints()
	e.flush()
	return &wire.Chunked{Parts: e.parts, Describe: func() kmsg.Response { return describeFetch(version, a) }}
}

// fetchHeadBytes holds what stands before the records in an answer of one partition, usually.
const fetchHeadBytes = 160

// groupByTopic groups neighbours: Kafka starts a new topic entry whenever the topic changes along the order of service.
func groupByTopic(results []fetchResult) (topics [][]fetchResult) {
	for len(results) > 0 {
		n := 1
		for n < len(results) && sameTopic(results[0].partition, results[n].partition) {
			n++
		}
		topics = append(topics, results[:n])
		results = results[n:]
	}
	return topics
}

func sameTopic(a, b *fetchPartition) bool { return a.topic == b.topic && a.topicID == b.topicID }

type fetchEncoder struct {
	version  int16
	flexible bool
	leader   leader
	told     bool // a partition named the leader: its address follows at the end
	parts    []wire.Part
	b        []byte
}

func (e *fetchEncoder) int16(v int16)    { e.b = binary.BigEndian.AppendUint16(e.b, uint16(v)) }
func (e *fetchEncoder) int32(v int32)    { e.b = binary.BigEndian.AppendUint32(e.b, uint32(v)) }
func (e *fetchEncoder) int64(v int64)    { e.b = binary.BigEndian.AppendUint64(e.b, uint64(v)) }
func (e *fetchEncoder) uvarint(v uint64) { e.b = binary.AppendUvarint(e.b, v) }

// count begins an array of n.
func (e *fetchEncoder) count(n int) {
	if e.flexible {
		e.uvarint(uint64(n) + 1)
		return
	}
	e.int32(int32(n))
}

// tags begins n tagged fields.
func (e *fetchEncoder) tags(n uint64) {
	if e.flexible {
		e.uvarint(n)
	}
}

// flush ends a part.
func (e *fetchEncoder) flush() {
	if len(e.b) > 0 {
		e.parts = append(e.parts, wire.Part{Bytes: e.b})
		e.b = e.b[len(e.b):] // go on in the same array
	}
}

func (e *fetchEncoder) topic(partitions []fetchResult) {
	switch first := partitions[0].partition; {
	case e.version >= 13:
		e.b = append(e.b, first.topicID[:]...)
	case e.flexible:
		e.uvarint(uint64(len(first.topic)) + 1)
		e.b = append(e.b, first.topic...)
	default:
		e.int16(int16(len(first.topic)))
		e.b = append(e.b, first.topic...)
	}
	e.count(len(partitions))
	for i := range partitions {
		e.partition(&partitions[i])
	}
	e.tags(0)
}

func (e *fetchEncoder) partition(r *fetchResult) {
	e.int32(r.partition.number)
	e.int16(r.code)
	e.int64(r.highWatermark)
	e.int64(r.lastStable)
	if e.version >= 5 {
		e.int64(r.logStart)
	}
	e.aborted(r)
	if e.version >= 11 {
		e.int32(-1) // preferred read replica
	}
	e.records(r)
	e.leadership(r)
}

// aborted is null unless the client reads committed records.
func (e *fetchEncoder) aborted(r *fetchResult) {
	if r.aborted == nil {
		if e.flexible {
			e.uvarint(0)
		} else {
			e.int32(-1)
		}
		return
	}
	e.count(len(r.aborted))
	for _, txn := range r.aborted {
		e.int64(txn.ProducerID)
		e.int64(txn.FirstOffset)
		e.tags(0)
	}
}

// records are present and empty when there are none, never null: librdkafka asks for it.
func (e *fetchEncoder) records(r *fetchResult) {
	size := r.size()
	if e.flexible {
		e.uvarint(uint64(size) + 1)
	} else {
		e.int32(int32(size))
	}
	if size > 0 {
		e.flush()
		e.parts = append(e.parts, wire.Part{File: r.records})
	}
}

// leadership are the partition's tagged fields: 0 the diverging epoch, 1 the current leader.
func (e *fetchEncoder) leadership(r *fetchResult) {
	tellLeader := e.version >= 16 && (r.code == fencedLeaderEpoch || r.code == notLeaderOrFollower)
	e.told = e.told || tellLeader
	if !r.diverged && !tellLeader {
		e.tags(0)
		return
	}
	if !e.flexible {
		return
	}
	fields := uint64(0)
	if r.diverged {
		fields++
	}
	if tellLeader {
		fields++
	}
	e.uvarint(fields)
	if r.diverged {
		e.b = append(e.b, 0, 13) // tag 0, 4+8 bytes and no tags of its own
		e.int32(r.epoch)
		e.int64(r.epochEnd)
		e.uvarint(0)
	}
	if tellLeader {
		e.b = append(e.b, 1, 9)
		e.int32(e.leader.id)
		e.int32(r.leaderEpoch)
		e.uvarint(0)
	}
}

// endpoints are the answer's tagged fields: 0 the address of a leader that a partition names (v16+).
func (e *fetchEncoder) endpoints() {
	if !e.told || e.leader.host == "" {
		e.tags(0)
		return
	}
	var field []byte
	field = binary.AppendUvarint(field, 2) // an array of one
	field = binary.BigEndian.AppendUint32(field, uint32(e.leader.id))
	field = binary.AppendUvarint(field, uint64(len(e.leader.host))+1)
	field = append(field, e.leader.host...)
	field = binary.BigEndian.AppendUint32(field, uint32(e.leader.port))
	field = append(field, 0, 0) // rack null, no tags
	e.uvarint(1)
	e.uvarint(0)
	e.uvarint(uint64(len(field)))
	e.b = append(e.b, field...)
}

// describeFetch is the answer without its records, for an observer.
func describeFetch(version int16, a fetchAnswer) kmsg.Response {
	resp := kmsg.NewPtrFetchResponse()
	resp.Version, resp.ErrorCode, resp.SessionID, resp.ThrottleMillis = version, a.code, a.session, a.wait
	for _, partitions := range groupByTopic(a.results) {
		topic := kmsg.NewFetchResponseTopic()
		topic.Topic, topic.TopicID = partitions[0].name, partitions[0].partition.topicID
		for i := range partitions {
			topic.Partitions = append(topic.Partitions, describeFetched(&partitions[i]))
		}
		resp.Topics = append(resp.Topics, topic)
	}
	return resp
}

func describeFetched(r *fetchResult) kmsg.FetchResponseTopicPartition {
	p := kmsg.NewFetchResponseTopicPartition()
	p.Partition, p.ErrorCode = r.partition.number, r.code
	p.HighWatermark, p.LastStableOffset, p.LogStartOffset = r.highWatermark, r.lastStable, r.logStart
	for _, txn := range r.aborted {
		p.AbortedTransactions = append(p.AbortedTransactions, kmsg.FetchResponseTopicPartitionAbortedTransaction{
			ProducerID: txn.ProducerID, FirstOffset: txn.FirstOffset,
		})
	}
	return p
}
