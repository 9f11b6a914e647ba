package conformance

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// adminScenarios are about the cluster of one node: its leaders, replicas, directories and voters.
func adminScenarios() []Scenario {
	return []Scenario{
		{
			Name:  "elect-leaders",
			Claim: "ElectLeaders finds no election needed where a partition has its one leader; unknown topics and partitions are told; asked for all, it names each topic without partitions; an unknown type of election is INVALID_REQUEST for all.",
			Run:   runElectLeaders,
		},
		{
			Name:  "elect-leaders-all",
			Claim: "ElectLeaders of all partitions answers every topic with no partitions, and again.",
			Fresh: true,
			Run:   runElectLeadersAll,
		},
		{
			Name:  "alter-reassignments",
			Claim: "AlterPartitionReassignments takes the one broker as the replicas and changes nothing; other lists of replicas, cancellations, unknown topics and partitions are refused one by one.",
			Run:   runAlterReassignments,
		},
		{
			Name:  "list-reassignments",
			Claim: "ListPartitionReassignments answers that there are none, whatever is asked for.",
			Run:   runListReassignments,
		},
		{
			Name:  "alter-replica-log-dirs",
			Claim: "AlterReplicaLogDirs takes the directory that a partition is in; another is LOG_DIR_NOT_FOUND, an unknown partition REPLICA_NOT_AVAILABLE or UNKNOWN_TOPIC_OR_PARTITION.",
			Run:   runAlterReplicaLogDirs,
		},
		{
			Name:  "describe-quorum",
			Claim: "DescribeQuorum tells of the one partition of the cluster's metadata: its node leads, is the one voter, has no observers; any other list of topics and partitions is UNKNOWN_TOPIC_OR_PARTITION.",
			Run:   runDescribeQuorum,
		},
		{
			Name:  "unregister-broker-unknown",
			Claim: "UnregisterBroker of a broker that is not registered is BROKER_ID_NOT_REGISTERED.",
			Run:   runUnregisterUnknown,
		},
		{
			Name:  "unregister-broker",
			Claim: "UnregisterBroker of the one broker.",
			Fresh: true,
			Run:   runUnregisterSelf,
		},
		{
			Name:  "raft-voters",
			Claim: "AddRaftVoter and RemoveRaftVoter look at the cluster's id, then at the voter and its listeners, then refuse since kraft.version is 0.",
			Run:   runRaftVoters,
		},
		{
			Name:  "raft-voters-v1",
			Claim: "At kraft.version 1 a voter that is there cannot be added, one that is not there cannot be removed, and one that cannot be reached is not added.",
			Fresh: true,
			Run:   runRaftVotersV1,
		},
		{
			Name:  "update-features-kraft",
			Claim: "kraft.version goes up to 1, where the voter's directory is told, and never down; a restart keeps it.",
			Fresh: true,
			Run:   runUpdateKraft,
		},
		{
			Name:  "update-features-elr",
			Claim: "At eligible.leader.replicas.version 0 min.insync.replicas is a config like others; going up sets it for all brokers and takes it from each.",
			Fresh: true,
			Run:   runUpdateELR,
		},
		{
			Name:  "update-features-each",
			Claim: "Each feature goes down and up again by itself; what it is at is told by ApiVersions, at 0 not at all, and survives a restart.",
			Fresh: true,
			Run:   runUpdateEach,
		},
		{
			Name:  "update-features-levels",
			Claim: "Every level of every feature that is or is not supported, with each type of update, is taken or refused with a text.",
			Run:   runUpdateLevels,
		},
	}
}

func electLeaders(kind int8, topic string, partitions ...int32) *kmsg.ElectLeadersRequest {
	req := kmsg.NewPtrElectLeadersRequest()
	req.ElectionType, req.TimeoutMillis = kind, 10_000
	req.Topics = append(req.Topics, kmsg.ElectLeadersRequestTopic{Topic: topic, Partitions: partitions})
	return req
}

func runElectLeaders(c *C) {
	a := c.Conn("a")
	const name = "elect-leaders"
	a.MakeTopic(name, 2)
	for v := int16(0); v <= 2; v++ {
		for kind := int8(-1); kind <= 2; kind++ {
			if v == 0 && kind != 0 {
				continue
			}
			step := fmt.Sprintf("type %d: ", kind)
			a.Do(step+"both partitions", v, electLeaders(kind, name, 1, 0))
			a.Do(step+"both again", v, electLeaders(kind, name, 1, 0))
			a.Do(step+"a partition twice", v, electLeaders(kind, name, 1, 1))
			a.Do(step+"partitions that are not there", v, electLeaders(kind, name, 2, -1))
			a.Do(step+"no partitions", v, electLeaders(kind, name))
			a.Do(step+"an unknown topic", v, electLeaders(kind, name+"-none", 0))
			a.Do(step+"a bad name", v, electLeaders(kind, "bad name", 0))
			a.Do(step+"an empty name", v, electLeaders(kind, "", 0))
			two := electLeaders(kind, name, 0)
			two.Topics = append(two.Topics, electLeaders(kind, name, 1).Topics...)
			a.Do(step+"a topic twice", v, two)
			none := electLeaders(kind, name)
			none.Topics = []kmsg.ElectLeadersRequestTopic{}
			a.Do(step+"no topics", v, none)
		}
	}
	short := electLeaders(0, name, 0)
	short.TimeoutMillis = -1
	a.Do("a timeout below 0", 2, short)
}

func runElectLeadersAll(c *C) {
	a := c.Conn("a")
	ask := func(step string) {
		for v := int16(0); v <= 2; v++ {
			req := kmsg.NewPtrElectLeadersRequest()
			req.TimeoutMillis = 10_000
			a.Do(step, v, req)
			req.ElectionType = 1
			a.Do(step+", unclean", v, req)
			req.ElectionType = 7
			if v > 0 {
				a.Do(step+", type 7", v, req)
			}
		}
	}
	ask("without topics")
	a.MakeTopic("b", 1)
	a.MakeTopic("a", 3)
	ask("all")
	ask("all again")
}

func reassign(topic string, partition int32, replicas ...int32) *kmsg.AlterPartitionAssignmentsRequest {
	req := kmsg.NewPtrAlterPartitionAssignmentsRequest()
	req.TimeoutMillis, req.AllowReplicationFactorChange = 10_000, true
	p := kmsg.AlterPartitionAssignmentsRequestTopicPartition{Partition: partition, Replicas: replicas}
	req.Topics = append(req.Topics, kmsg.AlterPartitionAssignmentsRequestTopic{
		Topic: topic, Partitions: []kmsg.AlterPartitionAssignmentsRequestTopicPartition{p},
	})
	return req
}

// reassignBatch is of one good and one bad partition of a topic, and of a topic that is not there.
func reassignBatch(topic string) *kmsg.AlterPartitionAssignmentsRequest {
	req := reassign(topic, 0, 1)
	req.Topics[0].Partitions = append(req.Topics[0].Partitions, reassign(topic, 1, 2).Topics[0].Partitions...)
	req.Topics[0].Partitions = append(req.Topics[0].Partitions, reassign(topic, 0).Topics[0].Partitions...)
	req.Topics = append(req.Topics, reassign(topic+"-none", 0, 1).Topics...)
	req.Topics = append(req.Topics, reassign(topic, 1, 1).Topics...)
	return req
}

func runAlterReassignments(c *C) {
	a := c.Conn("a")
	const name = "alter-reassignments"
	a.MakeTopic(name, 2)
	for v := int16(0); v <= 1; v++ {
		for _, change := range []bool{true, false} {
			ask := func(step string, req *kmsg.AlterPartitionAssignmentsRequest) {
				req.AllowReplicationFactorChange = change
				a.Do(step, v, req)
			}
			ask("to the broker", reassign(name, 0, 1))
			ask("to the broker again", reassign(name, 0, 1))
			ask("to another broker", reassign(name, 0, 2))
			ask("to two brokers", reassign(name, 0, 1, 2))
			ask("to a broker twice", reassign(name, 0, 1, 1))
			ask("to broker -1", reassign(name, 0, -1))
			empty := reassign(name, 0)
			empty.Topics[0].Partitions[0].Replicas = []int32{}
			ask("to no broker", empty)
			ask("cancel", reassign(name, 0))
			ask("cancel again", reassign(name, 0))
			ask("a partition that is not there", reassign(name, 2, 1))
			ask("partition -1", reassign(name, -1, 1))
			ask("cancel of a partition that is not there", reassign(name, 2))
			ask("an unknown topic", reassign(name+"-none", 0, 1))
			ask("a bad name", reassign("bad name", 0, 1))
			ask("an empty name", reassign("", 0, 1))
			ask("several", reassignBatch(name))
			none := reassign(name, 0)
			none.Topics[0].Partitions = nil
			ask("a topic without partitions", none)
			none.Topics = []kmsg.AlterPartitionAssignmentsRequestTopic{}
			ask("no topics", none)
		}
	}
	for v := int16(0); v <= 1; v++ {
		for _, req := range []*kmsg.AlterPartitionAssignmentsRequest{reassign(name, 0, 1), reassignBatch(name)} {
			req.TimeoutMillis, req.AllowReplicationFactorChange = -1, false
			a.Do("a timeout below 0", v, req)
		}
	}
	a.Do("as before", 9, metadataFor(name))
}

func runListReassignments(c *C) {
	a := c.Conn("a")
	const name = "list-reassignments"
	a.MakeTopic(name, 2)
	of := func(topic string, partitions ...int32) *kmsg.ListPartitionReassignmentsRequest {
		req := kmsg.NewPtrListPartitionReassignmentsRequest()
		req.TimeoutMillis = 10_000
		req.Topics = append(req.Topics, kmsg.ListPartitionReassignmentsRequestTopic{Topic: topic, Partitions: partitions})
		return req
	}
	a.Do("one", 0, of(name, 0, 1))
	a.Do("one again", 0, of(name, 0, 1))
	a.Do("partitions that are not there", 0, of(name, 2, -1))
	a.Do("no partitions", 0, of(name))
	a.Do("an unknown topic", 0, of(name+"-none", 0))
	a.Do("a bad name", 0, of("bad name", 0))
	all := kmsg.NewPtrListPartitionReassignmentsRequest()
	a.Do("all", 0, all)
	all.Topics = []kmsg.ListPartitionReassignmentsRequestTopic{}
	a.Do("none", 0, all)
	all.Topics, all.TimeoutMillis = nil, -1
	a.Do("a timeout below 0", 0, all)
}

// moveTo is a request that puts partitions into a directory.
func moveTo(dir, topic string, partitions ...int32) *kmsg.AlterReplicaLogDirsRequest {
	req := kmsg.NewPtrAlterReplicaLogDirsRequest()
	req.Dirs = append(req.Dirs, kmsg.AlterReplicaLogDirsRequestDir{
		Dir:    dir,
		Topics: []kmsg.AlterReplicaLogDirsRequestDirTopic{{Topic: topic, Partitions: partitions}},
	})
	return req
}

func runAlterReplicaLogDirs(c *C) {
	a := c.Conn("a")
	const name = "alter-replica-log-dirs"
	a.MakeTopic(name, 2)
	dir := Ask[*kmsg.DescribeLogDirsResponse](a, "describe", 4, logDirsOf(name, 0)).Dirs[0].Dir
	for v := int16(1); v <= 2; v++ {
		a.Do("where it is", v, moveTo(dir, name, 0, 1))
		a.Do("where it is again", v, moveTo(dir, name, 0, 1))
		a.Do("a partition twice", v, moveTo(dir, name, 1, 1))
		a.Do("to another directory", v, moveTo("/no/such/directory", name, 0))
		a.Do("to a relative directory", v, moveTo("data", name, 0))
		a.Do("to the same directory with a slash", v, moveTo(dir+"/", name, 0))
		a.Do("to an empty name", v, moveTo("", name, 0))
		a.Do("a partition that is not there", v, moveTo(dir, name, 2, 0))
		a.Do("partition -1", v, moveTo(dir, name, -1))
		a.Do("an unknown topic", v, moveTo(dir, name+"-none", 0))
		a.Do("a bad name", v, moveTo(dir, "bad name", 0))
		a.Do("an unknown topic to another directory", v, moveTo("/no/such/directory", name+"-none", 0))
		a.Do("no partitions", v, moveTo(dir, name))
		two := moveTo(dir, name, 0)
		two.Dirs = append(two.Dirs, moveTo("/no/such/directory", name, 0, 1).Dirs...)
		a.Do("to two directories", v, two)
		two.Dirs[0], two.Dirs[1] = two.Dirs[1], two.Dirs[0]
		a.Do("to two directories, the right one last", v, two)
		a.Do("no directories", v, kmsg.NewPtrAlterReplicaLogDirsRequest())
	}
	a.Do("as before", 4, logDirsOf(name, 0, 1))
}

func quorumOf(topic string, partitions ...int32) *kmsg.DescribeQuorumRequest {
	req := kmsg.NewPtrDescribeQuorumRequest()
	t := kmsg.DescribeQuorumRequestTopic{Topic: topic}
	for _, p := range partitions {
		t.Partitions = append(t.Partitions, kmsg.DescribeQuorumRequestTopicPartition{Partition: p})
	}
	req.Topics = append(req.Topics, t)
	return req
}

func runDescribeQuorum(c *C) {
	a := c.Conn("a")
	const metadata = "__cluster_metadata"
	a.MakeTopic("describe-quorum", 1)
	for v := int16(0); v <= 2; v++ {
		for _, step := range []string{"the quorum", "the quorum again"} {
			// Offsets and epochs are those of the quorum's own log.
			a.Send(step, v, quorumOf(metadata, 0)).Only("ErrorCode", "ErrorMessage", "Topics.Topic",
				"Topics.Partitions.Partition", "Topics.Partitions.ErrorCode", "Topics.Partitions.ErrorMessage", "Topics.Partitions.LeaderID",
				"Topics.Partitions.CurrentVoters.ReplicaID", "Topics.Partitions.CurrentVoters.ReplicaDirectoryID",
				"Topics.Partitions.CurrentVoters.LastFetchTimestamp", "Topics.Partitions.CurrentVoters.LastCaughtUpTimestamp",
				"Topics.Partitions.Observers", "Nodes.NodeID", "Nodes.Listeners.Name").Await()
		}
		a.Do("partition 1", v, quorumOf(metadata, 1))
		a.Do("two partitions", v, quorumOf(metadata, 0, 1))
		a.Do("the partition twice", v, quorumOf(metadata, 0, 0))
		a.Do("no partitions", v, quorumOf(metadata))
		a.Do("another topic", v, quorumOf("describe-quorum", 0))
		a.Do("an unknown topic", v, quorumOf("describe-quorum-none", 0, 3))
		two := quorumOf(metadata, 0)
		two.Topics = append(two.Topics, quorumOf("describe-quorum", 0).Topics...)
		a.Do("two topics", v, two)
	}
}

func runUnregisterUnknown(c *C) {
	a := c.Conn("a")
	for _, id := range []int32{2, 0, -1, 1 << 30} {
		req := kmsg.NewPtrUnregisterBrokerRequest()
		req.BrokerID = id
		a.Do(fmt.Sprint("broker ", id), 0, req)
		a.Do(fmt.Sprint("broker ", id, " again"), 0, req)
	}
}

// voter is a request to add node 2 with a directory and listeners NAME=HOST.
func voter(clusterID *string, id int32, dir byte, listeners ...string) *kmsg.AddRaftVoterRequest {
	req := kmsg.NewPtrAddRaftVoterRequest()
	req.ClusterID, req.VoterID, req.TimeoutMillis = clusterID, id, 1000
	req.VoterDirectoryID[15] = dir
	for _, name := range listeners {
		l := kmsg.NewAddRaftVoterRequestListener()
		l.Name, l.Host, l.Port = name, "localhost", 1
		req.Listeners = append(req.Listeners, l)
	}
	return req
}

func removal(clusterID *string, id int32, dir byte) *kmsg.RemoveRaftVoterRequest {
	req := kmsg.NewPtrRemoveRaftVoterRequest()
	req.ClusterID, req.VoterID = clusterID, id
	req.VoterDirectoryID[15] = dir
	return req
}

func runRaftVoters(c *C) {
	a := c.Conn("a")
	own := Ask[*kmsg.DescribeClusterResponse](a, "describe", 0, kmsg.NewPtrDescribeClusterRequest()).ClusterID
	wrong, empty := "wrong", ""
	for _, id := range []*string{nil, &own, &wrong, &empty} {
		step := "without cluster id: "
		if id != nil {
			step = "cluster id " + *id + ": "
			if id == &own {
				step = "the cluster's id: "
			}
		}
		for v := int16(0); v <= 1; v++ {
			a.Do(step+"add node 2", v, voter(id, 2, 1, "CONTROLLER"))
			a.Do(step+"add node 2 again", v, voter(id, 2, 1, "CONTROLLER"))
			a.Do(step+"add node 1", v, voter(id, 1, 1, "CONTROLLER"))
			a.Do(step+"add node -1", v, voter(id, -1, 1, "CONTROLLER"))
			a.Do(step+"add without a directory", v, voter(id, 2, 0, "CONTROLLER"))
			a.Do(step+"add without listeners", v, voter(id, 2, 1))
			a.Do(step+"add with a listener in lower case", v, voter(id, 2, 1, "controller"))
			a.Do(step+"add with another listener", v, voter(id, 2, 1, "PLAINTEXT"))
		}
		a.Do(step+"remove node 1", 0, removal(id, 1, 1))
		a.Do(step+"remove node 2", 0, removal(id, 2, 1))
		a.Do(step+"remove node 2 again", 0, removal(id, 2, 1))
		a.Do(step+"remove node -1", 0, removal(id, -1, 1))
		a.Do(step+"remove without a directory", 0, removal(id, 1, 0))
	}
}

// quorum shows what DescribeQuorum tells of the voters, and gives the directory of the one that there is.
func (n *Conn) quorum(step string) [16]byte {
	p := n.Send(step, 2, quorumOf("__cluster_metadata", 0)).Only("ErrorCode", "Topics.Partitions.LeaderID",
		"Topics.Partitions.CurrentVoters.ReplicaID", "Topics.Partitions.CurrentVoters.ReplicaDirectoryID", "Topics.Partitions.Observers")
	return AwaitAs[*kmsg.DescribeQuorumResponse](p).Topics[0].Partitions[0].CurrentVoters[0].ReplicaDirectoryID
}

const kraftFeature = "kraft.version"

func runUpdateKraft(c *C) {
	a := c.Conn("a")
	a.awaitLevel("at first", 2)
	for v := int16(1); v <= 2; v++ {
		req := updateFeatures(featureUpdate(kraftFeature, 1, upgrade))
		req.ValidateOnly = true
		a.Do("to 1, validated", v, req)
	}
	a.quorum("the quorum at 0")
	for v := int16(0); v <= 2; v++ {
		a.Do("to 0", v, updateFeatures(featureUpdate(kraftFeature, 0, upgrade)))
		a.Do("to 1", v, updateFeatures(featureUpdate(kraftFeature, 1, upgrade)))
		a.Do("to 1 again", v, updateFeatures(featureUpdate(kraftFeature, 1, upgrade)))
		a.Do("to 0 as a downgrade", v, updateFeatures(featureUpdate(kraftFeature, 0, safeDowngrade)))
		a.Do("to 1 as a downgrade", v, updateFeatures(featureUpdate(kraftFeature, 1, unsafeDowngrade)))
		a.Do("to 2", v, updateFeatures(featureUpdate(kraftFeature, 2, upgrade)))
	}
	a.awaitFeature("it is 1", kraftFeature, 1)
	c.Restart()
	c.Conn("a").awaitFeature("after a restart", kraftFeature, 1)
	c.Conn("a").quorum("the quorum after a restart")
}

func runRaftVotersV1(c *C) {
	a := c.Conn("a")
	a.Do("kraft.version to 1", 2, updateFeatures(featureUpdate(kraftFeature, 1, upgrade)))
	a.awaitFeature("it is 1", kraftFeature, 1)
	own := a.quorum("the quorum")
	for v := int16(0); v <= 1; v++ {
		a.Do("add a node that is not there", v, voter(nil, 2+int32(v), 1, "CONTROLLER")) // again: Kafka waits before it connects anew
		a.Do("add node 1 with another directory", v, voter(nil, 1, 1, "CONTROLLER"))
		again := voter(nil, 1, 1, "CONTROLLER")
		again.VoterDirectoryID = own
		a.Do("add node 1", v, again)
		a.Do("add node -1", v, voter(nil, -1, 1, "CONTROLLER"))
		a.Do("add without a directory", v, voter(nil, 2, 0, "CONTROLLER"))
		a.Do("add with another listener", v, voter(nil, 2, 1, "PLAINTEXT"))
	}
	a.Do("remove node 2", 0, removal(nil, 2, 1))
	a.Do("remove node 2 again", 0, removal(nil, 2, 1))
	a.Do("remove node 1 with another directory", 0, removal(nil, 1, 1))
	last := removal(nil, 1, 1)
	last.VoterDirectoryID = own
	a.Do("remove the last", 0, last)
	a.Do("remove the last again", 0, last)
	a.quorum("the quorum as before")
}

// runUpdateELR shows what eligible.leader.replicas.version does to min.insync.replicas.
func runUpdateELR(c *C) {
	a := c.Conn("a")
	const feature, key = "eligible.leader.replicas.version", "min.insync.replicas"
	a.MakeTopic("t", 1)
	show := func(step, cluster, own string) {
		AskUntil(a, step+": all brokers", 4, describe(aBroker, "", key), func(r *kmsg.DescribeConfigsResponse) bool {
			set := r.Resources[0].Configs
			return len(set) == 0 && cluster == "" || len(set) == 1 && *set[0].Value == cluster
		})
		describeOnce(a, step+": the broker", describe(aBroker, "1", key), key, own)
		describeOnce(a, step+": the topic", describe(aTopic, "t", key), key, own)
	}
	alter := func(step, name string, ch change) {
		ch.key = key
		a.Do(step, 1, incremental(aBroker, name, ch))
		a.Do(step+" again", 1, incremental(aBroker, name, ch))
	}
	show("at first", "1", "1")
	alter("at 1, set for the broker", "1", change{value: "2"})
	alter("at 1, delete for the broker", "1", change{op: deleteOp})
	alter("at 1, delete for all", "", change{op: deleteOp})
	alter("at 1, set for all", "", change{value: "3"})
	show("at 1, set for all", "3", "3")
	a.Do("down", 2, updateFeatures(featureUpdate(feature, 0, safeDowngrade)))
	a.awaitFeature("at 0", feature, 0)
	show("at 0", "3", "3")
	alter("at 0, set for the broker", "1", change{value: "2"})
	show("at 0, set for the broker", "3", "2")
	alter("at 0, delete for all", "", change{op: deleteOp})
	show("at 0, deleted for all", "", "2")
	c.Restart()
	a = c.Conn("a")
	a.AwaitTopic("t", 1)
	show("after a restart", "", "2")
	a.Do("up, validated", 2, validated(updateFeatures(featureUpdate(feature, 1, upgrade))))
	show("up, validated", "", "2")
	a.Do("up", 2, updateFeatures(featureUpdate(feature, 1, upgrade)))
	a.awaitFeature("at 1 again", feature, 1)
	show("at 1 again", "1", "1")
	alter("at 1 again, set for the broker", "1", change{value: "2"})
	alter("at 1 again, delete for all", "", change{op: deleteOp})
	a.Do("up again", 2, updateFeatures(featureUpdate(feature, 1, upgrade)))
	show("up again", "1", "1")
	a.Do("down once more", 2, updateFeatures(featureUpdate(feature, 0, unsafeDowngrade)))
	a.awaitFeature("at 0 once more", feature, 0)
	show("at 0 once more", "1", "1")
	alter("at 0 once more, delete for the broker", "1", change{op: deleteOp})
	alter("at 0 once more, delete for all", "", change{op: deleteOp})
	show("at 0, none", "", "1")
}

func validated(req *kmsg.UpdateFeaturesRequest) *kmsg.UpdateFeaturesRequest {
	req.ValidateOnly = true
	return req
}

func runUnregisterSelf(c *C) {
	a := c.Conn("a")
	a.MakeTopic("t", 1)
	req := kmsg.NewPtrUnregisterBrokerRequest()
	req.BrokerID = 1
	a.Do("itself", 0, req)
	a.Do("itself again", 0, req)
	a.Do("the cluster", 2, kmsg.NewPtrDescribeClusterRequest())
	a.Do("the topic", 9, metadataFor("t"))
}

// features are all of them, with the levels that are of interest.
var features = []struct {
	name string
	low  int16
	high int16
}{
	{"eligible.leader.replicas.version", 0, 1}, {"group.version", 0, 1}, {"share.version", 0, 1}, {"streams.version", 0, 1},
	{"transaction.version", 0, 2}, {"metadata.version", 26, 30},
}

func runUpdateEach(c *C) {
	a := c.Conn("a")
	a.awaitLevel("at first", 2)
	for _, f := range features[:5] {
		for v := int16(1); v <= 2; v++ {
			a.Do(f.name+" down", v, updateFeatures(featureUpdate(f.name, 0, safeDowngrade)))
			a.Do(f.name+" down again", v, updateFeatures(featureUpdate(f.name, 0, safeDowngrade)))
			a.awaitFeature(f.name+" is down", f.name, 0)
			a.Do(f.name+" up as a downgrade", v, updateFeatures(featureUpdate(f.name, 1, safeDowngrade)))
			a.Do(f.name+" up", v, updateFeatures(featureUpdate(f.name, f.high, upgrade)))
			a.Do(f.name+" up again", v, updateFeatures(featureUpdate(f.name, f.high, upgrade)))
			a.awaitFeature(f.name+" is up", f.name, f.high)
		}
	}
	a.Do("all down", 2, updateFeatures(
		featureUpdate("group.version", 0, safeDowngrade), featureUpdate("share.version", 0, safeDowngrade),
		featureUpdate("streams.version", 0, unsafeDowngrade), featureUpdate("eligible.leader.replicas.version", 0, safeDowngrade)))
	a.awaitFeature("all are down", "eligible.leader.replicas.version", 0)
	c.Restart()
	a = c.Conn("a")
	a.awaitFeature("after a restart", "eligible.leader.replicas.version", 0)
	a.Do("configs of all brokers", 4, describe(aBroker, "", "min.insync.replicas"))
	a.Do("up", 2, updateFeatures(featureUpdate("group.version", 1, upgrade), featureUpdate("share.version", 1, upgrade),
		featureUpdate("streams.version", 1, upgrade), featureUpdate("eligible.leader.replicas.version", 1, upgrade)))
	a.awaitFeature("all are up", "eligible.leader.replicas.version", 1)
}

func runUpdateLevels(c *C) {
	a := c.Conn("a")
	a.awaitLevel("at first", 2)
	for _, f := range features {
		levels := []int16{-1, f.high + 1, 32767, -32768}
		for level := f.low; level <= f.high; level++ {
			levels = append(levels, level)
		}
		if f.low > 0 {
			levels = append(levels, 0, 1, 6, 7)
		}
		for _, level := range levels {
			for how := int8(0); how <= 4; how++ {
				for v := int16(1); v <= 2; v++ {
					req := updateFeatures(featureUpdate(f.name, level, how))
					req.ValidateOnly = true
					a.Do(fmt.Sprintf("%s to %d, type %d", f.name, level, how), v, req)
				}
			}
		}
		a.Do(f.name+" as it is, for real", 2, updateFeatures(featureUpdate(f.name, f.high, upgrade)))
		a.Do(f.name+" above, for real", 0, updateFeatures(featureUpdate(f.name, f.high+1, upgrade)))
	}
}
