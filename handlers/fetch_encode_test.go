package handlers

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/projections"
	"doze/segments"
	"doze/wire"
)

// The encoder written by hand gives the bytes that kmsg gives, at every version and for every shape of a partition.
func TestFetchIsEncodedAsKmsgDoes(t *testing.T) {
	id := projections.ID{1, 2, 3}
	part := func(number int32) *fetchPartition {
		return &fetchPartition{topic: "orders", topicID: id, number: number}
	}
	plain := fetchResult{partition: part(0), name: "orders", highWatermark: 7, lastStable: 6, logStart: 2, leaderEpoch: 3}
	committed := plain
	committed.partition, committed.aborted = part(1), []segments.AbortedTxn{{ProducerID: 9, FirstOffset: 4}}
	none := plain
	none.partition, none.aborted = part(2), []segments.AbortedTxn{}
	diverged := plain
	diverged.partition, diverged.diverged, diverged.epoch, diverged.epochEnd = part(3), true, 1, 5
	fenced := plain
	fenced.partition, fenced.code = part(4), fencedLeaderEpoch
	other := plain
	other.partition, other.name = &fetchPartition{topic: "other", topicID: projections.ID{4}, number: 0}, "other"

	for version := int16(4); version <= 18; version++ {
		t.Run(fmt.Sprint("v", version), func(t *testing.T) {
			answer := fetchAnswer{
				session: 5, leader: leader{1, "localhost", 9092},
				results: []fetchResult{plain, committed, none, diverged, fenced, other},
			}
			got := body(t, encodeFetch(version, answer))
			want := byKmsg(version, answer).AppendTo(nil)
			if !bytes.Equal(got, want) {
				t.Errorf("encoded\n%x\nkmsg\n%x", got, want)
			}
		})
	}
}

func body(t *testing.T, c *wire.Chunked) []byte {
	t.Helper()
	var b []byte
	for _, p := range c.Parts {
		b = append(b, p.Bytes...)
		if p.File != nil {
			stored, err := io.ReadAll(io.NewSectionReader(p.File, 0, p.File.Size()))
			if err != nil {
				t.Fatal(err)
			}
			b = append(b, stored...)
		}
	}
	return b
}

// byKmsg is the answer as kmsg's structs hold it, field by field.
func byKmsg(version int16, a fetchAnswer) *kmsg.FetchResponse {
	resp := describeFetch(version, a).(*kmsg.FetchResponse)
	at := map[fetchKey]*kmsg.FetchResponseTopicPartition{}
	for i := range resp.Topics {
		for j := range resp.Topics[i].Partitions {
			p := &resp.Topics[i].Partitions[j]
			p.RecordBatches = []byte{}
			at[fetchKey{resp.Topics[i].Topic, resp.Topics[i].TopicID, p.Partition}] = p
		}
	}
	for _, r := range a.results {
		p := at[r.partition.key()]
		if r.aborted != nil && p.AbortedTransactions == nil {
			p.AbortedTransactions = []kmsg.FetchResponseTopicPartitionAbortedTransaction{}
		}
		if r.diverged {
			p.DivergingEpoch.Epoch, p.DivergingEpoch.EndOffset = r.epoch, r.epochEnd
		}
		if r.code == fencedLeaderEpoch && version >= 16 {
			p.CurrentLeader.LeaderID, p.CurrentLeader.LeaderEpoch = a.leader.id, r.leaderEpoch
			broker := kmsg.NewFetchResponseBroker()
			broker.NodeID, broker.Host, broker.Port = a.leader.id, a.leader.host, a.leader.port
			resp.Brokers = []kmsg.FetchResponseBroker{broker}
		}
	}
	return resp
}
