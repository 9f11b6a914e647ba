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

func runUnregisterUnknown(c *C) {
	a := c.Conn("a")
	for _, id := range []int32{2, 0, -1, 1 << 30} {
		req := kmsg.NewPtrUnregisterBrokerRequest()
		req.BrokerID = id
		a.Do(fmt.Sprint("broker ", id), 0, req)
		a.Do(fmt.Sprint("broker ", id, " again"), 0, req)
	}
}

const kraftFeature = "kraft.version"

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
