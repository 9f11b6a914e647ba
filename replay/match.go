package replay

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/journal"
	"doze/projections"
)

// Match is one condition on an event: KEY=VALUE.
type Match struct {
	Key   string
	Value string
}

// ParseMatch reads KEY=VALUE. Keys are seq, kind, api, client, principal, conn, request, timer, and the fields of events
// at any depth; "topic" also finds events that name the topic by its id, or that alter its configs.
//
//fuzz:parser class=config FuzzParseMatch
func ParseMatch(s string) (Match, error) {
	key, value, ok := strings.Cut(s, "=")
	if !ok || key == "" {
		return Match{}, fmt.Errorf("%q is not KEY=VALUE; write kind=TopicCreated, group=g1 or topic=orders", s)
	}
	return Match{Key: key, Value: value}, nil
}

// topicNames gives the names of topics by id, of deleted ones too.
type topicNames map[[16]byte]string

// maxTopicNames bounds what a hostile journal can make it hold.
const maxTopicNames = 1 << 18

func (t topicNames) learn(entry *journal.Entry) {
	for _, event := range entry.Events {
		if e, ok := event.(*journal.TopicCreated); ok && len(t) < maxTopicNames {
			t[e.ID] = e.Name
		}
	}
}

func (t topicNames) ofState(s *projections.State) {
	s.Topics.Each("", func(topic *projections.Topic) bool {
		t[topic.ID] = topic.Name
		return len(t) < maxTopicNames
	})
}

func matchesAll(matches []Match, entry *journal.Entry, event int, topics topicNames) bool {
	for _, m := range matches {
		if !m.ofCause(entry, event) && !m.ofFields(journal.Fields(entry.Events[event]), topics) {
			return false
		}
	}
	return true
}

func (m Match) ofCause(entry *journal.Entry, event int) bool {
	c := &entry.Cause
	switch m.Key {
	case "seq":
		return m.Value == strconv.FormatUint(entry.Seq, 10)
	case "kind":
		kind := entry.Events[event].Kind()
		return strings.EqualFold(m.Value, kind.Name()) || m.Value == strconv.Itoa(int(kind))
	case "api":
		return c.API >= 0 && (strings.EqualFold(m.Value, kmsg.NameForKey(c.API)) || m.Value == strconv.Itoa(int(c.API)))
	case "client":
		return c.API >= 0 && m.Value == c.ClientID
	case "principal":
		return m.Value == c.Principal
	case "conn":
		return c.API >= 0 && m.Value == strconv.FormatUint(c.Conn, 10)
	case "request":
		return c.API >= 0 && m.Value == strconv.Itoa(int(c.Correlation))
	case "timer":
		return c.API < 0 && m.Value == c.Timer
	}
	return false
}

func (m Match) ofFields(fields []journal.Field, topics topicNames) bool {
	for _, f := range fields {
		if m.ofValue(f.Name, f.Value, topics) {
			return true
		}
	}
	return m.Key == "topic" && m.ofResource(fields)
}

func (m Match) ofValue(name string, value any, topics topicNames) bool {
	switch v := value.(type) {
	case []journal.Field:
		return m.ofFields(v, topics)
	case []any:
		for _, item := range v {
			if m.ofValue(name, item, topics) {
				return true
			}
		}
		return false
	case [16]byte:
		if topic, known := topics[v]; m.Key == "topic" && known && topic == m.Value {
			return true
		}
	}
	return strings.EqualFold(name, m.Key) && journal.ValueText(value) == m.Value
}

// ofResource says whether the fields name a topic as a resource of configs.
func (m Match) ofResource(fields []journal.Field) bool {
	isTopic, named := false, false
	for _, f := range fields {
		isTopic = isTopic || f.Name == "resourceType" && f.Value == int64(projections.TopicResource)
		named = named || f.Name == "resource" && f.Value == m.Value
	}
	return isTopic && named
}
