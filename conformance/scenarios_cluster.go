package conformance

import "github.com/twmb/franz-go/pkg/kmsg"

func clusterScenarios() []Scenario {
	return []Scenario{
		{
			Name:  "describe-cluster",
			Claim: "DescribeCluster tells cluster id, controller and broker; operations when asked for; an endpoint type that is not a broker's is refused.",
			Run:   runDescribeCluster,
		},
		{
			Name:  "describe-topic-partitions",
			Claim: "DescribeTopicPartitions answers in name order, each topic once, and says what an unknown or bad name is.",
			Run:   runDescribeTopicPartitions,
		},
		{
			Name:  "describe-topic-partitions-pages",
			Claim: "A page ends after the partitions that the request or the broker allows; the cursor names the first partition that is left and continues there.",
			Fresh: true,
			Run:   runDescribeTopicPartitionsPages,
		},
		{
			Name:  "describe-topic-partitions-limit",
			Claim: "max.request.partition.size.limit bounds a page whatever the request asks for.",
			Set:   map[string]string{"max.request.partition.size.limit": "2"},
			Fresh: true,
			Run:   runDescribeTopicPartitionsLimit,
		},
		{
			Name:  "describe-log-dirs",
			Claim: "DescribeLogDirs lists one directory with the partitions asked for that are there; unknown ones are left out; version 4 adds the sizes of the volume.",
			Run:   runDescribeLogDirs,
		},
		{
			Name:  "describe-log-dirs-all",
			Claim: "A null list means all partitions, an empty one none.",
			Fresh: true,
			Run:   runDescribeLogDirsAll,
		},
	}
}

func runDescribeCluster(c *C) {
	a := c.Conn("a")
	for v := int16(0); v <= 2; v++ {
		req := kmsg.NewPtrDescribeClusterRequest()
		a.Do("plain", v, req)
		req.IncludeClusterAuthorizedOperations = true
		a.Do("with operations", v, req)
		a.Do("with operations again", v, req)
		if v == 0 {
			continue
		}
		for _, endpoint := range []int8{0, 2, 3, -1} {
			req := kmsg.NewPtrDescribeClusterRequest()
			req.EndpointType = endpoint
			a.Do("endpoint type", v, req)
		}
	}
	req := kmsg.NewPtrDescribeClusterRequest()
	req.IncludeFencedBrokers = true
	a.Do("fenced brokers too", 2, req)
}

func describePartitions(limit int32, names ...string) *kmsg.DescribeTopicPartitionsRequest {
	req := kmsg.NewPtrDescribeTopicPartitionsRequest()
	req.ResponsePartitionLimit = limit
	for _, name := range names {
		req.Topics = append(req.Topics, kmsg.DescribeTopicPartitionsRequestTopic{Topic: name})
	}
	return req
}

func from(req *kmsg.DescribeTopicPartitionsRequest, topic string, partition int32) *kmsg.DescribeTopicPartitionsRequest {
	req.Cursor = &kmsg.DescribeTopicPartitionsRequestCursor{Topic: topic, Partition: partition}
	return req
}

func runDescribeTopicPartitions(c *C) {
	a := c.Conn("a")
	const name = "describe-topic-partitions"
	a.MakeTopic(name+"-b", 2)
	a.MakeTopic(name+"-a", 1)
	a.Do("two", 0, describePartitions(2000, name+"-b", name+"-a"))
	a.Do("one twice", 0, describePartitions(2000, name+"-b", name+"-a", name+"-b"))
	a.Do("unknown", 0, describePartitions(2000, name+"-none", name+"-a"))
	a.Do("a bad name", 0, describePartitions(2000, "bad name", name+"-a"))
	a.Do("an empty name", 0, describePartitions(2000, name+"-a", "", "bad name"))
	a.Do("unknown at the end of a page", 0, describePartitions(1, name+"-a", name+"-none"))
	a.Do("unknown before a page's end", 0, describePartitions(1, name+"-b", name+"-aa"))
	a.Do("from a cursor", 0, from(describePartitions(2000, name+"-b", name+"-a"), name+"-b", 1))
	a.Do("from a cursor that is not in the list", 0, from(describePartitions(2000, name+"-b", name+"-a"), name+"-c", 0))
	a.Do("from a cursor between", 0, from(describePartitions(2000, name+"-b"), name+"-a", 0))
	a.Do("from a negative partition", 0, from(describePartitions(2000, name+"-b"), name+"-b", -1))
	a.Do("from a partition that is not there", 0, from(describePartitions(2000, name+"-b"), name+"-b", 2))
	a.Do("from an unknown topic", 0, from(describePartitions(2000, name+"-none"), name+"-none", 0))
}

func runDescribeTopicPartitionsPages(c *C) {
	a := c.Conn("a")
	a.Do("no topics", 0, describePartitions(10))
	a.MakeTopic("c", 1)
	a.MakeTopic("b", 3)
	a.MakeTopic("a", 2)
	for _, limit := range []int32{0, -1, 1, 2, 3, 5, 6, 2000} {
		a.Do("first page", 0, describePartitions(limit))
	}
	for _, at := range []kmsg.DescribeTopicPartitionsRequestCursor{
		{Topic: "a", Partition: 1}, {Topic: "a", Partition: 2}, {Topic: "aa"}, {Topic: "aa", Partition: 2}, {Topic: "b"}, {Topic: "b", Partition: 2},
		{Topic: "b", Partition: 7}, {Topic: "c", Partition: 1}, {Topic: "d"}, {Topic: ""}, {Topic: "b", Partition: -1},
	} {
		a.Do("from a cursor", 0, from(describePartitions(2), at.Topic, at.Partition))
	}
	a.Do("first page again", 0, describePartitions(2))
}

func runDescribeTopicPartitionsLimit(c *C) {
	a := c.Conn("a")
	a.MakeTopic("a", 5)
	a.Do("first page", 0, describePartitions(2000))
	a.Do("second page", 0, from(describePartitions(2000), "a", 2))
	a.Do("last page", 0, from(describePartitions(2000), "a", 4))
	a.Do("a page of one", 0, describePartitions(1))
}

func logDirsOf(topic string, partitions ...int32) *kmsg.DescribeLogDirsRequest {
	req := kmsg.NewPtrDescribeLogDirsRequest()
	t := kmsg.NewDescribeLogDirsRequestTopic()
	t.Topic, t.Partitions = topic, partitions
	req.Topics = append(req.Topics, t)
	return req
}

func runDescribeLogDirs(c *C) {
	a := c.Conn("a")
	const name = "describe-log-dirs"
	a.MakeTopic(name, 2)
	produce := kmsg.NewPtrProduceRequest()
	produce.Acks, produce.TimeoutMillis = -1, 10_000
	t := kmsg.NewProduceRequestTopic()
	t.Topic = name
	p := kmsg.NewProduceRequestTopicPartition()
	p.Records = Values("a", "b").Bytes()
	t.Partitions = append(t.Partitions, p)
	produce.Topics = append(produce.Topics, t)
	a.Do("produce", 9, produce)
	for v := int16(1); v <= 5; v++ {
		a.Do("both partitions", v, logDirsOf(name, 0, 1))
		a.Do("both partitions again", v, logDirsOf(name, 0, 1))
		a.Do("one that is not there", v, logDirsOf(name, 0, 2, -1))
		a.Do("unknown topic", v, logDirsOf(name+"-none", 0))
		a.Do("no partitions", v, logDirsOf(name))
		a.Do("a partition twice", v, logDirsOf(name, 1, 1))
		a.Do("a bad name", v, logDirsOf("bad name", 0))
	}
}

func runDescribeLogDirsAll(c *C) {
	a := c.Conn("a")
	none := kmsg.NewPtrDescribeLogDirsRequest()
	none.Topics = []kmsg.DescribeLogDirsRequestTopic{}
	all := kmsg.NewPtrDescribeLogDirsRequest()
	a.Do("all of nothing", 4, all)
	a.MakeTopic("b", 1)
	a.MakeTopic("a", 2)
	for v := int16(1); v <= 5; v++ {
		a.Do("all", v, all)
		a.Do("none", v, none)
	}
}
