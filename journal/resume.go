package journal

import (
	"fmt"
	"io/fs"
)

// Place is an entry's place in a journal, from which reading can go on behind it.
type Place struct {
	Position
	Seq uint64
	At  int64 // the entry's time, ms
}

// Place is where the last entry is.
func (r *Reader) Place() Place { return Place{Position: r.pos, Seq: r.seq, At: r.at} }

// Resume goes on behind an entry that a reader of the same journal has read. It is called before Next. fs.ErrNotExist: the
// file is gone, as retention has it.
func (r *Reader) Resume(p Place) error {
	for i := range r.trail.parts {
		if r.trail.parts[i].name == p.File {
			return r.resumeIn(i, p)
		}
	}
	return fmt.Errorf("go on behind entry %d in %s: %w", p.Seq, p.File, fs.ErrNotExist)
}

func (r *Reader) resumeIn(i int, p Place) error {
	s, err := enter(r.fs, &r.trail.parts[i])
	if err != nil {
		return err
	}
	s.pos, s.seq, s.chain, s.vouched = p.Offset+p.Bytes, p.Seq, p.Chain, max(s.vouched, p.Seq)
	for _, before := range r.trail.parts[:i] {
		r.trail.done += before.size
	}
	r.trail.close()
	r.trail.i, r.trail.s = i, s
	r.pos, r.seq, r.at = p.Position, p.Seq, p.At
	return nil
}
