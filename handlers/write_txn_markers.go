package handlers

import (
	"context"
	"slices"

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
// exist are written even when others do not, and each once. As in Kafka a marker of producer id or epoch -1 ends the request: those before
// it are written, and all are UNKNOWN_SERVER_ERROR.
func (b *Broker) writeTxnMarkers(ctx context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.WriteTxnMarkersRequest)
	answers := newMarkerAnswers(respond[*kmsg.WriteTxnMarkersResponse](r))
	for i := range req.Markers {
		m := &req.Markers[i]
		if b.tripsOver(m) {
			return answers.allFailed(req)
		}
		err := answers.putAll(i, m, func(topic string, number int32) (int16, error) {
			if err := ctx.Err(); err != nil { // nobody waits any more
				return none, err
			}
			return b.writeOne(ctx, m, topic, number), nil
		})
		if err != nil {
			return nil, err
		}
	}
	return answers.resp, nil
}

// tripsOver says whether Kafka fails to build the marker, which it does when there is a partition to write it to.
func (b *Broker) tripsOver(m *kmsg.WriteTxnMarkersRequestMarker) bool {
	if m.ProducerID != -1 && m.ProducerEpoch != -1 {
		return false
	}
	state, _ := b.view()
	return slices.ContainsFunc(m.Topics, func(t kmsg.WriteTxnMarkersRequestMarkerTopic) bool {
		return slices.ContainsFunc(t.Partitions, func(number int32) bool {
			return b.partition(state, state.Topics.Named(t.Topic), number) != nil
		})
	})
}

// markerAnswerBytes is what a partition is reckoned to take while its request is answered.
const markerAnswerBytes = 200

// markerAnswers puts each producer, topic and partition into the answer once.
type markerAnswers struct {
	resp       *kmsg.WriteTxnMarkersResponse
	room       answerRoom
	markers    map[int64]int // where they are
	topics     map[markerTopic]int
	partitions map[markerPartition]markerPlace
}

func newMarkerAnswers(resp *kmsg.WriteTxnMarkersResponse) *markerAnswers {
	return &markerAnswers{
		resp: resp, room: answerRoom(maxAnswerBytes),
		markers: map[int64]int{}, topics: map[markerTopic]int{}, partitions: map[markerPartition]markerPlace{},
	}
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

// allFailed answers every partition of the request with UNKNOWN_SERVER_ERROR.
func (a *markerAnswers) allFailed(req *kmsg.WriteTxnMarkersRequest) (wire.Reply, error) {
	for i := range req.Markers {
		marker := len(req.Markers) + i // answered anew, whether or not it was before
		err := a.putAll(marker, &req.Markers[i], func(string, int32) (int16, error) { return unknownServerError, nil })
		if err != nil {
			return nil, err
		}
	}
	return a.resp, nil
}

// putAll answers every partition of a marker, once; marker is its number.
func (a *markerAnswers) putAll(marker int, m *kmsg.WriteTxnMarkersRequestMarker, code func(topic string, number int32) (int16, error)) error {
	for _, t := range m.Topics {
		for _, number := range t.Partitions {
			p := markerPartition{markerTopic{m.ProducerID, t.Topic}, number}
			place, named := a.partitions[p]
			if named && place.marker == marker {
				continue
			}
			if !named && !a.room.take(markerAnswerBytes) {
				return errAnswerTooLarge
			}
			answer, err := code(t.Topic, number)
			if err != nil {
				return err
			}
			a.put(p, marker, answer)
		}
	}
	return nil
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
	case m.TransactionVersion == -1: // what Kafka says itself where it does not know
		return unknownServerError
	case m.ProducerEpoch < 0: // below all that any producer has
		return invalidProducerEpoch
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
