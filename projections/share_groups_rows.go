package projections

import (
	"fmt"

	"doze/journal"
)

// A share group's row holds what is not in the row that groups of all types have; its members are rows of their own.

type shareGroupRow struct {
	id string
	*ShareGroup
}

func eachShareGroup(s *State, yield func(row) bool) {
	s.Groups.Each("", func(g *Group) bool { return g.Share == nil || yield(shareGroupRow{g.ID, g.Share}) })
}

func (r shareGroupRow) encode(w *rowWriter) {
	w.string(r.id)
	w.int(int64(r.Epoch))
	w.uint(r.Hash)
	w.int(int64(r.TargetEpoch))
	w.int(r.TargetAt)
	w.bool(r.Unassigned)
}

// Fields shows the group's epochs.
func (r shareGroupRow) Fields() []Field {
	var reads []string
	r.Reads(func(topic string) bool { reads = append(reads, topic); return true })
	return []Field{
		{"group", r.id}, {"epoch", int64(r.Epoch)}, {"target-epoch", int64(r.TargetEpoch)}, {"target-at", r.TargetAt},
		{"unassigned", r.Unassigned}, {"members", int64(len(r.Members))}, {"reads", reads},
	}
}

func loadShareGroup(s *State, r *rowReader) {
	id := r.string()
	g := s.Groups.Get(id)
	if g == nil || g.Share == nil {
		r.fail(fmt.Errorf("share group %q: no such group", id))
		return
	}
	g.Share.Epoch, g.Share.Hash, g.Share.TargetEpoch = r.int32(), r.uint(), r.int32()
	g.Share.TargetAt, g.Share.Unassigned = r.int(), r.bool()
}

type shareMemberRow struct {
	group string
	*ShareMember
}

func eachShareMember(s *State, yield func(row) bool) {
	s.Groups.Each("", func(g *Group) bool {
		if g.Share != nil {
			for _, m := range g.Share.Members {
				if !yield(shareMemberRow{g.ID, m}) {
					return false
				}
			}
		}
		return true
	})
}

func (m shareMemberRow) encode(w *rowWriter) {
	w.string(m.group)
	for _, text := range []string{m.ID, m.Rack, m.ClientID, m.ClientHost} {
		w.string(text)
	}
	w.int(int64(m.Epoch))
	w.int(int64(m.Previous))
	w.uint(uint64(len(m.Topics)))
	for _, topic := range m.Topics {
		w.string(topic)
	}
	for _, list := range [][]journal.TopicPartitions{m.Assigned, m.Target} {
		w.uint(uint64(len(list)))
		for _, p := range list {
			w.id(p.TopicID)
			w.uint(uint64(len(p.Partitions)))
			for _, n := range p.Partitions {
				w.int(int64(n))
			}
		}
	}
}

// Fields shows partitions as "topic id:numbers".
func (m shareMemberRow) Fields() []Field {
	shown := func(list []journal.TopicPartitions) []string {
		out := make([]string, len(list))
		for i, p := range list {
			out[i] = fmt.Sprintf("%s:%v", ID(p.TopicID), p.Partitions)
		}
		return out
	}
	return []Field{
		{"group", m.group}, {"member", m.ID}, {"rack", m.Rack}, {"client", m.ClientID}, {"host", m.ClientHost}, {"epoch", int64(m.Epoch)},
		{"previous", int64(m.Previous)}, {"topics", m.Topics}, {"assigned", shown(m.Assigned)}, {"target", shown(m.Target)},
	}
}

func loadShareMember(s *State, r *rowReader) {
	group := r.string()
	m := &ShareMember{ID: r.string(), Rack: r.string(), ClientID: r.string(), ClientHost: r.string(), Epoch: r.int32(), Previous: r.int32()}
	for range r.count() {
		m.Topics = append(m.Topics, r.string())
	}
	for _, list := range []*[]journal.TopicPartitions{&m.Assigned, &m.Target} {
		for range r.count() {
			p := journal.TopicPartitions{TopicID: r.id()}
			for range r.count() {
				p.Partitions = append(p.Partitions, r.int32())
			}
			*list = append(*list, p)
		}
	}
	g := s.Groups.Get(group)
	if g == nil || g.Share == nil || len(g.Share.Members) > 0 && g.Share.Members[len(g.Share.Members)-1].ID >= m.ID {
		r.fail(fmt.Errorf("member %q: no such share group as %q, or out of order", m.ID, group))
		return
	}
	g.Share.Members = append(g.Share.Members, m)
	g.Share.count(m, 1)
	s.Groups.bytes += m.Bytes()
}
