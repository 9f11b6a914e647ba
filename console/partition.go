package console

import "github.com/twmb/franz-go/pkg/kgo"

// NamedOrKeyed sends a record to the partition that it names, and one that names none (-1) where Kafka's own clients send its key,
// or those without a key in turn.
func NamedOrKeyed() kgo.Partitioner { return namedOrKeyed{kgo.StickyKeyPartitioner(nil)} }

type namedOrKeyed struct{ keyed kgo.Partitioner }

// ForTopic is the partitioner of one topic.
func (p namedOrKeyed) ForTopic(topic string) kgo.TopicPartitioner {
	return namedOrKeyedTopic{p.keyed.ForTopic(topic)}
}

type namedOrKeyedTopic struct{ keyed kgo.TopicPartitioner }

// RequiresConsistency says that the record goes to one partition and no other.
func (p namedOrKeyedTopic) RequiresConsistency(r *kgo.Record) bool {
	return r.Partition >= 0 || p.keyed.RequiresConsistency(r)
}

// Partition is where a record goes; one that the topic does not have fails.
func (p namedOrKeyedTopic) Partition(r *kgo.Record, n int) int {
	if r.Partition >= 0 {
		return int(r.Partition)
	}
	return p.keyed.Partition(r, n)
}

// OnNewBatch lets records without a key go on to the next partition.
func (p namedOrKeyedTopic) OnNewBatch() {
	if on, ok := p.keyed.(kgo.TopicPartitionerOnNewBatch); ok {
		on.OnNewBatch()
	}
}
