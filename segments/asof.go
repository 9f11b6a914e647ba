package segments

import "sort"

// EndAsOf is the partition's end as of a journal entry: the offset behind the last batch that was admitted when the
// journal had got no further than seq. known is false when that batch's stamp was lost with its index; then end is the
// highest that it can have been.
func (p *Partition) EndAsOf(seq uint64) (end int64, known bool, err error) {
	end, known, err = p.endAsOf(seq)
	if p.mended(err) {
		end, known, err = p.endAsOf(seq)
	}
	return end, known, p.storage(err)
}

func (p *Partition) endAsOf(seq uint64) (int64, bool, error) {
	start, segments, err := p.searchable()
	if err != nil {
		return 0, false, err
	}
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
	if err != nil || i == 0 {
		return start, true, err
	}
	v, err := viewOf(segments[i-1])
	if err != nil {
		return 0, false, err
	}
	defer v.release()
	at, _, err := v.place(v.flushed/2, func(e *entry) bool { return e.stamp > seq })
	if err != nil || at == 0 {
		return start, true, err
	}
	last, err := v.entry(at - 1)
	return max(start, last.last()+1), last.attributes&entryStampUnknown == 0, err
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
