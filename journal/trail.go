package journal

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"

	"doze/disk"
)

// part is one journal file as its first bytes tell it.
type part struct {
	name   string
	size   int64
	header FileHeader
	err    error // why the header cannot be used
}

// readPart reads the header of a journal file. What is wrong with it is in the part; an error is the disk's.
//
//fuzz:parser class=journal FuzzFileHeader
func readPart(fsys disk.FS, name string) (part, error) {
	p := part{name: name}
	f, err := fsys.OpenFile(name, readOnly)
	if err != nil {
		return p, fmt.Errorf("open journal file %s: %w", name, err)
	}
	defer f.Close()
	if p.size, err = f.Size(); err != nil {
		return p, fmt.Errorf("size of %s: %w", name, err)
	}
	b := make([]byte, headerSize)
	n, err := f.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return p, fmt.Errorf("read header of %s: %w", name, err)
	}
	p.header, err = parseFileHeader(b[:n])
	p.err = headerVerdict(name, p.header, err)
	return p, nil
}

func headerVerdict(name string, h FileHeader, err error) error {
	var newer *NewerError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &newer):
		return fmt.Errorf("%s: %w", name, err)
	}
	return &DamageError{File: name, FirstSeq: h.FirstSeq, Reason: err.Error()}
}

// readParts reads the headers of a directory's files and holds them against their names and each other.
//
//fuzz:not-a-parser it lists files and compares their headers; readPart reads them
func readParts(fsys disk.FS, dir string, journals []uint64) ([]part, error) {
	parts := make([]part, 0, len(journals))
	for _, first := range journals {
		p, err := readPart(fsys, path.Join(dir, journalName(first)))
		if err != nil {
			return nil, err
		}
		var damage *DamageError
		switch {
		case errors.As(p.err, &damage):
			damage.FirstSeq = first
		case p.err != nil:
		case p.header.FirstSeq != first:
			p.err = &DamageError{File: p.name, FirstSeq: first, Reason: fmt.Sprintf("its header says that it begins at entry %d", p.header.FirstSeq)}
		case len(parts) > 0 && parts[0].err == nil && p.header.ClusterID != parts[0].header.ClusterID:
			p.err = &DamageError{File: p.name, FirstSeq: first, Reason: "it belongs to another cluster, " + hex.EncodeToString(p.header.ClusterID[:])}
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// trail reads the frames of consecutive files and judges the place where they stop.
type trail struct {
	fs      disk.FS
	parts   []part
	vouched uint64 // highest sequence that something outside these files says was on disk

	i    int
	s    *scanner
	done int64 // bytes of the files before
	tail *Tail // what a crash left at the end
	err  error // why there is no more
}

func (t *trail) close() {
	if t.s != nil {
		t.s.close()
		t.s = nil
	}
}

func (t *trail) last() bool { return t.i+1 == len(t.parts) }

// total is the size of all files.
func (t *trail) total() (n int64) {
	for i := range t.parts {
		n += t.parts[i].size
	}
	return n
}

// next returns the body of the next entry; it is valid until the next call. io.EOF: the journal ends here, see tail.
// *DamageError, *NewerError: it cannot be read further. Other errors are the disk's.
func (t *trail) next() ([]byte, error) {
	for t.err == nil {
		if t.s == nil {
			t.s, t.err = enter(t.fs, &t.parts[t.i])
			continue
		}
		_, body, err := t.s.next()
		if err == nil {
			return body, nil
		}
		verdict := t.leave(err)
		var damage *DamageError
		if t.last() && errors.As(verdict, &damage) {
			// A broker that is running may have finished, between our two looks, the write whose beginning we saw.
			t.s.forget()
			if _, body, err := t.s.next(); err == nil {
				return body, nil
			}
		}
		t.err = verdict
	}
	return nil, t.err
}

func enter(fsys disk.FS, p *part) (*scanner, error) {
	if p.err != nil {
		return nil, p.err
	}
	return openScanner(fsys, p.name)
}

// leave judges the end of a file and steps to the next one; io.EOF when there is none.
func (t *trail) leave(stopped error) error {
	s := t.s
	if t.last() {
		tail, err := s.judge(stopped, t.vouched, true)
		if err != nil {
			return err
		}
		t.tail = tail
		return io.EOF
	}
	next := &t.parts[t.i+1]
	if next.err != nil { // nobody says where this file should end
		if _, err := s.judge(stopped, 0, false); err != nil {
			return err
		}
		return next.err
	}
	if _, err := s.judge(stopped, next.header.before(), false); err != nil {
		return err
	}
	switch {
	case s.seq != next.header.before():
		return &DamageError{File: s.name, Offset: s.pos, FirstSeq: next.header.FirstSeq, LastSeq: s.seq, Reason: "the next file begins before this one ends"}
	case s.chain != next.header.Chain:
		return &DamageError{File: next.name, FirstSeq: next.header.FirstSeq, Reason: "it does not continue the file before it"}
	}
	t.done += t.parts[t.i].size
	t.close()
	t.i++
	return nil
}
