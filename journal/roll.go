package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// roll closes the file and begins the next one. A roll that fails leaves the old file in use; it is tried again when the
// file has grown some more.
func (w *writer[S]) roll() {
	if err := w.tryRoll(); err != nil {
		w.report(fmt.Errorf("begin the next journal file: %w", err))
		w.rollAt = w.end + reserveStep
		return
	}
	w.rollAt = 0
	w.beginSnapshot()
}

func (w *writer[S]) tryRoll() error {
	if err := w.settle(); err != nil {
		return err
	}
	h := FileHeader{Version: formatVersion, ClusterID: w.header.ClusterID, FirstSeq: w.seq + 1, Chain: w.chain, Salt: salt(w.opt.IDs)}
	if err := createJournal(w.fs, w.opt.Dir, h); err != nil {
		return w.uncreate(h.FirstSeq, err)
	}
	f, err := w.fs.OpenFile(w.path(journalName(h.FirstSeq)), readWrite)
	if err != nil {
		return w.poisoned(fmt.Errorf("open the next journal file: %w", err))
	}
	_ = w.file.Close()
	w.file, w.header, w.files = f, h, append(w.files, h.FirstSeq)
	w.end, w.size = headerSize, headerSize
	return nil
}

// uncreate makes sure that a next file whose creation failed half way is not there: entries still go to this one.
func (w *writer[S]) uncreate(first uint64, cause error) error {
	name := w.path(journalName(first))
	if err := w.fs.Remove(name); errors.Is(err, fs.ErrNotExist) {
		return cause
	} else if err != nil {
		return w.poisoned(errors.Join(cause, err))
	}
	if err := w.fs.SyncDir(w.opt.Dir); err != nil {
		return w.poisoned(errors.Join(cause, err))
	}
	return cause
}

// settle cuts the space reserved ahead and syncs: the file is what it will be.
func (w *writer[S]) settle() error {
	if w.syncing {
		w.endSync(<-w.synced)
	}
	if w.poison != nil {
		return w.poison
	}
	if err := w.file.Truncate(w.end); err != nil {
		return fmt.Errorf("cut reserved space: %w", err)
	}
	w.size = w.end
	if err := w.syncNow(); err != nil {
		return err
	}
	w.durable = w.seq
	return nil
}

// snapped is the outcome of a background snapshot.
type snapped struct {
	seq     uint64
	hash    [32]byte
	dropped int // files removed from the beginning
	err     error
}

var errStopping = errors.New("the store is being closed")

// beginSnapshot writes the published state to a snapshot, beside the loop.
func (w *writer[S]) beginSnapshot() {
	if w.snapping || w.poison != nil {
		return
	}
	w.snapping, w.snapStop = true, make(chan struct{})
	v, stop, k := w.view.Load(), w.snapStop, w.keeper()
	go func() {
		result := snapped{seq: v.seq}
		result.hash, result.err = writeSnapshot(k.fs, k.dir, k.point(v.seq, v.at, v.chain), stoppable(v.state, stop))
		if result.err == nil {
			result.dropped = k.drop()
		}
		w.snapped <- result
	}()
}

func (w *writer[S]) keeper() keeper[S] {
	return keeper[S]{
		fs: w.fs, dir: w.opt.Dir, fresh: w.fresh, cluster: w.header.ClusterID,
		base: w.base, files: slices.Clone(w.files), retention: w.opt.Retention.Milliseconds(), now: w.at,
	}
}

// stoppable gives the rows of the state until stop is closed.
func stoppable[S State[S]](state S, stop <-chan struct{}) func(func([]byte) error) error {
	return func(yield func([]byte) error) error {
		return state.Rows(func(row []byte) error {
			select {
			case <-stop:
				return errStopping
			default:
				return yield(row)
			}
		})
	}
}

// dropped forgets files that were removed from the beginning.
func (w *writer[S]) dropped(n int) {
	if n > 0 {
		w.files = w.files[n:]
		w.base = w.files[0] - 1
	}
}

// endSnapshot journals the hash of the snapshot and drops what it makes superfluous.
func (w *writer[S]) endSnapshot(s snapped) {
	w.snapping = false
	w.dropped(s.dropped)
	err := s.err
	if err == nil && w.poison == nil {
		err = w.appendOwn("snapshot", &StateHashed{Seq: s.seq, Hash: s.hash})
	}
	if err != nil {
		w.report(fmt.Errorf("write a snapshot: %w; the journal goes on without it", err))
	}
}

// stop is the clean stop: everything on disk, the state's hash journaled, a snapshot, the marker.
func (w *writer[S]) stop() error {
	w.stopping = true
	if w.snapping {
		close(w.snapStop)
		w.dropped((<-w.snapped).dropped)
		w.snapping = false
	}
	err := w.seal()
	if closing := w.file.Close(); err == nil && closing != nil {
		err = fmt.Errorf("close journal: %w", closing)
	}
	w.timer.Stop()
	return err
}

func (w *writer[S]) seal() error {
	// A snapshot vouches for the entries that it is made of: they are on disk before it appears.
	if err := w.settle(); err != nil || w.clean || w.seq == 0 {
		return err
	}
	v, k := w.view.Load(), w.keeper()
	hash, err := writeSnapshot(w.fs, w.opt.Dir, k.point(v.seq, v.at, v.chain), v.state.Rows)
	// A snapshot that could not be written (no space) makes the next start slower, not wrong.
	if err == nil {
		err = w.appendOwn("stop", &StateHashed{Seq: v.seq, Hash: hash})
	}
	if settled := w.settle(); settled != nil {
		return settled
	}
	if err != nil {
		return err
	}
	k.drop()
	return writeMarker(w.fs, w.opt.Dir, marker{
		ClusterID: w.header.ClusterID, FirstSeq: w.header.FirstSeq, Size: w.end, Seq: w.seq, Chain: w.chain,
	})
}
