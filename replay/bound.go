package replay

import (
	"fmt"
	"strconv"
	"time"

	"doze/journal"
)

// Bound is a place in a journal: an entry's sequence, or a time. The zero value is none.
type Bound struct {
	set  bool
	time bool
	n    int64 // sequence, or ms since the Unix epoch
}

// AtSeq is the bound of an entry.
func AtSeq(seq uint64) Bound { return Bound{set: true, n: int64(min(seq, 1<<62))} }

// AtTime is the bound of a time in ms since the Unix epoch.
func AtTime(ms int64) Bound { return Bound{set: true, time: true, n: ms} }

// layouts of times, without a zone in UTC as they are printed.
var layouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999", "2006-01-02 15:04:05.999", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02"}

// ParseBound reads a sequence (digits) or a time: as printed by replay, RFC 3339, or a part of it.
//
//fuzz:parser class=config FuzzParseBound
func ParseBound(s string) (Bound, error) {
	if seq, err := strconv.ParseUint(s, 10, 63); err == nil {
		return AtSeq(seq), nil
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, s); err == nil {
			return AtTime(t.UnixMilli()), nil
		}
	}
	return Bound{}, fmt.Errorf("%q is neither an entry's number nor a time; write 1234 or 2006-01-02T15:04:05.000Z", s)
}

// Time is a time in ms as replay prints it.
func Time(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }

// before says whether the entry lies behind the bound.
func (b Bound) before(e *journal.Entry) bool { return b.set && b.position(e) > b.n }

// after says whether the entry lies in front of the bound.
func (b Bound) after(e *journal.Entry) bool { return b.set && b.position(e) < b.n }

func (b Bound) position(e *journal.Entry) int64 {
	if b.time {
		return e.At
	}
	return int64(min(e.Seq, 1<<62))
}

// beyond says whether the bound lies behind the last entry.
func (b Bound) beyond(seq uint64, at int64) bool {
	return b.set && b.position(&journal.Entry{Seq: seq, At: at}) < b.n
}

// covers says whether a snapshot of an entry lies at or in front of the bound.
func (b Bound) covers(seq uint64, at int64) bool {
	return !b.before(&journal.Entry{Seq: seq, At: at})
}
