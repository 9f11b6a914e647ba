package conformance

import "github.com/twmb/franz-go/pkg/kmsg"

func createPartitionsScenarios() []Scenario {
	return []Scenario{
		{
			Name:  "create-partitions-versions",
			Claim: "CreatePartitions raises a topic's partition count at every version; the same count again is refused.",
			Run:   runCreatePartitionsVersions,
		},
		{
			Name:  "create-partitions-refusals",
			Claim: "CreatePartitions refuses unknown topics, counts that are not above the present one, and a topic that stands twice.",
			Run:   runCreatePartitionsRefusals,
		},
		{
			Name:  "create-partitions-assignments",
			Claim: "An assignment of new partitions has one entry for each, on brokers that exist, as many as the topic's replicas.",
			Run:   runCreatePartitionsAssignments,
		},
		{
			Name:  "create-partitions-timeout",
			Claim: "A timeout of 0 or less is REQUEST_TIMED_OUT for every topic of CreatePartitions and changes none, unless every topic stands twice.",
			Run:   runCreatePartitionsTimeout,
		},
	}
}

func morePartitions(name string, count int32, brokers ...[]int32) *kmsg.CreatePartitionsRequest {
	req := kmsg.NewPtrCreatePartitionsRequest()
	req.TimeoutMillis = 10_000
	t := kmsg.NewCreatePartitionsRequestTopic()
	t.Topic, t.Count = name, count
	for _, replicas := range brokers {
		t.Assignment = append(t.Assignment, kmsg.CreatePartitionsRequestTopicAssignment{Replicas: replicas})
	}
	req.Topics = append(req.Topics, t)
	return req
}

func runCreatePartitionsVersions(c *C) {
	a := c.Conn("a")
	const name = "create-partitions-versions"
	a.MakeTopic(name, 1)
	for v := int16(0); v <= 3; v++ {
		count := int32(v) + 2
		only := morePartitions(name, count)
		only.ValidateOnly = true
		a.Do("validate", v, only)
		a.Do("raise", v, morePartitions(name, count))
		a.Do("raise again", v, morePartitions(name, count))
		a.AwaitTopic(name, count)
	}
	a.Do("describe", 12, metadataFor(name))
}

func runCreatePartitionsRefusals(c *C) {
	a := c.Conn("a")
	const name = "create-partitions-refusals"
	a.MakeTopic(name, 2)
	for _, count := range []int32{2, 1, 0, -1, -2147483648} {
		a.Do("count", 3, morePartitions(name, count))
	}
	a.Do("unknown topic", 3, morePartitions("create-partitions-none", 2))
	a.Do("bad name", 3, morePartitions("bad name", 2))
	a.Do("empty name", 3, morePartitions("", 2))
	twice := morePartitions(name, 3)
	twice.Topics = append(twice.Topics, morePartitions("create-partitions-none", 3).Topics[0], morePartitions(name, 4).Topics[0])
	a.Do("a topic twice", 3, twice)
	a.Do("a topic twice, again", 3, twice)
	a.Do("nothing", 3, kmsg.NewPtrCreatePartitionsRequest())
	only := morePartitions(name, 1)
	only.ValidateOnly = true
	a.Do("validate a bad count", 3, only)
	for _, more := range []int32{10_000, 10_001} {
		large := morePartitions(name, 2+more)
		large.ValidateOnly = true
		a.Do("many more", 3, large)
	}
	a.Do("describe", 12, metadataFor(name))
}

func runCreatePartitionsAssignments(c *C) {
	a := c.Conn("a")
	const name = "create-partitions-assignments"
	a.MakeTopic(name, 1)
	empty := morePartitions(name, 2)
	empty.Topics[0].Assignment = []kmsg.CreatePartitionsRequestTopicAssignment{}
	a.Do("an empty assignment", 3, empty)
	a.Do("too few", 3, morePartitions(name, 3, []int32{1}))
	a.Do("too many", 3, morePartitions(name, 2, []int32{1}, []int32{1}))
	a.Do("no broker", 3, morePartitions(name, 2, []int32{}))
	a.Do("an unknown broker", 3, morePartitions(name, 2, []int32{7}))
	a.Do("a broker twice", 3, morePartitions(name, 2, []int32{1, 1}))
	a.Do("a known and an unknown broker", 3, morePartitions(name, 2, []int32{1, 2}))
	a.Do("one good, one bad", 3, morePartitions(name, 3, []int32{1}, []int32{7}))
	a.Do("good", 3, morePartitions(name, 3, []int32{1}, []int32{1}))
	a.Do("good again", 3, morePartitions(name, 3, []int32{1}, []int32{1}))
	a.AwaitTopic(name, 3)
	a.Do("describe", 12, metadataFor(name))
}

func runCreatePartitionsTimeout(c *C) {
	a := c.Conn("a")
	const name = "create-partitions-timeout"
	a.MakeTopic(name, 2)
	for v := int16(0); v <= 3; v++ {
		for _, timeout := range []int32{0, -1} {
			req := morePartitions(name, 3)
			req.Topics = append(req.Topics, morePartitions("create-partitions-none", 1).Topics[0])
			req.TimeoutMillis = timeout
			a.Do(vn(v)+" timeout "+number(int64(timeout)), v, req)
		}
	}
	count := morePartitions(name, 1)
	count.TimeoutMillis = 0
	a.Do("a bad count", 3, count)
	twice := morePartitions(name, 3)
	twice.TimeoutMillis = 0
	twice.Topics = append(twice.Topics, twice.Topics[0])
	a.Do("only a topic twice", 3, twice)
	a.Do("describe", 12, metadataFor(name))
	a.Do("with time", 3, morePartitions(name, 3))
}
