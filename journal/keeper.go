package journal

import (
	"path"
	"slices"

	"doze/disk"
)

// keeper removes what retention allows to remove. It works beside the loop: it touches no file that the loop uses.
type keeper[S State[S]] struct {
	fs        disk.FS
	dir       string
	fresh     func() S
	cluster   [16]byte
	base      uint64   // the entry before the first file's
	files     []uint64 // first sequences of the journal files, the last is in use
	retention int64    // ms; 0 keeps all
	now       int64
}

func (k *keeper[S]) point(seq uint64, at int64, chain uint32) point {
	return point{ClusterID: k.cluster, Seq: seq, At: at, Chain: chain}
}

// drop removes files and snapshots that nothing needs any more; it says how many files went.
func (k *keeper[S]) drop() (files int) {
	l, err := list(k.fs, k.dir)
	if err != nil {
		return 0
	}
	files = k.dropFiles(l.snapshots)
	for _, seq := range l.snapshots[:max(len(l.snapshots)-2, 0)] {
		if !k.needed(seq) {
			_ = k.fs.Remove(path.Join(k.dir, snapshotName(seq)))
		}
	}
	return files
}

// needed says whether a snapshot is of the beginning of the journal, or of a file that files may be dropped up to.
func (k *keeper[S]) needed(seq uint64) bool {
	return seq == k.base || k.retention > 0 && slices.Contains(k.files, seq+1)
}

// dropFiles removes journal files that are older than the retention and covered by a snapshot that was read back to the
// state it was taken of. A snapshot is always kept of where the first file that stays begins.
func (k *keeper[S]) dropFiles(snapshots []uint64) int {
	drop := k.droppable(snapshots)
	for i := range drop {
		if k.fs.Remove(path.Join(k.dir, journalName(k.files[0]))) != nil {
			drop = i
			break
		}
		k.files = k.files[1:]
		k.base = k.files[0] - 1
	}
	if drop > 0 {
		_ = k.fs.SyncDir(k.dir)
	}
	return drop
}

// droppable is how many files at the beginning may go.
func (k *keeper[S]) droppable(snapshots []uint64) int {
	if k.retention == 0 {
		return 0
	}
	for i := len(k.files) - 1; i > 0; i-- {
		at, err := k.beginning(k.files[i])
		if err != nil || at > k.now-k.retention {
			continue
		}
		for _, seq := range snapshots {
			if seq+1 == k.files[i] && k.verifies(seq) {
				return i
			}
		}
	}
	return 0
}

// beginning is the time of a file's first entry: all files before it hold only older ones.
func (k *keeper[S]) beginning(first uint64) (int64, error) {
	s, err := openScanner(k.fs, path.Join(k.dir, journalName(first)))
	if err != nil {
		return 0, err
	}
	defer s.close()
	_, body, err := s.next()
	if err != nil {
		return 0, err
	}
	e, err := newDecoder().decode(body)
	return e.At, err
}

// verifies says whether a snapshot loads, and loads to the state that it holds.
func (k *keeper[S]) verifies(seq uint64) bool {
	state, p, want, err := loadSnapshot(k.fs, path.Join(k.dir, snapshotName(seq)), k.fresh)
	if err != nil || p.Seq != seq || p.ClusterID != k.cluster {
		return false
	}
	got, err := HashOf(state.Rows)
	return err == nil && got == want
}
