package segments

import (
	"errors"
	"io"
	"math"
)

// Found is a record that ListOffsets asks for.
type Found struct {
	Offset      int64
	Timestamp   int64
	LeaderEpoch int32
}

// OffsetForTime finds the first record, from the log's start on, whose timestamp is at least ts. It looks inside the
// batch, compressed or not.
func (p *Partition) OffsetForTime(ts int64) (Found, bool, error) {
	start, segments, err := p.searchable()
	if err != nil {
		return Found{}, false, err
	}
	for _, s := range segments {
		found, ok, err := p.timeInSegment(s, ts, start)
		if ok || err != nil {
			return found, ok, p.storage(err)
		}
	}
	return Found{}, false, nil
}

// MaxTimestamp finds the first record that has the largest timestamp.
func (p *Partition) MaxTimestamp() (Found, bool, error) {
	start, segments, err := p.searchable()
	if err != nil {
		return Found{}, false, err
	}
	best := int64(math.MinInt64)
	var in *segment
	for _, s := range segments {
		most, ok, err := p.maxTimeOf(s)
		if err != nil {
			return Found{}, false, p.storage(err)
		}
		if ok && most > best {
			best, in = most, s
		}
	}
	if in == nil || best < 0 { // nothing there, or nothing has a timestamp
		return Found{}, false, nil
	}
	found, ok, err := p.timeInSegment(in, best, start)
	return found, ok, p.storage(err)
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
	if errors.Is(err, errRemoved) {
		return Found{}, false, nil
	}
	if err != nil {
		return Found{}, false, err
	}
	defer v.release()
	e, ok, err := v.search(func(e *entry) bool { return e.maxSoFar >= ts && e.last() >= start })
	for ok && err == nil {
		if e.maxTime >= ts {
			found, hit, err := v.timeInBatch(&e, ts, start)
			if hit || err != nil {
				return found, hit, err
			}
		}
		next := e.last() + 1
		e, ok, err = v.batchWith(next)
	}
	return Found{}, false, err
}

// timeInBatch walks the records of a stored batch.
func (v *view) timeInBatch(e *entry, ts, start int64) (Found, bool, error) {
	raw := make([]byte, e.size)
	if _, err := v.log.ReadAt(raw, int64(e.position)); err != nil && err != io.EOF {
		return Found{}, false, err
	}
	h := parseHeader(raw)
	if h.LogAppendTime() {
		if h.MaxTimestamp < ts {
			return Found{}, false, nil
		}
		return Found{max(h.BaseOffset, start), h.MaxTimestamp, h.LeaderEpoch}, true, nil
	}
	w, err := openRecords(&h, raw[headerBytes:], math.MaxInt64)
	if err != nil {
		return Found{}, false, err
	}
	defer w.close()
	for range h.Records {
		var r record
		if err := w.next(&r); err != nil {
			return Found{}, false, err
		}
		offset, timestamp := h.BaseOffset+int64(r.offsetDelta), h.BaseTimestamp+r.timestampDelta
		if timestamp >= ts && offset >= start {
			return Found{offset, timestamp, h.LeaderEpoch}, true, nil
		}
	}
	return Found{}, false, nil
}
