package projections

import "fmt"

// offsetOfGroup is one committed offset as a row.
type offsetOfGroup struct {
	of *OffsetsOfTopic
	CommittedOffset
}

func eachOffset(s *State, yield func(row) bool) {
	s.Offsets.topics.Ascend(func(t *OffsetsOfTopic) bool {
		more := true
		s.Offsets.OfTopic(t, func(o CommittedOffset) bool {
			more = yield(offsetOfGroup{t, o})
			return more
		})
		return more
	})
}

func (o offsetOfGroup) encode(w *rowWriter) {
	w.string(o.of.Group)
	w.string(o.of.Topic)
	w.id(o.of.ID)
	w.int(int64(o.Partition))
	w.int(o.Offset)
	w.int(int64(o.LeaderEpoch))
	w.string(o.Metadata)
	w.int(o.CommitAt)
	w.int(o.ExpireAt)
}

// Fields shows the topic by name, as groups know it.
func (o offsetOfGroup) Fields() []Field {
	return []Field{
		{"group", o.of.Group}, {"topic", o.of.Topic}, {"partition", int64(o.Partition)}, {"offset", o.Offset},
		{"leader-epoch", int64(o.LeaderEpoch)}, {"metadata", o.Metadata}, {"committed-at", o.CommitAt}, {"expires-at", o.ExpireAt},
	}
}

func loadOffset(s *State, r *rowReader) {
	group, topic, id := r.take(r.uint()), r.take(r.uint()), r.id()
	c := CommittedOffset{
		Partition: r.int32(), Offset: r.int(), LeaderEpoch: r.int32(), Metadata: r.string(), CommitAt: r.int(), ExpireAt: r.int(),
	}
	if r.err == nil && c.Partition < 0 {
		r.fail(fmt.Errorf("offset of group %q: partition %d", group, c.Partition))
	}
	if r.err != nil {
		return
	}
	t := s.Offsets.opened
	if t == nil || t.Group != string(group) || t.Topic != string(topic) {
		if t = s.openOffsets(string(group), string(topic), id); t == nil {
			r.fail(fmt.Errorf("offset of group %q: no such group", group))
			return
		}
		s.Offsets.opened = t
	}
	if t.ID != id {
		r.fail(fmt.Errorf("offset of group %q: topic %q has two ids", group, topic))
		return
	}
	s.Offsets.put(t, c)
}
