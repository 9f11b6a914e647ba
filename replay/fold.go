package replay

import (
	"fmt"
	"slices"

	"doze/journal"
	"doze/projections"
)

// base is what a fold begins with.
type base struct {
	state *projections.State // nil: there is nothing to begin with
	at    journal.Snapshot
	notes []string
}

// findBase gives the state before the journal's first entry; when that is gone, the oldest snapshot; with Nearest the
// newest one that does not lie behind Until.
func findBase(r *journal.Reader, from Journal, opt Options) (base, error) {
	var b base
	if opt.Nearest {
		for _, seq := range slices.Backward(r.Snapshots()) {
			if b.load(r, seq) && opt.Until.covers(b.at.Seq, b.at.At) {
				return b, nil
			}
		}
	}
	b.state, b.at = projections.New(), journal.Snapshot{}
	if r.Before() == 0 {
		return b, nil
	}
	for _, seq := range r.Snapshots() {
		if seq < r.Before() || !b.load(r, seq) {
			continue
		}
		ours, err := taken(from, b.at)
		if err != nil {
			return b, err
		}
		if !ours {
			b.notes = append(b.notes, fmt.Sprintf("the snapshot of entry %d is ignored: it was not taken from this journal", seq))
			continue
		}
		if seq >= r.FirstSeq() {
			b.notes = append(b.notes, fmt.Sprintf("entries %d to %d are shown, not folded: the oldest snapshot is of entry %d", r.FirstSeq(), seq, seq))
		}
		return b, nil
	}
	b.state = nil
	b.notes = append(b.notes, fmt.Sprintf("entries are shown, not folded: the journal begins at entry %d and there is no snapshot of it that verifies", r.FirstSeq()))
	return b, nil
}

// taken says whether the snapshot is of an entry of the journal, or of the one before its first.
func taken(from Journal, at journal.Snapshot) (bool, error) {
	r, err := journal.OpenReader(from.FS, from.Name)
	if err != nil {
		return false, err
	}
	defer r.Close()
	if at.Seq < r.FirstSeq() {
		return r.Continues(at), nil
	}
	for {
		e, err := r.Next()
		if err != nil {
			return false, nil // the entries are read once more, and then what stops them is told
		}
		if e.Seq == at.Seq {
			return r.Position().Chain == at.Chain, nil
		}
	}
}

func (b *base) load(r *journal.Reader, seq uint64) bool {
	state, at, err := journal.LoadSnapshot(r, seq, projections.New)
	if err != nil {
		b.notes = append(b.notes, err.Error())
		return false
	}
	b.state, b.at = state, at
	return true
}

// misfitError ends a fold: the journal does not agree with itself.
type misfitError struct{ err error }

func (e *misfitError) Error() string { return e.err.Error() }
func (e *misfitError) Unwrap() error { return e.err }

func misfitf(format string, args ...any) error { return &misfitError{fmt.Errorf(format, args...)} }

// kept is the state after an entry, for a hash that is journaled later.
type kept struct {
	seq   uint64
	state *projections.State
}

// maxKept bounds the states kept. A hash is of the entry before it or of the last entry of a file not long ago.
const maxKept = 8

// fold is the state on its way through the entries.
type fold struct {
	r       *journal.Reader
	res     *Result
	state   *projections.State
	from    journal.Snapshot
	changed uint64 // last entry that changed the state
	kept    []kept
	hashed  hashed
	check   *checker
}

// hashed is the hash of the state after an entry: a clean stop journals it, and then it is asked for once more.
type hashed struct {
	changed uint64
	sum     [32]byte
	known   bool
}

// hashOf is the hash of the state as it is now or was kept.
func (f *fold) hashOf(state *projections.State) ([32]byte, error) {
	if state == f.state {
		return f.hash()
	}
	sum, err := journal.HashOf(state.Rows)
	if err != nil {
		return sum, fmt.Errorf("hash state: %w", err)
	}
	return sum, nil
}

// hash is the hash of the state as it is now.
func (f *fold) hash() ([32]byte, error) {
	if f.hashed.known && f.hashed.changed == f.changed {
		return f.hashed.sum, nil
	}
	sum, err := journal.HashOf(f.state.Rows)
	if err != nil {
		return sum, fmt.Errorf("hash state: %w", err)
	}
	f.hashed = hashed{f.changed, sum, true}
	return sum, nil
}

func newFold(r *journal.Reader, res *Result, b base, check bool) *fold {
	f := &fold{r: r, res: res, state: b.state, from: b.at, changed: b.at.Seq}
	if check {
		f.check = newChecker(b.state)
	}
	res.State = f.state
	return f
}

// entry folds one entry. A misfitError says what does not hold.
func (f *fold) entry(e *journal.Entry) error {
	if e.Seq <= f.from.Seq {
		if e.Seq == f.from.Seq && f.r.Position().Chain != f.from.Chain {
			return errForeignSnapshot
		}
		return nil
	}
	if err := f.hashes(e); err != nil {
		return err
	}
	if err := journal.ApplyEntry(f.state, e); err != nil {
		return misfitf("%w", err)
	}
	if !onlyHashes(e) {
		f.changed = e.Seq
	}
	if f.check != nil {
		if err := f.check.entry(e); err != nil {
			return err
		}
		if err := f.snapshot(e); err != nil {
			return err
		}
	}
	if f.r.EndsFile(e.Seq) {
		f.keep(e.Seq)
	}
	return nil
}

func onlyHashes(e *journal.Entry) bool {
	for _, event := range e.Events {
		if _, ok := event.(*journal.StateHashed); !ok {
			return false
		}
	}
	return true
}

func (f *fold) keep(seq uint64) {
	if len(f.kept) == maxKept {
		f.kept = slices.Delete(f.kept, 0, 1)
	}
	f.kept = append(f.kept, kept{seq, f.state.Clone()})
}

// at is the state after an entry, if it is the one before this or was kept.
func (f *fold) at(seq uint64) *projections.State {
	if seq >= f.changed {
		return f.state
	}
	for _, k := range f.kept {
		if k.seq == seq {
			return k.state
		}
	}
	return nil
}

// hashes compares the hashes that the entry holds.
func (f *fold) hashes(e *journal.Entry) error {
	for _, event := range e.Events {
		h, ok := event.(*journal.StateHashed)
		if !ok {
			continue
		}
		if h.Seq < f.from.Seq {
			continue // before the fold began
		}
		state := f.at(h.Seq)
		if state == nil || h.Seq >= e.Seq {
			f.res.note("the hash of entry %d, journaled as entry %d, was not compared", h.Seq, e.Seq)
			continue
		}
		got, err := f.hashOf(state)
		if err != nil {
			return err
		}
		if got != h.Hash {
			return misfitf("the state after entry %d differs from what the broker had: the journal says %x (entry %d), the replay gives %x", h.Seq, h.Hash, e.Seq, got)
		}
		f.res.Compared++
	}
	return nil
}

// snapshot holds a snapshot of this entry against the fold.
func (f *fold) snapshot(e *journal.Entry) error {
	if _, found := slices.BinarySearch(f.r.Snapshots(), e.Seq); !found {
		return nil
	}
	_, at, err := journal.LoadSnapshot(f.r, e.Seq, projections.New)
	if err != nil {
		f.res.note("%v; a start ignores it", err)
		return nil
	}
	if at.Chain != f.r.Position().Chain {
		f.res.note("the snapshot of entry %d was not taken from this journal; a start ignores it", e.Seq)
		return nil
	}
	got, err := f.hash()
	if err != nil {
		return err
	}
	if got != at.Hash {
		return misfitf("the snapshot of entry %d differs from the state that the entries give: %x, not %x", e.Seq, at.Hash, got)
	}
	f.res.Compared++
	return nil
}

// finish gives the result its state's hash.
func (f *fold) finish() error {
	if f.check != nil && f.res.Status == Replayed {
		if err := f.check.finish(); err != nil {
			f.res.fail(Differs, "%v", err)
		}
	}
	var err error
	f.res.Hash, err = f.hash()
	return err
}
