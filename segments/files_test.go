package segments

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"doze/disk"
)

// reopenFS counts how often a log is opened that is there already.
type reopenFS struct {
	disk.FS
	logs atomic.Int32
}

func (f *reopenFS) OpenFile(name string, flag int) (disk.File, error) {
	if strings.HasSuffix(name, ".log") && flag&os.O_CREATE == 0 {
		f.logs.Add(1)
	}
	return f.FS.OpenFile(name, flag)
}

func openLimited(t *testing.T, fsys disk.FS, files int) *Dir {
	t.Helper()
	opt := testOptions()
	opt.MaxOpenFiles = files
	d, err := OpenDir(fsys, "segments", opt)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestUnsyncedFilesStayOpen: the descriptor that wrote is the one that syncs, whatever else is opened in between.
func TestUnsyncedFilesStayOpen(t *testing.T) {
	fsys := &reopenFS{FS: disk.NewMem()}
	d := openLimited(t, fsys, 2)
	for range 3 {
		for n := range int32(2 * unsyncedMost) {
			mustAppend(t, d.Partition(ID{topicA, n}, Config{}), made{})
		}
	}
	d.SyncDirty()
	if n := fsys.logs.Load(); n != 0 {
		t.Fatalf("%d logs were opened again before their sync", n)
	}
	if n := d.files.unsynced.Load(); n != 0 {
		t.Fatal(n)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestTooManyUnsyncedFiles: who writes to one more syncs it, and a failure of that is latched as any failed sync.
func TestTooManyUnsyncedFiles(t *testing.T) {
	m := disk.NewMem()
	d := openLimited(t, m, 1)
	for n := range int32(unsyncedMost) {
		mustAppend(t, d.Partition(ID{topicA, n}, Config{}), made{})
	}
	next := d.Partition(ID{topicA, unsyncedMost}, Config{})
	mustAppend(t, next, made{})
	if n := d.files.unsynced.Load(); n != unsyncedMost {
		t.Fatal(n)
	}
	m.Inject(&disk.Fault{Err: disk.EIO, Only: []disk.Op{disk.OpSync}})
	for range 2 {
		if _, err := next.Append(made{}.batch(t), Admission{}); !errors.Is(err, ErrStorage) || !errors.Is(err, disk.EIO) {
			t.Fatal(err)
		}
	}
	if o, err := next.Offsets(); err != nil || o.HighWatermark != 1 {
		t.Fatal(o, err)
	}
	if err := d.Partition(ID{topicA, 0}, Config{}).SyncTo(context.Background(), 1); err != nil {
		t.Fatal(err)
	}
	if n := d.files.unsynced.Load(); n != unsyncedMost-1 {
		t.Fatal(n)
	}
	if err := d.Remove(topicA); err != nil {
		t.Fatal(err)
	}
	if n := d.files.unsynced.Load(); n != 0 {
		t.Fatal("removed files count as unsynced:", n)
	}
}
