package replay

import (
	"fmt"
	"strings"

	"doze/journal"
	"doze/projections"
)

// Exit statuses of `doze replay`.
const (
	Replayed = 0 // read to the end, every entry fits, all hashes agree
	Differs  = 3 // an entry does not fit, a hash or an invariant does not hold, or two journals differ
	Damaged  = 4 // the journal cannot be read to its end
)

// Result is what Run found.
type Result struct {
	Status    int    // Replayed, Differs or Damaged
	Verdict   string // what does not hold, in a sentence; empty when all does
	ClusterID [16]byte
	Entries   uint64 // read
	Events    uint64
	Matched   uint64   // of them, those that were to be shown
	Kinds     []string // of events read when some are picked out by Grep, sorted
	FirstSeq  uint64
	LastSeq   uint64             // last entry read
	LastAt    int64              // its time, ms
	Base      uint64             // the snapshot's entry that the fold began from; 0: from nothing
	State     *projections.State // after the last entry; nil when nothing could be folded
	Hash      [32]byte           // of State
	Compared  int                // hashes that agree
	Tail      *journal.Tail
	Damage    *journal.DamageError
	Clean     bool // the journal was closed by a clean stop
	Notes     []string
}

func (r *Result) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

func (r *Result) fail(status int, format string, args ...any) {
	r.Status, r.Verdict = status, fmt.Sprintf(format, args...)
}

// String sums up for people, in a few lines.
func (r *Result) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d entries (%d events), %d to %d, the last at %s", r.Entries, r.Events, r.FirstSeq, r.LastSeq, Time(r.LastAt))
	if r.State != nil {
		fmt.Fprintf(&b, "; state hash %x", r.Hash)
		if r.Compared > 0 {
			fmt.Fprintf(&b, "; %d hashes compared and equal", r.Compared)
		}
	}
	for _, note := range r.Notes {
		b.WriteString("\n" + note)
	}
	if r.Verdict != "" {
		b.WriteString("\n" + r.Verdict)
	}
	return b.String()
}
