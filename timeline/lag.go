package timeline

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"doze/console/inside"
	"doze/journal"
)

// Bounds of a history of lag.
const (
	maxLagCommits = 400  // entries with a commit of the group
	maxLagSeries  = 64   // partitions
	maxLagPoints  = 6000 // in all
)

// lagKey is a partition, by its topic's name: one made anew under the name goes on with the line.
type lagKey struct {
	topic     string
	partition int32
}

// Lag is what a group had committed and how far the partitions reached, at its last commits (inside.Journal).
func (t *Timeline) Lag(ctx context.Context, group string) (inside.LagHistory, error) {
	if err := t.catchUp(ctx); err != nil {
		return inside.LagHistory{}, err
	}
	commits, since, err := t.commitsOf(ctx, group)
	if err != nil {
		return inside.LagHistory{}, err
	}
	l := lagLines{t: t, series: map[lagKey]*inside.LagSeries{}, left: map[lagKey]bool{}}
	for _, c := range slices.Backward(commits) { // oldest first
		for _, o := range c.offsets {
			l.add(c, o)
		}
	}
	h := inside.LagHistory{Since: since, More: len(l.left)}
	if l.points > maxLagPoints {
		h.Note = fmt.Sprintf("only %d points are shown", maxLagPoints)
	}
	slices.SortFunc(l.order, func(a, b *inside.LagSeries) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	for _, s := range l.order {
		h.Series = append(h.Series, *s)
	}
	return h, ctx.Err()
}

// lagLines is a history of lag on its way: a line a partition.
type lagLines struct {
	t      *Timeline
	series map[lagKey]*inside.LagSeries
	order  []*inside.LagSeries
	left   map[lagKey]bool // partitions that are too many
	points int             // of all lines, those that are not shown too
}

// add is the point of a commit on the line of its partition.
func (l *lagLines) add(c commitOf, o journal.CommittedOffset) {
	key := lagKey{o.Topic, o.Partition}
	s := l.series[key]
	if s == nil {
		if len(l.series) == maxLagSeries {
			l.left[key] = true
			return
		}
		s = &inside.LagSeries{Topic: cut(o.Topic, maxValue), Partition: o.Partition}
		l.series[key], l.order = s, append(l.order, s)
	}
	if l.points++; l.points > maxLagPoints {
		return
	}
	end, known, ok := l.t.end(o.TopicID, o.Partition, c.seq)
	if !ok {
		end, known = o.Offset, false
	}
	s.Points = append(s.Points, inside.LagPoint{Seq: c.seq, At: c.at, Committed: o.Offset, End: max(end, o.Offset), Known: known})
}

// commitOf is an entry's commit of a group.
type commitOf struct {
	seq     uint64
	at      int64
	offsets []journal.CommittedOffset
}

// commitsOf are the group's last commits, newest first, and the oldest entry that was looked at.
func (t *Timeline) commitsOf(ctx context.Context, group string) (all []commitOf, since uint64, err error) {
	var kinds kindSet
	kinds.add((&journal.OffsetsCommitted{}).Kind())
	end, scanned := time.Now().Add(maxLooking), 0
	marks := t.index.between(0, ^uint64(0))
	for n := 1; len(marks) > 0; n = min(2*n, maxAtOnce) {
		part := marks[max(len(marks)-n, 0):]
		marks = marks[:len(marks)-len(part)]
		since = part[0].place.Seq + 1
		if !slices.ContainsFunc(part, func(m mark) bool { return m.kinds.meets(kinds) }) {
			continue
		}
		last := part[len(part)-1].last
		var found []commitOf
		err := t.visit(ctx, part[0].place.Seq, func(e *journal.Entry, _ journal.Place) bool {
			if e.Seq > last {
				return false
			}
			scanned++
			for _, event := range e.Events {
				if c, ok := event.(*journal.OffsetsCommitted); ok && c.Group == group {
					found = append(found, commitOf{e.Seq, e.At, c.Offsets})
				}
			}
			return true
		})
		if err != nil {
			return nil, since, err
		}
		slices.Reverse(found)
		all = append(all, found...)
		if len(all) >= maxLagCommits || scanned > maxScanned || time.Now().After(end) {
			break
		}
	}
	return all[:min(len(all), maxLagCommits)], since, nil
}
