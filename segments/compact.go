package segments

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// CleanRules are a topic's settings that compaction goes by, in Kafka's terms.
type CleanRules struct {
	DeleteRetentionMs int64
	MinLagMs          int64   // min.compaction.lag.ms
	MaxLagMs          int64   // max.compaction.lag.ms; 0: none
	MinDirtyRatio     float64 // min.cleanable.dirty.ratio
}

// Cleanable tells how much of a partition waits for compaction: whole segments, from the first that has an offset that no
// compaction has seen, up to the first that may not be compacted yet.
type Cleanable struct {
	From, To   int64 // offsets
	CleanBytes int64 // of segments that begin below From
	DirtyBytes int64
	Overdue    bool // something has waited for longer than max.compaction.lag.ms
}

// Ratio is the dirty part of what compaction would look at.
func (c Cleanable) Ratio() float64 {
	if c.DirtyBytes == 0 {
		return 0
	}
	return float64(c.DirtyBytes) / float64(c.CleanBytes+c.DirtyBytes)
}

// Due tells whether the rules want it compacted now.
func (c Cleanable) Due(r CleanRules) bool {
	return c.DirtyBytes > 0 && (c.Overdue || c.Ratio() > r.MinDirtyRatio)
}

// Cleaned sums up what a compaction did.
type Cleaned struct {
	Passes               int
	BytesRead            int64
	BytesBefore, Bytes   int64 // of the segments that were replaced, and of those that took their place
	BatchesRead, Batches int64
	To                   int64 // all below is compacted
}

// CleanerOptions bound what compaction takes.
type CleanerOptions struct {
	MapBytes       int64        // log.cleaner.dedupe.buffer.size; default 128 MiB
	BytesPerSecond float64      // log.cleaner.io.max.bytes.per.second; 0: no bound
	Now            func() int64 // ms; default the system's
	Pause          func(context.Context, time.Duration)
}

const defaultMapBytes = 128 << 20

// Cleaner compacts partitions, one at a time. Its memory is the key map, which is bounded, and a few buffers, of which the
// largest is that of a batch.
type Cleaner struct {
	opt     CleanerOptions
	raw     []byte // of the log, read ahead
	buf     []byte // of the segment that is written
	entries []byte // of its index
	filter  filter

	started time.Time
	spent   float64
}

// NewCleaner gives a cleaner.
func NewCleaner(opt CleanerOptions) *Cleaner {
	if opt.MapBytes <= 0 {
		opt.MapBytes = defaultMapBytes
	}
	if opt.Now == nil {
		opt.Now = func() int64 { return time.Now().UnixMilli() }
	}
	if opt.Pause == nil {
		opt.Pause = pause
	}
	return &Cleaner{opt: opt}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// spend notes that bytes were read or written, and waits as long as they were too many for the time.
func (c *Cleaner) spend(ctx context.Context, n int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.opt.BytesPerSecond <= 0 || c.opt.BytesPerSecond >= math.MaxInt64 {
		return nil
	}
	c.spent += float64(n)
	due := time.Duration(c.spent / c.opt.BytesPerSecond * float64(time.Second))
	if ahead := due - time.Since(c.started); ahead > time.Millisecond {
		c.opt.Pause(ctx, ahead)
	}
	return ctx.Err()
}

// Cleanable tells what waits for compaction. As in Kafka that is never a part of a segment: not the one that is written, nor
// what is at or behind the last stable offset, nor what is younger than min.compaction.lag.ms.
func (p *Partition) Cleanable(r CleanRules, now int64) (Cleanable, error) {
	c, err := p.cleanable(r, now)
	if p.mended(err) {
		c, err = p.cleanable(r, now)
	}
	return c, p.storage(err)
}

func (p *Partition) cleanable(r CleanRules, now int64) (Cleanable, error) {
	if err := p.ready(); err != nil {
		return Cleanable{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.usable(); err != nil {
		return Cleanable{}, err
	}
	c := Cleanable{From: p.firstDirtyLocked()}
	c.To = c.From
	for i, s := range p.segments[:max(len(p.segments)-1, 0)] {
		end := p.segments[i+1].base
		if end <= c.From {
			c.CleanBytes += s.size
			continue
		}
		if err := s.learn(); err != nil {
			return Cleanable{}, err
		}
		young, err := p.isYoung(s, r.MinLagMs, now)
		if err != nil {
			return Cleanable{}, err
		}
		if !p.settledLocked(s) || end > p.offsetsLocked().LastStable || young {
			break
		}
		c.To = end
		c.DirtyBytes += s.size
		c.Overdue = c.Overdue || r.MaxLagMs > 0 && s.first > 0 && s.first < now-r.MaxLagMs
	}
	return c, nil
}

// isYoung tells whether a segment has a record that is younger than lag; without times its last write counts.
func (p *Partition) isYoung(s *segment, lag, now int64) (bool, error) {
	if lag <= 0 {
		return false, nil
	}
	newest, err := p.writtenAt(SegmentInfo{Base: s.base, MaxTimestamp: s.maxTime}, now)
	return newest > now-lag, err
}

// firstDirtyLocked is the first offset that no compaction has seen.
func (p *Partition) firstDirtyLocked() int64 {
	if p.cleaned.clean < p.start || p.cleaned.clean > p.end {
		return p.start
	}
	return p.cleaned.clean
}

// settledLocked tells whether nothing is to be written to a segment any more.
func (p *Partition) settledLocked(s *segment) bool {
	for _, l := range [][]*segment{p.pending, p.sealed} {
		for _, other := range l {
			if other == s {
				return false
			}
		}
	}
	return true
}

// Clean compacts what waits for it when the rules want that. Readers and writers go on beside it. It needs room for one
// segment more. When keys do not fit into the map it takes several passes.
//
// The error wraps ErrStorage; after it the partition is as whole as before, and maybe partly compacted. A *[Damage] in it
// says that a stored batch is not what was written.
func (p *Partition) Clean(ctx context.Context, r CleanRules, c *Cleaner) (Cleaned, error) {
	var done Cleaned
	c.started, c.spent = time.Now(), 0
	for {
		work, err := p.Cleanable(r, c.opt.Now())
		if err != nil || done.Passes == 0 && !work.Due(r) || work.DirtyBytes == 0 {
			return done, err
		}
		err = p.cleanPass(ctx, r, c, work, &done)
		if errors.Is(err, errNotNow) || errors.Is(err, errRemoved) && !p.isRemoved() {
			return done, nil // the next round looks at what is there by then
		}
		if p.isRemoved() {
			return done, ErrRemoved
		}
		if err != nil {
			if ctx.Err() != nil {
				return done, ctx.Err()
			}
			p.mended(err)
			return done, p.storage(fmt.Errorf("compact partition %s: %w", p.id, err))
		}
		done.Passes++
	}
}

// cleanPass reads as much of the dirty part as the map has room for, and then writes all segments up to there anew.
func (p *Partition) cleanPass(ctx context.Context, r CleanRules, c *Cleaner, work Cleanable, done *Cleaned) error {
	if err := p.forgetSwap(); err != nil {
		return err
	}
	aborted, err := p.abortedTxns()
	if err != nil {
		return err
	}
	segments, last := p.toClean(work.To)
	keys, err := p.mapKeys(ctx, c, segments, work, aborted, done)
	if err != nil {
		return err
	}
	c.filter.keys, c.filter.now, c.filter.retention = keys, c.opt.Now(), r.DeleteRetentionMs
	c.filter.txns, c.filter.last = newCleanedTxns(aborted, 0), last
	for len(segments) > 0 && segments[0].base <= keys.through {
		n := p.groupOf(segments, keys.through)
		if err := p.cleanGroup(ctx, c, segments[:n:n], done); err != nil {
			return err
		}
		segments = segments[n:]
	}
	c.filter.keys = nil
	done.To = keys.through + 1
	return p.noteClean(keys.through + 1)
}

// forgetSwap makes sure that the file "cleaned" names no swap, before files are written that could be taken for its own.
func (p *Partition) forgetSwap() error {
	p.mu.Lock()
	named, clean := p.cleaned.swap.base >= 0, p.cleaned.clean
	p.mu.Unlock()
	if !named {
		return nil
	}
	return p.noteClean(clean)
}

// sealedSegment is a segment with the base of the one behind it.
type sealedSegment struct {
	*segment
	next int64
}

// toClean gives the segments below an offset, and the last batches of producers.
func (p *Partition) toClean(to int64) ([]sealedSegment, map[int64]lastOfProducer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []sealedSegment
	for i, s := range p.segments[:max(len(p.segments)-1, 0)] {
		if next := p.segments[i+1].base; next <= to {
			out = append(out, sealedSegment{s, next})
		}
	}
	last := make(map[int64]lastOfProducer, len(p.producers))
	for id, one := range p.producers {
		last[id] = lastOfProducer{dataOffset: one.lastOffset(), epoch: one.epoch}
	}
	return out, last
}

// groupOf is how many of the segments fit into one, as Kafka joins them: by the sizes that they have now.
func (p *Partition) groupOf(segments []sealedSegment, through int64) int {
	p.mu.Lock()
	most := p.config.SegmentBytes
	p.mu.Unlock()
	size, n := segments[0].size, 1
	for ; n < len(segments); n++ {
		s := segments[n]
		if size += s.size; s.base > through || size > most || s.next-segments[0].base > math.MaxInt32 {
			break
		}
	}
	return n
}
