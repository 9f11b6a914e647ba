package projections

import (
	"strings"
	"testing"

	"doze/journal"
)

// txnEvents furnish every table of transactions, over the topic and the group of furnished.
var txnEvents = []journal.Event{
	&journal.FeatureUpdated{Name: "transaction.version", Level: 1},
	&journal.TxnProducerInitialized{ID: "t", ProducerID: 5, LastEpoch: -1, TimeoutMs: 9},
	&journal.TxnPartitionsAdded{ID: "t", Version: 2, Partitions: []journal.TxnPartition{{Topic: [16]byte{2}}, {Topic: [16]byte{1}, Partition: 3}}},
	&journal.TxnGroupAdded{ID: "t", Version: 2, Group: "g", Partition: 3},
	&journal.TxnOffsetsStaged{ID: "t", Group: "g", Offsets: []journal.CommittedOffset{
		{Topic: "orders", TopicID: [16]byte{1}, Partition: 1, Offset: 8, LeaderEpoch: -1, CommitAt: 1, ExpireAt: -1},
		{Topic: "a.b", TopicID: [16]byte{2}, Offset: 2, LeaderEpoch: 4, Metadata: "m", CommitAt: 1, ExpireAt: -1},
	}},
	&journal.TxnProducerInitialized{ID: "u", ProducerID: 6, LastEpoch: -1, TimeoutMs: 9},
	&journal.TxnPartitionsAdded{ID: "u", Partitions: []journal.TxnPartition{{Topic: [16]byte{1}}}},
	&journal.TxnEnding{ID: "u", Commit: true, Reason: journal.EndAsked, Version: 2, Epoch: 1, NextProducerID: 7},
	&journal.TxnEnded{ID: "u", Commit: true, Markers: []journal.TxnMarker{{Topic: [16]byte{1}, Offset: 4}}},
}

var brokenTxns = []struct {
	want  string
	spoil func(s *State)
}{
	{"features", func(s *State) { s.Features.updates++ }},
	{`feature "f"`, func(s *State) { s.Features.tree.ReplaceOrInsert(Feature{Name: "f", Level: -1, Update: 1}) }},
	{"2 transactional ids, 1 producers", func(s *State) { s.Transactions.byProducer.Delete(s.Transactions.Get("t")) }},
	{"listed among the open", func(s *State) { s.Transactions.open.Delete(s.Transactions.Get("t")) }},
	{"is not the one of producer", func(s *State) { s.Transactions.Get("t").ProducerID = 99 }},
	{`transactional id "v"`, func(s *State) { s.Transactions.put(&Transaction{ID: "v", ProducerID: 1000, NextProducerID: -1}) }},
	{"next producer 7", func(s *State) { s.Transactions.Get("u").NextProducerID = 7 }},
	{"out of order", func(s *State) {
		t := s.Transactions.Get("t")
		t.Partitions[0], t.Partitions[1] = t.Partitions[1], t.Partitions[0]
	}},
	{"bytes counted: transactions", func(s *State) { s.Transactions.bytes++ }},
	{"bytes counted: transactions", func(s *State) { s.Staged.bytes++ }},
	{"staged by groups, 1", func(s *State) {}},
	{`staged by "u"`, func(s *State) {
		s.Staged.put(&StagedOffset{ID: "u", Group: "g", Topic: "orders", Partition: 9})
	}},
	{`staged by "t"`, func(s *State) { s.Staged.put(&StagedOffset{ID: "t", Group: "none", Topic: "orders"}) }},
	{"marker of entry", func(s *State) { s.Markers.tree.ReplaceOrInsert(UnsyncedMarker{Topic: ID{8}}) }},
}

func TestCheckFindsEveryBrokenTransaction(t *testing.T) {
	for _, b := range brokenTxns {
		s := furnished(t)
		if b.want == "staged by groups, 1" {
			s.Staged.byGroup.Delete(s.Staged.Get("t", "g", "orders", 1))
			b.want = "2 offsets staged by transactions, 1 by groups"
		}
		b.spoil(s)
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), b.want) {
			t.Errorf("%q not found: %v", b.want, err)
		}
	}
}

// Events that no decision makes are refused, and say of which transactional id they are.
func TestMisfittingTxnEvents(t *testing.T) {
	orders := journal.TxnPartition{Topic: [16]byte{1}}
	for name, e := range map[string]journal.Event{
		"no id":                   &journal.TxnProducerInitialized{ProducerID: 8},
		"an id of the future":     &journal.TxnProducerInitialized{ID: "v", ProducerID: 1000},
		"somebody's producer":     &journal.TxnProducerInitialized{ID: "v", ProducerID: 5},
		"an open transaction":     &journal.TxnProducerInitialized{ID: "t", ProducerID: 5, Epoch: 1},
		"nobody's partition":      &journal.TxnPartitionsAdded{ID: "v", Partitions: []journal.TxnPartition{orders}},
		"a partition twice":       &journal.TxnPartitionsAdded{ID: "u", Partitions: []journal.TxnPartition{orders, orders}},
		"nobody's group":          &journal.TxnGroupAdded{ID: "v", Group: "g"},
		"offsets outside of one":  &journal.TxnOffsetsStaged{ID: "u", Group: "g"},
		"offsets of no group":     &journal.TxnOffsetsStaged{ID: "t", Group: "none"},
		"an end of nothing":       &journal.TxnEnding{ID: "u", Commit: true, Epoch: 1, NextProducerID: -1},
		"an epoch that goes back": &journal.TxnEnding{ID: "t", Epoch: -1, NextProducerID: -1},
		"an end before the end":   &journal.TxnEnded{ID: "t"},
		"an open one that goes":   &journal.TransactionalIDExpired{ID: "t"},
		"nobody that goes":        &journal.TransactionalIDExpired{ID: "v"},
	} {
		if err := furnished(t).Apply(99, 1, e); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

// A topic that goes takes what is staged for it and its markers along, and the transaction remembers its name.
func TestTopicGoesDuringATransaction(t *testing.T) {
	s := furnished(t)
	apply(t, s, &journal.TopicDeleted{ID: [16]byte{1}})
	x := s.Transactions.Get("t")
	if name := x.TopicName(ID{1}); name != "orders" || len(x.Partitions) != 2 || s.Markers.Len() != 0 || s.Staged.Len() != 1 {
		t.Errorf("%q, %+v, %d markers, %d staged", name, x, s.Markers.Len(), s.Staged.Len())
	}
	if err := s.Check(); err != nil {
		t.Error(err)
	}
	apply(t, s, &journal.TxnEnding{ID: "t", Reason: journal.EndAsked, NextProducerID: -1}, &journal.TxnEnded{ID: "t"})
	if x := s.Transactions.Get("t"); x.TopicName(ID{1}) != "" || s.Staged.Len() != 0 {
		t.Errorf("%+v", x)
	}
}
