package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"doze/disk"
)

// Position is where an entry is on disk.
type Position struct {
	File   string
	Offset int64
	Bytes  int64
	// Chain is the checksum over all frames up to this one: two journals whose chains are equal at a sequence are equal
	// up to there.
	Chain uint32
}

// Reader gives the entries of a journal one after another, whatever state it is in, and changes nothing. Its memory is
// bounded by the size of one entry.
type Reader struct {
	fs        disk.FS
	dir       string
	snapshots []uint64
	stop      *marker
	trail     trail
	decoder   *decoder
	pos       Position
	body      []byte
	seq       uint64
	at        int64
}

// EntryError is about an entry whose frame is whole but whose content cannot be: the journal is foreign, doze is broken,
// or (*UnknownKindError) it was written by a newer version.
type EntryError struct {
	File string
	Seq  uint64
	Err  error
}

func (e *EntryError) Error() string {
	return fmt.Sprintf("read entry %d of %s: %v", e.Seq, e.File, e.Err)
}

func (e *EntryError) Unwrap() error { return e.Err }

// entry decodes the body of the scanner's last frame and holds it against the frame and the time of the entry before.
func (d *decoder) entry(s *scanner, body []byte, at int64) (Entry, error) {
	entry, err := d.decode(body)
	switch {
	case err != nil:
	case entry.Seq != s.seq:
		err = fmt.Errorf("it says that it is entry %d", entry.Seq)
	case entry.At < at:
		err = fmt.Errorf("it was made at %d ms, the one before it at %d ms", entry.At, at)
	}
	if err != nil {
		return entry, &EntryError{File: s.name, Seq: s.seq, Err: err}
	}
	return entry, nil
}

// OpenReader opens a journal's directory, or one file of it under any name. ErrMissing: there is no journal file.
func OpenReader(fsys disk.FS, name string) (*Reader, error) {
	info, err := fsys.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("open journal %s: %w", name, err)
	}
	r := &Reader{fs: fsys, dir: path.Dir(name), decoder: newDecoder(), trail: trail{fs: fsys}}
	if info.IsDir() {
		return r, r.openDir(name)
	}
	p, err := readPart(fsys, name)
	if err == nil && p.err != nil {
		err = p.err
	}
	if err != nil {
		return nil, err
	}
	r.trail.parts = []part{p}
	l, err := list(fsys, r.dir)
	r.snapshots = l.snapshots
	return r, err
}

func (r *Reader) openDir(dir string) error {
	r.dir = dir
	// The marker first: a broker that is running may roll and stop in between, and files that are listed later hold all
	// that an earlier marker speaks of.
	m, err := readMarker(r.fs, dir)
	switch {
	case err == nil:
		r.stop = &m
		r.trail.vouched = m.Seq
	case !errors.Is(err, errMarker) && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	l, err := list(r.fs, dir)
	if err != nil {
		return err
	}
	if len(l.journals) == 0 {
		return ErrMissing
	}
	r.snapshots = l.snapshots
	r.trail.parts, err = readParts(r.fs, dir, l.journals)
	return err
}

// ClusterID is the one in the first file's header.
func (r *Reader) ClusterID() [16]byte { return r.trail.parts[0].header.ClusterID }

// FirstSeq is the sequence that the first file begins with.
func (r *Reader) FirstSeq() uint64 { return r.trail.parts[0].header.FirstSeq }

// Before is the last entry before the first one here, 0 when there was none: a fold begins from nothing, else from a
// snapshot of that entry.
func (r *Reader) Before() uint64 { return r.trail.parts[0].header.before() }

// StartAfter leaves out the files that lie wholly before a snapshot. It is called before Next, which still gives the
// entries that share a file with the snapshot's.
func (r *Reader) StartAfter(s Snapshot) {
	for r.trail.s == nil && len(r.trail.parts) > 1 && r.trail.parts[1].err == nil && r.trail.parts[1].header.FirstSeq <= s.Seq+1 {
		r.trail.parts = r.trail.parts[1:]
	}
}

// Continues says whether the first file continues at the snapshot or contains its entry.
func (r *Reader) Continues(s Snapshot) bool {
	h := &r.trail.parts[0].header
	return s.Seq >= h.FirstSeq || s.Seq == h.before() && s.Chain == h.Chain
}

// Snapshots lists the sequences of the snapshots beside the journal, in order.
func (r *Reader) Snapshots() []uint64 { return r.snapshots }

// Next returns the next entry; its position is then in At. The entry is the caller's. io.EOF: the journal ends here, see
// Tail. *DamageError, *NewerError, *EntryError: it cannot be read further. Other errors are the disk's.
func (r *Reader) Next() (*Entry, error) {
	body, err := r.trail.next()
	if err != nil {
		return nil, err
	}
	s := r.trail.s
	n := int64(len(body)) + frameOverhead
	r.pos = Position{File: s.name, Offset: s.pos - n, Bytes: n, Chain: s.chain}
	r.body, r.seq = body, s.seq
	entry, err := r.decoder.entry(s, body, r.at)
	if err != nil {
		r.trail.err = err
		return nil, err
	}
	r.at = entry.At
	return &entry, nil
}

// Position is where the last entry is.
func (r *Reader) Position() Position { return r.pos }

// Body is the last entry's encoding, valid until Next. Equal entries have equal bodies.
func (r *Reader) Body() []byte { return r.body }

// EventSizes is how many bytes each of the last entry's events takes, valid until Next.
func (r *Reader) EventSizes() []int { return r.decoder.sizes }

// EndsFile says whether the entry is the last of its file and a later file follows.
func (r *Reader) EndsFile(seq uint64) bool {
	next := r.trail.i + 1
	return next < len(r.trail.parts) && r.trail.parts[next].err == nil && r.trail.parts[next].header.before() == seq
}

// Progress says how many bytes of how many have been read.
func (r *Reader) Progress() (done, total int64) {
	done, total = r.trail.done, r.trail.total()
	if r.trail.s != nil {
		done += r.trail.s.pos
	}
	return done, total
}

// Tail is what a crash left behind the last entry, known once Next has returned io.EOF; nil when there is nothing.
func (r *Reader) Tail() *Tail { return r.trail.tail }

// CleanStop says whether the marker of a clean stop vouches for exactly the entries up to seq.
func (r *Reader) CleanStop(seq uint64) bool { return r.stop != nil && r.stop.Seq == seq }

// Close ends the reading.
func (r *Reader) Close() error {
	r.trail.done, _ = r.Progress()
	r.trail.close()
	if r.trail.err == nil {
		r.trail.err = fs.ErrClosed
	}
	return nil
}

// Snapshot is what a snapshot file says about itself.
type Snapshot struct {
	ClusterID [16]byte
	Seq       uint64 // the entry after which it was taken
	At        int64  // that entry's time, ms
	Chain     uint32 // that entry's [Position].Chain
	Hash      [32]byte
}

// LoadSnapshot loads the snapshot of entry seq, which Snapshots lists, into a fresh state.
func LoadSnapshot[S State[S]](r *Reader, seq uint64, fresh func() S) (S, Snapshot, error) {
	state, p, hash, err := loadSnapshot(r.fs, path.Join(r.dir, snapshotName(seq)), fresh)
	if err == nil && (p.Seq != seq || p.ClusterID != r.ClusterID()) {
		err = fmt.Errorf("load snapshot of entry %d: it is of another journal", seq)
	}
	return state, Snapshot{ClusterID: p.ClusterID, Seq: p.Seq, At: p.At, Chain: p.Chain, Hash: hash}, err
}
