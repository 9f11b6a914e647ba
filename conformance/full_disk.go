package conformance

import (
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// A full disk is no scenario like the others: it needs a volume of its own, a broker ends over it, and doze answers
// otherwise on purpose. FullDiskScenarios are recorded by cmd/fulldisk into recordings/full-disk; each fills the volume of
// the logs, asks one API of a fresh broker, and then whether the broker is still there. TestFullDisk holds the codes.
func FullDiskScenarios() []Scenario {
	var list []Scenario
	for _, k := range fullDiskKinds {
		list = append(list, Scenario{
			Name: "full-disk-" + k.name, Claim: "What Kafka answers to " + k.name + " when the volume of its logs is full.",
			Part: 2, Fresh: true, Set: groupSetWith("transaction.state.log.num.partitions", "1", "log.index.interval.bytes", "100000000"), // an index on a full volume is a fault of the JVM's
			Run: func(c *C) { runFullDisk(c, k) },
		})
	}
	for i := range list {
		list[i].fillDefaults()
	}
	return list
}

// diskFiller is a broker whose logs are on a volume that can be filled.
type diskFiller interface{ FillDisk() error }

// FillDisk takes all space of the volume with the broker's logs.
func (c *C) FillDisk() {
	f, ok := c.broker.(diskFiller)
	if !ok {
		c.Fatalf("fill the disk: this broker has none of its own")
	}
	c.again("full disk", f.FillDisk)
}

// fullDiskKind is one API: what it needs before, and the request.
type fullDiskKind struct {
	name    string
	version int16
	prepare func(n *Conn) // may be nil
	ask     func(n *Conn) kmsg.Request
}

const fullTopic, fullGroup = "full", "full"

func runFullDisk(c *C, k fullDiskKind) {
	a := c.Conn("a")
	a.MakeTopic(fullTopic, 1)
	a.AwaitGroupCoordinator(fullGroup)
	a.Do("an offset", 8, fullCommit("before"))
	a.Do("a record", 9, produceTo(topicRef{name: fullTopic}, -1, Values("before").Bytes()))
	if k.prepare != nil {
		k.prepare(a)
	}
	req := k.ask(a)
	c.FillDisk()
	for _, step := range []string{"first", "second"} {
		a = c.Conn("a")
		if p, ok := req.(*kmsg.ProduceRequest); ok && p.Acks == 0 {
			a.Send(step, k.version, req).Unanswered()
			a.Do(step+", what follows", 9, metadataFor(fullTopic))
			continue
		}
		a.Do(step, k.version, req)
	}
	c.Conn("b").Do("is it there", 9, metadataFor(fullTopic))
}

// fullBytes is more than what is left of a file's last block.
var fullBytes = strings.Repeat("no block has room for this ", 1000)

func fullCommit(metadata string) *kmsg.OffsetCommitRequest {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.Generation = fullGroup, -1
	t := kmsg.NewOffsetCommitRequestTopic()
	t.Topic = fullTopic
	p := kmsg.NewOffsetCommitRequestTopicPartition()
	p.Offset, p.LeaderEpoch, p.Metadata = 1, -1, &metadata
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return req
}

func fullProduce(acks int16) func(*Conn) kmsg.Request {
	return func(*Conn) kmsg.Request { return produceTo(topicRef{name: fullTopic}, acks, Values(fullBytes).Bytes()) }
}

func fullInit(transactional bool) func(*Conn) kmsg.Request {
	return func(*Conn) kmsg.Request {
		req := kmsg.NewPtrInitProducerIDRequest()
		req.ProducerID, req.ProducerEpoch, req.TransactionTimeoutMillis = -1, -1, 60_000
		if transactional {
			// long, since a block may have some room left
			req.TransactionalID = kmsg.StringPtr("t" + fullBytes[:8000])
		}
		return req
	}
}

// fullTxn is a transactional id that has a producer, and with added a transaction.
func (n *Conn) fullTxn(added bool) (id string, producer int64, epoch int16) {
	id = "t" + fullBytes[:8000]
	n.fullCoordinator(id)
	req := kmsg.NewPtrInitProducerIDRequest()
	req.ProducerID, req.ProducerEpoch, req.TransactionTimeoutMillis, req.TransactionalID = -1, -1, 60_000, &id
	r := AskUntil(n, "a transactional producer", 4, req, func(r *kmsg.InitProducerIDResponse) bool { return r.ErrorCode == 0 })
	if added {
		AskUntil(n, "a transaction", 3, fullAdd(id, r.ProducerID, r.ProducerEpoch), func(r *kmsg.AddPartitionsToTxnResponse) bool {
			return r.Topics[0].Partitions[0].ErrorCode == 0
		})
	}
	return id, r.ProducerID, r.ProducerEpoch
}

func fullAdd(id string, producer int64, epoch int16) *kmsg.AddPartitionsToTxnRequest {
	req := kmsg.NewPtrAddPartitionsToTxnRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch = id, producer, epoch
	req.Topics = append(req.Topics, kmsg.AddPartitionsToTxnRequestTopic{Topic: fullTopic, Partitions: []int32{0}})
	return req
}

// fullMember joins a group as its only member; with synced it has an assignment.
func (n *Conn) fullMember(synced bool) (id string) {
	r := Ask[*kmsg.JoinGroupResponse](n, "join", 3, joinRequest(fullMembers, "", "range"))
	if synced {
		n.Do("sync", 3, syncRequest(fullMembers, r.MemberID, r.Generation, r.MemberID+":small"))
	}
	return r.MemberID
}

// fullMembers is a group whose name alone is more than a block.
var fullMembers = "members of " + fullBytes[:8000]

var fullDiskKinds = []fullDiskKind{
	{"produce-acks-1", 9, nil, fullProduce(1)},
	{"produce-acks-all", 9, nil, fullProduce(-1)},
	{"produce-acks-0", 9, nil, fullProduce(0)},
	{"offset-commit", 8, nil, func(*Conn) kmsg.Request {
		req := fullCommit(fullBytes[:4000])
		for range 3 {
			req.Topics = append(req.Topics, req.Topics[0])
		}
		return req
	}},
	{"join-group", 3, nil, func(*Conn) kmsg.Request { return joinRequest("full-new", "", "range:"+fullBytes) }},
	{"sync-group", 3, nil, func(n *Conn) kmsg.Request {
		id := n.fullMember(false)
		return syncRequest(fullMembers, id, 1, id+":"+fullBytes)
	}},
	{"leave-group", 3, nil, func(n *Conn) kmsg.Request { return leaveRequest(fullMembers, n.fullMember(true)) }},
	{"heartbeat", 3, nil, func(n *Conn) kmsg.Request { return heartbeatRequest(fullMembers, n.fullMember(true), 1) }},
	{"create-topics", 6, nil, func(*Conn) kmsg.Request { return createTopic("full-new", 3) }},
	{"metadata-that-creates", 9, nil, func(*Conn) kmsg.Request {
		req := metadataFor("full-on-demand")
		req.AllowAutoTopicCreation = true
		return req
	}},
	{"delete-topics", 5, nil, func(*Conn) kmsg.Request {
		req := kmsg.NewPtrDeleteTopicsRequest()
		req.TopicNames, req.TimeoutMillis = []string{fullTopic}, 10_000
		return req
	}},
	{"create-partitions", 3, nil, func(*Conn) kmsg.Request {
		req := kmsg.NewPtrCreatePartitionsRequest()
		req.TimeoutMillis = 10_000
		req.Topics = append(req.Topics, kmsg.CreatePartitionsRequestTopic{Topic: fullTopic, Count: 3})
		return req
	}},
	{"incremental-alter-configs", 1, nil, func(*Conn) kmsg.Request {
		req := kmsg.NewPtrIncrementalAlterConfigsRequest()
		req.Resources = append(req.Resources, kmsg.IncrementalAlterConfigsRequestResource{ResourceType: kmsg.ConfigResourceTypeTopic,
			ResourceName: fullTopic, Configs: []kmsg.IncrementalAlterConfigsRequestResourceConfig{{Name: "retention.ms", Value: kmsg.StringPtr("7")}}})
		return req
	}},
	{"delete-records", 2, nil, func(*Conn) kmsg.Request { return deleteBefore(topicRef{name: fullTopic}, 1) }},
	{"delete-groups", 2, func(n *Conn) { n.fullGroups() }, func(*Conn) kmsg.Request {
		req := kmsg.NewPtrDeleteGroupsRequest()
		req.Groups = fullNames
		return req
	}},
	{"offset-delete", 0, func(n *Conn) { n.fullOffsets() }, func(*Conn) kmsg.Request {
		req := kmsg.NewPtrOffsetDeleteRequest()
		req.Group = fullMembers
		req.Topics = append(req.Topics, kmsg.OffsetDeleteRequestTopic{Topic: fullTopic, Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{}}})
		return req
	}},
	{"init-producer-id", 4, func(n *Conn) { n.fullTxnOf("") }, fullInit(false)},
	{"init-producer-id-transactional", 4, func(n *Conn) { n.fullTxnOf("other") }, fullInit(true)},
	{"add-partitions-to-txn", 3, nil, func(n *Conn) kmsg.Request { return fullAdd(n.fullTxn(false)) }},
	{"add-offsets-to-txn", 3, nil, func(n *Conn) kmsg.Request {
		req := kmsg.NewPtrAddOffsetsToTxnRequest()
		req.TransactionalID, req.ProducerID, req.ProducerEpoch = n.fullTxn(false)
		req.Group = fullGroup
		return req
	}},
	{"end-txn", 3, nil, func(n *Conn) kmsg.Request {
		req := kmsg.NewPtrEndTxnRequest()
		req.TransactionalID, req.ProducerID, req.ProducerEpoch = n.fullTxn(true)
		req.Commit = true
		return req
	}},
	{"consumer-group-heartbeat", 1, nil, func(*Conn) kmsg.Request {
		req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
		req.Group, req.MemberID, req.RebalanceTimeoutMillis = "full-848", "member-"+fullBytes[:4000], 60_000
		req.SubscribedTopicNames, req.Topics = []string{fullTopic}, []kmsg.ConsumerGroupHeartbeatRequestTopic{}
		req.RackID = kmsg.StringPtr(fullBytes)
		return req
	}},
}

// fullTxnOf is a transactional producer of this id, or one without: with it, the coordinator is there, and ids to give out.
func (n *Conn) fullTxnOf(id string) {
	req := kmsg.NewPtrInitProducerIDRequest()
	req.ProducerID, req.ProducerEpoch, req.TransactionTimeoutMillis = -1, -1, 60_000
	if id != "" {
		n.fullCoordinator(id)
		req.TransactionalID = &id
	}
	AskUntil(n, "producer "+id, 4, req, func(r *kmsg.InitProducerIDResponse) bool { return r.ErrorCode == 0 })
}

// fullCoordinator waits for the coordinator of a transactional id: Kafka makes its topic when it is first asked for.
func (n *Conn) fullCoordinator(id string) {
	req := kmsg.NewPtrFindCoordinatorRequest()
	req.CoordinatorKey, req.CoordinatorType = id, 1
	AskUntil(n, "coordinator of transactions", 3, req, func(r *kmsg.FindCoordinatorResponse) bool { return r.ErrorCode == 0 })
}

// fullNames are groups whose names together are more than a block.
var fullNames = []string{"a" + fullBytes[:8000], "b" + fullBytes[:8000]}

func (n *Conn) fullGroups() {
	for _, name := range fullNames {
		req := fullCommit("")
		req.Group = name
		n.Do("an offset", 8, req)
	}
}

func (n *Conn) fullOffsets() {
	req := fullCommit("")
	req.Group = fullMembers
	n.Do("an offset", 8, req)
}
