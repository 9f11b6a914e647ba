package segments

import (
	"cmp"
	"errors"
	"slices"
)

// Found is a record that ListOffsets asks for.
type Found struct {
	Offset      int64
	Timestamp   int64
	LeaderEpoch int32
}

// OffsetForTime finds the first record, from the log's start on, whose timestamp is at least ts. It looks inside the
// batch, compressed or not.
func (p *Partition) OffsetForTime(ts int64) (found Found, ok bool, err error) {
	err = p.search(func(start int64, segments []*segment) error {
		for _, s := range segments {
			if found, ok, err = p.timeInSegment(s, ts, start); ok || err != nil {
				return err
			}
		}
		return nil
	})
	return found, ok, err
}

// MaxTimestamp finds the first record, from the log's start on, that has the largest timestamp; none when no record has
// a timestamp. The index tells which segment to look into.
func (p *Partition) MaxTimestamp() (best Found, any bool, err error) {
	err = p.search(func(start int64, segments []*segment) error {
		best, any = Found{}, false
		newest, err := p.newestFirst(start, segments)
		for _, n := range newest {
			if err != nil || any && n.most <= best.Timestamp {
				break
			}
			var found Found
			var ok bool
			if found, ok, err = p.largestInSegment(n.segment, n.most, start); ok && (!any || found.Timestamp > best.Timestamp) {
				best, any = found, true
			}
		}
		return err
	})
	return best, any, err
}

// newest is a segment with the largest timestamp in it.
type newest struct {
	*segment
	most int64
}

// newestFirst lists the segments that have timestamps, those with the largest first.
func (p *Partition) newestFirst(start int64, segments []*segment) (out []newest, err error) {
	for _, s := range segments {
		most, ok, err := p.maxTimeFrom(s, start)
		if err != nil {
			return nil, err
		}
		if ok && most >= 0 {
			out = append(out, newest{s, most})
		}
	}
	slices.SortStableFunc(out, func(a, b newest) int { return cmp.Compare(b.most, a.most) })
	return out, nil
}

// search calls f with the log's start and segments, and again when an index had to be made whole, or when one of the
// segments was deleted or replaced on the way.
func (p *Partition) search(f func(start int64, segments []*segment) error) error {
	for mended := false; ; {
		start, segments, err := p.searchable()
		if err == nil {
			err = f(start, segments)
		}
		switch {
		case errors.Is(err, errRemoved):
		case !mended && p.mended(err):
			mended = true
		default:
			return p.storage(err)
		}
	}
}

// largestInSegment finds the first record with the largest timestamp; by the heads of the batches that is most. When the
// batch that has it cannot be read, all others are tried.
func (p *Partition) largestInSegment(s *segment, most, start int64) (best Found, any bool, err error) {
	if best, any, err = p.timeInSegment(s, most, start); any || err != nil {
		return best, any, err
	}
	p.mu.Lock()
	v, err := viewOf(s)
	p.mu.Unlock()
	if err != nil {
		return Found{}, false, err
	}
	defer v.release()
	holds := func(e *entry) bool { return e.last() >= start }
	err = v.eachFrom(v.guess(start, s.base, v.end), holds, func(e *entry) (bool, error) {
		if any && e.maxTime <= best.Timestamp {
			return true, nil
		}
		return true, v.eachRecord(e, func(offset, timestamp int64) bool {
			if offset >= start && timestamp >= 0 && (!any || timestamp > best.Timestamp) {
				best, any = Found{offset, timestamp, e.epoch}, true
			}
			return true
		})
	})
	return best, any, err
}

// maxTimeFrom is the largest timestamp of a segment's records at or behind start. In a segment that the log's start
// lies in, the batches behind it are looked at one by one, the first of them record by record.
func (p *Partition) maxTimeFrom(s *segment, start int64) (most int64, ok bool, err error) {
	if s.base >= start {
		return p.maxTimeOf(s)
	}
	p.mu.Lock()
	v, err := viewOf(s)
	p.mu.Unlock()
	if err != nil {
		return 0, false, err
	}
	defer v.release()
	most = -1
	holds := func(e *entry) bool { return e.last() >= start }
	err = v.eachFrom(v.guess(start, s.base, v.end), holds, func(e *entry) (bool, error) {
		if e.offset >= start {
			most = max(most, e.maxTime)
			return true, nil
		}
		return true, v.eachRecord(e, func(offset, timestamp int64) bool {
			if offset >= start {
				most = max(most, timestamp)
			}
			return true
		})
	})
	return most, most >= 0, err
}

func (p *Partition) searchable() (int64, []*segment, error) {
	if err := p.ready(); err != nil {
		return 0, nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.start, p.segments, p.usable()
}

// maxTimeOf is the largest timestamp in a segment; ok is false when it is empty.
func (p *Partition) maxTimeOf(s *segment) (int64, bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.size == 0 {
		return 0, false, nil
	}
	err := s.learn()
	return s.maxTime, true, err
}

// timeInSegment finds the first record at or behind start with a timestamp of at least ts. The entries' running maximum
// leads to the first batch that has one; only when part of the segment was deleted can that be the wrong batch, and then
// the batches behind it are tried in turn.
func (p *Partition) timeInSegment(s *segment, ts, start int64) (Found, bool, error) {
	if most, ok, err := p.maxTimeOf(s); err != nil || !ok || most < ts {
		return Found{}, false, err
	}
	p.mu.Lock()
	v, err := viewOf(s)
	p.mu.Unlock()
	if err != nil {
		return Found{}, false, err
	}
	defer v.release()
	var found Found
	hit := false
	holds := func(e *entry) bool { return e.maxSoFar >= ts && e.last() >= start }
	err = v.eachFrom(v.guess(ts, v.first, v.maxTime), holds, func(e *entry) (bool, error) {
		if e.maxTime >= ts {
			var err error
			found, hit, err = v.timeInBatch(e, ts, start)
			return !hit, err
		}
		return true, nil
	})
	return found, hit, err
}

// timeInBatch walks the records of a stored batch.
func (v *view) timeInBatch(e *entry, ts, start int64) (found Found, hit bool, err error) {
	err = v.eachRecord(e, func(offset, timestamp int64) bool {
		if hit = timestamp >= ts && offset >= start; hit {
			found = Found{offset, timestamp, e.epoch}
		}
		return !hit
	})
	return found, hit, err
}
