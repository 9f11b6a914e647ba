package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"time"

	"doze/disk"
)

// Options of a journal. Clock and IDs must be given.
type Options struct {
	Dir        string // of the journal within the file system; "journal" when empty
	Clock      Clock
	IDs        IDs
	SyncAlways bool          // every Update is answered after an fsync, as if all events were durable
	SyncEvery  time.Duration // buffered entries are on disk after this long; 1 s when 0
	RollBytes  int64         // a file that has reached this size is closed and the next begun; 64 MiB when 0
	Retention  time.Duration // files whose entries are all older and in a verified snapshot are removed; 0 keeps all
	MustExist  bool          // there are segments: an empty or missing directory is refused with ErrMissing
	Reach      Reach         // of the segments: a journal of another cluster, or that ends before, is refused
	// Report is told what fails without anybody to answer: a write that finds no space, an fsync, a roll, a snapshot; the
	// first of a row of failures that say the same. It is called by the loop and must not block.
	Report func(error)
	// Progress is called now and then while entries are read, with bytes done and in all.
	Progress func(done, total int64)
}

func (o *Options) defaults() {
	if o.Dir == "" {
		o.Dir = "journal"
	}
	if o.SyncEvery == 0 {
		o.SyncEvery = time.Second
	}
	if o.RollBytes == 0 {
		o.RollBytes = 64 << 20
	}
	if o.Report == nil {
		o.Report = func(error) {}
	}
}

// ErrMissing refuses to start empty over data.
var ErrMissing = errors.New("journal: there is data but no journal beside it; restore the journal's directory, or move the data away to start empty")

// Recovery says what Open found and did.
type Recovery struct {
	Fresh       bool // there was no journal
	Clean       bool // the last stop was a clean one
	ClusterID   [16]byte
	FirstSeq    uint64 // first entry that is still there
	LastSeq     uint64
	LastAt      int64
	SnapshotSeq uint64 // the start began from this entry's snapshot; 0: from nothing
	Applied     uint64 // entries folded after that
	Tail        *Tail  // what a crash left, and was cut
	Notes       []string
}

// String is a sentence for each thing that a person should know; empty after a clean stop.
func (r *Recovery) String() string {
	notes := r.Notes
	if r.Tail != nil {
		notes = append([]string{r.Tail.String()}, notes...)
	}
	return strings.Join(notes, "\n")
}

// opening is the work of Open: it reads, and changes nothing before all that it found has been judged.
type opening[S State[S]] struct {
	fs    disk.FS
	opt   *Options
	fresh func() S
	list  listing
	stop  *marker
	rec   Recovery

	state   S
	at      int64
	chain   uint32
	end     int64 // of the last file's entries
	last    FileHeader
	size    int64 // of the last file
	vouched uint64
	parts   []part
}

// recover reads the directory into a state.
func (o *opening[S]) recover() error {
	o.readStop()
	if err := o.checkHeaders(); err != nil {
		return err
	}
	snapshots := o.list.snapshots
	for {
		retry, err := o.foldFrom(&snapshots)
		if err != nil {
			return err
		}
		if !retry {
			return o.opt.Reach.Check(o.rec.ClusterID, o.rec.LastSeq, o.parts[len(o.parts)-1].name, o.end)
		}
	}
}

func (o *opening[S]) note(format string, args ...any) {
	o.rec.Notes = append(o.rec.Notes, fmt.Sprintf(format, args...))
}

func (o *opening[S]) readStop() {
	if !o.list.marker {
		return
	}
	m, err := readMarker(o.fs, o.opt.Dir)
	if err != nil {
		o.note("the clean-stop marker was ignored: %v", err)
		return
	}
	o.stop = &m
	o.vouched = m.Seq
}

// checkHeaders reads every file's header: one that is newer, foreign or missing refuses before anything is folded.
func (o *opening[S]) checkHeaders() (err error) {
	if o.parts, err = readParts(o.fs, o.opt.Dir, o.list.journals); err != nil {
		return err
	}
	for i := range o.parts {
		if err := o.parts[i].err; err != nil {
			return err
		}
	}
	first := &o.parts[0].header
	o.rec.ClusterID, o.rec.FirstSeq = first.ClusterID, first.FirstSeq
	if o.stop != nil && o.stop.ClusterID != o.rec.ClusterID {
		return &DamageError{File: path.Join(o.opt.Dir, markerName), FirstSeq: 1, Reason: "the clean-stop marker belongs to another cluster"}
	}
	return nil
}

// foldFrom loads the newest of the snapshots that verifies and folds what follows it. retry: the snapshot turned out not
// to belong to these files; it has been taken off the list.
func (o *opening[S]) foldFrom(snapshots *[]uint64) (retry bool, err error) {
	from, found, err := o.loadNewest(snapshots)
	if err != nil {
		return false, err
	}
	if first := &o.parts[0]; !found && first.header.before() != 0 {
		return false, &DamageError{File: first.name, FirstSeq: 1, LastSeq: first.header.before(),
			Reason: fmt.Sprintf("the journal begins at entry %d and no snapshot that verifies covers what was before", first.header.FirstSeq)}
	}
	o.at = from.At
	o.rec.SnapshotSeq = from.Seq
	o.rec.Applied = 0
	t := &trail{fs: o.fs, parts: o.partsFrom(from.Seq), vouched: max(o.vouched, from.Seq)}
	defer t.close()
	matched, err := o.fold(t, from, found)
	if err != nil {
		return false, err
	}
	if !matched {
		o.note("snapshot of entry %d was ignored: it was not taken from this journal", from.Seq)
		*snapshots = (*snapshots)[:len(*snapshots)-1]
		return true, nil
	}
	o.rec.Tail = t.tail
	o.rec.LastSeq, o.rec.LastAt = t.s.seq, o.at
	o.chain, o.end, o.last, o.size = t.s.chain, t.s.pos, t.s.header, t.s.size
	return false, nil
}

// loadNewest loads the last snapshot of the list that verifies and fits; those that do not are taken off it.
func (o *opening[S]) loadNewest(snapshots *[]uint64) (point, bool, error) {
	for n := len(*snapshots); n > 0; n = len(*snapshots) {
		seq := (*snapshots)[n-1]
		if seq >= o.parts[0].header.before() {
			state, p, _, err := loadSnapshot(o.fs, path.Join(o.opt.Dir, snapshotName(seq)), o.fresh)
			var newer *NewerError
			switch {
			case errors.As(err, &newer):
				return point{}, false, err
			case err == nil && p.Seq == seq && p.ClusterID == o.rec.ClusterID:
				o.state = state
				return p, true, nil
			case err == nil:
				err = errors.New("it is of another journal")
			}
			o.note("snapshot of entry %d was ignored in favour of the journal: %v", seq, err)
		}
		*snapshots = (*snapshots)[:n-1]
	}
	o.state = o.fresh()
	return point{}, false, nil
}

// partsFrom gives the files that hold anything after seq, and always the last one.
func (o *opening[S]) partsFrom(seq uint64) []part {
	parts := o.parts
	for len(parts) > 1 && parts[1].header.FirstSeq <= seq+1 {
		parts = parts[1:]
	}
	return parts
}

// fold folds all entries that come after the snapshot. matched is false when it was not taken from this journal.
func (o *opening[S]) fold(t *trail, from point, snapshot bool) (matched bool, err error) {
	d, total := newDecoder(), t.total()
	if first := &t.parts[0].header; snapshot && from.Seq == first.before() && from.Chain != first.Chain {
		return false, nil
	}
	for n := 1; ; n++ {
		body, err := t.next()
		if err == io.EOF {
			return true, nil
		} else if err != nil {
			return false, err
		}
		s := t.s
		if n%4096 == 0 && o.opt.Progress != nil {
			o.opt.Progress(t.done+s.pos, total)
		}
		if s.seq <= from.Seq {
			if snapshot && s.seq == from.Seq && s.chain != from.Chain {
				return false, nil
			}
			continue
		}
		if err := o.apply(s, d, body); err != nil {
			return false, err
		}
	}
}

func (o *opening[S]) apply(s *scanner, d *decoder, body []byte) error {
	entry, err := d.entry(s, body, o.at)
	if err != nil {
		return err
	}
	o.at = entry.At
	o.rec.Applied++
	return ApplyEntry(o.state, &entry)
}

// ApplyEntry folds an entry into a state.
func ApplyEntry[S State[S]](state S, entry *Entry) error {
	for _, e := range entry.Events {
		if _, own := e.(*StateHashed); own {
			continue
		}
		if err := state.Apply(entry.Seq, entry.At, e); err != nil {
			return fmt.Errorf("fold %s of entry %d: %w", e.Kind().Name(), entry.Seq, err)
		}
	}
	return nil
}

// Open reads the journal in the directory into a state and starts the writer. It changes nothing on disk unless all that
// is there has been judged good: then it cuts what a crash left (keeping it beside) and removes half-made files.
//
// Errors: ErrMissing, ErrForeign, *DamageError, *NewerError, *UnknownKindError (wrapped), or the disk's.
func Open[S State[S]](fsys disk.FS, opt Options, fresh func() S) (*Store[S], Recovery, error) {
	opt.defaults()
	o := &opening[S]{fs: fsys, opt: &opt, fresh: fresh}
	var err error
	if o.list, err = list(fsys, opt.Dir); err != nil {
		return nil, o.rec, err
	}
	if len(o.list.journals) == 0 {
		if err := o.begin(); err != nil {
			return nil, o.rec, err
		}
	}
	if err := o.recover(); err != nil {
		return nil, o.rec, err
	}
	s, err := o.start()
	return s, o.rec, err
}

// begin makes the first file of a journal.
func (o *opening[S]) begin() error {
	if len(o.list.snapshots) > 0 || o.list.marker || o.opt.MustExist {
		return ErrMissing
	}
	if err := o.fs.MkdirAll(o.opt.Dir); err != nil {
		return fmt.Errorf("make journal directory %s: %w", o.opt.Dir, err)
	}
	h := FileHeader{Version: formatVersion, ClusterID: o.opt.IDs.NewUUID(), FirstSeq: 1, Salt: salt(o.opt.IDs)}
	if err := createJournal(o.fs, o.opt.Dir, h); err != nil {
		return err
	}
	if err := o.fs.SyncDir("."); err != nil {
		return fmt.Errorf("sync data directory: %w", err)
	}
	o.rec.Fresh = true
	o.list.journals = []uint64{1}
	return nil
}

func salt(ids IDs) uint32 {
	id := ids.NewUUID()
	return binary.LittleEndian.Uint32(id[:])
}

// start makes the directory what the writer expects and starts it.
func (o *opening[S]) start() (*Store[S], error) {
	f, err := o.fs.OpenFile(path.Join(o.opt.Dir, journalName(o.last.FirstSeq)), os.O_RDWR)
	if err != nil {
		return nil, fmt.Errorf("open journal for writing: %w", err)
	}
	if err := o.mend(f); err != nil {
		_ = f.Close()
		return nil, err
	}
	return newStore(o, f), nil
}

// mend cuts the tail and makes all that was read durable: it may be in the page cache only.
func (o *opening[S]) mend(f disk.File) error {
	for _, name := range o.list.temps {
		_ = o.fs.Remove(path.Join(o.opt.Dir, name))
	}
	if o.rec.Tail != nil {
		if err := o.keepTail(f); err != nil {
			return err
		}
	}
	o.rec.Clean = o.stop != nil && o.stop.Seq == o.rec.LastSeq && o.stop.Size == o.size
	if o.rec.Clean || o.rec.Fresh {
		return nil
	}
	if err := f.Truncate(o.end); err != nil {
		return fmt.Errorf("cut journal after entry %d: %w", o.rec.LastSeq, err)
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("sync journal: %w", err)
	}
	o.size = o.end
	return nil
}

// keepTail copies what will be cut to a file of its own.
func (o *opening[S]) keepTail(f disk.File) error {
	t := o.rec.Tail
	name := fmt.Sprintf("%020d-%d%s", t.Seq+1, o.opt.Clock.NowMillis(), tornSuffix)
	err := writeAside(o.fs, o.opt.Dir, name, func(w io.Writer) error {
		_, err := io.Copy(w, io.NewSectionReader(f, t.Offset, t.Bytes))
		return err
	})
	if err != nil {
		return fmt.Errorf("keep the end of the journal as %s: %w", name, err)
	}
	t.KeptAs = path.Join(o.opt.Dir, name)
	return nil
}
