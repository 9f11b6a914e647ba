package projections

import (
	"strings"
	"testing"

	"doze/journal"
)

// furnished is a state with rows in every table.
func furnished(tb testing.TB) *State {
	tb.Helper()
	s := New()
	orders := [16]byte{1}
	apply(tb, s,
		&journal.ClusterCreated{ClusterID: [16]byte{7}},
		&journal.BrokerStarted{Version: "1"},
		&journal.TopicCreated{ID: orders, Name: "orders", Partitions: 2, Configs: []journal.ConfigPair{{Name: "retention.ms", Value: "5"}}},
		&journal.TopicCreated{ID: [16]byte{2}, Name: "a.b", Partitions: 1},
		&journal.BrokerStarted{Version: "1"},
		&journal.PartitionsAdded{ID: orders, Total: 5},
		&journal.RecordsDeleted{Topic: orders, Partition: 4, Before: 9},
		&journal.ConfigsAltered{ResourceType: BrokerResource, Resource: "", Set: []journal.ConfigPair{{Name: "log.retention.ms", Value: "7"}}},
		&journal.ProducerIDsAllocated{First: 0, Count: 1000},
		&journal.GroupCreated{Group: "g", Type: journal.GroupClassic},
		&journal.MemberIDAssigned{Group: "g", Member: "n", SessionTimeoutMs: 10},
		&journal.MemberJoined{
			Group: "g", Member: "m", ClientID: "c", ProtocolType: "consumer", Leads: true,
			Protocols: []journal.MemberProtocol{{Name: "range", Metadata: []byte{1}}},
		},
		&journal.RebalanceStarted{Group: "g", Reason: journal.RebalanceMemberJoined, Member: "m", Initial: true, LeftMs: 3},
		&journal.OffsetsCommitted{Group: "g", Offsets: []journal.CommittedOffset{
			{Topic: "orders", TopicID: orders, Partition: 1, Offset: 3, LeaderEpoch: -1, CommitAt: 1, ExpireAt: -1},
			{Topic: "orders", TopicID: orders, Partition: 2, Offset: 4, LeaderEpoch: -1, Metadata: "m", CommitAt: 1, ExpireAt: 9},
			{Topic: "gone", Partition: 0, Offset: 4, LeaderEpoch: 2, CommitAt: 1, ExpireAt: -1},
		}},
	)
	apply(tb, s, registryEvents...)
	apply(tb, s, txnEvents...)
	apply(tb, s, aclEvents...)
	apply(tb, s, quotaEvents...)
	apply(tb, s,
		&journal.ScramCredentialSet{User: "alice", Mechanism: 1, Iterations: 4096, Ref: [16]byte{1}},
		&journal.ScramCredentialSet{User: "alice", Mechanism: 2, Iterations: 8192, Ref: [16]byte{2}},
		&journal.ScramCredentialSet{User: "bob", Mechanism: 1, Iterations: 4096, Ref: [16]byte{3}},
		&journal.ScramCredentialDeleted{User: "bob", Mechanism: 1},
	)
	apply(tb, s,
		&journal.DelegationTokenCreated{ID: "a", Owner: "User:alice", Requester: "User:bob", Renewers: []string{"User:carol"}, Issued: 1, Max: 30, Expiry: 20},
		&journal.DelegationTokenCreated{ID: "b", Owner: "User:alice", Requester: "User:alice", Issued: 2, Max: 30, Expiry: 20},
		&journal.DelegationTokenExpirySet{ID: "a", Expiry: 30},
		&journal.DelegationTokenRemoved{ID: "b"},
	)
	return s
}

func TestCheckOfGoodStates(t *testing.T) {
	for name, s := range map[string]*State{"new": New(), "furnished": furnished(t)} {
		if err := s.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := furnished(t)
	apply(t, s, &journal.TopicDeleted{ID: [16]byte{1}}, &journal.MemberRemoved{Group: "g", Member: "n", Leader: "m"})
	if err := s.Check(); err != nil {
		t.Errorf("after the topic is deleted: %v", err)
	}
	apply(t, s, &journal.OffsetsDeleted{Group: "g", Partitions: []journal.TopicPartition{{Topic: "gone"}}}, &journal.GroupDeleted{Group: "g"})
	if err := s.Check(); err != nil || s.Offsets.Len() != 0 || s.Staged.Len() != 0 {
		t.Errorf("after the group is deleted: %v, %d offsets, %d staged", err, s.Offsets.Len(), s.Staged.Len())
	}
}

// broken makes one thing wrong in a furnished state; the error names it.
var broken = []struct {
	want  string
	spoil func(s *State)
}{
	{"cluster id", func(s *State) { s.ClusterID = "x" }},
	{"starts", func(s *State) { s.Starts = -1 }},
	{"next producer id", func(s *State) { s.NextProducerID = -1 }},
	{"by id", func(s *State) { s.Topics.byID.Delete(&Topic{ID: ID{1}}) }},
	{"by folded name", func(s *State) { s.Topics.byFold.Delete(&Topic{Name: "orders"}) }},
	{"by metric name", func(s *State) { s.Topics.byMetric.Delete(&Topic{Name: "a.b"}) }},
	{"not the same", func(s *State) { s.Topics.byMetric.ReplaceOrInsert(&Topic{Name: "a.b"}) }},
	{"not the same", func(s *State) { s.Topics.byID.ReplaceOrInsert(&Topic{ID: ID{2}}) }},
	{"counted", func(s *State) { s.Topics.partitions++ }},
	{`topic "z": 0 partitions`, func(s *State) { s.Topics.put(&Topic{ID: ID{9}, Name: "z", Ranges: []PartitionRange{{}}}) }},
	{"in ranges []", func(s *State) { s.Topics.put(&Topic{ID: ID{9}, Name: "z", Partitions: 1}) }},
	{"in ranges", func(s *State) {
		s.Topics.put(&Topic{ID: ID{9}, Name: "z", Partitions: 3, Ranges: []PartitionRange{{}, {First: 2}, {First: 1}}})
	}},
	{"in ranges", func(s *State) {
		s.Topics.put(&Topic{ID: ID{9}, Name: "z", Partitions: 3, Ranges: []PartitionRange{{}, {First: 3}}})
	}},
	{"in ranges", func(s *State) {
		s.Topics.put(&Topic{ID: ID{9}, Name: "z", Partitions: 3, Ranges: []PartitionRange{{Starts: 3}}})
	}},
	{"log start", func(s *State) { s.LogStarts.tree.ReplaceOrInsert(LogStart{Topic: ID{8}}) }},
	{"log start", func(s *State) { s.LogStarts.tree.ReplaceOrInsert(LogStart{Topic: ID{1}, Partition: 5}) }},
	{"log start", func(s *State) { s.LogStarts.tree.ReplaceOrInsert(LogStart{Topic: ID{1}, Partition: 1, Offset: -1}) }},
	{`configs of topic "z"`, func(s *State) { s.Configs.put(Config{Type: TopicResource, Resource: "z", Name: "n"}) }},
	{`group "g"`, func(s *State) { s.Groups.Get("g").Waiting = 0 }},
	{"bytes counted: groups", func(s *State) { s.Groups.bytes++ }},
	{"bytes counted", func(s *State) { s.Offsets.bytes++ }},
	{"bytes counted", func(s *State) { s.Configs.bytes-- }},
	{"bytes, ", func(s *State) { s.Groups.Get("g").held++ }},
	{`offsets of group "h"`, func(s *State) {
		s.Groups.tree.ReplaceOrInsert(&Group{ID: "h", Type: journal.GroupClassic})
		s.Offsets.put(s.openOffsets("h", "t", ID{}), CommittedOffset{ExpireAt: -1})
		s.Groups.tree.Delete(&Group{ID: "h"})
	}},
	{"by id", func(s *State) { s.Offsets.byID.Delete(s.Offsets.Topic("g", "gone")) }},
	{"by name and by id", func(s *State) {
		other := *s.Offsets.Topic("g", "gone")
		s.Offsets.byID.ReplaceOrInsert(&other)
	}},
	{"are number", func(s *State) { s.Offsets.lastSlot = 1 }},
	{"has no offset", func(s *State) { s.openOffsets("g", "none", ID{}) }},
	{"of partition -1", func(s *State) { s.Offsets.put(s.Offsets.Topic("g", "gone"), CommittedOffset{Partition: -1}) }},
	{"in block 7", func(s *State) {
		slot := s.Offsets.Topic("g", "gone").slot
		s.Offsets.blocks.ReplaceOrInsert(offsetBlock{at: blockAt(slot, 7), rows: []offsetRow{{partition: 3}}})
	}},
	{"has nothing in block 7", func(s *State) {
		s.Offsets.blocks.ReplaceOrInsert(offsetBlock{at: blockAt(s.Offsets.Topic("g", "gone").slot, 7)})
	}},
	{"3 offsets, 4 of them", func(s *State) {
		slot := s.Offsets.Topic("g", "gone").slot
		s.Offsets.blocks.ReplaceOrInsert(offsetBlock{at: blockAt(slot, 7), rows: []offsetRow{{partition: 112}}})
	}},
	{"of no offset", func(s *State) { s.Offsets.putExtra(offsetExtra{offsetKey: offsetKey{slot: 99}}) }},
}

func TestCheckFindsEveryBrokenState(t *testing.T) {
	for _, b := range broken {
		s := furnished(t)
		b.spoil(s)
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), b.want) {
			t.Errorf("%s: found %v", b.want, err)
		}
	}
}
