package segments

import (
	"errors"
	"sort"
)

// survey is which segments of a partition have a list of aborted transactions. It holds as long as the partition has those
// segments, and none of them gets its first list.
type survey struct {
	of   []*segment
	with []*segment
}

// holds tells whether the survey is of these segments. The partition's slice is made anew when it changes, so its place and
// length say which it is.
func (v *survey) holds(segments []*segment) bool {
	return len(v.of) > 0 && len(v.of) == len(segments) && &v.of[0] == &segments[0]
}

// withAborted gives the segments that have a list, from the one that begins at base on.
func (p *Partition) withAborted(base int64) ([]*segment, error) {
	for {
		p.mu.Lock()
		segments := p.segments
		if p.survey.holds(segments) {
			with := p.survey.with
			p.mu.Unlock()
			i := sort.Search(len(with), func(i int) bool { return with[i].base >= base })
			return with[i:], nil
		}
		p.mu.Unlock()
		if len(segments) == 0 {
			return nil, nil
		}
		if err := p.surveyed(segments); err != nil {
			return nil, err
		}
	}
}

// surveyed makes the survey of segments, each of which is asked once since it was opened.
func (p *Partition) surveyed(segments []*segment) error {
	made := survey{of: segments}
	for _, s := range segments {
		if err := p.learn(s); err != nil {
			return err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range segments {
		if s.aborted.any {
			made.with = append(made.with, s)
		}
	}
	p.survey = made
	return nil
}

// addAborted adds to a span what read_committed needs: the aborted transactions that have batches from the offset asked for
// up to the span's end.
func (v *view) addAborted(p *Partition, span *Span, first *entry, q Fetch, limit int64) error {
	with, err := p.withAborted(v.s.base)
	if err != nil || len(with) == 0 {
		return err
	}
	to, err := v.endOf(span, first, limit)
	if err != nil {
		return err
	}
	for _, s := range with {
		p.mu.Lock()
		search := abortedSearch{abortedList: s.aborted, last: &p.listed, from: q.Offset, to: to}
		p.mu.Unlock()
		if !search.usable {
			return errBadAborted
		}
		var more bool
		if span.Aborted, more, err = search.collect(span.Aborted); errors.Is(err, errBadAborted) {
			p.mu.Lock()
			s.aborted.usable, s.aborted.tail = false, nil
			p.mu.Unlock()
		}
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// unindexed is how many bytes of a segment Kafka has no index entry for (index.interval.bytes): for its list of aborted
// transactions what lies among them ends where the segment does.
const unindexed = 4096

// endOf is the offset that the span, which begins with the batch first, ends at for the list of its aborted transactions.
func (v *view) endOf(span *Span, first *entry, limit int64) (int64, error) {
	end := span.pos + int64(span.n)
	switch {
	case v.size <= unindexed || end == v.size:
		return v.end, nil
	case end <= first.end():
		return first.last() + 1, nil
	}
	at, e, err := v.place(v.guess(end, 0, v.size), func(e *entry) bool { return int64(e.position) >= end })
	if err != nil || at == v.flushed+len(v.tail) {
		return min(v.end, limit), err
	}
	return min(e.offset, limit), nil
}

// relisted tells whether err was a list that is whole again now, so that the caller may try once more.
func (p *Partition) relisted(err error) bool {
	if !errors.Is(err, errBadAborted) {
		return false
	}
	p.write.Lock()
	defer p.write.Unlock()
	return p.rebuildAborted() == nil
}

// rebuildAborted makes the lists that are not usable anew from the index entries: from the first segment that lacks one on,
// or from the one before it that has a snapshot of the transactions that were open. The caller holds write.
func (p *Partition) rebuildAborted() error {
	p.mu.Lock()
	segments := p.segments
	first, last := len(segments), -1
	for i, s := range segments {
		if s.aborted.lacking() {
			first, last = min(first, i), i
		}
	}
	p.mu.Unlock()
	if last < 0 {
		return nil
	}
	state := producers{}
	for ; first >= 0; first-- {
		if _, t, err := p.readSnapshot(segments[first].base); err == nil {
			state = t
			break
		}
	}
	r := relisting{p: p, producers: state, open: state.openTxns()}
	for _, s := range segments[max(first, 0) : last+1] {
		if err := r.segment(s); err != nil {
			return err
		}
	}
	return nil
}

// relisting folds index entries into lists of aborted transactions.
type relisting struct {
	p         *Partition
	producers producers
	open      openTxns
	list      []byte // of the segment at hand, not written yet
}

// segment folds a segment, and writes its list when it lacks one.
func (r *relisting) segment(s *segment) error {
	s.flushing.Lock()
	defer s.flushing.Unlock()
	r.p.mu.Lock()
	list := s.aborted.lacking()
	v, err := viewOf(s)
	r.p.mu.Unlock()
	if err != nil {
		return err
	}
	defer v.release()
	fresh := abortedList{file: s.aborted.file, made: s.aborted.made + 1, any: true, usable: true}
	err = v.eachAfter(-1, func(e *entry) (bool, error) {
		ended := r.producers.apply(e, &r.open)
		if !list || ended < 0 || e.attributes&entryAbort == 0 {
			return true, nil
		}
		r.list = appendAborted(r.list, &aborted{e.producerID, ended, e.offset, r.open.stable(e.last() + 1)})
		if len(r.list) >= 512*abortedBytes {
			return true, r.flush(&fresh)
		}
		return true, nil
	})
	if err != nil || !list {
		return err
	}
	lines := fresh.flushed + len(r.list)/abortedBytes
	r.list = appendAborted(r.list, &aborted{producer: -1, first: int64(lines), last: v.end - 1, stable: v.size})
	if err := r.flush(&fresh); err != nil {
		return err
	}
	r.p.mu.Lock()
	s.aborted = fresh
	r.p.mu.Unlock()
	return nil
}

func (r *relisting) flush(l *abortedList) error {
	if err := l.write(r.list); err != nil {
		return err
	}
	l.flushed += len(r.list) / abortedBytes
	r.list = r.list[:0]
	return nil
}
