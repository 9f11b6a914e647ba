package handlers

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/projections"
)

// TestShareSessionsAreBounded: what all sessions name together is bounded; beyond it no session begins, and one that grows ends.
func TestShareSessionsAreBounded(t *testing.T) {
	const ofOne = 1000
	places := func(topic byte) []sharePlace {
		out := make([]sharePlace, ofOne)
		for i := range out {
			out[i] = sharePlace{projections.ID{topic}, int32(i)}
		}
		return out
	}
	s := newShareSessions(10)
	s.left, s.empty = func(shareMemberKey, []sharePlace) {}, func(string) {}
	ask := func(member string, epoch int32, asked []sharePlace) int16 {
		return s.open(&shareRequest{
			key: shareMemberKey{"g", member}, epoch: epoch, asked: asked, conn: uint64(member[0]), ended: context.Background(),
		}).code
	}
	if code := ask("a", initialShareEpoch, places(1)); code != none {
		t.Fatal(code)
	}
	s.places = maxSharePlaces - ofOne/2 // as if others had named so many
	if code := ask("b", initialShareEpoch, places(1)); code != shareSessionLimitReached {
		t.Errorf("one session more: code %d", code)
	}
	if code := ask("a", 1, places(2)); code != shareSessionNotFound {
		t.Errorf("a session that grows beyond the bound: code %d", code)
	}
	if code := ask("a", 2, nil); code != shareSessionNotFound {
		t.Errorf("the session is still there: code %d", code)
	}
	if want := maxSharePlaces - ofOne/2 - ofOne; s.places != want {
		t.Errorf("%d places are counted, not %d", s.places, want)
	}
}

// TestShareStatesAreBounded: so many partitions, and so many bytes of them, are written down and no more.
func TestShareStatesAreBounded(t *testing.T) {
	state := projections.New()
	one := projections.ShareState{Group: "g"}
	for n, room := range map[int]bool{1: true, maxShareStates: true, maxShareStates + 1: false} {
		if got := roomForShareStates(state, n, "g"); got != room && int64(n)*one.Bytes() <= maxShareStatesBytes {
			t.Errorf("room for %d partitions: %v", n, got)
		}
	}
	long := string(make([]byte, 4096))
	if n := maxShareStatesBytes/4096 + 1; roomForShareStates(state, n, long) {
		t.Errorf("room for %d partitions of a group with a name of 4096 bytes", n)
	}
}

// TestManyPlacesOfShareRequests: what a request names again and again, though it is not there, is answered in time.
func TestManyPlacesOfShareRequests(t *testing.T) {
	const many = 300_000
	b := startTestBroker(t, nil)
	c := b.connect()
	c.createTopic("t", 1)
	fetch := kmsg.NewPtrShareFetchRequest()
	fetch.GroupID, fetch.MemberID, fetch.MaxRecords, fetch.MaxBytes = text("g"), text("m"), 1, 1
	topic := kmsg.NewShareFetchRequestTopic()
	state, _ := b.store.View()
	topic.TopicID = state.Topics.Named("t").ID
	for i := range many {
		topic.Partitions = append(topic.Partitions, kmsg.ShareFetchRequestTopicPartition{Partition: int32(i + 1)})
	}
	fetch.Topics = []kmsg.ShareFetchRequestTopic{topic}
	answered := request[*kmsg.ShareFetchResponse](c, fetch, 1)
	if answered.ErrorCode != none || len(answered.Topics) != 1 || len(answered.Topics[0].Partitions) != many {
		t.Fatalf("fetch: code %d, %d topics", answered.ErrorCode, len(answered.Topics))
	}
	ack := kmsg.NewPtrShareAcknowledgeRequest()
	ack.GroupID, ack.MemberID, ack.ShareSessionEpoch = text("g"), text("m"), 1
	for i := range many {
		one := kmsg.ShareAcknowledgeRequestTopic{Partitions: make([]kmsg.ShareAcknowledgeRequestTopicPartition, 1)}
		binary.BigEndian.PutUint32(one.TopicID[:], uint32(i+1))
		ack.Topics = append(ack.Topics, one)
	}
	acked := request[*kmsg.ShareAcknowledgeResponse](c, ack, 1)
	if acked.ErrorCode != none || len(acked.Topics) != many || acked.Topics[many-1].Partitions[0].ErrorCode != unknownTopicID {
		t.Fatalf("acknowledge: code %d, %d topics", acked.ErrorCode, len(acked.Topics))
	}
}

// TestConnectionThatEndsWhileTheBrokerStops: what its session held is given back by the stop, which needs the partitions for it.
func TestConnectionThatEndsWhileTheBrokerStops(t *testing.T) {
	for _, stops := range []bool{true, false} {
		s := newShareSessions(10)
		gaveUp := 0
		s.left, s.empty = func(shareMemberKey, []sharePlace) {}, func(string) { gaveUp++ }
		begun := s.open(&shareRequest{key: shareMemberKey{"g", "m"}, asked: []sharePlace{{projections.ID{1}, 0}}, conn: 1, ended: context.Background()})
		if begun.code != none {
			t.Fatal(begun.code)
		}
		want := 1
		if stops {
			if held := s.close(); len(held) != 1 {
				t.Fatalf("the stop is given %d sessions", len(held))
			}
			want = 0
		}
		s.connEnded(1)
		if gaveUp != want {
			t.Errorf("the broker stops %t: the group's partitions were given up %d times, not %d", stops, gaveUp, want)
		}
	}
}
