package projections

import (
	"bytes"
	"cmp"
	"fmt"

	"doze/journal"
)

// LogStart is where a partition's log begins by decision of DeleteRecords. Retention may have moved it further: the
// effective start is the larger of this and the first segment's base offset.
type LogStart struct {
	Topic     ID
	Partition int32
	Offset    int64
}

// LogStarts holds a row for each partition whose records were ever deleted by request.
type LogStarts struct{ tree tree[LogStart] }

func newLogStarts() LogStarts {
	return LogStarts{newTree(func(a, b LogStart) bool {
		return cmp.Or(bytes.Compare(a.Topic[:], b.Topic[:]), cmp.Compare(a.Partition, b.Partition)) < 0
	})}
}

func (l *LogStarts) clone() LogStarts { return LogStarts{l.tree.clone()} }

// Of is the decided log start of the partition, 0 when none was decided.
func (l LogStarts) Of(topic ID, partition int32) int64 {
	row, _ := l.tree.Get(LogStart{Topic: topic, Partition: partition})
	return row.Offset
}

func (l *LogStarts) dropTopic(topic ID) {
	for {
		var first *LogStart
		l.tree.AscendGreaterOrEqual(LogStart{Topic: topic}, func(row LogStart) bool {
			if row.Topic == topic {
				first = &row
			}
			return false
		})
		if first == nil {
			return
		}
		l.tree.Delete(*first)
	}
}

func (s *State) applyRecordsDeleted(e *journal.RecordsDeleted) error {
	topic := s.Topics.WithID(e.Topic)
	if topic == nil || e.Partition < 0 || e.Partition >= topic.Partitions {
		return fmt.Errorf("partition %d of topic id %s is not there", e.Partition, ID(e.Topic))
	}
	if e.Before < s.LogStarts.Of(e.Topic, e.Partition) {
		return fmt.Errorf("log start of %s-%d would go back to %d", topic.Name, e.Partition, e.Before)
	}
	s.LogStarts.tree.ReplaceOrInsert(LogStart{Topic: e.Topic, Partition: e.Partition, Offset: e.Before})
	return nil
}
