package conformance

import (
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func metadataScenarios() []Scenario {
	autoCreateOff := map[string]string{"auto.create.topics.enable": "false"}
	return []Scenario{
		{
			Name:  "metadata-versions",
			Claim: "Metadata describes a topic and one that is not there at every version.",
			Set:   autoCreateOff,
			Run:   runMetadataVersions,
		},
		{
			Name:  "metadata-all-or-none",
			Claim: "A null list of topics means all, an empty one none, but at version 0 all; asking for all creates nothing.",
			Fresh: true,
			Run:   runMetadataAllOrNone,
		},
		{
			Name:  "metadata-ids",
			Claim: "From version 12 on a topic is asked for by id; names are not looked at as soon as one entry has an id; an unknown id is UNKNOWN_TOPIC_ID.",
			Run:   runMetadataIDs,
		},
		{
			Name:  "metadata-ids-too-early",
			Claim: "Versions 10 and 11 have ids in the request and refuse them, and refuse null names, for all topics of the request.",
			Run:   runMetadataIDsTooEarly,
		},
		{
			Name:  "metadata-names",
			Claim: "A name that no topic can have is INVALID_TOPIC_EXCEPTION, whether topics are created on demand or not.",
			Run:   runMetadataNames,
		},
		{
			Name:  "metadata-names-no-auto-create",
			Claim: "Without creation on demand a bad name is INVALID_TOPIC_EXCEPTION and a good one UNKNOWN_TOPIC_OR_PARTITION.",
			Set:   autoCreateOff,
			Run:   runMetadataNames,
		},
		{
			Name:  "metadata-auto-create",
			Claim: "Metadata creates topics on demand when broker and request allow it, with the broker's partition count; the first answer says UNKNOWN_TOPIC_OR_PARTITION.",
			Set:   map[string]string{"num.partitions": "2"},
			Run:   runMetadataAutoCreate,
		},
		{
			Name:  "metadata-auto-create-off",
			Claim: "With auto.create.topics.enable=false no request creates a topic on demand.",
			Set:   autoCreateOff,
			Run:   runMetadataAutoCreateOff,
		},
		{
			Name:  "metadata-auto-create-collision",
			Claim: "A topic whose name collides with another one is not created on demand.",
			Run:   runMetadataAutoCreateCollision,
		},
		{
			Name:  "metadata-authorized-operations",
			Claim: "The operations that a client may do are told for topics from version 8, for the cluster at versions 8 to 10, and only when asked for.",
			Run:   runMetadataAuthorizedOperations,
		},
		{
			Name:  "metadata-leader-epochs",
			Claim: "A partition's leader epoch begins at 0 and is two higher after each restart, clean or not.",
			Fresh: true,
			Run:   runMetadataLeaderEpochs,
		},
		{
			Name:  "metadata-internal-topic",
			Claim: "Looking for a group's coordinator makes the topic __consumer_offsets, which is marked as internal.",
			Fresh: true,
			Run:   runMetadataInternalTopic,
		},
		{
			Name:  "produce-internal-topic",
			Claim: "Produce to an internal topic is INVALID_TOPIC_EXCEPTION, whoever asks for it by name.",
			Set:   groupSet,
			Fresh: true,
			Run:   runProduceInternalTopic,
		},
	}
}

func runMetadataVersions(c *C) {
	a := c.Conn("a")
	a.MakeTopic("metadata-versions", 2)
	for v := int16(0); v <= 13; v++ {
		req := metadataFor("metadata-versions", "metadata-versions-none", "metadata-versions")
		a.Do("one that is there and one that is not", v, req)
		req.AllowAutoTopicCreation = true
		a.Do("again, creation allowed", v, req)
	}
}

func runMetadataAllOrNone(c *C) {
	a := c.Conn("a")
	a.MakeTopic("b", 1)
	a.MakeTopic("a", 2)
	null := kmsg.NewPtrMetadataRequest()
	null.AllowAutoTopicCreation = true
	for _, v := range []int16{0, 1, 4, 8, 9, 10, 12, 13} {
		a.Do("null", v, null)
		a.Do("empty", v, metadataFor())
	}
	a.Do("null again", 12, null)
	a.Do("delete a", 6, deleteEither("a"))
	AskUntil(a, "null after deletion", 12, null, func(r *kmsg.MetadataResponse) bool { return len(r.Topics) == 1 })
	a.Do("null once more", 12, null)
}

// metadataEntry is one topic of a request: a name, an id or both.
func metadataEntry(by any) kmsg.MetadataRequestTopic {
	t := kmsg.NewMetadataRequestTopic()
	switch by := by.(type) {
	case string:
		t.Topic = &by
	case [16]byte:
		t.TopicID = by
	}
	return t
}

func metadataOf(topics ...kmsg.MetadataRequestTopic) *kmsg.MetadataRequest {
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = topics
	return req
}

func runMetadataIDs(c *C) {
	a := c.Conn("a")
	id := a.MakeTopic("metadata-ids", 1)
	b := a.MakeTopic("metadata-ids-b", 1)
	both := metadataEntry("metadata-ids-none")
	both.TopicID = id
	own := metadataEntry("metadata-ids")
	own.TopicID = id
	for _, v := range []int16{12, 13} {
		a.Do("by id", v, metadataOf(metadataEntry(id)))
		a.Do("by id again", v, metadataOf(metadataEntry(id)))
		a.Do("two ids", v, metadataOf(metadataEntry(id), metadataEntry(b)))
		a.Do("an id twice", v, metadataOf(metadataEntry(id), metadataEntry(id)))
		a.Do("an unknown id", v, metadataOf(metadataEntry([16]byte{1})))
		a.Do("a known and an unknown id", v, metadataOf(metadataEntry(id), metadataEntry([16]byte{1})))
		a.Do("its name and id", v, metadataOf(own))
		a.Do("another name and its id", v, metadataOf(both))
		a.Do("an id and a name", v, metadataOf(metadataEntry(id), metadataEntry("metadata-ids-b")))
		a.Do("an unknown id and a name", v, metadataOf(metadataEntry([16]byte{1}), metadataEntry("metadata-ids")))
		a.Do("neither name nor id", v, metadataOf(metadataEntry(nil)))
		a.Do("neither, and a name", v, metadataOf(metadataEntry(nil), metadataEntry("metadata-ids")))
		a.Do("neither, and an id", v, metadataOf(metadataEntry(nil), metadataEntry(id)))
	}
	a.Do("delete", 6, deleteEither(id))
	AskUntil(a, "by id after deletion", 12, metadataOf(metadataEntry(id)), func(r *kmsg.MetadataResponse) bool { return r.Topics[0].ErrorCode != 0 })
}

func runMetadataIDsTooEarly(c *C) {
	a := c.Conn("a")
	id := a.MakeTopic("metadata-ids-too-early", 1)
	named := metadataEntry("metadata-ids-too-early")
	named.TopicID = id
	for _, v := range []int16{10, 11} {
		a.Do("a null name", v, metadataOf(metadataEntry(nil)))
		a.Do("an id", v, metadataOf(metadataEntry(id)))
		a.Do("a name and an id", v, metadataOf(named))
		a.Do("a good name and a null name", v, metadataOf(metadataEntry("metadata-ids-too-early"), metadataEntry(nil)))
		a.Do("a good name", v, metadataOf(metadataEntry("metadata-ids-too-early")))
	}
}

func runMetadataNames(c *C) {
	a := c.Conn("a")
	for _, name := range []string{"", ".", "..", "metadata names", "metadata/names", strings.Repeat("n", 250), "__cluster_metadata"} {
		req := metadataFor(name)
		a.Do("not allowed to create", 12, req)
		req.AllowAutoTopicCreation = true
		a.Do("allowed to create", 12, req)
		a.Do("allowed to create, again", 1, req)
	}
	a.Do("a good name", 12, metadataFor("metadata-names-none"))
}

func runMetadataAutoCreate(c *C) {
	a := c.Conn("a")
	there := func(r *kmsg.MetadataResponse) bool {
		return r.Topics[0].ErrorCode == 0 && len(r.Topics[0].Partitions) == 2 && r.Topics[0].Partitions[1].ErrorCode == 0
	}
	a.Do("not allowed by the request", 4, metadataFor("metadata-auto-create"))
	a.Do("still not there", 12, metadataFor("metadata-auto-create"))
	for _, v := range []int16{0, 3, 4, 12} {
		name := "metadata-auto-create-v" + string(rune('0'+v/10)) + string(rune('0'+v%10))
		req := metadataFor(name)
		req.AllowAutoTopicCreation = true
		first := a.Send("create "+name, v, req)
		first.Await()
		AskUntil(a, "it is there", 12, metadataFor(name), there)
		a.Do("ask again, creation allowed", v, req)
	}
	configs := describeConfigs(kmsg.ConfigResourceTypeTopic, "metadata-auto-create-v12", "retention.bytes")
	a.Do("it has no configs of its own", 4, configs)
}

func runMetadataAutoCreateOff(c *C) {
	a := c.Conn("a")
	req := metadataFor("metadata-auto-create-off")
	req.AllowAutoTopicCreation = true
	for _, v := range []int16{0, 3, 4, 12} {
		a.Do("ask", v, req)
		a.Do("ask again", v, req)
	}
}

func runMetadataAutoCreateCollision(c *C) {
	a := c.Conn("a")
	a.MakeTopic("metadata.auto.create.collision", 1)
	req := metadataFor("metadata_auto_create_collision")
	req.AllowAutoTopicCreation = true
	a.Do("ask", 12, req)
	a.Do("ask again", 12, req)
}

func runMetadataAuthorizedOperations(c *C) {
	a := c.Conn("a")
	a.MakeTopic("metadata-authorized-operations", 1)
	for v := int16(8); v <= 13; v++ {
		req := metadataFor("metadata-authorized-operations", "metadata-authorized-operations-none")
		a.Do("not asked for", v, req)
		req.IncludeTopicAuthorizedOperations = true
		a.Do("of topics", v, req)
		req.IncludeClusterAuthorizedOperations = v <= 10
		a.Do("of topics and cluster", v, req)
	}
}

func runMetadataLeaderEpochs(c *C) {
	a := c.Conn("a")
	a.MakeTopic("metadata-leader-epochs", 1)
	a.Do("new", 12, metadataFor("metadata-leader-epochs"))
	more := func(step string) {
		a := c.Conn("a")
		a.AwaitTopic("metadata-leader-epochs", 1)
		a.Do(step, 12, metadataFor("metadata-leader-epochs"))
		a.Do(step+", again", 7, metadataFor("metadata-leader-epochs"))
	}
	c.Restart()
	more("after a restart")
	c.Conn("a").MakeTopic("metadata-leader-epochs-b", 1)
	c.Conn("a").Do("a topic made after a restart", 12, metadataFor("metadata-leader-epochs-b"))
	c.Conn("a").Do("more partitions", 3, morePartitions("metadata-leader-epochs", 2))
	c.Conn("a").AwaitTopic("metadata-leader-epochs", 2)
	c.Conn("a").Do("a partition made after a restart", 12, metadataFor("metadata-leader-epochs"))
	c.Restart()
	more("after another restart")
	c.Conn("a").AwaitTopic("metadata-leader-epochs-b", 1)
	c.Conn("a").Do("the other topic", 12, metadataFor("metadata-leader-epochs-b"))
	c.Kill()
	more("after a kill")
}

func runMetadataInternalTopic(c *C) {
	a := c.Conn("a")
	null := kmsg.NewPtrMetadataRequest()
	a.Do("all topics", 12, null)
	a.Do("asked for by name", 12, metadataFor("__consumer_offsets", "__transaction_state"))
	a.AwaitGroupCoordinator("metadata-internal-topic")
	a.Send("all topics of a broker with groups", 12, null).Only("Topics.Topic", "Topics.IsInternal", "Topics.ErrorCode").Await()
}

func runProduceInternalTopic(c *C) {
	const group = "produce-internal-topic"
	a := c.Conn("a")
	a.AwaitGroupCoordinator(group)
	create := metadataFor("__consumer_offsets")
	create.AllowAutoTopicCreation = true
	a.Send("metadata of a producer", 12, create).Only("Topics.Topic", "Topics.IsInternal", "Topics.ErrorCode").Await()
	for _, v := range []int16{3, 9, 12} {
		for range 2 {
			a.Do("produce, "+vn(v), v, produceOne("__consumer_offsets", 0, -1, Values("a").Bytes()))
		}
	}
	a.Do("produce without an answer", 9, produceOne("__consumer_offsets", 0, 0, Values("a").Bytes()))
}
