package handlers

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"doze/configs"
	"doze/projections"
	"doze/segments"
)

// logCleaner is what becomes of records by themselves: topics with cleanup.policy compact are compacted, those with delete
// lose what outlives its retention (retention.go). Each works in the background, one partition at a time, and neither waits for
// the other: compaction may be throttled and take hours.
//
// As in Kafka, compaction looks for work every log.cleaner.backoff.ms, and retention every log.retention.check.interval.ms,
// for the first time log.initial.task.delay.ms after the start. A topic with both policies is looked at by the first.
type logCleaner struct {
	b       *Broker
	end     context.CancelFunc
	running sync.WaitGroup

	compacting sync.Mutex // held by who compacts: two would write the same files
	retaining  sync.Mutex // held by who deletes, so that each deletion is journaled once

	mu          sync.Mutex             // of what follows
	uncleanable map[segments.ID]bool   // damaged: left alone until the next start
	told        map[segments.ID]string // the last error that was logged
}

func newLogCleaner(b *Broker) *logCleaner {
	return &logCleaner{b: b, uncleanable: map[segments.ID]bool{}, told: map[segments.ID]string{}}
}

func (c *logCleaner) start() {
	ctx, end := context.WithCancel(context.Background())
	c.end = end
	c.running.Go(func() { c.compactAlways(ctx) })
	c.running.Go(func() { c.retainAlways(ctx) })
}

// stop ends what is under way; a segment that is being compacted stays as it was.
func (c *logCleaner) stop() {
	if c.end != nil {
		c.end()
		c.running.Wait()
	}
}

func (c *logCleaner) settings() *configs.Broker {
	state, _ := c.b.view()
	return c.b.settings(state).Broker
}

// sleep waits, and says whether to go on.
func sleep(ctx context.Context, ms int64) bool {
	timer := time.NewTimer(time.Duration(min(ms, maxSleepMs)) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

const maxSleepMs = 365 * 24 * 3_600_000

func (c *logCleaner) compactAlways(ctx context.Context) {
	for ctx.Err() == nil {
		c.retain(ctx, func(t *configs.Topic) bool { return t.Compact && t.Delete })
		if c.compact(ctx) {
			continue // there may be more by now
		}
		if !sleep(ctx, c.settings().Int("log.cleaner.backoff.ms")) {
			return
		}
	}
}

// filthy is a partition that waits for compaction.
type filthy struct {
	id    segments.ID
	log   *segments.Partition
	name  string
	rules segments.CleanRules
	ratio float64
}

// compact compacts every partition that is due, the dirtiest first, and says whether it got anything done.
func (c *logCleaner) compact(ctx context.Context) (worked bool) {
	c.compacting.Lock()
	defer c.compacting.Unlock()
	broker := c.settings()
	if !broker.Bool("log.cleaner.enable") {
		return false
	}
	due := c.filthiest(ctx)
	if len(due) == 0 {
		return false
	}
	cleaner := segments.NewCleaner(segments.CleanerOptions{
		MapBytes: broker.Int("log.cleaner.dedupe.buffer.size"), BytesPerSecond: broker.Float("log.cleaner.io.max.bytes.per.second"),
		Now: c.b.clock.NowMillis,
	})
	for _, f := range due {
		done, err := f.log.Clean(ctx, f.rules, cleaner)
		if ctx.Err() != nil {
			return worked
		}
		c.note(&f, err)
		if err == nil && done.Passes > 0 {
			worked = true
			c.b.log.Debug("compacted a partition", "topic", f.name, "partition", f.id.Partition, "to", done.To, "passes", done.Passes,
				"read", done.BytesRead, "before", done.BytesBefore, "after", done.Bytes)
		}
	}
	return worked
}

// filthiest lists the partitions that are due, the dirtiest first. One that has a single segment is not even opened.
func (c *logCleaner) filthiest(ctx context.Context) (due []filthy) {
	now := c.b.clock.NowMillis()
	c.eachLog(ctx, func(t *configs.Topic) bool { return t.Compact }, func(state *projections.State, topic *projections.Topic, t *configs.Topic, id segments.ID) {
		if c.isUncleanable(id) || !c.b.logs.Rolled(id) {
			return
		}
		f := filthy{id: id, name: topic.Name, log: c.b.partition(state, topic, id.Partition), rules: cleanRules(t)}
		work, err := f.log.Cleanable(f.rules, now)
		c.note(&f, err)
		if f.ratio = work.Ratio(); err == nil && work.Due(f.rules) {
			due = append(due, f)
		}
	})
	slices.SortStableFunc(due, func(a, b filthy) int { return cmp.Compare(b.ratio, a.ratio) })
	return due
}

func cleanRules(t *configs.Topic) segments.CleanRules {
	return segments.CleanRules{DeleteRetentionMs: t.DeleteRetentionMs, MinLagMs: t.MinCompactionLagMs, MaxLagMs: t.MaxCompactionLagMs,
		MinDirtyRatio: t.MinCleanableDirtyRate}
}

func (c *logCleaner) isUncleanable(id segments.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.uncleanable[id]
}

// note logs an error once, until it is another. What is damaged is left alone.
func (c *logCleaner) note(f *filthy, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil || errors.Is(err, segments.ErrRemoved) {
		delete(c.told, f.id)
		return
	}
	if damage := (*segments.Damage)(nil); errors.As(err, &damage) {
		c.uncleanable[f.id] = true
	}
	if c.told[f.id] != err.Error() {
		c.told[f.id] = err.Error()
		c.b.log.Warn("a partition could not be compacted", "topic", f.name, "partition", f.id.Partition, "error", err)
	}
}

// eachLog calls f with every partition on disk whose topic is wanted.
func (c *logCleaner) eachLog(ctx context.Context, want func(*configs.Topic) bool,
	f func(*projections.State, *projections.Topic, *configs.Topic, segments.ID)) {
	state, _ := c.b.view()
	settings := c.b.settings(state)
	var topics []*projections.Topic
	state.Topics.Each("", func(topic *projections.Topic) bool {
		if want(settings.topic(state, topic.Name)) {
			topics = append(topics, topic)
		}
		return true
	})
	if len(topics) == 0 {
		return
	}
	onDisk := map[segments.ID]bool{}
	for _, id := range c.b.logs.List() {
		onDisk[id] = true
	}
	for _, topic := range topics {
		for number := range topic.Partitions {
			id := segments.ID{Topic: topic.ID, Partition: number}
			if ctx.Err() == nil && onDisk[id] {
				f(state, topic, settings.topic(state, topic.Name), id)
			}
		}
	}
}
