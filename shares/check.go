package shares

import "fmt"

// Check says what is wrong with the partition, if anything is. Tests call it after every step.
func (p *Partition) Check() error {
	last := int64(-1)
	for i := range p.batches {
		b := &p.batches[i]
		if b.first <= last {
			return fmt.Errorf("batch %d-%d: begins before the end of the one before (%d)", b.first, b.last, last)
		}
		if err := b.check(); err != nil {
			return fmt.Errorf("batch %d-%d: %w", b.first, b.last, err)
		}
		last = b.last
	}
	switch {
	case last > p.end:
		return fmt.Errorf("end %d: a batch ends at %d", p.end, last)
	case len(p.batches) == 0 && p.start != p.end:
		return fmt.Errorf("start %d, end %d: nothing is in flight", p.start, p.end)
	case len(p.batches) == 0 && p.complete != 0:
		return fmt.Errorf("%d done: nothing is in flight", p.complete)
	}
	if done := p.doneBetween(p.start, p.end); done != p.complete {
		return fmt.Errorf("%d done of those from %d on, %d counted", done, p.start, p.complete)
	}
	return nil
}

func (b *batch) check() error {
	if len(b.runs) == 0 || !b.byOffset && len(b.runs) != 1 {
		return fmt.Errorf("%d runs, by offset %t", len(b.runs), b.byOffset)
	}
	next := b.first
	for _, r := range b.runs {
		if r.first != next || r.last < r.first {
			return fmt.Errorf("run %d-%d: expected one from %d", r.first, r.last, next)
		}
		if (r.state == Acquired) != (r.member != "") {
			return fmt.Errorf("run %d-%d: state %d, member %q", r.first, r.last, r.state, r.member)
		}
		next = r.last + 1
	}
	if next != b.last+1 {
		return fmt.Errorf("runs end at %d", next-1)
	}
	return nil
}
