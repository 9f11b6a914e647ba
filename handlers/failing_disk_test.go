package handlers

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/disk"
	"doze/journal"
)

// What each API answers while the disk takes no writes. An API that is not served yet has no way of asking: the row says
// what it is to answer, and the test fails when it is served and still cannot be asked.
var onFailingDisk = []struct {
	name string
	key  int16
	code int16
	ask  func(c *testConn) int16
}{
	{"Produce, acks=1", 0, kafkaStorageError, func(c *testConn) int16 { return c.produceFails(1) }},
	{"Produce, acks=-1", 0, kafkaStorageError, func(c *testConn) int16 { return c.produceFails(-1) }},
	{"OffsetCommit", 8, notCoordinator, func(c *testConn) int16 { return commitOffset(c, "empty", "", -1) }},
	{"OffsetCommit of a member", 8, notCoordinator, func(c *testConn) int16 { return commitOffset(c, "live", memberOf(c, "live"), 1) }},
	{"JoinGroup", 11, notCoordinator, func(c *testConn) int16 {
		return joinNamed(c, 3, func(r *kmsg.JoinGroupRequest) { r.Group, r.MemberID, r.RebalanceTimeoutMillis = "fresh", "", 60_000 })
	}},
	{"JoinGroup for a member id", 11, notCoordinator, func(c *testConn) int16 {
		return joinNamed(c, 9, func(r *kmsg.JoinGroupRequest) { r.Group, r.MemberID, r.RebalanceTimeoutMillis = "fresh", "", 60_000 })
	}},
	{"SyncGroup", 14, notCoordinator, func(c *testConn) int16 {
		return syncNamed(c, 5, func(r *kmsg.SyncGroupRequest) {
			r.Group, r.MemberID, r.Generation = "syncing", memberOf(c, "syncing"), 1
		})
	}},
	{"LeaveGroup", 13, notCoordinator, leaveLive},
	{"CreateTopics", 19, kafkaStorageError, func(c *testConn) int16 {
		req := kmsg.NewPtrCreateTopicsRequest()
		req.Topics = append(req.Topics, kmsg.CreateTopicsRequestTopic{Topic: "new", NumPartitions: 1, ReplicationFactor: 1})
		return request[*kmsg.CreateTopicsResponse](c, req, 6).Topics[0].ErrorCode
	}},
	{"DeleteTopics", 20, kafkaStorageError, func(c *testConn) int16 {
		req := kmsg.NewPtrDeleteTopicsRequest()
		req.TopicNames = []string{"doomed"}
		return request[*kmsg.DeleteTopicsResponse](c, req, 5).Topics[0].ErrorCode
	}},
	{"CreatePartitions", 37, kafkaStorageError, func(c *testConn) int16 {
		req := kmsg.NewPtrCreatePartitionsRequest()
		req.Topics = append(req.Topics, kmsg.CreatePartitionsRequestTopic{Topic: "orders", Count: 9})
		return request[*kmsg.CreatePartitionsResponse](c, req, 3).Topics[0].ErrorCode
	}},
	{"DeleteRecords", 21, kafkaStorageError, func(c *testConn) int16 {
		req := kmsg.NewPtrDeleteRecordsRequest()
		req.Topics = append(req.Topics, kmsg.DeleteRecordsRequestTopic{Topic: "orders",
			Partitions: []kmsg.DeleteRecordsRequestTopicPartition{{Offset: 1}}})
		return request[*kmsg.DeleteRecordsResponse](c, req, 2).Topics[0].Partitions[0].ErrorCode
	}},
	{"AlterConfigs", 33, kafkaStorageError, func(c *testConn) int16 {
		req := kmsg.NewPtrAlterConfigsRequest()
		req.Resources = append(req.Resources, kmsg.AlterConfigsRequestResource{ResourceType: kmsg.ConfigResourceTypeTopic,
			ResourceName: "orders", Configs: []kmsg.AlterConfigsRequestResourceConfig{{Name: "retention.ms", Value: text("5")}}})
		return request[*kmsg.AlterConfigsResponse](c, req, 2).Resources[0].ErrorCode
	}},
	{"IncrementalAlterConfigs", 44, kafkaStorageError, func(c *testConn) int16 {
		req := kmsg.NewPtrIncrementalAlterConfigsRequest()
		req.Resources = append(req.Resources, kmsg.IncrementalAlterConfigsRequestResource{ResourceType: kmsg.ConfigResourceTypeTopic,
			ResourceName: "orders", Configs: []kmsg.IncrementalAlterConfigsRequestResourceConfig{{Name: "retention.ms", Value: text("7")}}})
		return request[*kmsg.IncrementalAlterConfigsResponse](c, req, 1).Resources[0].ErrorCode
	}},
	{"DeleteGroups", 42, kafkaStorageError, func(c *testConn) int16 {
		req := kmsg.NewPtrDeleteGroupsRequest()
		req.Groups = []string{"gone"}
		return request[*kmsg.DeleteGroupsResponse](c, req, 2).Groups[0].ErrorCode
	}},
	{"OffsetDelete", 47, kafkaStorageError, func(c *testConn) int16 {
		req := kmsg.NewPtrOffsetDeleteRequest()
		req.Group = "empty"
		req.Topics = append(req.Topics, kmsg.OffsetDeleteRequestTopic{Topic: "orders", Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{}}})
		return request[*kmsg.OffsetDeleteResponse](c, req, 0).ErrorCode
	}},
	{"InitProducerId, no id in hand", 22, coordinatorNotAvailable, func(c *testConn) int16 { return initProducer(c) }},
	{"Metadata that would create", 3, unknownTopicOrPartition, func(c *testConn) int16 {
		req := kmsg.NewPtrMetadataRequest()
		req.AllowAutoTopicCreation = true
		req.Topics = append(req.Topics, kmsg.MetadataRequestTopic{Topic: text("on-demand")})
		return request[*kmsg.MetadataResponse](c, req, 9).Topics[0].ErrorCode
	}},

	{"InitProducerId with a transactional id", 22, notCoordinator, func(c *testConn) int16 { return initTxn(c, "another") }},
	{"AddPartitionsToTxn", 24, notCoordinator, func(c *testConn) int16 { return addToTxn(c, 1) }},
	{"AddOffsetsToTxn", 25, notCoordinator, func(c *testConn) int16 { return addGroupToTxn(c, "live") }},
	{"TxnOffsetCommit", 28, notCoordinator, stageInTxn},
	{"EndTxn", 26, notCoordinator, endTxnOf},
	{"CreateAcls", 30, kafkaStorageError, func(c *testConn) int16 {
		req := kmsg.NewPtrCreateACLsRequest()
		req.Creations = append(req.Creations, aclFor("User:other"))
		return request[*kmsg.CreateACLsResponse](c, req, 3).Results[0].ErrorCode
	}},
	{"DeleteAcls", 31, kafkaStorageError, func(c *testConn) int16 {
		req := kmsg.NewPtrDeleteACLsRequest()
		f := kmsg.NewDeleteACLsRequestFilter()
		f.ResourceType, f.ResourcePatternType, f.Operation, f.PermissionType = 1, 1, 1, 1
		req.Filters = append(req.Filters, f)
		return request[*kmsg.DeleteACLsResponse](c, req, 3).Results[0].ErrorCode
	}},
	{"AlterClientQuotas", 49, kafkaStorageError, func(c *testConn) int16 {
		req := kmsg.NewPtrAlterClientQuotasRequest()
		req.Entries = append(req.Entries, kmsg.AlterClientQuotasRequestEntry{
			Entity: []kmsg.AlterClientQuotasRequestEntryEntity{{Type: "client-id", Name: text("nobody")}},
			Ops:    []kmsg.AlterClientQuotasRequestEntryOp{{Key: producerByteRate, Value: 1e6}},
		})
		return request[*kmsg.AlterClientQuotasResponse](c, req, 1).Entries[0].ErrorCode
	}},
	{"AlterUserScramCredentials", 51, kafkaStorageError, func(c *testConn) int16 {
		code, err := c.setPassword("nobody", "pencil")
		if err != nil {
			c.t.Fatal(err)
		}
		return code
	}},
	{"UpdateFeatures", 57, kafkaStorageError, setTxnVersion},
	{"ConsumerGroupHeartbeat", 68, notCoordinator, func(c *testConn) int16 {
		return consumerNamed(c, 1, func(r *kmsg.ConsumerGroupHeartbeatRequest) { r.Group = "fresh-consumers" })
	}},
	{"ShareGroupHeartbeat", 76, notCoordinator, func(c *testConn) int16 { return sharerNamed(c, "fresh-sharers", nil, "t") }},
	{"ShareAcknowledge", 79, kafkaStorageError, releaseShared},
	{"AlterShareGroupOffsets", 91, kafkaStorageError, func(c *testConn) int16 { return shareFrom(c, "fresh-shares", "orders", 0) }},
	{"StreamsGroupHeartbeat", 88, notCoordinator, func(c *testConn) int16 {
		req := streamsJoinOf(&kmsg.StreamsGroupHeartbeatRequestTopology{
			Subtopologies: []kmsg.StreamsGroupHeartbeatRequestTopologySubtopology{{SubtopologyID: "0", SourceTopics: []string{"orders"}}},
		})
		req.Group, req.ProcessID = "fresh-streams", text("p")
		return request[*kmsg.StreamsGroupHeartbeatResponse](c, req, 0).ErrorCode
	}},
}

// TestFailingDiskNamesEveryAPI: whoever adds an API that writes says here what it answers when it cannot.
func TestFailingDiskNamesEveryAPI(t *testing.T) {
	for _, row := range apis {
		for _, c := range onFailingDisk {
			if c.key == row.key && c.ask == nil {
				t.Errorf("%s is served: give its row of onFailingDisk a way of asking it", c.name)
			}
		}
	}
}

// onDisk is a broker with something of each kind, before its disk fails.
func onDisk(t *testing.T) (*testBroker, *testConn) {
	b := startTestBroker(t, map[string]string{"group.initial.rebalance.delay.ms": "0", "auto.create.topics.enable": "true",
		"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer", "super.users": "User:ANONYMOUS"})
	c := b.connect()
	c.createACLs(aclFor("User:first"))
	c.createTopic("orders", 2)
	c.createTopic("doomed", 1)
	for range 2 {
		if p := c.produce("orders", -1, batch(2, day, -1, -1, -1)); p.ErrorCode != none {
			t.Fatalf("%+v", p)
		}
	}
	for _, group := range []string{"live", "syncing"} {
		if code := joinNamed(c, 3, func(r *kmsg.JoinGroupRequest) { r.Group, r.MemberID, r.RebalanceTimeoutMillis = group, "", 60_000 }); code != none {
			t.Fatal(group, code)
		}
	}
	code := syncNamed(c, 5, func(r *kmsg.SyncGroupRequest) {
		r.Group, r.MemberID, r.Generation = "live", memberOf(c, "live"), 1
	})
	for _, code := range []int16{code, commitOffset(c, "empty", "", -1), commitOffset(c, "gone", "", -1)} {
		if code != none {
			t.Fatal(code)
		}
	}
	if code := shareFrom(c, "sharing", "orders", 0); code != none {
		t.Fatal(code)
	}
	openTxn(t, c)
	return b, c
}

func commitOffset(c *testConn, group, member string, generation int32) int16 {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.MemberID, req.Generation = group, member, generation
	req.Topics = append(req.Topics, kmsg.OffsetCommitRequestTopic{Topic: "orders",
		Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Offset: 1, LeaderEpoch: -1}}})
	return request[*kmsg.OffsetCommitResponse](c, req, 8).Topics[0].Partitions[0].ErrorCode
}

// memberOf is the id of a group's only member, "" when there is none.
func memberOf(c *testConn, group string) string {
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups = []string{group}
	for _, m := range request[*kmsg.DescribeGroupsResponse](c, req, 5).Groups[0].Members {
		return m.MemberID
	}
	return ""
}

func leaveLive(c *testConn) int16 {
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Group, req.Members = "live", []kmsg.LeaveGroupRequestMember{{MemberID: memberOf(c, "live")}}
	return request[*kmsg.LeaveGroupResponse](c, req, 4).ErrorCode
}

// produceFails produces to a partition that has records, and to one whose first file is still to be made.
func (c *testConn) produceFails(acks int16) int16 {
	req := produceRequest("orders", acks, batch(1, day, -1, -1, -1))
	second := kmsg.NewProduceRequestTopicPartition()
	second.Partition, second.Records = 1, batch(1, day, -1, -1, -1)
	req.Topics[0].Partitions = append(req.Topics[0].Partitions, second)
	answers := ask[*kmsg.ProduceResponse](c, req).Topics[0].Partitions
	for _, p := range answers {
		if p.ErrorCode != answers[0].ErrorCode || p.ErrorCode != none && (p.BaseOffset != -1 || p.LogStartOffset != -1 || p.ErrorMessage != nil) {
			c.t.Errorf("answered %+v", p)
		}
	}
	return answers[0].ErrorCode
}

// goesOn checks what needs no disk to write to.
func goesOn(c *testConn) {
	c.t.Helper()
	if p := readAll(c); p.ErrorCode != none || p.HighWatermark < 4 || len(p.RecordBatches) == 0 {
		c.t.Errorf("fetched %+v", p)
	}
	meta := kmsg.NewPtrMetadataRequest()
	meta.Topics = append(meta.Topics, kmsg.MetadataRequestTopic{Topic: text("orders")})
	if m := request[*kmsg.MetadataResponse](c, meta, 9); m.Topics[0].ErrorCode != none || len(m.Topics[0].Partitions) < 2 {
		c.t.Errorf("metadata %+v", m)
	}
	beat := kmsg.NewPtrHeartbeatRequest()
	beat.Group, beat.MemberID, beat.Generation = "live", memberOf(c, "live"), 1
	if code := request[*kmsg.HeartbeatResponse](c, beat, 4).ErrorCode; code != none {
		c.t.Errorf("heartbeat: code %d", code)
	}
	fetch := kmsg.NewPtrOffsetFetchRequest()
	fetch.Group = "empty"
	fetch.Topics = append(fetch.Topics, kmsg.OffsetFetchRequestTopic{Topic: "orders", Partitions: []int32{0}})
	if p := request[*kmsg.OffsetFetchResponse](c, fetch, 7).Topics[0].Partitions[0]; p.ErrorCode != none || p.Offset != 1 {
		c.t.Errorf("offsets %+v", p)
	}
}

// failAll asks every API twice, and nothing of it happens.
func failAll(t *testing.T, c *testConn, b *testBroker) {
	t.Helper()
	before, _ := b.store.View()
	was := rowsOf(t, before)
	for range 2 {
		for _, row := range onFailingDisk {
			if row.ask == nil {
				continue
			}
			if code := row.ask(c); code != row.code {
				t.Errorf("%s: code %d, want %d", row.name, code, row.code)
			}
		}
		goesOn(c)
	}
	after, _ := b.store.View()
	if is := rowsOf(t, after); !slices.Equal(is, was) {
		t.Errorf("the state changed from\n%q\nto\n%q", was, is)
	}
	closing := b.connect()
	closing.send(produceRequest("orders", 0, batch(1, day, -1, -1, -1)))
	if frame, err := closing.frame(); err == nil {
		t.Errorf("acks=0 is answered with %x", frame)
	}
}

// workAll asks every API, and it works; but for those with a code of their own.
func workAll(t *testing.T, c *testConn, but map[string]int16) {
	t.Helper()
	for _, row := range onFailingDisk {
		if row.ask == nil {
			continue
		}
		want := but[row.name]
		if row.name == "JoinGroup for a member id" {
			want = memberIDRequired
		}
		if code := row.ask(c); code != want {
			t.Errorf("%s: code %d on a disk that works", row.name, code)
		}
	}
}

// TestDiskThatTakesNoWrites: every API says so with its code and nothing happens; when there is space again all goes on,
// without a restart.
func TestDiskThatTakesNoWrites(t *testing.T) {
	for name, fault := range map[string]disk.Fault{
		"full":            {Err: disk.ENOSPC, Only: []disk.Op{disk.OpWrite, disk.OpCreate, disk.OpMkdir, disk.OpPreallocate}},
		"full half way":   {Err: disk.ENOSPC, Only: []disk.Op{disk.OpWrite, disk.OpPreallocate}, Short: true},
		"writes fail":     {Err: disk.EIO, Only: []disk.Op{disk.OpWrite}},
		"not even opened": {Err: disk.EIO, Only: []disk.Op{disk.OpWrite, disk.OpCreate, disk.OpOpen}},
	} {
		t.Run(name, func(t *testing.T) {
			b, c := onDisk(t)
			fault.Persistent = true
			b.fs.Inject(&fault)
			failAll(t, c, b)
			b.fs.Clear()
			workAll(t, c, nil)
		})
	}
}

func initProducer(c *testConn) int16 {
	req := kmsg.NewPtrInitProducerIDRequest()
	req.ProducerID, req.ProducerEpoch = -1, -1
	return request[*kmsg.InitProducerIDResponse](c, req, 4).ErrorCode
}

// TestProducerIDsInHandAreGivenOut on a full disk too, as Kafka does: the block they are of is written down.
func TestProducerIDsInHandAreGivenOut(t *testing.T) {
	b := startTestBroker(t, nil)
	c := b.connect()
	if code := initProducer(c); code != none {
		t.Fatal(code)
	}
	b.fs.Inject(&disk.Fault{Err: disk.ENOSPC, Only: []disk.Op{disk.OpWrite}, Persistent: true})
	for n := 1; n < producerIDBlock; n++ {
		if code := initProducer(c); code != none {
			t.Fatalf("id %d: code %d", n, code)
		}
	}
	if code := initProducer(c); code != coordinatorNotAvailable {
		t.Errorf("one more than the block has: code %d", code)
	}
	b.fs.Clear()
	if code := initProducer(c); code != none {
		t.Errorf("with space again: code %d", code)
	}
}

// TestFailedSyncRefusesWritesUntilARestart: no later success hides it, of the journal or of a partition.
func TestFailedSyncRefusesWritesUntilARestart(t *testing.T) {
	b, c := onDisk(t)
	fault := &disk.Fault{Err: disk.EIO, Only: []disk.Op{disk.OpSync}}
	b.fs.Inject(fault)
	if code := onFailingDisk[row("CreateTopics")].ask(c); code != kafkaStorageError || b.fs.Fired(fault) != 1 {
		t.Fatal(code, b.fs.Fired(fault))
	}
	for _, r := range onFailingDisk { // the partitions' disk is well
		if r.ask == nil || r.key == 0 {
			continue
		}
		if code := r.ask(c); code != r.code {
			t.Errorf("%s: code %d, want %d", r.name, code, r.code)
		}
	}
	goesOn(c)
	if code := c.produceFails(1); code != none {
		t.Errorf("produce: code %d", code)
	}
	b.crash()
	// What was being written when the sync failed may be there; a member that has no assignment yet is not written down.
	workAll(t, b.connect(), map[string]int16{
		"CreateTopics": topicAlreadyExists, "SyncGroup": unknownMemberID, "ShareAcknowledge": invalidRecordState, // what was acquired is not
	})
}

func row(name string) int {
	for i := range onFailingDisk {
		if onFailingDisk[i].name == name {
			return i
		}
	}
	panic(name)
}

// crash is the end of a broker whose journal cannot be closed well, and the next start.
func (b *testBroker) crash() {
	b.t.Helper()
	after := b.fs.Crash(disk.KillProcess())
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := b.server.Shutdown(ctx); err != nil {
		b.t.Fatal(err)
	}
	b.broker.Stop()
	_ = b.logs.Close()
	if err := b.store.Close(); !errors.Is(err, journal.ErrPoisoned) && err != nil {
		b.t.Fatal(err)
	}
	b.fs = after
	b.start()
}

// TestBatchWhoseSyncFailed: with acks=all its producer is told KAFKA_STORAGE_ERROR without an offset, yet it was appended:
// it is read, before and after the restart that the partition then needs. After it, an idempotent retry is recognised as
// the batch that is there, and one without a producer id is stored again.
func TestBatchWhoseSyncFailed(t *testing.T) {
	b := startTestBroker(t, nil)
	c := b.connect()
	c.createTopic("orders", 2)
	sent := batch(1, day, 7, 0, 0)
	if p := c.produce("orders", 1, batch(1, day, -1, -1, -1)); p.ErrorCode != none {
		t.Fatal(p)
	}
	b.fs.Inject(&disk.Fault{Err: disk.EIO, Only: []disk.Op{disk.OpSync}, Match: func(name string) bool { return strings.HasSuffix(name, ".log") }})
	if p := c.produce("orders", -1, slices.Clone(sent)); p.ErrorCode != kafkaStorageError || p.BaseOffset != -1 || p.LogStartOffset != -1 {
		t.Fatalf("answered %+v", p)
	}
	readable := func(c *testConn, want int64) {
		t.Helper()
		if p := readAll(c); p.ErrorCode != none || p.HighWatermark != want {
			t.Fatalf("read %+v", p)
		}
	}
	readable(c, 2)
	for _, acks := range []int16{1, -1} { // also when the next sync would succeed
		if p := c.produce("orders", acks, slices.Clone(sent)); p.ErrorCode != kafkaStorageError || p.BaseOffset != -1 {
			t.Errorf("acks %d: answered %+v", acks, p)
		}
	}
	other := produceRequest("orders", -1, batch(1, day, -1, -1, -1))
	other.Topics[0].Partitions[0].Partition = 1
	if p := ask[*kmsg.ProduceResponse](c, other).Topics[0].Partitions[0]; p.ErrorCode != none {
		t.Errorf("another partition: %+v", p)
	}
	b.crash()
	c = b.connect()
	readable(c, 2)
	if p := c.produce("orders", -1, slices.Clone(sent)); p.ErrorCode != none || p.BaseOffset != 1 {
		t.Errorf("the idempotent retry: %+v", p)
	}
	readable(c, 2)
	if p := c.produce("orders", -1, batch(1, day, -1, -1, -1)); p.ErrorCode != none || p.BaseOffset != 2 {
		t.Errorf("another retry: %+v", p)
	}
	readable(c, 3)
}
