package projections

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"strings"
	"sync"

	"doze/journal"
)

// ID is a topic id (KIP-516). Its text form is Kafka's: URL-safe base64 without padding.
type ID [16]byte

func (id ID) String() string { return base64.RawURLEncoding.EncodeToString(id[:]) }

// Topic is one topic. Topics are immutable: a change stores another value.
type Topic struct {
	ID         ID
	Name       string
	Partitions int32
	CreatedAt  int64 // ms
	// Ranges says at which start of the broker each partition appeared; the first range begins at partition 0.
	Ranges []PartitionRange
}

// PartitionRange says that partitions from First on (up to the next range) were created when the broker had started Starts times.
type PartitionRange struct {
	First  int32
	Starts int32
}

// epochsPerStart is by how much a restart of Kafka's only broker raises the leader epoch of its partitions: once as it goes
// and once as it comes back, after a kill too.
const epochsPerStart = 2

// LeaderEpoch is the partition's leader epoch when the broker has started starts times: 0 until the first restart after
// its creation, two more with each.
func (t *Topic) LeaderEpoch(partition, starts int32) int32 {
	since := t.Ranges[0].Starts
	for _, r := range t.Ranges {
		if r.First > partition {
			break
		}
		since = r.Starts
	}
	return epochsPerStart * (starts - since)
}

// Topics holds the topics by name, by id, and by the two foldings of names that must not meet.
type Topics struct {
	byName tree[*Topic]
	byID   tree[*Topic]
	// byFold orders by lower-case name: names that differ only in case are refused.
	byFold tree[*Topic]
	// byMetric orders by the name with '.' read as '_', then by name: Kafka refuses a name whose metric name is taken.
	byMetric tree[*Topic]
	// partitions is the sum over all topics.
	partitions int64
	// changed is another one after each change, created after each creation: for those who keep something that they have
	// worked out from the topics. They are no part of what the journal says.
	changed, created *Revision
}

func newTopics() Topics {
	return Topics{
		byName:   newTree(func(a, b *Topic) bool { return a.Name < b.Name }),
		byID:     newTree(func(a, b *Topic) bool { return bytes.Compare(a.ID[:], b.ID[:]) < 0 }),
		byFold:   newTree(func(a, b *Topic) bool { return strings.ToLower(a.Name) < strings.ToLower(b.Name) }),
		byMetric: newTree(lessMetric),
		changed:  new(Revision), created: new(Revision),
	}
}

func lessMetric(a, b *Topic) bool {
	return cmp.Or(strings.Compare(metricName(a.Name), metricName(b.Name)), strings.Compare(a.Name, b.Name)) < 0
}

func metricName(topic string) string { return strings.ReplaceAll(topic, ".", "_") }

func (t *Topics) clone() Topics {
	c := *t
	c.byName, c.byID, c.byFold, c.byMetric = t.byName.clone(), t.byID.clone(), t.byFold.clone(), t.byMetric.clone()
	return c
}

// topicKeys lends what a tree is asked with: every request asks.
var topicKeys = sync.Pool{New: func() any { return new(Topic) }}

// Named finds a topic by its name; nil when there is none.
func (t Topics) Named(name string) *Topic {
	key := topicKeys.Get().(*Topic)
	defer topicKeys.Put(key)
	key.Name = name
	found, _ := t.byName.Get(key)
	key.Name = ""
	return found
}

// WithID finds a topic by its id; nil when there is none.
func (t Topics) WithID(id ID) *Topic {
	found, _ := t.byID.Get(&Topic{ID: id})
	return found
}

// FoldsTo finds the topic whose name differs from name at most in case; nil when there is none.
func (t Topics) FoldsTo(name string) *Topic {
	found, _ := t.byFold.Get(&Topic{Name: name})
	return found
}

// Colliding lists, in name order, the topics whose metric name (with '.' read as '_') is that of name.
func (t Topics) Colliding(name string) []*Topic {
	metric := metricName(name)
	// No name sorts below the empty one, and every metric name is a name: start at the lowest possible key of this metric.
	var found []*Topic
	t.byMetric.AscendGreaterOrEqual(&Topic{Name: lowestWithMetric(metric)}, func(topic *Topic) bool {
		if metricName(topic.Name) != metric {
			return false
		}
		found = append(found, topic)
		return true
	})
	return found
}

// lowestWithMetric is the smallest name that has the metric name: '.' sorts before '_'.
func lowestWithMetric(metric string) string { return strings.ReplaceAll(metric, "_", ".") }

// Changed differs between two states of one process whose topics differ; Created when one was created between them.
func (t Topics) Changed() *Revision { return t.changed }
func (t Topics) Created() *Revision { return t.created }

// Len counts topics; Partitions counts partitions of all topics.
func (t Topics) Len() int          { return t.byName.Len() }
func (t Topics) Partitions() int64 { return t.partitions }

// Each yields topics in name order, from the first whose name is at least from.
func (t Topics) Each(from string, yield func(*Topic) bool) {
	t.byName.AscendGreaterOrEqual(&Topic{Name: from}, yield)
}

func (t *Topics) put(topic *Topic) {
	t.changed = new(Revision)
	if old, had := t.byName.ReplaceOrInsert(topic); had {
		t.partitions -= int64(old.Partitions)
	} else {
		t.created = t.changed
	}
	t.byID.ReplaceOrInsert(topic)
	t.byFold.ReplaceOrInsert(topic)
	t.byMetric.ReplaceOrInsert(topic)
	t.partitions += int64(topic.Partitions)
}

func (t *Topics) drop(topic *Topic) {
	t.changed = new(Revision)
	t.byName.Delete(topic)
	t.byID.Delete(topic)
	t.byFold.Delete(topic)
	t.byMetric.Delete(topic)
	t.partitions -= int64(topic.Partitions)
}

func (s *State) applyTopicCreated(at int64, e *journal.TopicCreated) error {
	switch {
	case e.Name == "" || e.Partitions <= 0:
		return fmt.Errorf("topic %q with %d partitions cannot be", e.Name, e.Partitions)
	case s.Topics.FoldsTo(e.Name) != nil:
		return fmt.Errorf("topic %q is there as %q", e.Name, s.Topics.FoldsTo(e.Name).Name)
	case s.Topics.WithID(e.ID) != nil:
		return fmt.Errorf("topic id %s is there", ID(e.ID))
	}
	s.Topics.put(&Topic{
		ID: e.ID, Name: e.Name, Partitions: e.Partitions, CreatedAt: at,
		Ranges: []PartitionRange{{Starts: s.Starts}},
	})
	for _, pair := range e.Configs {
		s.Configs.put(Config{Type: TopicResource, Resource: e.Name, Name: pair.Name, Value: pair.Value})
	}
	return nil
}

func (s *State) applyTopicDeleted(e *journal.TopicDeleted) error {
	topic := s.Topics.WithID(e.ID)
	if topic == nil {
		return fmt.Errorf("topic id %s is not there", ID(e.ID))
	}
	s.Topics.drop(topic)
	s.Configs.dropResource(TopicResource, topic.Name)
	s.LogStarts.dropTopic(topic.ID)
	s.Offsets.dropTopic(topic.ID)
	s.Staged.dropTopic(topic.ID)
	s.Transactions.topicGone(topic)
	s.Markers.dropTopic(topic.ID)
	return nil
}

func (s *State) applyPartitionsAdded(e *journal.PartitionsAdded) error {
	topic := s.Topics.WithID(e.ID)
	if topic == nil {
		return fmt.Errorf("topic id %s is not there", ID(e.ID))
	}
	if e.Total <= topic.Partitions {
		return fmt.Errorf("topic %q has %d partitions, cannot grow to %d", topic.Name, topic.Partitions, e.Total)
	}
	grown := *topic
	grown.Partitions = e.Total
	grown.Ranges = append(topic.Ranges[:len(topic.Ranges):len(topic.Ranges)], PartitionRange{First: topic.Partitions, Starts: s.Starts})
	s.Topics.put(&grown)
	return nil
}
