package conformance

import (
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// aclMatrixScenarios ask every API on resources that differ by what the caller may do: nothing, everything, everything and a
// deny, everything from another host, and each operation alone.
func aclMatrixScenarios() []Scenario {
	return inACLPart([]Scenario{
		{
			Name:  "acls-topics",
			Claim: "Which operation on a topic each API asks for, what it answers without it, and that a topic which may not be described is refused whether it is there or not.",
			Fresh: true,
			Run:   runACLTopics,
		},
		{
			Name:  "acls-topics-by-id",
			Claim: "Topics named by id are refused with the id, of one that is not there the id is unknown; what may not be described is not named.",
			Fresh: true,
			Run:   runACLTopicIDs,
		},
		{
			Name:  "acls-topics-create",
			Claim: "CREATE on the cluster or on the topic makes one, by CreateTopics or by asking; DESCRIBE_CONFIGS tells its configs; DELETE and DESCRIBE decide what DeleteTopics says.",
			Fresh: true,
			Run:   runACLTopicsMade,
		},
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
		{
			Name:  "acls-cluster",
			Claim: "Which operation on the cluster each API asks for, and what it answers without it.",
			Fresh: true,
			Run:   runACLCluster,
		},
	})
}

func runACLTopics(c *C) {
	admin, bob := c.Conn("admin"), c.As("bob")
	names, list := byCase(aclTopic, "t", topicOps...)
	for _, name := range names {
		admin.NewTopic(name, 1)
	}
	missing, more := byCase(aclTopic, "x", "describe", "write", "create")
	group := allow(aclGroup, "g", "all")
	c.SetACLs(append(append(list, more...), group)...)
	all := append(names, missing...)
	askTopics(bob, all)
	alterTopics(bob, all)
}

// askTopics sends requests that change nothing.
func askTopics(bob *Conn, all []string) {
	metadata := metadataFor(all...)
	metadata.IncludeTopicAuthorizedOperations, metadata.AllowAutoTopicCreation = true, false
	bob.Send("metadata", 9, metadata).Only("Topics.ErrorCode", "Topics.Topic", "Topics.AuthorizedOperations", "Topics.IsInternal").Await()
	every := kmsg.NewPtrMetadataRequest()
	bob.Send("metadata of all topics", 9, every).Only("Topics.ErrorCode", "Topics.Topic").Await()
	describe := kmsg.NewPtrDescribeTopicPartitionsRequest()
	describe.ResponsePartitionLimit = 100
	bob.Send("describe all topics", 0, describe).Only("Topics.ErrorCode", "Topics.Topic", "Topics.AuthorizedOperations").Await()
	offsets, epochs := kmsg.NewPtrListOffsetsRequest(), kmsg.NewPtrOffsetForLeaderEpochRequest()
	offsets.ReplicaID, epochs.ReplicaID = -1, -2
	producers, configs := kmsg.NewPtrDescribeProducersRequest(), kmsg.NewPtrDescribeConfigsRequest()
	for _, name := range all {
		describe.Topics = append(describe.Topics, kmsg.DescribeTopicPartitionsRequestTopic{Topic: name})
		offsets.Topics = append(offsets.Topics, endOffsets(name, 1).Topics...)
		e := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
		e.CurrentLeaderEpoch, e.LeaderEpoch = -1, 0
		epochs.Topics = append(epochs.Topics, kmsg.OffsetForLeaderEpochRequestTopic{Topic: name, Partitions: []kmsg.OffsetForLeaderEpochRequestTopicPartition{e}})
		producers.Topics = append(producers.Topics, kmsg.DescribeProducersRequestTopic{Topic: name, Partitions: []int32{0}})
		r := kmsg.NewDescribeConfigsRequestResource()
		r.ResourceType, r.ResourceName, r.ConfigNames = 2, name, []string{"retention.ms"}
		configs.Resources = append(configs.Resources, r)
	}
	for _, t := range describe.Topics { // those refused come in no order
		one := kmsg.NewPtrDescribeTopicPartitionsRequest()
		one.ResponsePartitionLimit, one.Topics = 100, []kmsg.DescribeTopicPartitionsRequestTopic{t}
		bob.Send("describe "+t.Topic, 0, one).Only("Topics.ErrorCode", "Topics.Topic", "Topics.AuthorizedOperations").Await()
	}
	bob.Do("list offsets", 7, offsets)
	bob.Do("end of epoch", 4, epochs)
	bob.Do("describe producers", 0, producers)
	bob.Do("describe configs", 4, configs)
	for _, version := range []int16{4, 11} {
		fetch := kmsg.NewPtrFetchRequest()
		fetch.MaxBytes, fetch.MaxWaitMillis, fetch.ReplicaID = 1<<20, 0, -1
		fetch.SessionEpoch = -1
		for _, name := range all {
			p := kmsg.NewFetchRequestTopicPartition()
			p.PartitionMaxBytes = 1 << 20
			fetch.Topics = append(fetch.Topics, kmsg.FetchRequestTopic{Topic: name, Partitions: []kmsg.FetchRequestTopicPartition{p}})
		}
		bob.Do("fetch", version, fetch)
	}
	fetched := kmsg.NewPtrOffsetFetchRequest()
	fetched.Groups = []kmsg.OffsetFetchRequestGroup{{Group: "g", MemberEpoch: -1}}
	for _, name := range all {
		fetched.Groups[0].Topics = append(fetched.Groups[0].Topics, kmsg.OffsetFetchRequestGroupTopic{Topic: name, Partitions: []int32{0}})
	}
	bob.AwaitGroupCoordinator("g")
	bob.Do("fetch offsets", 8, fetched)
}

// alterTopics sends requests that change something, and do so where they may.
func alterTopics(bob *Conn, all []string) {
	for _, acks := range []int16{1, -1} {
		produce := kmsg.NewPtrProduceRequest()
		produce.Acks, produce.TimeoutMillis = acks, 10_000
		for _, name := range all {
			produce.Topics = append(produce.Topics, produceTo(topicRef{name: name}, acks, Values("v").Bytes()).Topics...)
		}
		bob.Do("produce", 9, produce)
	}
	records, partitions := kmsg.NewPtrDeleteRecordsRequest(), kmsg.NewPtrCreatePartitionsRequest()
	records.TimeoutMillis, partitions.TimeoutMillis = 10_000, 10_000
	alter, incremental := kmsg.NewPtrAlterConfigsRequest(), kmsg.NewPtrIncrementalAlterConfigsRequest()
	commit, remove := kmsg.NewPtrOffsetCommitRequest(), kmsg.NewPtrOffsetDeleteRequest()
	commit.Group, commit.Generation, remove.Group = "g", -1, "g"
	for _, name := range all {
		records.Topics = append(records.Topics, kmsg.DeleteRecordsRequestTopic{Topic: name, Partitions: []kmsg.DeleteRecordsRequestTopicPartition{{Offset: 0}}})
		partitions.Topics = append(partitions.Topics, kmsg.CreatePartitionsRequestTopic{Topic: name, Count: 2})
		alter.Resources = append(alter.Resources, kmsg.AlterConfigsRequestResource{ResourceType: 2, ResourceName: name})
		incremental.Resources = append(incremental.Resources, kmsg.IncrementalAlterConfigsRequestResource{ResourceType: 2, ResourceName: name})
		p := kmsg.NewOffsetCommitRequestTopicPartition()
		p.Offset = 1
		commit.Topics = append(commit.Topics, kmsg.OffsetCommitRequestTopic{Topic: name, Partitions: []kmsg.OffsetCommitRequestTopicPartition{p}})
		remove.Topics = append(remove.Topics, kmsg.OffsetDeleteRequestTopic{Topic: name, Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{}}})
	}
	bob.Do("delete records", 2, records)
	bob.Do("alter configs", 2, alter)
	bob.Do("alter configs one by one", 1, incremental)
	bob.Do("commit offsets", 8, commit)
	all9 := kmsg.NewPtrOffsetFetchRequest()
	all9.Groups = []kmsg.OffsetFetchRequestGroup{{Group: "g", MemberEpoch: -1}}
	bob.Do("fetch all offsets", 8, all9)
	bob.Do("delete offsets", 0, remove)
	bob.Do("create partitions", 3, partitions)
}

func runACLTopicIDs(c *C) {
	admin, bob := c.Conn("admin"), c.As("bob")
	names, list := byCase(aclTopic, "i", "read", "write", "describe", "delete")
	refs := make([]topicRef, len(names))
	for i, name := range names {
		refs[i] = admin.NewTopic(name, 1)
	}
	refs = append(refs, topicRef{id: [16]byte{1, 2, 3}})
	c.SetACLs(append(list, allow(aclGroup, "g", "all"))...)
	metadata, fetch, produce := kmsg.NewPtrMetadataRequest(), kmsg.NewPtrFetchRequest(), kmsg.NewPtrProduceRequest()
	metadata.IncludeTopicAuthorizedOperations = true
	fetch.MaxBytes, fetch.SessionEpoch, produce.Acks, produce.TimeoutMillis = 1<<20, -1, 1, 10_000
	commit, fetched, remove := kmsg.NewPtrOffsetCommitRequest(), kmsg.NewPtrOffsetFetchRequest(), kmsg.NewPtrDeleteTopicsRequest()
	commit.Group, commit.Generation, remove.TimeoutMillis = "g", -1, 10_000
	fetched.Groups = []kmsg.OffsetFetchRequestGroup{{Group: "g", MemberEpoch: -1}}
	for _, t := range refs {
		metadata.Topics = append(metadata.Topics, kmsg.MetadataRequestTopic{TopicID: t.id})
		p := kmsg.NewFetchRequestTopicPartition()
		p.PartitionMaxBytes = 1 << 20
		fetch.Topics = append(fetch.Topics, kmsg.FetchRequestTopic{TopicID: t.id, Partitions: []kmsg.FetchRequestTopicPartition{p}})
		produce.Topics = append(produce.Topics, produceTo(t, 1, Values("v").Bytes()).Topics...)
		o := kmsg.NewOffsetCommitRequestTopicPartition()
		commit.Topics = append(commit.Topics, kmsg.OffsetCommitRequestTopic{TopicID: t.id, Partitions: []kmsg.OffsetCommitRequestTopicPartition{o}})
		fetched.Groups[0].Topics = append(fetched.Groups[0].Topics, kmsg.OffsetFetchRequestGroupTopic{TopicID: t.id, Partitions: []int32{0}})
		remove.Topics = append(remove.Topics, kmsg.DeleteTopicsRequestTopic{TopicID: t.id})
	}
	bob.Send("metadata", 12, metadata).Only("Topics.ErrorCode", "Topics.Topic", "Topics.TopicID", "Topics.AuthorizedOperations").Await()
	bob.Do("fetch", 13, fetch)
	bob.Do("produce", 13, produce)
	bob.AwaitGroupCoordinator("g")
	bob.Do("commit offsets", 10, commit)
	bob.Do("fetch offsets", 10, fetched)
	bob.Do("delete topics", 6, remove)
}

func runACLTopicsMade(c *C) {
	admin, bob := c.Conn("admin"), c.As("bob")
	names, list := byCase(aclTopic, "m", topicOps...)
	both := []kmsg.CreateACLsRequestCreation{allow(aclTopic, "m-both", "create"), allow(aclTopic, "m-both", "describe-configs")}
	c.SetACLs(append(list, both...)...)
	create, twice := kmsg.NewPtrCreateTopicsRequest(), kmsg.NewPtrCreateTopicsRequest()
	create.TimeoutMillis, twice.TimeoutMillis = 10_000, 10_000
	for _, name := range append(names, "m-both", "bad name") {
		create.Topics = []kmsg.CreateTopicsRequestTopic{topicSpec(name, 1, 1)}
		bob.Send("create "+name, 7, create).Only("Topics.Topic", "Topics.ErrorCode", "Topics.ErrorMessage", "Topics.NumPartitions", "Topics.ReplicationFactor", "Topics.ConfigErrorCode").Await()
	}
	twice.Topics = []kmsg.CreateTopicsRequestTopic{topicSpec("m-none", 1, 1), topicSpec("m-none", 1, 1), topicSpec("__cluster_metadata", 1, 1)}
	bob.Do("create twice in one request, and an internal one", 4, twice)
	ask, asked := byCase(aclTopic, "ask", "create", "describe")
	c.SetACLs(append(asked, allow(aclTopic, "ask-both", "create"), allow(aclTopic, "ask-both", "describe"))...)
	metadata := metadataFor(append(ask, "ask-both")...)
	metadata.AllowAutoTopicCreation = true
	metadata.Topics = append(metadata.Topics, metadataFor("ask-more").Topics...)
	asking := AskUntil(bob, "create by asking", 4, metadata, func(r *kmsg.MetadataResponse) bool {
		made := 0
		for _, t := range r.Topics {
			if t.ErrorCode == 0 {
				made++
			}
		}
		return made == 2
	})
	if len(asking.Topics) != 8 {
		c.Fatalf("%d topics answered", len(asking.Topics))
	}
	cluster := append(asked, allow(aclCluster, "kafka-cluster", "create"))
	c.SetACLs(cluster...)
	create.Topics = []kmsg.CreateTopicsRequestTopic{topicSpec("made-by-cluster", 1, 1)}
	bob.Send("create by the cluster's ACL", 7, create).Only("Topics.Topic", "Topics.ErrorCode", "Topics.NumPartitions", "Topics.ConfigErrorCode").Await()
	for _, name := range names {
		if name != "m-all" && name != "m-create" {
			admin.NewTopic(name, 1)
		}
	}
	c.SetACLs(append(list, both...)...)
	remove := kmsg.NewPtrDeleteTopicsRequest()
	remove.TimeoutMillis, remove.TopicNames = 10_000, append(names, "m-both", "nowhere")
	bob.Do("delete", 5, remove)
	c.SetACLs(allow(aclCluster, "kafka-cluster", "delete"))
	remove.TopicNames = []string{"m-none", "nowhere"}
	bob.Do("delete by the cluster's ACL", 5, remove)
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

func runACLCluster(c *C) {
	admin, bob := c.Conn("admin"), c.As("bob")
	admin.NewTopic("t", 1)
	cluster := func(op string) kmsg.CreateACLsRequestCreation { return allow(aclCluster, "kafka-cluster", op) }
	phases := map[string][]kmsg.CreateACLsRequestCreation{
		"none": nil, "all": {cluster("all")}, "deny": {cluster("all"), deny(aclCluster, "kafka-cluster", "all")}, "host": {elsewhereOnly(cluster("all"))},
	}
	order := []string{"none", "all", "deny", "host"}
	for _, op := range strings.Fields("create alter describe cluster-action describe-configs alter-configs idempotent-write") {
		order = append(order, op)
		phases[op] = []kmsg.CreateACLsRequestCreation{cluster(op)}
	}
	for _, phase := range order {
		c.SetACLs(phases[phase]...)
		askCluster(bob, phase)
	}
}

// askCluster sends requests that need something of the cluster; nothing of it changes anything.
func askCluster(bob *Conn, phase string) {
	none := aclsAbout("nothing", aclLiteral)
	bob.Do("describe ACLs with "+phase, 3, none)
	bob.Do("create ACLs with "+phase, 3, createACLs(allow(aclTopic, "", "read"), allow(aclCluster, "x", "read")))
	bob.Do("delete ACLs with "+phase, 3, deleteACLs(none, none))
	dirs := kmsg.NewPtrDescribeLogDirsRequest()
	dirs.Topics = []kmsg.DescribeLogDirsRequestTopic{}
	bob.Send("describe log dirs with "+phase, 3, dirs).Only("ErrorCode", "Dirs.ErrorCode").Await()
	features := kmsg.NewPtrUpdateFeaturesRequest()
	features.TimeoutMillis, features.ValidateOnly = 10_000, true
	bob.Do("update no features with "+phase, 1, features)
	describe := kmsg.NewPtrDescribeClusterRequest()
	describe.IncludeClusterAuthorizedOperations = true
	bob.Send("describe the cluster with "+phase, 0, describe).Only("ErrorCode", "ClusterAuthorizedOperations").Await()
	metadata := kmsg.NewPtrMetadataRequest()
	metadata.Topics, metadata.IncludeClusterAuthorizedOperations = []kmsg.MetadataRequestTopic{}, true
	bob.Send("metadata with "+phase, 8, metadata).Only("AuthorizedOperations").Await()
	list := kmsg.NewPtrListConfigResourcesRequest()
	list.ResourceTypes = []int8{16}
	bob.Do("list config resources with "+phase, 1, list)
	markers := kmsg.NewPtrWriteTxnMarkersRequest()
	markers.Markers = []kmsg.WriteTxnMarkersRequestMarker{{ProducerID: 7, Topics: []kmsg.WriteTxnMarkersRequestMarkerTopic{{Topic: "nowhere", Partitions: []int32{0}}}}}
	bob.Do("write markers with "+phase, 1, markers)
	epochs := kmsg.NewPtrOffsetForLeaderEpochRequest()
	epochs.ReplicaID = -2
	e := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
	e.CurrentLeaderEpoch = -1
	epochs.Topics = []kmsg.OffsetForLeaderEpochRequestTopic{{Topic: "t", Partitions: []kmsg.OffsetForLeaderEpochRequestTopicPartition{e}}}
	bob.Do("end of epoch with "+phase, 4, epochs)
	find := kmsg.NewPtrFindCoordinatorRequest()
	find.CoordinatorType, find.CoordinatorKeys = 2, []string{"malformed", "too"}
	bob.Do("find share coordinators with "+phase, 6, find)
	fetch := kmsg.NewPtrFetchRequest()
	fetch.ReplicaID, fetch.MaxBytes, fetch.SessionEpoch = 5, 1<<20, -1
	p := kmsg.NewFetchRequestTopicPartition()
	fetch.Topics = []kmsg.FetchRequestTopic{{Topic: "nowhere", Partitions: []kmsg.FetchRequestTopicPartition{p}}}
	bob.Do("fetch as a broker with "+phase, 11, fetch)
	add := kmsg.NewPtrAddPartitionsToTxnRequest()
	txn := kmsg.NewAddPartitionsToTxnRequestTransaction()
	txn.TransactionalID, txn.ProducerID, txn.Topics = "x", 7, []kmsg.AddPartitionsToTxnRequestTransactionTopic{{Topic: "nowhere", Partitions: []int32{0}}}
	add.Transactions = append(add.Transactions, txn)
	bob.Do("add partitions as a broker with "+phase, 4, add)
	configs, alter, incremental := kmsg.NewPtrDescribeConfigsRequest(), kmsg.NewPtrAlterConfigsRequest(), kmsg.NewPtrIncrementalAlterConfigsRequest()
	for kind, name := range map[kmsg.ConfigResourceType]string{4: "1", 16: "metrics"} {
		r := kmsg.NewDescribeConfigsRequestResource()
		r.ResourceType, r.ResourceName, r.ConfigNames = kind, name, []string{"log.retention.ms"}
		configs.Resources = append(configs.Resources, r)
	}
	sortResources(configs)
	alter.ValidateOnly, incremental.ValidateOnly = true, true
	alter.Resources = []kmsg.AlterConfigsRequestResource{{ResourceType: 4, ResourceName: "1"}, {ResourceType: 4, ResourceName: "9"}}
	incremental.Resources = []kmsg.IncrementalAlterConfigsRequestResource{{ResourceType: 16, ResourceName: "metrics"}, {ResourceType: 4, ResourceName: "1"},
		{ResourceType: 8, ResourceName: "1"}}
	bob.Do("describe configs with "+phase, 4, configs)
	bob.Do("alter configs with "+phase, 2, alter)
	bob.Do("alter configs one by one with "+phase, 1, incremental)
}

func sortResources(r *kmsg.DescribeConfigsRequest) {
	if r.Resources[0].ResourceType > r.Resources[1].ResourceType {
		r.Resources[0], r.Resources[1] = r.Resources[1], r.Resources[0]
	}
}
