package replay

import (
	"doze/journal"
	"doze/projections"
)

// checker holds a state's invariants after every entry. A check reads the whole state, so a large state is checked only
// now and then: the entries in between are kept, and when a check fails they are folded once more to find the one.
type checker struct {
	good    *projections.State // the last state that was good
	since   []*journal.Entry   // what came after it
	last    *projections.State
	spacing int
}

const (
	checkedRows = 512  // so many rows are looked at for each entry
	maxSpacing  = 4096 // entries kept at most
)

func newChecker(s *projections.State) *checker {
	c := &checker{last: s}
	c.passed()
	return c
}

// passed makes the state the last good one and decides when to look again.
func (c *checker) passed() {
	rows := 0
	_ = c.last.Rows(func([]byte) error { rows++; return nil })
	c.good, c.since = c.last.Clone(), c.since[:0]
	c.spacing = min(max(rows/checkedRows, 1), maxSpacing)
}

func (c *checker) entry(e *journal.Entry) error {
	c.since = append(c.since, e)
	if len(c.since) < c.spacing {
		return nil
	}
	return c.finish()
}

func (c *checker) finish() error {
	if c.last.Check() != nil {
		return c.find()
	}
	c.passed()
	return nil
}

// find names the entry after which an invariant does not hold.
func (c *checker) find() error {
	s := c.good
	for _, e := range c.since {
		if err := journal.ApplyEntry(s, e); err != nil {
			return misfitf("%w", err)
		}
		if err := s.Check(); err != nil {
			return misfitf("after entry %d (%s): %w", e.Seq, journal.Line(e.Events[0]), err)
		}
	}
	return misfitf("an invariant that did not hold holds on a second look: %w", c.last.Check())
}
