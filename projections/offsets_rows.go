package projections

import "fmt"

// offsetOfGroup is one committed offset, as people see it.
type offsetOfGroup struct {
	of *OffsetsOfTopic
	CommittedOffset
}

func eachOffset(s *State, yield func(fielder) bool) {
	s.Offsets.topics.Ascend(func(t *OffsetsOfTopic) bool {
		more := true
		s.Offsets.OfTopic(t, func(o CommittedOffset) bool {
			more = yield(offsetOfGroup{t, o})
			return more
		})
		return more
	})
}

// Fields shows the topic by name, as groups know it.
func (o offsetOfGroup) Fields() []Field {
	return []Field{
		{"group", o.of.Group}, {"topic", o.of.Topic}, {"partition", int64(o.Partition)}, {"offset", o.Offset},
		{"leader-epoch", int64(o.LeaderEpoch)}, {"metadata", o.Metadata}, {"committed-at", o.CommitAt}, {"expires-at", o.ExpireAt},
	}
}

// blockRow is a block of offsets as a row. A start reads many of them: names stand once for all the offsets of a block.
type blockRow struct {
	of *OffsetsOfTopic
	offsetBlock
}

func eachOffsetBlock(s *State, yield func(encoder) bool) {
	s.Offsets.topics.Ascend(func(t *OffsetsOfTopic) bool {
		more := true
		s.Offsets.blocksOf(t, func(b offsetBlock) bool {
			more = yield(blockRow{t, b})
			return more
		})
		return more
	})
}

func (b blockRow) encode(w *rowWriter) {
	w.offsetsOfTopic(b.of)
	w.uint(uint64(b.number()))
	for _, r := range b.rows {
		w.uint(uint64(r.partition % blockPartitions))
		w.int(r.offset)
		w.int(int64(r.epoch))
		w.int(r.commitAt)
	}
}

func (w *rowWriter) offsetsOfTopic(t *OffsetsOfTopic) {
	w.string(t.Group)
	w.string(t.Topic)
	w.id(t.ID)
}

func loadOffsetBlock(s *State, r *rowReader) {
	t, number := s.loadOffsetsOfTopic(r), r.uint()
	if r.err == nil && number > maxBlock {
		r.fail(fmt.Errorf("block %d of offsets of group %q", number, t.Group))
	}
	if r.err != nil {
		return
	}
	block := offsetBlock{at: blockAt(t.slot, int32(number)), rows: make([]offsetRow, 0, min(blockPartitions, len(r.b)/4))}
	for len(r.b) > 0 {
		block.load(r)
	}
	if len(block.rows) == 0 || s.Offsets.blocks.Has(block) {
		r.fail(fmt.Errorf("block %d of offsets of group %q for topic %q: empty, or twice", number, t.Group, t.Topic))
	}
	if r.err != nil {
		return
	}
	s.Offsets.blocks.ReplaceOrInsert(block)
	s.Offsets.count += len(block.rows)
	s.Offsets.bytes += offsetBytes * int64(len(block.rows))
}

// load adds a row to a block that nobody sees yet.
func (b *offsetBlock) load(r *rowReader) {
	in := r.uint()
	row := offsetRow{partition: b.number()*blockPartitions + int32(in%blockPartitions), offset: r.int(), epoch: r.int32(), commitAt: r.int()}
	if n := len(b.rows); in >= blockPartitions || n > 0 && b.rows[n-1].partition >= row.partition {
		r.fail(fmt.Errorf("partition %d of block %d of offsets: not one of it, or out of order", in, b.number()))
		return
	}
	b.rows = append(b.rows, row)
}

// loadOffsetsOfTopic reads whose the rest of the row is.
func (s *State) loadOffsetsOfTopic(r *rowReader) *OffsetsOfTopic {
	group, topic, id := r.string(), r.string(), r.id()
	t := s.Offsets.Topic(group, topic)
	switch {
	case r.err != nil:
	case t != nil && t.ID != id:
		r.fail(fmt.Errorf("offsets of group %q: topic %q has two ids", group, topic))
	case t == nil && s.Groups.Get(group) == nil:
		r.fail(fmt.Errorf("offsets of group %q: no such group", group))
	case t == nil:
		t = s.openOffsets(group, topic, id)
	}
	return t
}

// extraRow is what is kept beside an offset as a row.
type extraRow struct {
	of *OffsetsOfTopic
	offsetExtra
}

func eachOffsetExtra(s *State, yield func(encoder) bool) {
	s.Offsets.topics.Ascend(func(t *OffsetsOfTopic) bool {
		more := true
		first, end := offsetExtra{offsetKey: offsetKey{slot: t.slot}}, offsetExtra{offsetKey: offsetKey{slot: t.slot + 1}}
		s.Offsets.extras.AscendRange(first, end, func(e offsetExtra) bool {
			more = yield(extraRow{t, e})
			return more
		})
		return more
	})
}

func (e extraRow) encode(w *rowWriter) {
	w.offsetsOfTopic(e.of)
	w.int(int64(e.partition))
	w.string(e.metadata)
	w.int(e.expireAt)
}

func loadOffsetExtra(s *State, r *rowReader) {
	t := s.loadOffsetsOfTopic(r)
	partition, metadata, expireAt := r.int32(), r.string(), r.int()
	if r.err != nil {
		return
	}
	key := offsetKey{t.slot, partition}
	_, there := s.Offsets.row(key)
	extra := offsetExtra{offsetKey: key, metadata: metadata, expireAt: expireAt}
	if !there || extra.none() || s.Offsets.extras.Has(extra) {
		r.fail(fmt.Errorf("metadata of group %q for %s-%d: of no offset, empty, or twice", t.Group, t.Topic, partition))
		return
	}
	s.Offsets.putExtra(extra)
}
