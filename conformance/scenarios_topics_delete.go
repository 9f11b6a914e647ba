package conformance

import "github.com/twmb/franz-go/pkg/kmsg"

func deleteTopicScenarios() []Scenario {
	return []Scenario{
		{
			Name:  "delete-topics-names",
			Claim: "DeleteTopics by name deletes at every version, and says UNKNOWN_TOPIC_OR_PARTITION the second time.",
			Run:   runDeleteTopicsNames,
		},
		{
			Name:  "delete-topics-ids",
			Claim: "DeleteTopics by id deletes and answers the name; an id that is gone is UNKNOWN_TOPIC_ID; an entry names its topic by name or by id, not both and not neither.",
			Run:   runDeleteTopicsIDs,
		},
		{
			Name:  "delete-topics-duplicates",
			Claim: "A name or an id that stands twice is refused once, and so is a name whose id stands there too; the topic stays.",
			Run:   runDeleteTopicsDuplicates,
		},
		{
			Name:  "delete-topics-disabled",
			Claim: "With delete.topic.enable=false every topic is refused: INVALID_REQUEST before version 3, then TOPIC_DELETION_DISABLED.",
			Set:   map[string]string{"delete.topic.enable": "false"},
			Run:   runDeleteTopicsDisabled,
		},
		{
			Name:  "delete-topics-recreate",
			Claim: "A topic that is made again has another id, is empty and has none of the configs it had.",
			Run:   runDeleteTopicsRecreate,
		},
		{
			Name:  "delete-topics-timeout",
			Claim: "A timeout of 0 or less is REQUEST_TIMED_OUT for every topic of DeleteTopics and deletes none, unless no name and no id is left to look for.",
			Run:   runDeleteTopicsTimeout,
		},
	}
}

func deleteTopics(names ...string) *kmsg.DeleteTopicsRequest {
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.TimeoutMillis = 10_000
	req.TopicNames = names
	return req
}

// deleteEither names topics for version 6 and later: by name, or by id.
func deleteEither(topics ...any) *kmsg.DeleteTopicsRequest {
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.TimeoutMillis = 10_000
	for _, by := range topics {
		t := kmsg.NewDeleteTopicsRequestTopic()
		switch by := by.(type) {
		case string:
			t.Topic = &by
		case [16]byte:
			t.TopicID = by
		case kmsg.DeleteTopicsRequestTopic:
			t = by
		}
		req.Topics = append(req.Topics, t)
	}
	return req
}

func runDeleteTopicsNames(c *C) {
	a := c.Conn("a")
	for v := int16(1); v <= 5; v++ {
		name := "delete-topics-names-v" + string(rune('0'+v))
		a.MakeTopic(name, 1)
		a.Do("delete", v, deleteTopics(name))
		a.Do("delete again", v, deleteTopics(name))
		a.Do("unknown and bad names", v, deleteTopics(name, "bad name", ""))
		a.Do("nothing", v, deleteTopics())
	}
	a.MakeTopic("delete-topics-names-v6", 1)
	a.Do("delete", 6, deleteEither("delete-topics-names-v6", "delete-topics-names-none"))
	a.Do("delete again", 6, deleteEither("delete-topics-names-v6"))
	AskUntil(a, "it is gone", 12, metadataFor("delete-topics-names-v6"), func(r *kmsg.MetadataResponse) bool { return r.Topics[0].ErrorCode != 0 })
}

func runDeleteTopicsIDs(c *C) {
	a := c.Conn("a")
	id := a.MakeTopic("delete-topics-ids", 1)
	both := kmsg.NewDeleteTopicsRequestTopic()
	both.Topic, both.TopicID = kmsg.StringPtr("delete-topics-ids"), id
	a.Do("both", 6, deleteEither(both))
	a.Do("neither", 6, deleteEither([16]byte{}))
	a.Do("neither, twice", 6, deleteEither([16]byte{}, [16]byte{}))
	a.Do("unknown ids", 6, deleteEither([16]byte{1}, [16]byte{2}))
	a.Do("delete", 6, deleteEither(id, [16]byte{1}))
	a.Do("delete again", 6, deleteEither(id))
	a.Do("delete by name after that", 6, deleteEither("delete-topics-ids"))
}

func runDeleteTopicsDuplicates(c *C) {
	a := c.Conn("a")
	id := a.MakeTopic("delete-topics-duplicates", 1)
	other := a.MakeTopic("delete-topics-duplicates-2", 1)
	a.Do("a name twice", 5, deleteTopics("delete-topics-duplicates", "delete-topics-duplicates"))
	a.Do("a name three times", 6, deleteEither("delete-topics-duplicates", "delete-topics-duplicates", "delete-topics-duplicates"))
	a.Do("an id twice", 6, deleteEither(id, id))
	a.Do("a name and its id", 6, deleteEither("delete-topics-duplicates", id))
	a.Do("an id, its name, the id", 6, deleteEither(id, "delete-topics-duplicates", id))
	a.Do("an unknown id twice", 6, deleteEither([16]byte{3}, [16]byte{3}))
	a.Do("both are still there", 12, metadataFor("delete-topics-duplicates", "delete-topics-duplicates-2"))
	a.Do("one twice, the other once", 6, deleteEither(id, id, other))
	a.Do("the same again", 6, deleteEither(id, id, other))
}

func runDeleteTopicsDisabled(c *C) {
	a := c.Conn("a")
	a.MakeTopic("delete-topics-disabled", 1)
	for v := int16(1); v <= 5; v++ {
		a.Do("delete", v, deleteTopics("delete-topics-disabled", "delete-topics-disabled-none"))
	}
	id := [16]byte{1}
	a.Do("delete", 6, deleteEither("delete-topics-disabled", id, "delete-topics-disabled"))
	a.Do("nothing", 6, deleteEither())
	a.Do("it is still there", 12, metadataFor("delete-topics-disabled"))
}

func runDeleteTopicsRecreate(c *C) {
	a := c.Conn("a")
	const name = "delete-topics-recreate"
	a.MakeTopic(name, 2, "retention.ms", "1234567")
	a.Do("delete", 6, deleteEither(name))
	AskUntil(a, "create again", 7, createTopic(name, 1), func(r *kmsg.CreateTopicsResponse) bool { return r.Topics[0].ErrorCode == 0 })
	AskUntil(a, "describe", 12, metadataFor(name), func(r *kmsg.MetadataResponse) bool {
		return r.Topics[0].ErrorCode == 0 && len(r.Topics[0].Partitions) == 1
	})
	a.Do("configs", 4, describeConfigs(kmsg.ConfigResourceTypeTopic, name, "retention.ms", "segment.ms"))
}

func runDeleteTopicsTimeout(c *C) {
	a := c.Conn("a")
	const name = "delete-topics-timeout"
	id := a.MakeTopic(name, 1)
	for v := int16(1); v <= 5; v++ {
		for _, timeout := range []int32{0, -1} {
			req := deleteTopics(name, "delete-topics-none")
			req.TimeoutMillis = timeout
			a.Do(vn(v)+" timeout "+number(int64(timeout)), v, req)
		}
	}
	either := func(step string, topics ...any) {
		req := deleteEither(topics...)
		req.TimeoutMillis = 0
		a.Do(step, 6, req)
	}
	either("by name", name)
	either("by id", id)
	either("by an unknown id", [16]byte{15: 1})
	either("by the zero id", [16]byte{})
	either("only a name twice", name, name)
	a.Do("describe", 12, metadataFor(name))
	a.Do("with time", 5, deleteTopics(name))
}
