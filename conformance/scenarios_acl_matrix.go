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
