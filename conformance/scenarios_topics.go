package conformance

import "github.com/twmb/franz-go/pkg/kmsg"

func topicScenarios() []Scenario {
	return []Scenario{
		{
			Name:  "create-topics-versions",
			Claim: "CreateTopics creates a topic at every version, and says TOPIC_ALREADY_EXISTS the second time.",
			Run:   runCreateTopicsVersions,
		},
	}
}

func runCreateTopicsVersions(c *C) {
	a := c.Conn("a")
	for v := int16(2); v <= 7; v++ {
		name := "create-topics-v" + string(rune('0'+v))
		req := createTopic(name, 2, "retention.ms", "100000")
		a.Do("create "+name, v, req)
		a.Do("create "+name+" again", v, createTopic(name, 2))
		a.AwaitTopic(name, 2)
		a.Do("describe "+name, 12, metadataFor(name))
	}
	del := kmsg.NewPtrDeleteTopicsRequest()
	del.TopicNames = []string{"create-topics-v2"}
	a.Do("delete create-topics-v2", 3, del)
	AskUntil(a, "create create-topics-v2 again", 7, createTopic("create-topics-v2", 1), func(r *kmsg.CreateTopicsResponse) bool {
		return r.Topics[0].ErrorCode == 0
	})
}
