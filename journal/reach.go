package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"doze/disk"
)

// Reach is how far a journal is known to have got by what lies beside it. A journal that ends before is older than that:
// copied back from a backup, say. Going on with it would give out numbers a second time that records have already.
type Reach struct {
	ClusterID [16]byte // zero: of any
	Seq       uint64
	// Ahead is the last entry that records know of and a power failure took. What records say of entries up to it proves nothing
	// against the journal, which has given their numbers out again.
	Ahead uint64
}

// ErrForeign refuses a journal beside data that was written under another one.
var ErrForeign = errors.New("journal: it is of another cluster than the data beside it, so two data directories were mixed; put back the journal that belongs to the data, or move the data away")

// ReadReach reads a note of WriteReach. One that is missing or does not verify says nothing.
//
//fuzz:parser class=journal FuzzMarker
func ReadReach(fsys disk.FS, dir, name string) (Reach, error) {
	m, err := readMarkerAt(fsys, path.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errMarker) {
		return Reach{}, nil
	}
	if err != nil {
		return Reach{}, fmt.Errorf("read how far the journal got: %w", err)
	}
	return Reach{ClusterID: m.ClusterID, Seq: m.Seq, Ahead: m.FirstSeq}, nil
}

// WriteReach leaves a note for ReadReach: a clean-stop marker without a file, in which Ahead is where that has FirstSeq.
func WriteReach(fsys disk.FS, dir, name string, r Reach) error {
	err := writeAside(fsys, dir, name, func(w io.Writer) error {
		_, err := w.Write(marker{ClusterID: r.ClusterID, Seq: r.Seq, FirstSeq: r.Ahead}.encode())
		return err
	})
	if err != nil {
		return fmt.Errorf("note how far the journal got: %w", err)
	}
	return nil
}

// Check says what stands against a journal of that cluster which ends, in a file and at a byte, with the entry seq.
func (r Reach) Check(cluster [16]byte, seq uint64, file string, end int64) error {
	if r.ClusterID != ([16]byte{}) && r.ClusterID != cluster {
		return ErrForeign
	}
	if r.Seq <= seq {
		return nil
	}
	return &DamageError{File: file, Offset: end, FirstSeq: seq + 1, LastSeq: r.Seq,
		Reason: fmt.Sprintf("the journal ends there, but the records beside it know of entry %d: the journal is older than they are", r.Seq)}
}
