package projections

import (
	"bytes"
	"cmp"
	"strings"
	"sync"
)

// Offsets holds the committed offsets of all groups. A million of them must be small and quick to replay, so the names
// are kept once for each (group, topic), which has a number, its slot; the offsets are in blocks under that number.
type Offsets struct {
	topics   tree[*OffsetsOfTopic] // by group, topic name
	byID     tree[*OffsetsOfTopic] // by topic id, then as above: for a topic that goes
	blocks   tree[offsetBlock]     // by slot, number
	extras   tree[offsetExtra]     // by slot, partition: of the offsets that have any
	lastSlot uint64
	count    int // of offsets
	bytes    int64
}

// OffsetsOfTopic stands for the offsets that one group committed for one topic: an immutable value.
type OffsetsOfTopic struct {
	Group string
	Topic string
	ID    ID // of the topic, when they were committed
	slot  uint64
}

// CommittedOffset is what a group committed for one partition.
type CommittedOffset struct {
	Partition   int32
	Offset      int64
	LeaderEpoch int32 // -1: not said
	Metadata    string
	CommitAt    int64 // ms
	ExpireAt    int64 // ms; -1: the retention of offsets decides
}

func newOffsets() Offsets {
	byName := func(a, b *OffsetsOfTopic) bool { return compareNames(a, b) < 0 }
	byID := func(a, b *OffsetsOfTopic) bool {
		return cmp.Or(bytes.Compare(a.ID[:], b.ID[:]), compareNames(a, b)) < 0
	}
	return Offsets{
		topics: newTree(byName), byID: newTree(byID),
		blocks: newOffsetBlocks(), extras: newOffsetExtras(),
	}
}

func compareNames(a, b *OffsetsOfTopic) int {
	if c := strings.Compare(a.Group, b.Group); c != 0 {
		return c
	}
	return strings.Compare(a.Topic, b.Topic)
}

func (o *Offsets) clone() Offsets {
	c := *o
	c.topics, c.byID, c.blocks, c.extras = o.topics.clone(), o.byID.clone(), o.blocks.clone(), o.extras.clone()
	return c
}

// Len counts committed offsets.
func (o Offsets) Len() int { return o.count }

// offsetsKeys lends what the tree is asked with: every commit asks.
var offsetsKeys = sync.Pool{New: func() any { return new(OffsetsOfTopic) }}

// Topic returns the handle of what the group committed for the topic, or nil.
func (o Offsets) Topic(group, topic string) *OffsetsOfTopic {
	key := offsetsKeys.Get().(*OffsetsOfTopic)
	defer offsetsKeys.Put(key)
	key.Group, key.Topic = group, topic
	t, _ := o.topics.Get(key)
	key.Group, key.Topic = "", ""
	return t
}

// Get returns the offset of the partition; t may be nil.
func (o Offsets) Get(t *OffsetsOfTopic, partition int32) (CommittedOffset, bool) {
	if t == nil {
		return CommittedOffset{}, false
	}
	row, ok := o.row(offsetKey{t.slot, partition})
	return o.committed(t.slot, row), ok
}

// OfGroup calls yield with the topics that the group has offsets for, by name, until it returns false.
func (o Offsets) OfGroup(group string, yield func(t *OffsetsOfTopic) bool) {
	o.topics.AscendGreaterOrEqual(&OffsetsOfTopic{Group: group}, func(t *OffsetsOfTopic) bool {
		return t.Group == group && yield(t)
	})
}

// OfTopic calls yield with the topic's offsets, by partition, until it returns false.
func (o Offsets) OfTopic(t *OffsetsOfTopic, yield func(CommittedOffset) bool) {
	o.blocksOf(t, func(b offsetBlock) bool {
		for _, row := range b.rows {
			if !yield(o.committed(t.slot, row)) {
				return false
			}
		}
		return true
	})
}

// GroupHasOffsets says whether the group has any.
func (o Offsets) GroupHasOffsets(group string) bool {
	found := false
	o.OfGroup(group, func(*OffsetsOfTopic) bool { found = true; return false })
	return found
}
