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
// exist are written even when others do not.
func (b *Broker) writeTxnMarkers(ctx context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.WriteTxnMarkersRequest)
	resp := respond[*kmsg.WriteTxnMarkersResponse](r)
	for i := range req.Markers {
		m := &req.Markers[i]
		if to := markerAnswer(resp, m.ProducerID, countPartitions(m) > 0); to != nil {
			b.writeAsked(ctx, m, to)
		}
	}
	return resp, nil
}

func countPartitions(m *kmsg.WriteTxnMarkersRequestMarker) (n int) {
	for _, t := range m.Topics {
		n += len(t.Partitions)
	}
	return n
}

// markerAnswer is the place for the answer of a producer; none for a marker without partitions.
func markerAnswer(resp *kmsg.WriteTxnMarkersResponse, producer int64, wanted bool) *kmsg.WriteTxnMarkersResponseMarker {
	if !wanted {
		return nil
	}
	for i := range resp.Markers {
		if resp.Markers[i].ProducerID == producer {
			return &resp.Markers[i]
		}
	}
	to := kmsg.NewWriteTxnMarkersResponseMarker()
	to.ProducerID = producer
	resp.Markers = append(resp.Markers, to)
	return &resp.Markers[len(resp.Markers)-1]
}

func (b *Broker) writeAsked(ctx context.Context, m *kmsg.WriteTxnMarkersRequestMarker, to *kmsg.WriteTxnMarkersResponseMarker) {
	for _, asked := range m.Topics {
		topic := markerTopic(to, asked.Topic)
		for _, number := range asked.Partitions {
			p := markerPartition(topic, number)
			p.ErrorCode = b.writeOne(ctx, m, asked.Topic, number)
		}
	}
}

func markerTopic(to *kmsg.WriteTxnMarkersResponseMarker, name string) *kmsg.WriteTxnMarkersResponseMarkerTopic {
	for i := range to.Topics {
		if to.Topics[i].Topic == name {
			return &to.Topics[i]
		}
	}
	to.Topics = append(to.Topics, kmsg.WriteTxnMarkersResponseMarkerTopic{Topic: name})
	return &to.Topics[len(to.Topics)-1]
}

func markerPartition(topic *kmsg.WriteTxnMarkersResponseMarkerTopic, number int32) *kmsg.WriteTxnMarkersResponseMarkerTopicPartition {
	for i := range topic.Partitions {
		if topic.Partitions[i].Partition == number {
			return &topic.Partitions[i]
		}
	}
	topic.Partitions = append(topic.Partitions, kmsg.WriteTxnMarkersResponseMarkerTopicPartition{Partition: number})
	return &topic.Partitions[len(topic.Partitions)-1]
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
