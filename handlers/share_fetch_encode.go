package handlers

import (
	"encoding/binary"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/projections"
	"doze/wire"
)

// shareFetchAnswer is a ShareFetch answer before it is bytes.
type shareFetchAnswer struct {
	code    int16
	lockMs  int32
	results []*shareResult
	leader  leader
}

// merge puts what came of acknowledgements beside the partitions' records; those without any are told for their sake.
func (a *shareFetchAnswer) merge(acks []*shareAck) {
	at := map[sharePlace]*shareResult{}
	for _, r := range a.results {
		at[r.place] = r
	}
	for _, ack := range acks {
		r := at[ack.place]
		if r == nil {
			r = &shareResult{place: ack.place}
			a.results = append(a.results, r)
		}
		r.ackCode, r.ackMessage = ack.code, ack.message
	}
}

// noteLeaders tells who leads the partitions that say they are led by another.
func (a *shareFetchAnswer) noteLeaders(state *projections.State, conn *wire.Conn) {
	for _, r := range a.results {
		if r.code == notLeaderOrFollower {
			r.leader = shareLeaderEpoch(state, r.place)
			a.leader.host, a.leader.port = conn.Advertised()
		}
	}
}

// topics groups the results, a topic where it comes first.
func (a *shareFetchAnswer) topics() (topics [][]*shareResult) {
	at := map[projections.ID]int{}
	for _, r := range a.results {
		i, known := at[r.place.topic]
		if !known {
			i = len(topics)
			at[r.place.topic] = i
			topics = append(topics, nil)
		}
		topics[i] = append(topics[i], r)
	}
	return topics
}

// encodeShareFetch writes the answer by hand, since its records are sections of files, as Fetch's are. A test holds it to
// kmsg's encoding.
func encodeShareFetch(version int16, a shareFetchAnswer) *wire.Chunked {
	e := fetchEncoder{version: version, flexible: true, b: make([]byte, 0, fetchHeadBytes)}
	e.int32(0) // throttle
	e.int16(a.code)
	e.nullable(nil) // Kafka has no text for refusals of the whole
	e.int32(a.lockMs)
	topics := a.topics()
	e.count(len(topics))
	for _, results := range topics {
		e.b = append(e.b, results[0].place.topic[:]...)
		e.count(len(results))
		for _, r := range results {
			e.shareResult(r, a.leader.id)
		}
		e.tags(0)
	}
	if a.leader.host == "" {
		e.count(0)
	} else {
		e.count(1)
		e.int32(a.leader.id)
		e.nullable(&a.leader.host)
		e.int32(a.leader.port)
		e.nullable(nil) // rack
		e.tags(0)
	}
	e.tags(0)
	e.flush()
	return &wire.Chunked{Parts: e.parts, Describe: func() kmsg.Response { return describeShareFetch(version, a) }}
}

// nullable writes a text in its compact form.
func (e *fetchEncoder) nullable(s *string) {
	if s == nil {
		e.uvarint(0)
		return
	}
	e.uvarint(uint64(len(*s)) + 1)
	e.b = append(e.b, *s...)
}

func (e *fetchEncoder) shareResult(r *shareResult, leaderID int32) {
	e.int32(r.place.partition)
	e.int16(r.code)
	e.nullable(r.message)
	e.int16(r.ackCode)
	e.nullable(r.ackMessage)
	if r.code == notLeaderOrFollower {
		e.int32(leaderID)
		e.int32(r.leader)
	} else {
		e.b = binary.BigEndian.AppendUint64(e.b, 0)
	}
	e.tags(0)
	e.uvarint(uint64(r.size()) + 1)
	if r.size() > 0 {
		e.flush()
		e.parts = append(e.parts, wire.Part{File: r.records})
	}
	e.count(len(r.ranges))
	for _, got := range r.ranges {
		e.int64(got.First)
		e.int64(got.Last)
		e.int16(got.DeliveryCount)
		e.tags(0)
	}
	e.tags(0)
}

// describeShareFetch is the answer without its records, for an observer.
func describeShareFetch(version int16, a shareFetchAnswer) kmsg.Response {
	resp := kmsg.NewPtrShareFetchResponse()
	resp.Version, resp.ErrorCode, resp.AcquisitionLockTimeoutMillis = version, a.code, a.lockMs
	for _, results := range a.topics() {
		topic := kmsg.NewShareFetchResponseTopic()
		topic.TopicID = results[0].place.topic
		for _, r := range results {
			p := kmsg.NewShareFetchResponseTopicPartition()
			p.Partition, p.ErrorCode, p.ErrorMessage = r.place.partition, r.code, r.message
			p.AcknowledgeErrorCode, p.AcknowledgeErrorMessage = r.ackCode, r.ackMessage
			for _, got := range r.ranges {
				p.AcquiredRecords = append(p.AcquiredRecords, kmsg.ShareFetchResponseTopicPartitionAcquiredRecord{
					FirstOffset: got.First, LastOffset: got.Last, DeliveryCount: got.DeliveryCount,
				})
			}
			topic.Partitions = append(topic.Partitions, p)
		}
		resp.Topics = append(resp.Topics, topic)
	}
	return resp
}
