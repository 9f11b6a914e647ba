package conformance

import "github.com/twmb/franz-go/pkg/kmsg"

// raftVoterScenarios show what there is of a quorum in a cluster of one node, and how it may change.
func raftVoterScenarios() []Scenario {
	return []Scenario{
		{
			Name:  "describe-quorum",
			Claim: "DescribeQuorum tells of the one partition of the cluster's metadata: its node leads, is the one voter, has no observers; any other list of topics and partitions is UNKNOWN_TOPIC_OR_PARTITION.",
			Run:   runDescribeQuorum,
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
	}
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
