package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
)

const (
	readOnly  = os.O_RDONLY
	readWrite = os.O_RDWR
)

// DamageError refuses a journal: something that was written is not there or is not what was written.
type DamageError struct {
	File     string
	Offset   int64  // where the file stops being readable
	FirstSeq uint64 // first entry that cannot be read
	LastSeq  uint64 // last entry known to have been written; below FirstSeq when not known
	Reason   string
	Dir      string // the data directory as people see it, for who reads the error; empty when not known
}

func (e *DamageError) Error() string {
	lost := fmt.Sprintf("entry %d", e.FirstSeq)
	if e.LastSeq > e.FirstSeq {
		lost = fmt.Sprintf("entries %d to %d", e.FirstSeq, e.LastSeq)
	}
	dir := e.Dir
	if dir == "" {
		dir = "DIR"
	}
	return fmt.Sprintf("journal file %s is damaged at byte %d (%s): %s; nothing was changed. Restore the file, or run `doze repair %s`, which shows what would be given up",
		e.File, e.Offset, lost, e.Reason, dir)
}

// Tail is what a crash left at the end of the last file: part of a write that was never acknowledged as durable.
type Tail struct {
	File   string
	Offset int64  // where the last whole entry ends
	Bytes  int64  // how many bytes follow, zeros at the end not counted
	Seq    uint64 // the last whole entry
	Reason string
	KeptAs string // the file that keeps the bytes, after they have been cut
}

func (t *Tail) String() string {
	s := fmt.Sprintf("%d bytes after entry %d at byte %d of %s were the unfinished write of a crash (%s)", t.Bytes, t.Seq, t.Offset, t.File, t.Reason)
	if t.KeptAs != "" {
		s += "; cut, and kept as " + t.KeptAs
	}
	return s
}

// judge decides what an unreadable place means: err is what next returned, vouched the highest sequence that anything
// outside this file says was on disk, last whether no file follows. It gives a Tail, or nil for a clean end, or
// *DamageError, or an error of the disk.
func (s *scanner) judge(err error, vouched uint64, last bool) (*Tail, error) {
	var bad *badFrame
	switch {
	case errors.Is(err, io.EOF):
		bad = &badFrame{errors.New("the file ends here")}
	case !errors.As(err, &bad):
		return nil, err
	}
	clean := errors.Is(err, io.EOF)
	r, err := s.after()
	if err != nil {
		return nil, err
	}
	damage := &DamageError{File: s.name, Offset: s.pos, FirstSeq: s.seq + 1, LastSeq: max(r.lastSeq, r.vouched, vouched)}
	known := max(s.vouched, r.vouched, vouched)
	switch {
	case known > s.seq:
		damage.Reason = fmt.Sprintf("%v, but entry %d is known to have been on disk", bad.reason, known)
		return nil, damage
	case clean:
		return nil, nil
	case !last:
		damage.Reason = fmt.Sprintf("%v, and a later file follows", bad.reason)
		return nil, damage
	case r.later >= 0 && !r.hole:
		damage.Reason = fmt.Sprintf("%v, but entry %d at byte %d is whole", bad.reason, r.firstSeq, r.later)
		return nil, damage
	}
	return &Tail{File: s.name, Offset: s.pos, Bytes: r.end - s.pos, Seq: s.seq, Reason: bad.reason.Error()}, nil
}
