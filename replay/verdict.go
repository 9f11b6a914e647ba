package replay

import (
	"errors"
	"fmt"
	"io"
	"path"
	"slices"

	"doze/journal"
	"doze/projections"
)

// verdict puts what ended the entries into the result, and gives it back when it is not about the journal.
func (x *run) verdict(err error) error {
	var newer *journal.NewerError
	var unknown *journal.UnknownKindError
	var entry *journal.EntryError
	var misfit *misfitError
	switch {
	case err == io.EOF:
		x.ended = true
		x.res.Tail, x.res.Clean = x.r.Tail(), x.r.CleanStop(x.res.LastSeq)
		if x.res.Tail != nil {
			x.res.note("%s", x.res.Tail)
		}
		if x.last > x.res.Base && x.opt.Until.beyond(x.res.LastSeq, x.res.LastAt) {
			x.res.note("there is nothing later: the journal ends at entry %d of %s", x.res.LastSeq, Time(x.res.LastAt))
		}
	case errors.Is(err, errCut):
	case errors.As(err, &newer), errors.As(err, &unknown):
		return err
	case errors.As(err, &x.res.Damage):
		x.res.fail(Damaged, "%v", err)
	case errors.As(err, &entry), errors.As(err, &misfit):
		x.res.fail(Differs, "%v", err)
	default:
		return err
	}
	return nil
}

// judge finds what only a directory as a whole shows to be missing, as a start does: its beginning or its end.
func (x *run) judge() error {
	info, err := x.from.FS.Stat(x.from.Name)
	switch {
	case err != nil || !info.IsDir() || x.res.Status != Replayed:
		return err
	case x.fold == nil:
		x.withoutBase()
	case x.ended:
		x.withoutEnd()
	}
	return nil
}

// withoutEnd is the verdict on entries that end before a snapshot's: it was taken when its entry was on disk.
func (x *run) withoutEnd() {
	for _, seq := range slices.Backward(x.r.Snapshots()) {
		if seq <= x.last {
			return
		}
		if _, _, err := journal.LoadSnapshot(x.r, seq, projections.New); err != nil {
			continue
		}
		end := x.r.Position()
		x.res.Damage = &journal.DamageError{
			File: end.File, Offset: end.Offset + end.Bytes, FirstSeq: x.last + 1, LastSeq: seq,
			Reason: fmt.Sprintf("the journal ends here, but a snapshot says that entry %d was on disk", seq),
		}
		x.res.fail(Damaged, "%v", x.res.Damage)
		return
	}
}

// withoutBase is the verdict on entries that cannot be folded.
func (x *run) withoutBase() {
	first := x.r.FirstSeq()
	x.res.Damage = &journal.DamageError{
		File: path.Join(x.from.Name, fmt.Sprintf("%020d.journal", first)), FirstSeq: 1, LastSeq: x.r.Before(),
		Reason: fmt.Sprintf("the journal begins at entry %d and no snapshot that verifies and belongs to it covers what was before", first),
	}
	x.res.fail(Damaged, "%v", x.res.Damage)
}
