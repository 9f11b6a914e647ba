package handlers

import (
	"context"

	"doze/journal"
	"doze/projections"
)

// Committed offsets go when they outlive offsets.retention.minutes: counted from when the group became Empty, or from the
// commit when there never was a member, or when consumers are there but read other topics. An offset committed with a time
// of its own goes by that; one that an open transaction has staged anew waits for it. A group that has neither members nor
// offsets goes with the same check; a share group stays, since where it stands is in no committed offset.

// maxExpiredPerEntry bounds an entry of the journal.
const maxExpiredPerEntry = 10_000

// checkRetention looks for expired offsets and sets the time of the next look. What could not be written is tried then.
func (c *coordinator) checkRetention(ctx context.Context) {
	_ = c.expireOffsets(ctx) // the journal reports why
	c.mu.Lock()
	defer c.mu.Unlock()
	c.setDeadline(deadlineKey{kind: deadlineRetention}, c.clock.NowMillis()+c.settings.offsetsCheckMs, 0)
}

// expireOffsets looks through all groups; each that has something to lose takes a decision of its own.
func (c *coordinator) expireOffsets(ctx context.Context) error {
	state := c.view()
	var due []string
	now := c.now()
	state.Groups.Each("", func(g *projections.Group) bool {
		if x := expiryOf(state, g, now, c.settings.offsetsRetentionMs); x.all && g.State == projections.Empty || len(x.expired) > 0 {
			due = append(due, g.ID)
		}
		return true
	})
	for _, id := range due {
		for again := true; again; {
			err := c.update(ctx, journal.Timed(deadlineRetention.String()), func(d *groupDecision) {
				again = d.expire(id)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// expire removes what has outlived its retention, and says whether there is more of it.
func (d *groupDecision) expire(id string) (again bool) {
	g := d.group(id)
	if g == nil {
		return false
	}
	x := expiryOf(d.state, g, d.at, d.settings.offsetsRetentionMs)
	if x.all && g.State == projections.Empty {
		d.emit(&journal.GroupDeleted{Group: id})
		d.disarmGroup(g)
	} else if len(x.expired) > 0 {
		d.emit(&journal.OffsetsExpired{Group: id, Partitions: x.expired})
	}
	return x.more
}

// expiry is what a group loses at a check.
type expiry struct {
	expired []journal.TopicPartition // not more than fit in an entry
	more    bool
	all     bool // nothing is left after it
}

func expiryOf(state *projections.State, g *projections.Group, now, retention int64) expiry {
	if g.Share != nil {
		return expiry{}
	}
	x := expiry{all: !state.Staged.HasGroup(g.ID)}
	state.Offsets.OfGroup(g.ID, func(t *projections.OffsetsOfTopic) bool {
		state.Offsets.OfTopic(t, func(o projections.CommittedOffset) bool {
			switch {
			case !expired(g, t.Topic, &o, now, retention), state.Staged.Has(g.ID, t.Topic, o.Partition):
				x.all = false
			case len(x.expired) == maxExpiredPerEntry:
				x.more = true
			default:
				x.expired = append(x.expired, journal.TopicPartition{Topic: t.Topic, Partition: o.Partition})
			}
			return x.all || !x.more
		})
		return x.all || !x.more
	})
	x.more = x.more && !x.all
	return x
}

func expired(g *projections.Group, topic string, o *projections.CommittedOffset, now, retention int64) bool {
	from := o.CommitAt
	switch {
	case g.ProtocolType == "", g.Type != journal.GroupClassic: // a name for offsets; a type that goes by the commit
	case g.State == projections.Empty:
		from = g.Since
	case g.State != projections.Stable || g.ProtocolType != consumerProtocolType || !g.SubscriptionsKnown:
		return false
	}
	if subscribes(g, topic) {
		return false
	}
	if o.ExpireAt != -1 {
		return now >= o.ExpireAt
	}
	return now-from >= retention
}
