package handlers

import (
	"context"
	"errors"
	"slices"

	"doze/configs"
	"doze/journal"
	"doze/projections"
	"doze/segments"
)

func (c *logCleaner) retainAlways(ctx context.Context) {
	wait := c.settings().Int("log.initial.task.delay.ms")
	for sleep(ctx, wait) {
		c.retain(ctx, func(t *configs.Topic) bool { return t.Delete && !t.Compact })
		wait = c.settings().Int("log.retention.check.interval.ms")
	}
}

// outlived is a partition with records that are to be deleted.
type outlived struct {
	log    *segments.Partition
	id     segments.ID
	before int64
}

// retain deletes what has outlived its retention. It is a decision as DeleteRecords is, and journaled before the logs obey:
// the log's start is the same after any crash, and a file that is missing below it is no damage.
func (c *logCleaner) retain(ctx context.Context, want func(*configs.Topic) bool) {
	c.retaining.Lock()
	defer c.retaining.Unlock()
	for some := range slices.Chunk(c.outlived(ctx, want), outlivedAtOnce) {
		if !c.forget(ctx, some) {
			return // the journal reports why; the next look decides anew
		}
	}
}

// forget deletes records of these partitions, unless that cannot be journaled. It frees space, so there is room for it in the
// journal when the disk is full.
func (c *logCleaner) forget(ctx context.Context, due []outlived) bool {
	err := c.b.store.Update(ctx, journal.Timed("retention"), func(tx *tx) {
		tx.Frees()
		for _, o := range due {
			topic := tx.State.Topics.WithID(o.id.Topic)
			if topic != nil && o.before > tx.State.LogStarts.Of(o.id.Topic, o.id.Partition) {
				tx.Emit(&journal.RecordsDeleted{Topic: o.id.Topic, Partition: o.id.Partition, Before: o.before})
			}
		}
	})
	if err != nil {
		return false
	}
	for _, o := range due {
		if _, err := o.log.DeleteRecords(o.before); err != nil && !errors.Is(err, segments.ErrRemoved) {
			c.b.log.Warn("records that outlived their retention could not be deleted", "partition", o.id.String(), "error", err)
		}
	}
	return true
}

const (
	outlivedMost   = 10_000 // at a look; the next one finds the rest
	outlivedAtOnce = 1_000  // in an entry of the journal, far below the space that it keeps for them
)

func (c *logCleaner) outlived(ctx context.Context, want func(*configs.Topic) bool) (due []outlived) {
	now := c.b.clock.NowMillis()
	bounded := func(t *configs.Topic) bool { return want(t) && (t.RetentionBytes >= 0 || t.RetentionMs >= 0) }
	c.eachLog(ctx, bounded, func(state *projections.State, topic *projections.Topic, t *configs.Topic, id segments.ID) {
		log := c.b.partition(state, topic, id.Partition)
		if log == nil || len(due) == outlivedMost {
			return
		}
		before, err := log.Expired(segments.RetentionRules{Bytes: t.RetentionBytes, Ms: t.RetentionMs}, now)
		if err != nil {
			return // the storage reports why
		}
		if offsets, err := log.Offsets(); err == nil && before > offsets.LogStart {
			due = append(due, outlived{log, id, before})
		}
	})
	return due
}
