package handlers

import "doze/journal"

// steadyClock is a clock that has another beside it, which goes on evenly whatever the machine's clock is set to.
type steadyClock interface{ Steady() journal.Clock }

// steadyOf is the clock of what is kept in memory alone: sessions, locks, deadlines, rates. They end when their time has passed,
// as in Kafka, also when the machine's clock is set back, or ahead. What the journal keeps is reckoned in its own time
// (Store.Now); what clients name or see, as times of records, in the machine's.
func steadyOf(c journal.Clock) journal.Clock {
	if s, ok := c.(steadyClock); ok {
		return s.Steady()
	}
	return c
}
