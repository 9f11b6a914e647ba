package segments

import (
	"context"
	"fmt"
)

const cleanerReadBytes = 1 << 20

// logReader reads a log from front to back, much at a time.
type logReader struct {
	v   *view
	buf []byte
	at  int64 // position of buf
}

// batch gives the bytes of an entry's batch. They are valid until the next call.
func (l *logReader) batch(e *entry) ([]byte, error) {
	pos, size := int64(e.position), int64(e.size)
	if pos < l.at || pos+size > l.at+int64(len(l.buf)) {
		n := min(max(size, cleanerReadBytes), l.v.size-pos)
		if int64(cap(l.buf)) < n {
			l.buf = make([]byte, n)
		}
		l.buf, l.at = l.buf[:n], pos
		if got, err := l.v.log.ReadAt(l.buf, pos); int64(got) < n {
			return nil, fmt.Errorf("read log at %d: %w", pos, inBatch(err))
		}
	}
	return l.buf[pos-l.at:][:size], nil
}

// eachBatch calls f with the batches of a segment from an offset on, until it says stop. Each is held against its index
// entry and its checksum: what is not as it was written must not be written again with a checksum that fits.
func (p *Partition) eachBatch(ctx context.Context, c *Cleaner, s *segment, from int64, f func(*Header, []byte, *entry) (bool, error)) error {
	p.mu.Lock()
	v, err := viewOf(s)
	p.mu.Unlock()
	if err != nil {
		return err
	}
	defer v.release()
	r := logReader{v: &v, buf: c.raw[:0]}
	defer func() { c.raw = r.buf }()
	step := func(e *entry) (bool, error) {
		if err := c.spend(ctx, int(e.size)); err != nil {
			return false, err
		}
		raw, err := r.batch(e)
		if err != nil {
			return false, err
		}
		h := parseHeader(raw)
		if h.Control() && h.Records > 0 {
			h.Marker, _ = parseMarker(raw[headerBytes:])
			h.Marker.Known = true // what is none differs from its entry
		}
		if !e.sameBatch(&h, int64(e.position)) || !whole(&h, raw) {
			return false, &Damage{File: s.log.name, Position: int64(e.position), Offset: e.offset, Detail: "the batch is not what was written"}
		}
		return f(&h, raw, e)
	}
	if from <= s.base {
		return v.eachAfter(-1, step)
	}
	return v.eachFrom(v.guess(from, s.base, v.end), func(e *entry) bool { return e.last() >= from }, step)
}

// mapKeys reads the keys of the dirty part, in the order of offsets, until the map is full. One batch it takes however many
// keys it has: a pass must come further than the one before.
func (p *Partition) mapKeys(ctx context.Context, c *Cleaner, segments []sealedSegment, work Cleanable, aborted []abortedTxn, done *Cleaned) (*keyMap, error) {
	m := newKeyMap(c.opt.MapBytes, work.From)
	txns := newCleanedTxns(aborted, work.From)
	first := true
	for _, s := range segments {
		if s.next <= work.From {
			continue
		}
		full := false
		err := p.eachBatch(ctx, c, s.segment, work.From, func(h *Header, raw []byte, e *entry) (bool, error) {
			done.BytesRead += int64(len(raw))
			if txns.read(h) || h.Control() || c.mapBatch(m, h, raw, work.From, first) {
				m.through, first = h.LastOffset(), false
				return true, nil
			}
			full = true
			return false, nil
		})
		if err != nil || full {
			return m, err
		}
		m.through = s.next - 1
	}
	return m, nil
}

// mapBatch puts a batch's keys into the map, and says whether all had room.
func (c *Cleaner) mapBatch(m *keyMap, h *Header, raw []byte, from int64, force bool) bool {
	records, err := c.filter.inflate.records(h, raw)
	if err != nil {
		return true // it stays as it is
	}
	if !c.filter.hashKeys(m, records, h.Records) {
		return true // it stays too
	}
	for i := range c.filter.hashes {
		k := &c.filter.hashes[i]
		if offset := h.BaseOffset + int64(k.offsetDelta); k.keyed && offset >= from && !m.put(k.keyHash, offset, force) {
			return false
		}
	}
	return true
}

// cleanGroup writes segments anew as one, and puts it in their place when that changes anything.
func (p *Partition) cleanGroup(ctx context.Context, c *Cleaner, group []sealedSegment, done *Cleaned) error {
	base, end := group[0].base, group[len(group)-1].next
	w, err := p.newCleaned(base, c)
	if err != nil {
		return err
	}
	changed := len(group) > 1
	old := make([]*segment, len(group))
	for i, s := range group {
		old[i] = s.segment
		done.BytesBefore += s.size
		if err = p.cleanInto(ctx, c, w, s.segment, end, &changed, done); err != nil {
			break
		}
	}
	if err == nil && changed {
		err = w.sync()
	}
	w.close(c)
	if err == nil && changed {
		err = p.swapIn(old, w, end)
	}
	if err != nil || !changed {
		p.discardUnlessNamed(base)
	}
	done.Bytes += w.size()
	return err
}

// discardUnlessNamed removes what was written for a segment, unless the file "cleaned" may name it.
func (p *Partition) discardUnlessNamed(base int64) {
	p.shape.Lock()
	defer p.shape.Unlock()
	p.mu.Lock()
	named := p.stuck != nil || p.cleaned.swap.base == base || p.removed
	p.mu.Unlock()
	if !named {
		p.discardCleaned(base)
	}
}

// cleanInto writes what stays of a segment.
func (p *Partition) cleanInto(ctx context.Context, c *Cleaner, w *cleanedSegment, s *segment, end int64, changed *bool, done *Cleaned) error {
	return p.eachBatch(ctx, c, s, s.base, func(h *Header, raw []byte, e *entry) (bool, error) {
		done.BytesRead += int64(len(raw))
		done.BatchesRead++
		left := c.filter.batch(h, raw, end)
		*changed = *changed || len(left) != len(raw) || len(left) > 0 && &left[0] != &raw[0]
		if len(left) == 0 {
			return true, nil
		}
		done.Batches++
		if err := c.spend(ctx, len(left)); err != nil {
			return false, err
		}
		return true, w.add(left, e, h.Marker)
	})
}
