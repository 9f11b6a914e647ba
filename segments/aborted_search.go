package segments

import (
	"errors"
	"fmt"
	"io/fs"
	"sort"
	"sync/atomic"

	"doze/disk"
)

// abortedBlock is a part of a list as it was read: a consumer that goes on asks for the same one again and again. It does not
// change.
type abortedBlock struct {
	file  *file
	from  int // number of the first line
	lines []aborted
}

// blockLines is how many lines are read at once.
const blockLines = 64

// abortedSearch looks for transactions in a list.
type abortedSearch struct {
	abortedList
	f    disk.File                     // nil until it is needed
	last *atomic.Pointer[abortedBlock] // of the partition
	from int64
	to   int64
}

// collect adds to out the transactions of the list that have batches from the offset from on and below to. more is false when
// no later list can have one.
func (s *abortedSearch) collect(out []AbortedTxn) (_ []AbortedTxn, more bool, err error) {
	defer s.close()
	at, err := s.first()
	for more = true; more && err == nil && at < s.flushed; {
		var lines []aborted
		if lines, err = s.linesFrom(at); err == nil {
			at += len(lines)
			out, more = s.take(out, lines)
		}
	}
	if more && err == nil {
		out, more = s.take(out, s.tail)
	}
	return out, more, err
}

// take adds those of some lines, as Kafka does up to the first behind whose marker all was stable that is asked for.
func (s *abortedSearch) take(out []AbortedTxn, lines []aborted) (_ []AbortedTxn, more bool) {
	for i := range lines {
		a := &lines[i]
		if a.producer < 0 {
			continue
		}
		if a.last >= s.from && a.first < s.to {
			out = append(out, AbortedTxn{a.producer, a.first})
		}
		if a.stable >= s.to {
			return out, false
		}
	}
	return out, true
}

// first is the number of the first line in the file whose marker is not below the offset.
func (s *abortedSearch) first() (at int, err error) {
	lo, hi := 0, s.flushed
	if b := s.known(); b != nil {
		switch n := len(b.lines); {
		case b.lines[n-1].last < s.from:
			lo = b.from + n
		case b.from == 0 || b.lines[0].last < s.from:
			return b.from + sort.Search(n, func(i int) bool { return b.lines[i].last >= s.from }), nil
		default:
			hi = b.from
		}
	}
	at = lo + sort.Search(hi-lo, func(i int) bool {
		if err != nil {
			return true
		}
		var a aborted
		a, err = s.line(lo + i)
		return err != nil || a.last >= s.from
	})
	return at, err
}

// known is the block that was read last, when it is of this list.
func (s *abortedSearch) known() *abortedBlock {
	b := s.last.Load()
	if b == nil || b.file != s.file || b.from+len(b.lines) > s.flushed {
		return nil
	}
	return b
}

// linesFrom gives some lines from number at on.
func (s *abortedSearch) linesFrom(at int) ([]aborted, error) {
	if b := s.known(); b != nil && b.from <= at && at < b.from+len(b.lines) {
		return b.lines[at-b.from:], nil
	}
	b := &abortedBlock{file: s.file, from: at, lines: make([]aborted, min(blockLines, s.flushed-at))}
	if err := s.open(); err != nil {
		return nil, err
	}
	raw := make([]byte, len(b.lines)*abortedBytes)
	if err := readAborted(s.f, at, raw); err != nil {
		return nil, err
	}
	var err error
	for i := range b.lines {
		if b.lines[i], err = parseAborted(raw[i*abortedBytes:]); err != nil {
			return nil, err
		}
	}
	s.last.Store(b)
	return b.lines, nil
}

func (s *abortedSearch) line(i int) (aborted, error) {
	if err := s.open(); err != nil {
		return aborted{}, err
	}
	return oneAborted(s.f, i)
}

func (s *abortedSearch) open() (err error) {
	if s.f == nil {
		s.f, err = s.file.acquire()
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", errBadAborted, err) // it is made anew
	}
	return err
}

func (s *abortedSearch) close() {
	if s.f != nil {
		s.file.release()
	}
}
