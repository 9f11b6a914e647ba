package handlers

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/segments"
	"doze/wire"
)

// WriteTxnMarkers (key 27), v1-v2: writes transaction markers into partitions, whatever the coordinator knows. Between
// brokers in Kafka; here for who aborts a hanging transaction (kafka-transactions.sh abort).
//
//	v2  the transaction.version that the marker is of (KIP-1228)
//
// Answered when the markers are on disk. A producer id that stands twice is answered once; partitions of one marker that
// exist are written even when others do not, and each once.
func (b *Broker) writeTxnMarkers(ctx context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.WriteTxnMarkersRequest)
	resp := respond[*kmsg.WriteTxnMarkersResponse](r)
	answers := markerAnswers{resp: resp, markers: map[int64]int{}, topics: map[markerTopic]int{}, partitions: map[markerPartition]markerPlace{}}
	room := answerRoom(maxAnswerBytes)
	for i := range req.Markers {
		m := &req.Markers[i]
		for _, t := range m.Topics {
			for _, number := range t.Partitions {
				p := markerPartition{markerTopic{m.ProducerID, t.Topic}, number}
				place, named := answers.partitions[p]
				switch {
				case named && place.marker == i:
					continue
				case !named && !room.take(markerAnswerBytes):
					return nil, errAnswerTooLarge
				case ctx.Err() != nil: // nobody waits any more
					return nil, ctx.Err()
				}
				answers.put(p, i, b.writeOne(ctx, m, t.Topic, number))
			}
		}
	}
	return resp, nil
}

// markerAnswerBytes is what a partition is reckoned to take while its request is answered.
const markerAnswerBytes = 200

// markerAnswers puts each producer, topic and partition into the answer once.
type markerAnswers struct {
	resp       *kmsg.WriteTxnMarkersResponse
	markers    map[int64]int // where they are
	topics     map[markerTopic]int
	partitions map[markerPartition]markerPlace
}

// markerPlace is where a partition is in the answer, and the marker of the request that named it last.
type markerPlace struct{ at, marker int }

type markerTopic struct {
	producer int64
	topic    string
}

type markerPartition struct {
	markerTopic
	number int32
}

func (a *markerAnswers) put(p markerPartition, marker int, code int16) {
	i, ok := a.markers[p.producer]
	if !ok {
		i = len(a.resp.Markers)
		a.markers[p.producer] = i
		a.resp.Markers = append(a.resp.Markers, kmsg.WriteTxnMarkersResponseMarker{ProducerID: p.producer})
	}
	m := &a.resp.Markers[i]
	j, ok := a.topics[p.markerTopic]
	if !ok {
		j = len(m.Topics)
		a.topics[p.markerTopic] = j
		m.Topics = append(m.Topics, kmsg.WriteTxnMarkersResponseMarkerTopic{Topic: p.topic})
	}
	t := &m.Topics[j]
	place, ok := a.partitions[p]
	if !ok {
		place.at = len(t.Partitions)
		t.Partitions = append(t.Partitions, kmsg.WriteTxnMarkersResponseMarkerTopicPartition{Partition: p.number})
	}
	a.partitions[p] = markerPlace{place.at, marker}
	t.Partitions[place.at].ErrorCode = code
}

func (b *Broker) writeOne(ctx context.Context, m *kmsg.WriteTxnMarkersRequestMarker, name string, number int32) int16 {
	state, seq := b.view()
	log := b.partition(state, state.Topics.Named(name), number)
	switch {
	case log == nil:
		return unknownTopicOrPartition
	case m.ProducerEpoch < 0: // Kafka trips over it
		return unknownServerError
	}
	appended, err := log.AppendMarker(segments.Marker{
		ProducerID: m.ProducerID, ProducerEpoch: m.ProducerEpoch, CoordinatorEpoch: m.CoordinatorEpoch, Commit: m.Committed,
		TxnVersion: int16(m.TransactionVersion),
	}, b.txns.markerAdmission(state, seq, log.ID()))
	if err == nil {
		err = log.SyncTo(ctx, appended.LastOffset+1)
	}
	if err == nil {
		return none
	}
	return appendCode(err)
}
