package segments

import (
	"errors"
	"fmt"
	"math"
)

// Admission is what the broker adds to a batch.
type Admission struct {
	LeaderEpoch   int32
	JournalSeq    uint64 // the last journal entry that the broker knew of: "the state as of it" includes the batch
	Now           int64  // ms
	LogAppendTime bool   // message.timestamp.type of the topic
	// Admit is asked about a transactional batch that would be appended, under the partition's write lock and before
	// anything is stored; its error is returned as it is, and nothing changes. nil: every batch is taken.
	Admit func() error
	// EpochBump: the producer has a new epoch for each transaction (transactions v2, Produce v12+), so that the first batch
	// of one has sequence 0.
	EpochBump bool
}

// Appended is what Produce answers.
type Appended struct {
	BaseOffset int64
	LastOffset int64
	LogStart   int64
	// AppendTime is log_append_time_ms: -1 unless the topic has log append time. For a duplicate it is, as Kafka has it,
	// the max timestamp of the original whatever the topic's type.
	AppendTime int64
	Duplicate  bool // written before: the offsets are the original ones
}

// Append writes a batch behind the log's end and notifies who waits. The batch's bytes get offset, leader epoch and
// (LogAppendTime) time written into them.
//
// Errors: *[ProducerError], [ErrLargerThanSegment], [ErrRemoved], Admit's; all others wrap [ErrStorage]. After any of them
// the log is as before.
func (p *Partition) Append(b *Batch, a Admission) (Appended, error) {
	if a.LogAppendTime {
		b.setTime(a.Now, true)
	}
	if err := p.settled(); err != nil {
		return Appended{}, err
	}
	p.write.Lock()
	defer p.write.Unlock()
	if err := p.writable(); err != nil {
		return Appended{}, err
	}
	if int64(len(b.raw)) > p.config.SegmentBytes {
		return Appended{}, fmt.Errorf("append batch of %d bytes: %w (%d)", len(b.raw), ErrLargerThanSegment, p.config.SegmentBytes)
	}
	if b.Idempotent() {
		original, err := p.admit(b, &a)
		if err != nil {
			return Appended{}, err
		}
		if original != nil {
			return Appended{BaseOffset: original.FirstOffset, LastOffset: original.LastOffset, LogStart: p.start,
				AppendTime: original.Timestamp, Duplicate: true}, nil
		}
	}
	if err := p.store(b, &a); err != nil {
		return Appended{}, err
	}
	if b.Idempotent() && b.Transactional() {
		p.verifying.began(b.ProducerID)
	}
	return p.appended(b, &a), nil
}

// appended is the answer for a batch that is in the log.
func (p *Partition) appended(b *Batch, a *Admission) Appended {
	done := Appended{BaseOffset: b.BaseOffset, LastOffset: b.LastOffset(), LogStart: p.start, AppendTime: -1}
	if a.LogAppendTime {
		done.AppendTime = b.MaxTimestamp
	}
	return done
}

// admit decides whether a producer's batch may be appended: the batch it repeats, or nil to append it. A batch that would
// be its transaction's first here is not compared with earlier ones before it is known that the transaction is open, as in
// Kafka. The caller holds write.
func (p *Partition) admit(b *Batch, a *Admission) (*ProducerBatch, error) {
	asked := !b.Transactional() || a.Admit == nil
	if !asked {
		open, err := p.startVerification(&b.Header, a.EpochBump)
		if err == nil && !open {
			asked, err = true, a.Admit()
		}
		if err != nil {
			return nil, err
		}
	}
	original, err := p.producers.admit(&b.Header, p.verifying[b.ProducerID])
	if err == nil && original == nil && !asked {
		err = a.Admit()
	}
	return original, err
}

// writable opens the partition when needed; the caller holds write. The question whether the directory is closed comes
// after the opening: either it is seen closed here, or Close sees the partition opened and waits for write.
func (p *Partition) writable() error {
	if !p.opened.Load() {
		if err := p.openLocked(); err != nil {
			return err
		}
	}
	if p.dir.closed.Load() {
		return ErrRemoved
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.usable(); err != nil {
		return err
	}
	return p.failed
}

// store writes the batch; the caller holds write.
func (p *Partition) store(b *Batch, a *Admission) error {
	s, err := p.segmentFor(b, a.Now)
	if err == nil {
		b.place(p.end, a.LeaderEpoch)
		err = s.put(b.raw, p.config.SegmentBytes)
	}
	if err != nil {
		p.tell(Writing, err)
		if broken := (*unclean)(nil); errors.As(err, &broken) {
			p.fail(Writing, err)
		}
		return fmt.Errorf("append to partition %s: %w: %w", p.id, ErrStorage, err)
	}
	p.publish(s, b, a)
	return p.flushDue()
}

// segmentFor returns the segment that the batch goes to, rolling when it is time.
func (p *Partition) segmentFor(b *Batch, now int64) (*segment, error) {
	var active *segment
	if n := len(p.segments); n > 0 {
		active = p.segments[n-1]
	}
	if active != nil {
		err := p.learn(active)
		if p.mendLocked(err) {
			err = p.learn(active)
		}
		if err != nil {
			return nil, err
		}
	}
	if active != nil && !p.mustRoll(active, b, now) {
		if p.entriesInMemory(active) < tailMost {
			return active, nil
		}
		return active, p.flushIndex(active, 1, 0)
	}
	s, err := p.createSegment(p.end, now)
	if err != nil {
		return nil, err
	}
	p.addSegment(active, s)
	return s, nil
}

// entriesInMemory asks under mu: a coarse sync takes them away beside the appender.
func (p *Partition) entriesInMemory(s *segment) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(s.tail)
}

// mustRoll decides as Kafka: by size, by age (in the records' time, when the first batch had one), and so that an
// offset in the segment is its base plus 31 bits.
func (p *Partition) mustRoll(s *segment, b *Batch, now int64) bool {
	if s.size == 0 {
		return false
	}
	if s.size+int64(len(b.raw)) > p.config.SegmentBytes || p.end+int64(b.LastOffsetDelta)-s.base > math.MaxInt32 {
		return true
	}
	if p.config.SegmentMs <= 0 {
		return false
	}
	if s.first >= 0 {
		return b.MaxTimestamp-s.first > p.config.SegmentMs
	}
	return s.created > 0 && now-s.created > p.config.SegmentMs
}

// addSegment makes s the one that is written, and seals the one before it.
func (p *Partition) addSegment(before, s *segment) {
	state := encodeState(p.epochs, p.producers)
	p.mu.Lock()
	defer p.mu.Unlock()
	if before != nil {
		before.state = state
		p.sealed = append(p.sealed, before)
		p.boundStates()
	}
	p.segments = append(p.segments[:len(p.segments):len(p.segments)], s)
}

// statesMost is what the states of full segments may take that wait to be finished, beside the newest.
const statesMost = 8 << 20

// boundStates lets go of the oldest states of full segments when they take too much: those have no snapshot behind them then,
// and a recovery begins further back. The caller holds mu.
func (p *Partition) boundStates() {
	bytes := 0
	for i := len(p.sealed) - 2; i >= 0; i-- {
		s := p.sealed[i]
		if s.state == nil {
			return // and so have all before
		}
		if bytes += len(s.state); bytes > statesMost {
			s.state = nil
		}
	}
}

// publish lets readers see a batch that was written.
func (p *Partition) publish(s *segment, b *Batch, a *Admission) {
	p.mu.Lock()
	e := entryOf(&b.Header, s.size, a.JournalSeq, s.before())
	e.stamp = max(e.stamp, s.stamp)
	s.stamp = e.stamp
	s.tail = append(s.tail, e)
	s.size = e.end()
	if s.flushed+len(s.tail) == 1 {
		s.first = b.MaxTimestamp
	}
	s.maxTime, s.end = e.maxSoFar, e.last()+1
	if ended := p.apply(&e); e.attributes&entryAbort != 0 {
		p.noteAborted(s, &e, ended)
	}
	p.touched = true
	if n := len(p.pending); n == 0 || p.pending[n-1] != s {
		p.pending = append(p.pending, s)
	}
	queue := !p.dirty
	p.dirty = true
	p.notifyLocked()
	p.mu.Unlock()
	if queue {
		p.dir.queue(p)
	}
}

// apply folds a batch into what the partition knows of its log. ended is as in producers.apply.
func (p *Partition) apply(e *entry) (ended int64) {
	p.end = e.last() + 1
	p.epochs.assign(e.epoch, e.offset)
	return p.producers.apply(e, &p.open)
}

// noteAborted puts an aborted transaction on its segment's list; the caller holds mu.
func (p *Partition) noteAborted(s *segment, e *entry, first int64) {
	if !s.aborted.any {
		p.survey = survey{}
	}
	s.aborted.add(aborted{e.producerID, first, e.offset, p.open.stable(p.end)}, first >= 0)
}
