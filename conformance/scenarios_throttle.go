package conformance

import (
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// throttleScenarios show what quotas do. The first value that a client is measured by gives an exact throttle time: its
// windows begin with it. Later ones depend on how much time has passed, and are held to bounds.
func throttleScenarios() []Scenario {
	list := []Scenario{
		{
			Name:  "quota-produce",
			Claim: "producer_byte_rate counts each Produce, header and body; one above it is carried out, answered at once with throttle_time_ms, and what follows on the connection waits so long; other connections do not; acks=0 waits too; a refused Produce counts.",
			Run:   runQuotaProduce,
		},
		{
			Name:  "quota-windows",
			Claim: "quota.window.num and quota.window.size.seconds are what the rate is measured over.",
			Set:   map[string]string{"quota.window.num": "3", "quota.window.size.seconds": "2"},
			Run:   runQuotaWindows,
		},
		{
			Name:  "quota-fetch",
			Claim: "consumer_byte_rate counts the answer of a Fetch; one above it is empty, with throttle_time_ms, and is not counted; a session stays as it was; a full fetch gets no session.",
			Run:   runQuotaFetch,
		},
		{
			Name:  "quota-fetch-bytes",
			Claim: "A Fetch gets no more bytes than the quota lets pass in all its windows.",
			Run:   runQuotaFetchBytes,
		},
		{
			Name:  "quota-precedence",
			Claim: "Of the quotas that fit a client the most special counts: user and client id, user and default client, user, default user and client id, both defaults, default user, client id, default client.",
			Run:   runQuotaPrecedence,
		},
		{
			Name:  "quota-removed",
			Claim: "Without its quota a client is not throttled any more.",
			Run:   runQuotaRemoved,
		},
		{
			Name:  "quota-requests",
			Claim: "request_percentage throttles every API, by a window at most, ApiVersions too, and a Fetch is empty; WriteTxnMarkers and acks=0 are not throttled.",
			Run:   runQuotaRequests,
		},
		{
			Name:  "quota-mutations",
			Claim: "controller_mutation_rate is a bucket of tokens, one for each partition that is created or deleted: CreateTopics since v6, CreatePartitions since v3 and DeleteTopics since v5 are THROTTLING_QUOTA_EXCEEDED once it is overdrawn, older versions are carried out and throttled; one that is only validated counts.",
			Run:   runQuotaMutations,
		},
		{
			Name:  "quota-mutations-auto",
			Claim: "A topic that Metadata would create is not created while the bucket is overdrawn; the answer says nothing of it.",
			Run:   runQuotaMutationsAuto,
		},
		{
			Name:  "quota-connections",
			Claim: "Of an address that makes more connections than connection_creation_rate a connection is taken, not answered, and closed within a second.",
			Run:   runQuotaConnections,
		},
	}
	for i := range list {
		list[i].Fresh, list[i].Part = true, 3
	}
	return list
}

// limit sets one quota and waits until it is described, entities being how many there are then.
func (n *Conn) limit(entities int, key string, value float64, entity ...string) {
	n.Do(fmt.Sprintf("%s of %s: %v", key, strings.Join(entity, " "), value), 1, alterQuotas(quotaEntry(quotaEntity(entity...), setQuota(key, value))))
	n.awaitQuotas("it is set", entities)
}

// sized is a batch with one value of about that size.
func sized(n int) []byte { return Values(strings.Repeat("x", n)).Bytes() }

func apiVersions() *kmsg.ApiVersionsRequest {
	req := kmsg.NewPtrApiVersionsRequest()
	req.ClientSoftwareName, req.ClientSoftwareVersion = "conformance", "1"
	return req
}

// waits asks for versions and notes whether the connection was muted.
func (n *Conn) waits(step string, least time.Duration) {
	p := n.Send(step, 3, apiVersions()).Only("ErrorCode", "ThrottleMillis")
	p.Await()
	p.TookAtLeast(least)
}

func runQuotaProduce(c *C) {
	admin := c.Conn("admin").As("admin")
	t := admin.NewTopic("quota-produce", 1)
	for i, id := range []string{"p3", "p9", "p13", "p0", "pr", "pe"} {
		admin.limit(i+1, "producer_byte_rate", 1000, "client-id", id)
	}
	c.Conn("a").As("p3").Do("below the quota", 3, produceTo(t, 1, sized(2000)))
	c.Conn("a").waits("nothing waits", time.Second)

	c.Conn("b").As("p9").Do("above the quota", 9, produceTo(t, -1, sized(13000)))
	c.Conn("b2").As("p9").waits("another connection does not wait", 2*time.Second)
	c.Conn("b").waits("the next request waits", 2*time.Second)
	p := c.Conn("b").Send("a little more", 9, produceTo(t, 1, sized(10)))
	p.Await()
	p.ThrottledWithin(2000, 3300)

	c.Conn("c").As("p13").Do("above the quota, v13", 13, produceTo(t, 1, sized(12000)))
	q := c.Conn("c2").Send("again at once, v13", 13, produceTo(t, 1, sized(12000)))
	q.Await()
	q.ThrottledWithin(0, 0)
	r := c.Conn("c3").As("p13").Send("again by the same client", 13, produceTo(t, 1, sized(12000)))
	r.Await()
	r.ThrottledWithin(8000, 15000)

	c.Conn("d").As("p0").Send("acks=0 above the quota", 9, produceTo(t, 0, sized(13000))).Unanswered()
	c.Conn("d").waits("after acks=0 the next request waits", 2*time.Second)

	c.Conn("e").As("pr").Do("refused, above the quota", 9, produceTo(topicRef{name: "quota-produce-none"}, 1, sized(13000)))
	c.Conn("f").As("pe").Do("nothing to produce", 9, kmsg.NewPtrProduceRequest())
}

func runQuotaWindows(c *C) {
	admin := c.Conn("admin").As("admin")
	t := admin.NewTopic("quota-windows", 1)
	admin.limit(1, "producer_byte_rate", 1000, "client-id", defaultName)
	c.Conn("a").As("a").Do("at the edge", 9, produceTo(t, 1, sized(3800)))
	c.Conn("b").As("b").Do("above", 9, produceTo(t, 1, sized(6000)))
	c.Conn("c").As("c").Do("far above", 9, produceTo(t, 1, sized(100_000)))
}

func runQuotaFetch(c *C) {
	admin := c.Conn("admin").As("admin")
	t := admin.NewTopic("quota-fetch", 1)
	admin.Do("fill", 9, produceTo(t, 1, sized(12000)))
	admin.limit(1, "consumer_byte_rate", 1000, "client-id", defaultName)
	for _, v := range []int16{4, 7, 11, 12, 13, 18} {
		name := "reader-" + vn(v)
		c.Conn(name).As(name).Do("above the quota, "+vn(v), v, fetchFrom(t, 0))
		c.Conn(name+"s").As(name+"s").Do("it would like a session, "+vn(v), v, inSession(fetchFrom(t, 0), 0, 0))
	}
	c.Conn("w").As("w").Do("above the quota", 12, fetchFrom(t, 0))
	c.Conn("w").waits("the next request waits", time.Second)
	c.Conn("x").As("x").Do("below the quota", 12, fetchFrom(t, 1))
	c.Conn("x").waits("nothing waits", time.Second)

	s := Ask[*kmsg.FetchResponse](c.Conn("y").As("y"), "a session at the end", 12, inSession(fetchFrom(t, 1), 0, 0))
	admin.Do("one more", 9, produceTo(t, 1, sized(12000)))
	p := c.Conn("y").Send("the session is throttled", 12, inSession(fetchFrom(topicRef{}), s.SessionID, 1))
	p.Await()
	p.ThrottledWithin(1000, 2500)
	q := c.Conn("y2").As("unlimited").Send("another client id goes on with it", 12, inSession(fetchFrom(topicRef{}), s.SessionID, 2))
	q.Await()
	q.ThrottledWithin(1000, 2500)
}

func runQuotaFetchBytes(c *C) {
	admin := c.Conn("admin").As("admin")
	t := admin.NewTopic("quota-fetch-bytes", 1)
	for i := range 8 {
		admin.Do(fmt.Sprint("fill ", i), 9, produceTo(t, 1, sized(800)))
	}
	admin.limit(1, "consumer_byte_rate", 300, "client-id", "slow")
	admin.limit(2, "consumer_byte_rate", 350, "client-id", "slow-too")
	c.Conn("a").As("slow").Do("three of eight", 12, fetchFrom(t, 0))
	c.Conn("b").As("slow-too").Do("four of eight", 12, fetchFrom(t, 0))
	c.Conn("c").As("fast").Send("all", 12, fetchFrom(t, 0)).Only("ThrottleMillis", "ErrorCode").Await()
}

func runQuotaPrecedence(c *C) {
	admin := c.Conn("admin").As("admin")
	const anonymous = "ANONYMOUS"
	for i, level := range []struct {
		client string
		entity []string
	}{
		{"c8", []string{"client-id", defaultName}},
		{"c7", []string{"client-id", "c7"}},
		{"c6", []string{"user", defaultName}},
		{"c5", []string{"user", defaultName, "client-id", defaultName}},
		{"c4", []string{"user", defaultName, "client-id", "c4"}},
		{"c3", []string{"user", anonymous}},
		{"c2", []string{"user", anonymous, "client-id", defaultName}},
		{"c1", []string{"user", anonymous, "client-id", "c1"}},
	} {
		admin.limit(i+1, "producer_byte_rate", float64(10*(i+1)), level.entity...)
		p := c.Conn(level.client).As(level.client).Send("produce as "+level.client, 9, produceTo(topicRef{name: "quota-precedence-none"}, 1, sized(5000)))
		p.Await()
		if level.client == "c3" { // measured with c6, whose windows have begun
			p.ThrottledWithin(155_000, 170_000)
		}
	}
	for _, id := range []string{"c3", "c6", "c7", "c9"} {
		p := c.Conn(id+" at last").As(id).Send("with all there are, as "+id, 9, produceTo(topicRef{name: "quota-precedence-none"}, 1, sized(5000)))
		p.Await()
	}
}

func runQuotaRemoved(c *C) {
	admin := c.Conn("admin").As("admin")
	admin.limit(1, "producer_byte_rate", 100, "client-id", "a")
	gone := topicRef{name: "quota-removed-none"}
	c.Conn("a").As("a").Do("throttled", 9, produceTo(gone, 1, sized(5000)))
	admin.Do("remove", 1, alterQuotas(quotaEntry(quotaEntity("client-id", "a"), removeQuota("producer_byte_rate"))))
	admin.awaitQuotas("removed", 0)
	c.Conn("a2").As("a").Do("not throttled", 9, produceTo(gone, 1, sized(5000)))
}

func runQuotaRequests(c *C) {
	admin := c.Conn("admin").As("admin")
	t := admin.NewTopic("quota-requests", 1)
	admin.Do("fill", 9, produceTo(t, 1, sized(100)))
	admin.AwaitGroupCoordinator("quota-requests")
	admin.limit(1, "request_percentage", 1e-9, "client-id", "a")
	asks := 0
	once := func(step string, version int16, req kmsg.Request, only ...string) {
		asks++
		p := c.Conn(fmt.Sprint("a", asks)).As("a").Send(step, version, req)
		if len(only) > 0 {
			p.Only(only...)
		}
		p.Await()
	}
	once("ApiVersions", 3, apiVersions(), "ErrorCode", "ThrottleMillis")
	once("Metadata", 12, metadataFor("quota-requests"), "ThrottleMillis")
	once("Produce", 9, produceTo(t, 1, sized(10)))
	once("Fetch", 12, fetchFrom(t, 0))
	once("Fetch v18", 18, fetchFrom(t, 0))
	once("ListOffsets", 5, endOffsets("quota-requests", 1))
	find := kmsg.NewPtrFindCoordinatorRequest()
	find.CoordinatorKeys = []string{"quota-requests"}
	once("FindCoordinator", 4, find, "ThrottleMillis")
	beat := kmsg.NewPtrHeartbeatRequest()
	beat.Group, beat.MemberID = "quota-requests", "nobody"
	once("Heartbeat", 4, beat)
	once("OffsetFetch", 7, fetchRequest("quota-requests", "quota-requests", 0))
	once("CreateTopics", 7, createTopic("quota-requests", 1))
	once("DescribeClientQuotas", 1, describeQuotas(true, quotaPart("user", matchAny)))
	once("InitProducerId", 4, kmsg.NewPtrInitProducerIDRequest(), "ThrottleMillis")
	once("DescribeCluster", 0, kmsg.NewPtrDescribeClusterRequest(), "ThrottleMillis")
	once("ListGroups", 4, kmsg.NewPtrListGroupsRequest())
	once("WriteTxnMarkers", 1, kmsg.NewPtrWriteTxnMarkersRequest())
	once("ListConfigResources", 1, kmsg.NewPtrListConfigResourcesRequest(), "ThrottleMillis")
	b := c.Conn("b").As("a")
	b.Send("Metadata", 12, metadataFor("quota-requests")).Only("ThrottleMillis").Await()
	b.waits("the next request waits", 800*time.Millisecond)
	d := c.Conn("d").As("a")
	d.Send("acks=0", 9, produceTo(t, 0, sized(10))).Unanswered()
	d.waits("after acks=0 nothing waits", 800*time.Millisecond)
}

func runQuotaMutations(c *C) {
	admin := c.Conn("admin").As("admin")
	admin.NewTopic("quota-mutations", 1)
	for _, name := range []string{"delete-1", "delete-2", "delete-3"} {
		admin.NewTopic(name, 30)
	}
	admin.limit(1, "controller_mutation_rate", 1, "client-id", defaultName)
	create := func(names ...string) *kmsg.CreateTopicsRequest {
		req := kmsg.NewPtrCreateTopicsRequest()
		req.TimeoutMillis = 10_000
		for _, name := range names {
			req.Topics = append(req.Topics, topicSpec(name, 40, 1))
		}
		return req
	}
	asks := 0
	once := func(id, step string, version int16, req kmsg.Request, low, high int32, only ...string) {
		asks++
		p := c.Conn(fmt.Sprint(id, asks)).As(id).Send(step, version, req)
		if len(only) > 0 {
			p.Only(only...)
		}
		p.Await()
		p.ThrottledWithin(low, high)
	}
	told := []string{"ThrottleMillis", "Topics.Topic", "Topics.ErrorCode", "Topics.ErrorMessage"}
	once("old", "CreateTopics v5 overdraws", 5, create("old-1"), 20_000, 29_000, told...)
	once("old", "CreateTopics v5 again", 5, create("old-2"), 60_000, 69_000, told...)
	once("old", "CreateTopics v6 then", 6, create("old-3"), 60_000, 69_000, told...)
	once("new", "CreateTopics v7 overdraws", 7, create("new-1"), 0, 0, told...)
	once("new", "CreateTopics v7 again", 7, create("new-2"), 20_000, 29_000, told...)
	once("new", "what is refused anyway", 7, create("quota-mutations"), 0, 0, told...)
	once("new", "DeleteTopics v6", 6, deleteOf("delete-1"), 20_000, 29_000)
	once("new", "DeleteTopics v5", 5, deleteOf("delete-1"), 20_000, 29_000)
	once("new", "DeleteTopics v5 of none", 5, deleteOf("nonesuch"), 0, 0)
	once("two", "CreateTopics v7 of two", 7, create("two-1", "two-2"), 25_000, 29_000, told...)
	valid := create("valid-1")
	valid.ValidateOnly = true
	once("valid", "CreateTopics v7 only validated", 7, valid, 0, 0, told...)
	once("valid", "CreateTopics v7 then", 7, create("valid-2"), 20_000, 29_000, told...)
	once("more", "CreatePartitions v3 overdraws", 3, partitionsOf("quota-mutations", 41), 0, 0)
	once("more", "CreatePartitions v3 again", 3, partitionsOf("quota-mutations", 42), 20_000, 29_000)
	once("more", "CreatePartitions v2 then", 2, partitionsOf("quota-mutations", 43), 20_000, 32_000)
	once("delete", "DeleteTopics v4 overdraws", 4, deleteOf("delete-2"), 10_000, 19_000)
	once("delete", "DeleteTopics v6 then", 6, deleteOf("delete-3"), 10_000, 19_000)
	once("delete", "DeleteTopics v4 then", 4, deleteOf("delete-3"), 30_000, 49_000)
	once("other", "another client", 7, create("other-1"), 0, 0, told...)
	m := c.Conn("m").As("muted")
	m.Send("a little too much", 7, createTopic("muted-1", 13)).Only(told...).Await()
	p := m.Send("one more", 7, createTopic("muted-2", 1)).Only(told...)
	p.Await()
	p.ThrottledWithin(1000, 2000)
	m.waits("the next request waits", time.Second)
}

func deleteOf(names ...string) *kmsg.DeleteTopicsRequest {
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.TimeoutMillis = 10_000
	for _, name := range names {
		req.TopicNames = append(req.TopicNames, name)
		t := kmsg.NewDeleteTopicsRequestTopic()
		t.Topic = kmsg.StringPtr(name)
		req.Topics = append(req.Topics, t)
	}
	return req
}

func partitionsOf(topic string, count int32) *kmsg.CreatePartitionsRequest {
	req := kmsg.NewPtrCreatePartitionsRequest()
	req.TimeoutMillis = 10_000
	t := kmsg.NewCreatePartitionsRequestTopic()
	t.Topic, t.Count = topic, count
	req.Topics = append(req.Topics, t)
	return req
}

func runQuotaMutationsAuto(c *C) {
	admin := c.Conn("admin").As("admin")
	admin.limit(1, "controller_mutation_rate", 1, "client-id", "a")
	a := c.Conn("a").As("a")
	p := a.Send("overdraw", 5, createTopic("auto-0", 30)).Only("ThrottleMillis")
	p.Await()
	p.ThrottledWithin(10_000, 19_000)
	auto := metadataFor("auto-1")
	auto.AllowAutoTopicCreation = true
	c.Conn("a2").As("a").Send("Metadata", 12, auto).Only("ThrottleMillis", "Topics.Topic", "Topics.ErrorCode").Await()
	time.Sleep(time.Second)
	c.Conn("admin").Send("it is not there", 12, metadataFor("auto-1")).Only("Topics.Topic", "Topics.ErrorCode").Await()
}

func runQuotaConnections(c *C) {
	admin := c.Conn("admin")
	admin.limit(1, "connection_creation_rate", 1, "ip", "127.0.0.1")
	for i := range 1000 {
		before := len(c.steps)
		p := c.Conn(fmt.Sprint("c", i)).Send("a connection too many", 3, apiVersions()).Only("ErrorCode")
		if p.Await() == nil {
			p.step.Conn = "c"
			p.TookAtLeast(1500 * time.Millisecond)
			return
		}
		c.steps = c.steps[:before]
	}
	c.Fatalf("1000 connections were taken")
}
