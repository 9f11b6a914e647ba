package journal

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
)

var regenerate = flag.Bool("update", false, "rewrite golden files")

// samples has one event of every kind with every field set, and more of those whose encoding branches.
// A new event adds its line here; testdata/events.golden then gains one, by `go test ./journal -run Golden -update`.
var samples = []Event{
	&ClusterCreated{ClusterID: [16]byte{1, 2, 3}},
	&BrokerStarted{Version: "1.2.3"},
	&StateHashed{Seq: 70000, Hash: [32]byte{0xaa}},
	&DamageAccepted{File: "x.journal", Offset: 4096, FirstSeq: 3, LastSeq: 9, Reason: "bad frame", Kept: []string{"x.damaged"}},
	&TopicCreated{ID: [16]byte{9}, Name: "orders", Partitions: 300, Configs: []ConfigPair{{Name: "retention.ms", Value: "-1"}}},
	&TopicDeleted{ID: [16]byte{9}},
	&PartitionsAdded{ID: [16]byte{9}, Total: 12},
	&RecordsDeleted{Topic: [16]byte{9}, Partition: 1, Before: 1 << 40},
	&ConfigsAltered{ResourceType: 2, Resource: "orders", Set: []ConfigPair{{Name: "a", Value: "b"}}, Removed: []string{"c"}},
	&ProducerIDsAllocated{First: 1000, Count: 1000},
	&OffsetsCommitted{Group: "g", Offsets: []CommittedOffset{
		{Topic: "a", TopicID: [16]byte{1}, Partition: 0, Offset: 5, LeaderEpoch: -1, Metadata: "m", CommitAt: 1764444798000, ExpireAt: -1},
		{Topic: "a", TopicID: [16]byte{1}, Partition: 7, Offset: 1 << 33, LeaderEpoch: 2, CommitAt: 1764444798000, ExpireAt: -1},
		{Topic: "b", Partition: 1, Offset: 0, LeaderEpoch: -1, CommitAt: 1764444798000, ExpireAt: 1764444799000},
	}},
	&OffsetsCommitted{Group: "empty"},
	&OffsetsDeleted{Group: "g", Partitions: []TopicPartition{{Topic: "a", Partition: 1}}},
	&OffsetsExpired{Group: "g", Partitions: []TopicPartition{{Topic: "a", Partition: 1}}},
	&GroupDeleted{Group: "g"},
	&GroupCreated{Group: "g", Type: GroupClassic},
	&MemberIDAssigned{Group: "g", Member: "m", SessionTimeoutMs: 45000},
	&MemberJoined{
		Group: "g", Member: "m", Static: true, InstanceID: "i", ClientID: "c", ClientHost: "/127.0.0.1", SessionTimeoutMs: 45000,
		RebalanceTimeoutMs: 300000, ProtocolType: "consumer", Protocols: []MemberProtocol{{Name: "range", Metadata: []byte{0, 3}}}, Leads: true,
	},
	&MemberRejoined{
		Group: "g", Member: "m", SessionTimeoutMs: 45000, RebalanceTimeoutMs: 300000, Protocols: []MemberProtocol{{Name: "range", Metadata: []byte{1}}},
	},
	&StaticMemberReplaced{
		Group: "g", InstanceID: "i", Old: "m", Member: "n", SessionTimeoutMs: 45000, RebalanceTimeoutMs: 300000,
		Protocols: []MemberProtocol{{Name: "range"}}, Waits: true,
	},
	&MemberRemoved{Group: "g", Member: "m", Reason: RemovedSessionExpired, Leader: "n"},
	&RebalanceStarted{Group: "g", Reason: RebalanceMemberJoined, Member: "m", Initial: true, LeftMs: 299800},
	&RebalanceExtended{Group: "g", LeftMs: 299600},
	&RebalanceInterrupted{Group: "g"},
	&GenerationStarted{Group: "g", Generation: 7, Protocol: "range", Leader: "m", SubscriptionsKnown: true, Subscribed: []string{"orders"}},
	&GroupEmptied{Group: "g", Generation: 8, SubscriptionsKnown: true},
	&MemberSynced{Group: "g", Member: "m", Waits: true},
	&AssignmentsMade{Group: "g", Assignments: []MemberAssignment{{Member: "m", Assignment: []byte{0, 1}}, {Member: "n"}}},
	&GroupConverted{Group: "g", Type: GroupConsumer, Epoch: 8, Hash: 1 << 63},
	&ConsumerMemberJoined{
		Group: "g", Member: "m", Static: true, InstanceID: "i", Rack: "k", ClientID: "c", ClientHost: "/127.0.0.1", RebalanceTimeoutMs: 300000,
		Topics: []string{"orders"}, Regex: "o.*", Assignor: "range", Classic: true, SessionTimeoutMs: 45000,
		Protocols: []MemberProtocol{{Name: "range", Metadata: []byte{0, 3}}},
	},
	&ConsumerMemberChanged{
		Group: "g", Member: "m", Static: true, InstanceID: "i", Rack: "k", ClientID: "c", ClientHost: "/127.0.0.1", RebalanceTimeoutMs: 300000,
		Topics: []string{"orders"}, Regex: "o.*", Assignor: "range", Classic: true, SessionTimeoutMs: 45000,
		Protocols: []MemberProtocol{{Name: "range", Metadata: []byte{0, 3}}},
	},
	&ConsumerMemberReplaced{Group: "g", InstanceID: "i", Old: "m", Member: "n"},
	&ConsumerMemberRemoved{Group: "g", Member: "m", Reason: RemovedNotRevoked},
	&ConsumerEpochRaised{Group: "g", Epoch: 3, Reason: EpochTopicsChanged, Member: "m", Hash: 1 << 63},
	&ConsumerTargetAssigned{Group: "g", Epoch: 3, Assignor: "uniform", Members: []ConsumerTarget{
		{Member: "m", Partitions: []TopicPartitions{{TopicID: [16]byte{9}, Partitions: []int32{0, 1}}}}, {Member: "n"},
	}},
	&ConsumerMemberReconciled{
		Group: "g", Member: "m", Epoch: 3, Previous: 2, State: MemberUnrevoked,
		Assigned: []OwnedPartitions{{TopicID: [16]byte{9}, Partitions: []int32{0, 1}, Epochs: []int32{2, 3}}},
		Revoking: []OwnedPartitions{{TopicID: [16]byte{9}, Partitions: []int32{2}, Epochs: []int32{2}}},
	},
	&ConsumerRegexesResolved{Group: "g", Regexes: []ResolvedRegex{{Regex: "o.*", Topics: []string{"orders"}}}, Dropped: []string{"p.*"}},
	&ShareStateInitialized{Group: "g", Topic: [16]byte{9}, StateEpoch: 2, Partitions: []ShareStateInit{{Partition: 1, Start: -1}, {Partition: 2, Start: 7}}},
	&ShareStateLoaded{Group: "g", Topic: [16]byte{9}, Partition: 1, LeaderEpoch: 4},
	&ShareStateWritten{Group: "g", Topic: [16]byte{9}, Partition: 1, Start: 5, Complete: 2, Batches: []ShareStateBatch{{First: 5, Last: 6, State: 2, DeliveryCount: 1}, {First: 9, Last: 9, DeliveryCount: 3}}},
	&ShareStateDeleted{Group: "g", Topic: [16]byte{9}},
	&ShareMemberJoined{Group: "g", Member: "m", Rack: "r", ClientID: "c", ClientHost: "/127.0.0.1", Topics: []string{"orders"}},
	&ShareMemberChanged{Group: "g", Member: "m", Rack: "r", ClientID: "c", ClientHost: "/127.0.0.1", Topics: []string{"orders"}},
	&ShareMemberRemoved{Group: "g", Member: "m", Reason: RemovedSessionExpired},
	&ShareEpochRaised{Group: "g", Epoch: 3, Reason: ShareEpochTopics, Member: "m", Hash: 1 << 63},
	&ShareTargetAssigned{Group: "g", Epoch: 3, Members: []ShareTarget{{Member: "m", Partitions: []TopicPartitions{{TopicID: [16]byte{9}, Partitions: []int32{0, 1}}}}, {Member: "n"}}},
	&ShareMemberReconciled{Group: "g", Member: "m", Epoch: 3, Previous: 2, Assigned: []TopicPartitions{{TopicID: [16]byte{9}, Partitions: []int32{0, 1}}}},
	&StreamsMemberSaid{
		Group: "g", Member: "m", ClientID: "c", ClientHost: "/127.0.0.1", RebalanceTimeoutMs: 300000, TopologyEpoch: 1, Process: "p", HasRack: true, Rack: "k",
		HasEndpoint: true, EndpointHost: "h", EndpointPort: 8080, Tags: []StreamsTag{{Key: "zone", Value: "x"}},
	},
	&StreamsTopologySet{Group: "g", Epoch: 1, Subtopologies: []StreamsSubtopology{{
		ID: "0", Sources: []string{"orders"}, Sinks: []string{"r"}, Changelogs: []StreamsTopic{{Name: "c", Configs: []StreamsConfig{{Name: "cleanup.policy", Value: "compact"}}}},
		Repartitions: []StreamsTopic{{Name: "q", Partitions: 3, Replication: 1}}, Copartitions: []StreamsCopartition{{Sources: []int16{0}, Repartitions: []int16{0}}},
	}}},
	&StreamsGroupBumped{Group: "g", Epoch: 3, Topics: 1 << 63, Validated: 1, Standbys: 1},
	&StreamsTargetsChanged{Group: "g", Targets: []StreamsTarget{{
		Member: "m", Active: []StreamsTasks{{Subtopology: "0", Partitions: []int32{0, 1}}}, Standby: []StreamsTasks{{Subtopology: "0", Partitions: []int32{2}}},
	}}},
	&StreamsTasksAssigned{Group: "g", Epoch: 3},
	&StreamsMemberMoved{
		Group: "g", Member: "m", Epoch: 3, Previous: 2, State: StreamsUnrevoked,
		Active: []StreamsTasks{{Subtopology: "0", Partitions: []int32{0, 1}, Epochs: []int32{2, 3}}}, Standby: []StreamsTasks{{Subtopology: "0", Partitions: []int32{2}}},
		RevokedActive: []StreamsTasks{{Subtopology: "0", Partitions: []int32{3}, Epochs: []int32{2}}}, RevokedStandby: []StreamsTasks{{Subtopology: "0", Partitions: []int32{4}}},
	},
	&StreamsMemberRemoved{Group: "g", Member: "m", Reason: RemovedSessionExpired, Epoch: 4},
	&TxnProducerInitialized{ID: "t", ProducerID: 1000, Epoch: 1, LastEpoch: -1, TimeoutMs: 60_000},
	&TxnPartitionsAdded{ID: "t", Version: 2, Partitions: []TxnPartition{{Topic: [16]byte{9}, Partition: 1}, {Topic: [16]byte{9}, Partition: 2}}},
	&TxnGroupAdded{ID: "t", Version: 2, Group: "g", Partition: 49},
	&TxnOffsetsStaged{ID: "t", Group: "g", Offsets: []CommittedOffset{
		{Topic: "a", TopicID: [16]byte{1}, Partition: 0, Offset: 5, LeaderEpoch: -1, Metadata: "m", CommitAt: 1764444798000, ExpireAt: -1},
		{Topic: "b", Partition: 1, Offset: 0, LeaderEpoch: 3, CommitAt: 1764444798000, ExpireAt: -1},
	}},
	&TxnOffsetsStaged{ID: "t", Group: "empty"},
	&TxnEnding{ID: "t", Commit: true, Reason: EndAsked, Version: 2, Epoch: 32767, LastEpoch: 32766, NextProducerID: 2000, Orphans: []TxnPartition{{Topic: [16]byte{9}, Partition: 1}}},
	&TxnEnding{ID: "t", Reason: EndTimeout, Epoch: 1, LastEpoch: -1, NextProducerID: -1},
	&TxnEnded{ID: "t", Commit: true, Markers: []TxnMarker{{Topic: [16]byte{9}, Partition: 1, Offset: 1 << 40}}},
	&TxnMarkersSynced{UpTo: 70000, Failed: []TxnPartition{{Topic: [16]byte{9}, Partition: 1}}},
	&TxnOrphanAborted{Topic: [16]byte{9}, Partition: 1, ProducerID: 1000, Epoch: 3, FirstOffset: 7},
	&TransactionalIDExpired{ID: "t"},
	&FeatureUpdated{Name: "transaction.version", Level: 1},
	&AclCreated{Type: 2, Name: "team-", Pattern: 4, Principal: "User:alice", Host: "*", Operation: 3, Permission: 3},
	&AclDeleted{Type: 4, Name: "kafka-cluster", Pattern: 3, Principal: "User:*", Host: "127.0.0.1", Operation: 2, Permission: 2},
	&ClientQuotasAltered{
		Entity: []QuotaPart{{Type: "client-id", Name: "app"}, {Type: "user", Default: true}},
		Set:    []QuotaValue{{Key: "request_percentage", Value: "12.5"}}, Removed: []string{"producer_byte_rate"},
	},
	&ScramCredentialSet{User: "alice", Mechanism: 2, Iterations: 4096, Ref: [16]byte{9}},
	&ScramCredentialDeleted{User: "alice", Mechanism: 1},
	&DelegationTokenCreated{ID: "id", Owner: "User:alice", Requester: "User:bob", Renewers: []string{"User:carol"}, Issued: 1, Max: 3, Expiry: 2},
	&DelegationTokenExpirySet{ID: "id", Expiry: 3},
	&DelegationTokenRemoved{ID: "id"},
	&SchemaRegistered{
		Subject: ":.c:s", Version: 3, ID: 7, GUID: [16]byte{9}, Type: "AVRO", Schema: `"string"`,
		References: []SchemaReference{{Name: "a.B", Subject: "b", Version: 1}}, Metadata: `{"tags":{}}`, RuleSet: `{"domainRules":[]}`,
	},
	&SchemaVersionsDeleted{Subject: "s", Versions: []int32{1, 2}, Permanent: true},
	&RegistryConfigSet{
		Scope: "s", Compatibility: "FULL", Policy: "LENIENT", Group: "g", Alias: "a", AliasForDeks: "d", Normalize: SwitchOn, ValidateFields: SwitchOff,
		ValidateNewSchemas: SwitchOn, ValidateRules: SwitchOff, DefaultMetadata: "{}", OverrideMetadata: "{}", DefaultRuleSet: "{}", OverrideRuleSet: "{}",
	},
	&RegistryConfigDeleted{Scope: "s"},
	&RegistryModeSet{Scope: ":.c:", Mode: "IMPORT"},
	&RegistryModeDeleted{Scope: ":.c:"},
	&RegistryContextDeleted{Context: ".c"},
	&AssociationSet{
		ResourceID: "r", ResourceType: "topic", Of: "value", Namespace: "n", Name: "orders", Subject: ":.n:orders-value", GUID: [16]byte{3}, Strong: true, Frozen: true,
		Created: 1764444798123,
	},
	&AssociationDeleted{ResourceID: "r", ResourceType: "topic", Of: "value"},
}

// sampleEntry is one event in an entry as it would be written.
func sampleEntry(e Event) Entry {
	return Entry{
		Seq: 300, At: 1764444798123,
		Cause:  Cause{API: 8, Conn: 77, Correlation: -1, ClientID: "client", Principal: "User:ANONYMOUS"},
		Events: []Event{e},
	}
}

func TestGoldenEncodings(t *testing.T) {
	var got strings.Builder
	for _, e := range samples {
		b, err := appendEvent(nil, e)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "%d %s %s %s\n", e.Kind(), e.Kind().Name(), e.Kind().Durability(), hex.EncodeToString(b))
	}
	const file = "testdata/events.golden"
	if *regenerate {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("encodings changed. A released encoding never changes: a new meaning is a new kind.\ngot:\n%swant:\n%s", got.String(), want)
	}
}

func TestGoldenEncodingsDecode(t *testing.T) {
	raw, err := os.ReadFile("testdata/events.golden")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		b, err := hex.DecodeString(line[strings.LastIndexByte(line, ' ')+1:])
		if err != nil {
			t.Fatal(err)
		}
		d := newDecoder()
		d.u.b = b
		e, err := d.event()
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if !reflect.DeepEqual(e, samples[i]) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", line, e, samples[i])
		}
	}
}

func TestEveryKindHasASample(t *testing.T) {
	seen := map[Kind]bool{}
	for _, e := range samples {
		seen[e.Kind()] = true
	}
	for _, k := range Kinds() {
		if !seen[k] {
			t.Errorf("%s (%d) has no line in samples", k.Name(), k)
		}
		e, err := k.New()
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind() != k {
			t.Errorf("%s: Kind() is %d, its row in kinds is %d", k.Name(), e.Kind(), k)
		}
	}
}

// TestEventsHoldOnlyWhatTheCodecCanKeep: a field outside this list would be written and could not be read.
func TestEventsHoldOnlyWhatTheCodecCanKeep(t *testing.T) {
	for _, k := range Kinds() {
		e, _ := k.New()
		_, hot := e.(selfPacked)
		checkStruct(t, k.Name(), reflect.TypeOf(e).Elem(), !hot)
	}
}

func checkStruct(t *testing.T, path string, typ reflect.Type, tagged bool) {
	keys := map[string]bool{}
	for i := range typ.NumField() {
		f := typ.Field(i)
		at := path + "." + f.Name
		if !f.IsExported() || f.Anonymous {
			t.Errorf("%s: fields are exported and named", at)
		}
		checkType(t, at, f.Type, tagged)
		if !tagged {
			continue
		}
		key, options, _ := strings.Cut(f.Tag.Get("msgpack"), ",")
		if key == "" || len(key) > 3 || keys[key] {
			t.Errorf("%s: msgpack key %q: 1 to 3 bytes, not used twice", at, key)
		}
		keys[key] = true
		if f.Type.Kind() == reflect.Slice && options != "omitempty" {
			t.Errorf("%s: a slice needs omitempty, an empty one would be written as nil", at)
		}
		if f.Type.Kind() == reflect.Array && options != "" {
			t.Errorf("%s: omitempty does nothing on an array", at)
		}
	}
}

func checkType(t *testing.T, path string, typ reflect.Type, tagged bool) {
	switch typ.Kind() {
	case reflect.Bool, reflect.String, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
	case reflect.Array:
		if typ.Elem().Kind() != reflect.Uint8 {
			t.Errorf("%s: arrays are of bytes", path)
		}
	case reflect.Slice:
		if typ.Elem().Kind() == reflect.Slice {
			t.Errorf("%s: a slice of slices; use a slice of a struct", path)
		}
		checkType(t, path+"[]", typ.Elem(), tagged)
	case reflect.Struct:
		checkStruct(t, path, typ, tagged)
	default:
		t.Errorf("%s: %s is not for events", path, typ)
	}
}

func TestEntriesRoundTrip(t *testing.T) {
	d := newDecoder()
	for _, e := range samples {
		entry := sampleEntry(e)
		b, err := appendBody(nil, &entry)
		if err != nil {
			t.Fatal(err)
		}
		back, err := d.decode(b)
		if err != nil {
			t.Fatalf("%T: %v", e, err)
		}
		if !reflect.DeepEqual(back, entry) {
			t.Errorf("got  %+v\nwant %+v", back, entry)
		}
		for n := range b {
			if _, err := d.decode(b[:n]); err == nil {
				t.Errorf("%T: the first %d of %d bytes decode", e, n, len(b))
			}
		}
		if _, err := d.decode(append(bytes.Clone(b), 0)); err == nil {
			t.Errorf("%T: a byte too many decodes", e)
		}
	}
}
