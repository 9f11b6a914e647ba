package handlers

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/configs"
	"doze/journal"
	"doze/projections"
)

// folded is the state after some events.
func folded(t *testing.T, events ...journal.Event) *projections.State {
	t.Helper()
	s := projections.New()
	for i, e := range events {
		if err := s.Apply(uint64(i+1), 0, e); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func topicOf(n, partitions int) *journal.TopicCreated {
	return &journal.TopicCreated{ID: [16]byte{1, byte(n), byte(n >> 8), byte(n >> 16)}, Name: fmt.Sprintf("t%d", n), Partitions: int32(partitions)}
}

func TestTopicsAndPartitionsAreBounded(t *testing.T) {
	b := &Broker{}
	s := folded(t, topicOf(1, maxPartitions-1))
	if no := b.checkPartitionLimits(s, 1); no != nil {
		t.Errorf("the last partition: %s", *no.message)
	}
	if no := b.checkPartitionLimits(s, 2); no == nil || no.code != policyViolation {
		t.Errorf("one partition too many: %v", no)
	}
	s = projections.New()
	for n := range maxTopics {
		if no := b.checkPartitionLimits(s, 1); no != nil {
			t.Fatalf("topic %d: %s", n, *no.message)
		}
		if err := s.Apply(1, 0, topicOf(n, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if no := b.checkPartitionLimits(s, 1); no == nil || no.code != policyViolation {
		t.Errorf("one topic too many: %v", no)
	}
}

// One Metadata makes no more topics on demand than one CreateTopics could: the others come with the next.
func TestTopicsMadeOnDemandAreBounded(t *testing.T) {
	b := startTestBroker(t, map[string]string{"num.partitions": "1000"})
	c := b.connect()
	req := kmsg.NewPtrMetadataRequest()
	req.AllowAutoTopicCreation = true
	for n := range 15 {
		topic := kmsg.NewMetadataRequestTopic()
		topic.Topic = text(fmt.Sprintf("t%d", n))
		req.Topics = append(req.Topics, topic)
	}
	for _, want := range []int{9, 15} {
		request[*kmsg.MetadataResponse](c, req, 12)
		if state, _ := b.store.View(); state.Topics.Len() != want {
			t.Errorf("%d topics, want %d", state.Topics.Len(), want)
		}
	}
}

func TestConfigsInAllAreBounded(t *testing.T) {
	s, value := projections.New(), strings.Repeat("v", 1<<20)
	set := func(name, value string) []journal.ConfigPair { return []journal.ConfigPair{{Name: name, Value: value}} }
	group := func(n int) string { return fmt.Sprintf("g%d", n) }
	n := 0
	for ; checkConfigLimits(s, projections.GroupResource, group(n), set("a", value), nil) == nil; n++ {
		if err := s.Apply(1, 0, &journal.ConfigsAltered{ResourceType: projections.GroupResource, Resource: group(n), Set: set("a", value)}); err != nil {
			t.Fatal(err)
		}
	}
	if n != maxConfigBytes>>20-1 || s.Check() != nil {
		t.Errorf("%d values of 1 MiB, check: %v", n, s.Check())
	}
	if no := checkConfigLimits(s, projections.TopicResource, "t", set("a", value), nil); no == nil || no.code != policyViolation {
		t.Errorf("refused with %v", no)
	}
	if no := checkConfigLimits(s, projections.GroupResource, group(0), set("a", value[1:]), nil); no != nil {
		t.Errorf("a smaller value in its place: %s", *no.message)
	}
	if no := checkConfigLimits(s, projections.GroupResource, group(0), set("b", value), []string{"a"}); no != nil {
		t.Errorf("another for one that goes: %s", *no.message)
	}
}

// What groups are held to when nobody makes it smaller, and that a member's protocols are counted and no loop is slow.
func TestBoundsOfGroups(t *testing.T) {
	want := groupLimits{groups: 100_000, members: 10_000, pending: 10_000, groupBytes: 64 << 20, groupsBytes: 256 << 20,
		offsets: 4_000_000, offsetsBytes: 512 << 20}
	if got := groupSettingsOf(configs.NewBroker(nil, nil, nil)).limits; got != want {
		t.Errorf("bounds %+v", got)
	}
	c := startTestBroker(t, nil).connect()
	many := make([]kmsg.JoinGroupRequestProtocol, maxProtocols+1)
	code := joinNamed(c, 9, func(r *kmsg.JoinGroupRequest) { r.Protocols = many })
	if code != invalidRequest {
		t.Errorf("%d protocols: code %d", len(many), code)
	}
	large := []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: make([]byte, maxJoinBytes)}}
	if code := joinNamed(c, 9, func(r *kmsg.JoinGroupRequest) { r.Protocols = large }); code != invalidRequest {
		t.Errorf("protocols of more than 1 MiB: code %d", code)
	}
	huge := []kmsg.SyncGroupRequestGroupAssignment{{MemberID: "m", MemberAssignment: make([]byte, maxAssignmentBytes)}}
	if code := syncNamed(c, 5, func(r *kmsg.SyncGroupRequest) { r.GroupAssignment = huge }); code != unknownServerError {
		t.Errorf("an assignment of more than 8 MiB: code %d", code)
	}
}

// A group of many members with many protocols each chooses one in time.
func TestProtocolOfALargeGroupIsChosenInTime(t *testing.T) {
	protocols := make([]journal.MemberProtocol, maxProtocols)
	for i := range protocols {
		protocols[i].Name = fmt.Sprint("p", i)
	}
	members := make([]*projections.Member, 1_000)
	for i := range members {
		members[i] = &projections.Member{Protocols: protocols}
	}
	if got := selectProtocol(members); got != "p0" {
		t.Errorf("chosen %q", got)
	}
}

// Topics that a generation reads are told as long as they fit in an entry of the journal.
func TestSubscriptionsAreBounded(t *testing.T) {
	g := &projections.Group{ProtocolType: consumerProtocolType}
	for i := range 2 * maxSubscribedBytes >> 20 {
		var topics []string
		for n := range 100 {
			topics = append(topics, fmt.Sprintf("%05d%s", 100*i+n, strings.Repeat("t", 10_000)))
		}
		protocols := []journal.MemberProtocol{{Name: "range", Metadata: encodeSubscription(topics)}}
		g.Members = append(g.Members, &projections.Member{Protocols: protocols})
	}
	if topics, known := subscriptions(g, "range"); known {
		t.Errorf("%d topics of 8 MB are known", len(topics))
	}
	g.Members = g.Members[:3]
	if topics, known := subscriptions(g, "range"); !known || len(topics) != 300 {
		t.Errorf("%d topics, known: %v", len(topics), known)
	}
}

// Sessions together hold so much; one that would grow beyond is forgotten, and its place is free again.
func TestFetchSessionsAreBounded(t *testing.T) {
	s := newFetchSessions(1000, &manualClock{})
	s.room = 100_000
	full := func(session, epoch int32, from, n int) *kmsg.FetchRequest {
		req := kmsg.NewPtrFetchRequest()
		req.Version, req.SessionID, req.SessionEpoch = 12, session, epoch
		topic := kmsg.FetchRequestTopic{Topic: "not-there"}
		for i := range n {
			topic.Partitions = append(topic.Partitions, kmsg.FetchRequestTopicPartition{Partition: int32(from + i)})
		}
		req.Topics = []kmsg.FetchRequestTopic{topic}
		return req
	}
	open := func(n int) int32 {
		c := s.open(full(0, initialFetchEpoch, 0, n))
		id, _ := s.answer(c, make([]fetchResult, n))
		return id
	}
	first := open(200)
	if first == 0 || open(200) != 0 {
		t.Fatalf("session %d, and then there is no room; left %d", first, s.room)
	}
	if c := s.open(full(first, 1, 200, 50)); c.code != none || len(c.partitions) != 250 {
		t.Errorf("grown: code %d, %d partitions", c.code, len(c.partitions))
	}
	if c := s.open(full(first, 2, 250, 200)); c.code != fetchSessionIDNotFound || s.room != 100_000 {
		t.Errorf("grown too much: code %d, room %d", c.code, s.room)
	}
	if second := open(200); second == 0 {
		t.Error("the room of a forgotten session is not free")
	}
}

// Every row of docs/limits.md names tests that are there.
func TestEveryBoundHasItsTest(t *testing.T) {
	table, err := os.ReadFile("../docs/limits.md")
	if err != nil {
		t.Fatal(err)
	}
	have := testsOf(t, "..")
	name := regexp.MustCompile("`(?:Test|classic/)[A-Za-z]+`")
	rows := 0
	for _, line := range strings.Split(string(table), "\n") {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| Bound ") {
			continue
		}
		rows++
		tests := name.FindAllString(line, -1)
		if len(tests) == 0 {
			t.Errorf("no test holds: %s", line)
		}
		for _, test := range tests {
			if !have[strings.Trim(test, "`")] {
				t.Errorf("%s is not there", test)
			}
		}
	}
	if rows < 30 {
		t.Errorf("%d rows", rows)
	}
}

// testsOf are the names of all tests of the module, and of the transcripts of classic groups.
func testsOf(t *testing.T, root string) map[string]bool {
	have := map[string]bool{}
	is := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err := filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case strings.HasSuffix(path, "_test.go"):
			text, err := os.ReadFile(path)
			for _, found := range is.FindAllSubmatch(text, -1) {
				have[string(found[1])] = true
			}
			return err
		case filepath.Base(filepath.Dir(path)) == "classic":
			have["classic/"+strings.TrimSuffix(filepath.Base(path), ".txt")] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return have
}

// Who asks for the same large thing again and again loses the connection before the answer is put together.
func TestAnswersAreBounded(t *testing.T) {
	b := startTestBroker(t, nil)
	c := b.connect()
	c.createTopic("t", 1)
	commit := kmsg.NewPtrOffsetCommitRequest()
	commit.Group, commit.Generation = "g", -1
	metadata := strings.Repeat("m", 4096)
	commit.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: "t", Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Metadata: &metadata}}}}
	request[*kmsg.OffsetCommitResponse](c, commit, 8)

	const times = maxAnswerBytes>>12 + 1
	offsets := kmsg.NewPtrOffsetFetchRequest()
	offsets.Group, offsets.Topics = "g", []kmsg.OffsetFetchRequestTopic{{Topic: "t", Partitions: make([]int32, times)}}
	all := kmsg.NewPtrOffsetFetchRequest()
	all.Groups = slices.Repeat([]kmsg.OffsetFetchRequestGroup{{Group: "g", MemberEpoch: -1}}, times)
	groups := kmsg.NewPtrDescribeGroupsRequest()
	groups.Groups = slices.Repeat([]string{"g"}, maxAnswerBytes/250)
	configs := kmsg.NewPtrDescribeConfigsRequest()
	configs.IncludeSynonyms, configs.IncludeDocumentation = true, true
	configs.Resources = slices.Repeat([]kmsg.DescribeConfigsRequestResource{{ResourceType: topicKind, ResourceName: "t"}}, times)
	joined := kmsg.NewPtrAddPartitionsToTxnRequest()
	joined.TransactionalID, joined.Topics = "txn", []kmsg.AddPartitionsToTxnRequestTopic{{Topic: "t", Partitions: make([]int32, maxAnswerBytes/joinedBytes+1)}}
	markers := kmsg.NewPtrWriteTxnMarkersRequest()
	unknown := make([]int32, maxAnswerBytes/markerAnswerBytes+1)
	for i := range unknown {
		unknown[i] = int32(i + 1)
	}
	markers.Markers = []kmsg.WriteTxnMarkersRequestMarker{{ProducerID: 1, Topics: []kmsg.WriteTxnMarkersRequestMarkerTopic{{Topic: "t", Partitions: unknown}}}}
	deleted := kmsg.NewPtrDeleteRecordsRequest()
	deleted.Topics = []kmsg.DeleteRecordsRequestTopic{{Topic: "t", Partitions: make([]kmsg.DeleteRecordsRequestTopicPartition, maxAnswerBytes/deletionBytes+1)}}
	keys := kmsg.NewPtrFindCoordinatorRequest()
	keys.CoordinatorKeys = slices.Repeat([]string{"g"}, maxAnswerBytes/foundBytes+1)
	missing := slices.Repeat([]string{"missing"}, maxAnswerBytes/groupAnswerBytes+1)
	classic, consumers := kmsg.NewPtrDescribeGroupsRequest(), kmsg.NewPtrConsumerGroupDescribeRequest()
	sharers, streams := kmsg.NewPtrShareGroupDescribeRequest(), kmsg.NewPtrStreamsGroupDescribeRequest()
	classic.Groups, consumers.Groups, sharers.GroupIDs, streams.Groups = missing, missing, missing, missing
	shared := kmsg.NewPtrShareFetchRequest()
	shared.GroupID, shared.MemberID = text("g"), text("m")
	shared.Topics = []kmsg.ShareFetchRequestTopic{{Partitions: make([]kmsg.ShareFetchRequestTopicPartition, maxAnswerBytes/sharedBytes+1)}}
	acked := kmsg.NewPtrShareAcknowledgeRequest()
	acked.GroupID, acked.MemberID = text("g"), text("m")
	acked.Topics = []kmsg.ShareAcknowledgeRequestTopic{{Partitions: make([]kmsg.ShareAcknowledgeRequestTopicPartition, maxAnswerBytes/sharedBytes+1)}}
	where := kmsg.NewPtrDescribeShareGroupOffsetsRequest()
	where.Groups = make([]kmsg.DescribeShareGroupOffsetsRequestGroup, maxAnswerBytes/groupAnswerBytes+1)
	altered := kmsg.NewPtrAlterShareGroupOffsetsRequest()
	altered.GroupID = "g"
	altered.Topics = []kmsg.AlterShareGroupOffsetsRequestTopic{{Partitions: make([]kmsg.AlterShareGroupOffsetsRequestTopicPartition, maxAnswerBytes/sharedBytes+1)}}
	forgotten := kmsg.NewPtrDeleteShareGroupOffsetsRequest()
	forgotten.GroupID = "g"
	forgotten.Topics = make([]kmsg.DeleteShareGroupOffsetsRequestTopic, maxAnswerBytes/sharedBytes+1)
	for _, asked := range []struct {
		kmsg.Request
		version int16
	}{{keys, 4}, {classic, 6}, {consumers, 1}, {sharers, 1}, {streams, 0}, {shared, 1}, {acked, 1}, {where, 1}, {altered, 0}, {forgotten, 0},
		{offsets, 5}, {all, 8}, {groups, 5}, {configs, 4}, {joined, 3}, {markers, 1}, {deleted, 1}} {
		c := b.connect()
		asked.SetVersion(asked.version)
		c.send(asked.Request)
		if frame, err := c.frame(); err == nil {
			t.Errorf("%s: answered with %d bytes", kmsg.NameForKey(asked.Key()), len(frame))
		}
	}
}

// Members with long names that all go at once are more than an entry of the journal holds: they go in several.
func TestRemovalsFitInEntries(t *testing.T) {
	for _, kind := range []string{"join phase", "sync phase"} {
		b := newGroupBench(t)
		const members = 160
		args := benchArgs{words: []string{strings.Repeat("g", maxName), "-", "range:A"}, named: map[string]string{
			"client": strings.Repeat("c", 30_000), "v": "3", "session": "30m", "rebalance": "6s"}}
		for range members {
			b.join("", args)
		}
		b.advance("1s")
		g := b.state.Groups.Get(args.words[0])
		if g.Generation != 1 || len(g.Members) != members {
			t.Fatalf("%s: generation %d of %d members", kind, g.Generation, len(g.Members))
		}
		if kind == "join phase" {
			args.words[1], args.words[2] = g.Leader, "range:B"
			b.join("", args)
			b.advance("7s")
		} else {
			b.sync("", benchArgs{words: []string{g.ID, g.Leader, "1"}})
			b.advance("7s")
			left := b.state.Groups.Get(g.ID)
			if len(left.Members) == 1 || left.State != projections.PreparingRebalance {
				t.Errorf("%d members are left, %s", len(left.Members), left.State)
			}
			b.join("", benchArgs{words: []string{g.ID, g.Leader, "range:B"}, named: args.named})
			b.advance("7s")
		}
		if g = b.state.Groups.Get(g.ID); len(g.Members) != 1 || g.Generation != 2 {
			t.Errorf("%s: %d members are left, %s", kind, len(g.Members), g.State)
		}
	}
}

func TestManyGroupsAreDeleted(t *testing.T) {
	b := newGroupBench(t)
	req := kmsg.NewPtrDeleteGroupsRequest()
	_ = b.update(t.Context(), journal.Timed("test"), func(d *groupDecision) {
		for n := range 2*maxDeletedGroups + 1 {
			id := fmt.Sprint("g", n)
			d.emit(&journal.GroupCreated{Group: id, Type: journal.GroupClassic})
			req.Groups = append(req.Groups, id)
		}
	})
	for i, g := range b.c.deleteGroups(t.Context(), caller{}, req).Groups {
		if g.Group != req.Groups[i] || g.ErrorCode != none {
			t.Fatalf("%+v for %s", g, req.Groups[i])
		}
	}
	if b.state.Groups.Len() != 0 {
		t.Errorf("%d groups are left", b.state.Groups.Len())
	}
}

// TestWhatARequestNamesTakesTimeInProportion asks for so many things by name that looking each up among all others would take
// hours.
func TestWhatARequestNamesTakesTimeInProportion(t *testing.T) {
	b := startTestBroker(t, nil)
	c := b.connect()
	c.createTopic("t", 1)
	const times = 100_000
	produce := kmsg.NewPtrProduceRequest()
	produce.Acks = 1
	list := kmsg.NewPtrListTransactionsRequest()
	alter := kmsg.NewPtrIncrementalAlterConfigsRequest()
	broker := kmsg.NewIncrementalAlterConfigsRequestResource()
	broker.ResourceType, broker.ResourceName = kmsg.ConfigResourceTypeBroker, "1"
	for i := range times {
		name := fmt.Sprint("name-", i)
		topic := kmsg.NewProduceRequestTopic()
		topic.Topic = name
		topic.Partitions = append(topic.Partitions, kmsg.NewProduceRequestTopicPartition())
		produce.Topics = append(produce.Topics, topic)
		list.StateFilters = append(list.StateFilters, name)
		op := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		op.Name, op.Op = name, kmsg.IncrementalAlterConfigOpDelete
		broker.Configs = append(broker.Configs, op)
	}
	alter.Resources = append(alter.Resources, broker)
	produced := request[*kmsg.ProduceResponse](c, produce, 9)
	if len(produced.Topics) != times || produced.Topics[times-1].Partitions[0].ErrorCode != unknownTopicOrPartition {
		t.Errorf("produced to %d topics", len(produced.Topics))
	}
	if listed := request[*kmsg.ListTransactionsResponse](c, list, 2); len(listed.UnknownStateFilters) != times {
		t.Errorf("%d unknown states", len(listed.UnknownStateFilters))
	}
	altered := request[*kmsg.IncrementalAlterConfigsResponse](c, alter, 1)
	if len(altered.Resources) != 1 {
		t.Errorf("%d resources altered", len(altered.Resources))
	}
}
