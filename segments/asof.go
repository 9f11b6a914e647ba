package segments

import "sort"

// EndAsOf is the partition's end as of a journal entry: the offset behind the last batch that was admitted when the
// journal had got no further than seq. known is false when that batch's stamp was lost, with its index or because batches
// behind it were compacted away; then end is the highest that it can have been.
func (p *Partition) EndAsOf(seq uint64) (end int64, known bool, err error) {
	err = p.search(func(start int64, segments []*segment) (err error) {
		end, known, err = p.endAsOf(seq, start, segments)
		return err
	})
	return end, known, err
}

func (p *Partition) endAsOf(seq uint64, start int64, segments []*segment) (end int64, known bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	// The last segment that begins with a stamp up to seq has the answer.
	i := sort.Search(len(segments), func(i int) bool {
		var e entry
		if err == nil && segments[i].size > 0 {
			e, err = segments[i].firstEntry()
		}
		return err != nil || segments[i].size == 0 || e.stamp > seq
	})
	end, known = start, true
	if err != nil {
		return 0, false, err
	}
	if i > 0 {
		var at int
		var last, next *entry
		if at, last, next, err = around(segments[i-1], seq); err != nil {
			return 0, false, err
		}
		if at > 0 {
			end, known = max(start, last.last()+1), last.attributes&entryStampUnknown == 0
		}
		if next != nil {
			end, known = upTo(next, end, known)
			return end, known, nil
		}
	}
	if i < len(segments) && segments[i].size > 0 {
		next, err := segments[i].firstEntry()
		if err != nil {
			return 0, false, err
		}
		end, known = upTo(&next, end, known)
	}
	return end, known, nil
}

// upTo looks at the first batch that came later: one that does not begin at the end follows others that were compacted away,
// and their stamps with them.
func upTo(next *entry, end int64, known bool) (int64, bool) {
	if next.offset > end {
		return next.offset, false
	}
	return end, known
}

// around finds the last entry of a segment with a stamp up to seq, there being at of them, and the one behind it.
func around(s *segment, seq uint64) (at int, last, next *entry, err error) {
	v, err := viewOf(s)
	if err != nil {
		return 0, nil, nil, err
	}
	defer v.release()
	at, found, err := v.place(v.flushed/2, func(e *entry) bool { return e.stamp > seq })
	if err != nil {
		return 0, nil, nil, err
	}
	if at < v.flushed+len(v.tail) {
		next = &found
	}
	if at > 0 {
		e, err := v.entry(at - 1)
		if err != nil {
			return 0, nil, nil, err
		}
		last = &e
	}
	return at, last, next, nil
}

// entry reads one entry by number.
func (v *view) entry(i int) (entry, error) {
	if i >= v.flushed {
		return v.tail[i-v.flushed], nil
	}
	e, err := oneEntry(v.index, i)
	if err != nil {
		return entry{}, &badIndex{v.s, err}
	}
	return e, nil
}
