package conformance

import (
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// aclGroupScenarios show which operation on a group or a transactional id each API asks for.
func aclGroupScenarios() []Scenario {
	return inACLPart([]Scenario{
		{
			Name:  "acls-groups",
			Claim: "Which operation on a group each API asks for, and what it answers without it; topics within need theirs.",
			Fresh: true,
			Run:   runACLGroups,
		},
		{
			Name:  "acls-new-groups",
			Claim: "Members of consumer, share and streams groups need READ on the group and DESCRIBE on topics; groups with topics that the caller may not describe are refused as a whole.",
			Fresh: true,
			Run:   runACLNewGroups,
		},
		{
			Name:  "acls-transactions",
			Claim: "Which operation on a transactional id each API asks for; a producer without one needs IDEMPOTENT_WRITE on the cluster, or WRITE on any topic at all.",
			Fresh: true,
			Run:   runACLTransactions,
		},
	})
}

func runACLGroups(c *C) {
	admin, bob := c.Conn("admin"), c.As("bob")
	admin.NewTopic("seen", 1)
	admin.NewTopic("unseen", 1)
	names, list := byCase(aclGroup, "g", groupOps...)
	admin.AwaitGroupCoordinator("g")
	for _, name := range names {
		commit := kmsg.NewPtrOffsetCommitRequest()
		commit.Group, commit.Generation = name, -1
		p := kmsg.NewOffsetCommitRequestTopicPartition()
		commit.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: "seen", Partitions: []kmsg.OffsetCommitRequestTopicPartition{p}}, {Topic: "unseen", Partitions: []kmsg.OffsetCommitRequestTopicPartition{p}}}
		admin.Do("commit in "+name, 8, commit)
	}
	c.SetACLs(append(list, allow(aclTopic, "seen", "read"))...)
	find, describe, offsets, configs := kmsg.NewPtrFindCoordinatorRequest(), kmsg.NewPtrDescribeGroupsRequest(), kmsg.NewPtrOffsetFetchRequest(), kmsg.NewPtrDescribeConfigsRequest()
	find.CoordinatorKeys, describe.Groups, describe.IncludeAuthorizedOperations = names, names, true
	alter := kmsg.NewPtrIncrementalAlterConfigsRequest()
	for _, name := range names {
		offsets.Groups = append(offsets.Groups, kmsg.OffsetFetchRequestGroup{Group: name, MemberEpoch: -1})
		r := kmsg.NewDescribeConfigsRequestResource()
		r.ResourceType, r.ResourceName, r.ConfigNames = 32, name, []string{"consumer.session.timeout.ms"}
		configs.Resources = append(configs.Resources, r)
		alter.Resources = append(alter.Resources, kmsg.IncrementalAlterConfigsRequestResource{ResourceType: 32, ResourceName: name})
	}
	bob.Send("find coordinators", 4, find).Only("Coordinators.Key", "Coordinators.ErrorCode", "Coordinators.ErrorMessage", "Coordinators.NodeID").Await()
	single := kmsg.NewPtrFindCoordinatorRequest()
	single.CoordinatorKey = "g-none"
	bob.Do("find one coordinator", 3, single)
	bob.Do("describe", 5, describe)
	bob.Do("list", 4, kmsg.NewPtrListGroupsRequest())
	bob.Do("fetch offsets", 8, offsets)
	for _, version := range []int16{1, 2, 7} {
		one := kmsg.NewPtrOffsetFetchRequest()
		one.Group, one.Topics = "g-none", []kmsg.OffsetFetchRequestTopic{{Topic: "seen", Partitions: []int32{0}}}
		bob.Do("fetch offsets of one", version, one)
	}
	bob.Do("describe configs", 4, configs)
	bob.Do("alter configs", 1, alter)
	for _, name := range names {
		askMember(bob, name)
	}
	remove := kmsg.NewPtrDeleteGroupsRequest()
	remove.Groups = names
	bob.Do("delete", 2, remove)
	c.SetACLs(allow(aclCluster, "kafka-cluster", "describe"))
	bob.Do("list by the cluster's ACL", 4, kmsg.NewPtrListGroupsRequest())
}

// askMember sends what members send to a group that they are not in.
func askMember(bob *Conn, group string) {
	join, sync := kmsg.NewPtrJoinGroupRequest(), kmsg.NewPtrSyncGroupRequest()
	join.Group, join.MemberID, join.SessionTimeoutMillis, join.RebalanceTimeoutMillis, join.ProtocolType = group, "nobody", 10_000, 10_000, "consumer"
	join.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range"}}
	sync.Group, sync.MemberID, sync.Generation = group, "nobody", 1
	heartbeat, leave, remove := kmsg.NewPtrHeartbeatRequest(), kmsg.NewPtrLeaveGroupRequest(), kmsg.NewPtrOffsetDeleteRequest()
	heartbeat.Group, heartbeat.MemberID, heartbeat.Generation = group, "nobody", 1
	leave.Group, leave.Members = group, []kmsg.LeaveGroupRequestMember{{MemberID: "nobody"}}
	remove.Group = group
	for _, topic := range []string{"seen", "unseen", "nowhere"} {
		remove.Topics = append(remove.Topics, kmsg.OffsetDeleteRequestTopic{Topic: topic, Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{Partition: 7}}})
	}
	commit := kmsg.NewPtrOffsetCommitRequest()
	commit.Group, commit.MemberID, commit.Generation = group, "nobody", 5
	p := kmsg.NewOffsetCommitRequestTopicPartition()
	for _, topic := range []string{"seen", "unseen", "nowhere"} {
		commit.Topics = append(commit.Topics, kmsg.OffsetCommitRequestTopic{Topic: topic, Partitions: []kmsg.OffsetCommitRequestTopicPartition{p}})
	}
	bob.Do("join "+group, 5, join)
	bob.Do("join "+group, 9, join)
	bob.Do("sync "+group, 5, sync)
	bob.Do("heartbeat "+group, 4, heartbeat)
	bob.Do("leave "+group, 5, leave)
	bob.Do("commit in "+group, 8, commit)
	bob.Do("delete offsets of "+group, 0, remove)
}

func runACLNewGroups(c *C) {
	admin, bob := c.Conn("admin"), c.As("bob")
	seen, unseen := admin.NewTopic("seen", 1), admin.NewTopic("unseen", 1)
	names, list := byCase(aclGroup, "n", groupOps...)
	admin.AwaitGroupCoordinator("n")
	joinNewGroup(admin, "c-seen", "seen")
	joinNewGroup(admin, "c-unseen", "seen", "unseen")
	c.SetACLs(append(list, allow(aclTopic, "seen", "read"), prefixed(allow(aclGroup, "c-", "all")), prefixed(allow(aclGroup, "s-", "all")))...)
	described := kmsg.NewPtrConsumerGroupDescribeRequest()
	described.Groups, described.IncludeAuthorizedOperations = append(names, "c-seen", "c-unseen"), true
	bob.Send("describe consumer groups", 1, described).Only("Groups.Group", "Groups.ErrorCode", "Groups.ErrorMessage", "Groups.State", "Groups.AuthorizedOperations", "Groups.Members.SubscribedTopics").Await()
	share, streams := describeShareGroups(names...), kmsg.NewPtrStreamsGroupDescribeRequest()
	share.IncludeAuthorizedOperations, streams.IncludeAuthorizedOperations, streams.Groups = true, true, names
	bob.Do("describe share groups", 1, share)
	bob.Do("describe streams groups", 0, streams)
	offsets := kmsg.NewPtrDescribeShareGroupOffsetsRequest()
	for _, name := range append(names, "s-x") {
		g := kmsg.DescribeShareGroupOffsetsRequestGroup{GroupID: name}
		for _, topic := range []string{"seen", "unseen", "nowhere"} {
			g.Topics = append(g.Topics, kmsg.DescribeShareGroupOffsetsRequestGroupTopic{Topic: topic, Partitions: []int32{0}})
		}
		offsets.Groups = append(offsets.Groups, g)
	}
	bob.Do("describe offsets of share groups", 1, offsets)
	for _, name := range names {
		askNewMember(bob, name, seen, "seen")
	}
	askNewMember(bob, "c-unseen", unseen, "seen", "unseen", "nowhere")
	alter := alterShareOffsets("s-x", "seen", 0)
	alter.Topics = append(alter.Topics, alterShareOffsets("s-x", "unseen", 0).Topics...)
	alter.Topics = append(alter.Topics, alterShareOffsets("s-x", "nowhere", 0).Topics...)
	bob.Do("alter offsets of topics", 0, alter)
	remove := kmsg.NewPtrDeleteShareGroupOffsetsRequest()
	remove.GroupID = "s-x"
	for _, topic := range []string{"seen", "unseen", "nowhere"} {
		remove.Topics = append(remove.Topics, kmsg.DeleteShareGroupOffsetsRequestTopic{Topic: topic})
	}
	bob.Do("delete offsets of topics", 0, remove)
}

func joinNewGroup(n *Conn, group string, topics ...string) {
	join := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	join.Group, join.MemberID, join.SubscribedTopicNames, join.RebalanceTimeoutMillis, join.Topics = group, "member", topics, 60_000, []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	n.Send("join "+group, 1, join).Only("ErrorCode", "MemberEpoch").Await()
}

// askNewMember sends what members of the newer groups send; nothing of it makes a group.
func askNewMember(bob *Conn, group string, t topicRef, topics ...string) {
	consumer := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	consumer.Group, consumer.MemberID, consumer.MemberEpoch, consumer.SubscribedTopicNames = group, "nobody", 5, topics
	share := kmsg.NewPtrShareGroupHeartbeatRequest()
	share.GroupID, share.MemberID, share.MemberEpoch, share.SubscribedTopicNames = group, "nobody", 5, topics
	streams := kmsg.NewPtrStreamsGroupHeartbeatRequest()
	streams.Group, streams.MemberID, streams.MemberEpoch = group, "nobody", 5
	bob.Do("consumer in "+group, 1, consumer)
	bob.Do("sharer in "+group, 1, share)
	bob.Do("streams member in "+group, 0, streams)
	fetch := kmsg.NewPtrShareFetchRequest()
	fetch.GroupID, fetch.MemberID, fetch.ShareSessionEpoch = &group, kmsg.StringPtr("nobody"), 5
	acknowledge := kmsg.NewPtrShareAcknowledgeRequest()
	acknowledge.GroupID, acknowledge.MemberID, acknowledge.ShareSessionEpoch = &group, kmsg.StringPtr("nobody"), 5
	acknowledge.Topics = []kmsg.ShareAcknowledgeRequestTopic{{TopicID: t.id}}
	bob.Do("fetch as a sharer of "+group, 1, fetch)
	bob.Do("acknowledge in "+group, 1, acknowledge)
	if !strings.HasPrefix(group, "n-") {
		return
	}
	alter := alterShareOffsets(group, "nowhere", 0)
	remove := kmsg.NewPtrDeleteShareGroupOffsetsRequest()
	remove.GroupID, remove.Topics = group, []kmsg.DeleteShareGroupOffsetsRequestTopic{{Topic: "nowhere"}}
	bob.Do("delete offsets of "+group, 0, remove)
	bob.Send("alter offsets of "+group, 0, alter).Only("ErrorCode", "ErrorMessage").Await()
}

func runACLTransactions(c *C) {
	admin, bob := c.Conn("admin"), c.As("bob")
	admin.NewTopic("w", 1)
	admin.NewTopic("unwritable", 1)
	admin.AwaitTxnCoordinator()
	names, list := byCase(aclTxn, "x", txnOps...)
	for _, name := range names {
		p := c.txnProducer("producer of "+name, name)
		add := kmsg.NewPtrAddPartitionsToTxnRequest()
		add.TransactionalID, add.ProducerID, add.ProducerEpoch = name, p.id, p.epoch
		add.Topics = []kmsg.AddPartitionsToTxnRequestTopic{{Topic: "w", Partitions: []int32{0}}, {Topic: "unwritable", Partitions: []int32{0}}}
		p.Do("begin "+name, 3, add)
	}
	c.SetACLs(append(list, allow(aclTopic, "w", "write"), allow(aclGroup, "g", "read"))...)
	find := kmsg.NewPtrFindCoordinatorRequest()
	find.CoordinatorType, find.CoordinatorKeys = 1, names
	bob.Send("find coordinators", 4, find).Only("Coordinators.Key", "Coordinators.ErrorCode", "Coordinators.ErrorMessage", "Coordinators.NodeID").Await()
	single := kmsg.NewPtrFindCoordinatorRequest()
	single.CoordinatorType, single.CoordinatorKey = 1, "x-none"
	bob.Do("find one coordinator", 3, single)
	bob.Send("describe", 0, describeTxns(names...)).Only("TransactionStates.ErrorCode", "TransactionStates.TransactionalID", "TransactionStates.State", "TransactionStates.Topics").Await()
	bob.Send("list", 1, kmsg.NewPtrListTransactionsRequest()).Only("TransactionStates.TransactionalID", "TransactionStates.TransactionState").Await()
	for _, name := range names {
		askTxn(bob, name)
	}
	c.SetACLs()
	c.idempotent(bob, "nothing")
	for _, some := range [][]kmsg.CreateACLsRequestCreation{
		{allow(aclCluster, "kafka-cluster", "idempotent-write")}, {allow(aclTopic, "w", "write")}, {allow(aclTopic, "w", "read")},
		{prefixed(allow(aclTopic, "w", "write")), deny(aclTopic, "w", "write")}, {allow(aclTopic, "w", "all"), prefixed(deny(aclTopic, "w", "write"))},
		{allow(aclTopic, "w", "write"), deny(aclTopic, "*", "write")}, {allow(aclTopic, "*", "write"), prefixed(deny(aclTopic, "h", "write"))},
		{elsewhereOnly(allow(aclTopic, "w", "write"))}, {allow(aclTopic, "w", "write"), deny(aclTopic, "w", "all"), allow(aclTopic, "v", "all")},
	} {
		c.SetACLs(some...)
		c.idempotent(bob, "some")
	}
}

// idempotent asks for a producer id without a transactional id.
func (c *C) idempotent(n *Conn, step string) {
	req := kmsg.NewPtrInitProducerIDRequest()
	req.ProducerID, req.ProducerEpoch = -1, -1
	n.Send("init with "+step, 4, req).Only("ErrorCode", "ProducerEpoch").Await()
}

// askTxn sends what producers send, with an identity that is nobody's.
func askTxn(bob *Conn, id string) {
	init := initRequest(id, 0, 77, 3)
	add := kmsg.NewPtrAddPartitionsToTxnRequest()
	add.TransactionalID, add.ProducerID, add.ProducerEpoch = id, 77, 3
	add.Topics = []kmsg.AddPartitionsToTxnRequestTopic{{Topic: "w", Partitions: []int32{0}}, {Topic: "unwritable", Partitions: []int32{0}}, {Topic: "nowhere", Partitions: []int32{0}}}
	offsets, end, commit := kmsg.NewPtrAddOffsetsToTxnRequest(), kmsg.NewPtrEndTxnRequest(), kmsg.NewPtrTxnOffsetCommitRequest()
	offsets.TransactionalID, offsets.ProducerID, offsets.ProducerEpoch, offsets.Group = id, 77, 3, "g"
	end.TransactionalID, end.ProducerID, end.ProducerEpoch = id, 77, 3
	commit.TransactionalID, commit.Group, commit.ProducerID, commit.ProducerEpoch, commit.Generation = id, "g", 77, 3, -1
	commit.Topics = []kmsg.TxnOffsetCommitRequestTopic{{Topic: "unwritable", Partitions: []kmsg.TxnOffsetCommitRequestTopicPartition{kmsg.NewTxnOffsetCommitRequestTopicPartition()}}}
	bob.Do("init "+id, 4, init)
	bob.Do("add partitions to "+id, 3, add)
	bob.Do("add offsets to "+id, 3, offsets)
	offsets.Group = "other"
	bob.Do("add offsets of another group to "+id, 3, offsets)
	bob.Do("commit offsets in "+id, 3, commit)
	bob.Do("end "+id, 4, end)
	batch := Values("v")
	batch.Idempotent, batch.ProducerID, batch.ProdEpoch, batch.Attributes = true, 77, 3, 1<<4
	produce := produceTo(topicRef{name: "w"}, -1, batch.Bytes())
	produce.TransactionID = &id
	bob.Do("produce in "+id, 9, produce)
}
