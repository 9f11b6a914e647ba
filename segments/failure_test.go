package segments

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"doze/disk"
)

func openTold(t *testing.T, fsys disk.FS, told *[]Report) *Dir {
	t.Helper()
	opt := testOptions()
	opt.Report = func(r Report) { *told = append(*told, r) }
	d, err := OpenDir(fsys, "segments", opt)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func causes(told []Report) (out []Cause) {
	for _, r := range told {
		out = append(out, r.Cause)
	}
	return out
}

// TestFailuresAreToldOnce a partition and cause.
func TestFailuresAreToldOnce(t *testing.T) {
	m := disk.NewMem()
	var told []Report
	d := openTold(t, m, &told)
	p, q := d.Partition(ID{topicA, 0}, Config{}), d.Partition(ID{topicA, 1}, Config{})
	mustAppend(t, p, made{})
	m.Inject(&disk.Fault{Err: disk.ENOSPC, Only: []disk.Op{disk.OpWrite}, Persistent: true})
	for range 3 {
		for _, p := range []*Partition{p, q} {
			if _, err := p.Append(made{}.batch(t), Admission{}); !errors.Is(err, disk.ENOSPC) {
				t.Fatal(err)
			}
		}
	}
	if len(told) != 2 || told[0].Cause != Writing || told[0].Partition != p.id || told[1].Partition != q.id || !errors.Is(told[0].Failure, disk.ENOSPC) {
		t.Fatal(told)
	}
	m.Clear()
	m.Inject(&disk.Fault{Err: disk.EIO, Only: []disk.Op{disk.OpSync}})
	for range 2 {
		if err := p.SyncTo(context.Background(), 1); !errors.Is(err, disk.EIO) {
			t.Fatal(err)
		}
	}
	if got := causes(told); len(got) != 3 || got[2] != Syncing {
		t.Fatal(told)
	}
}

func TestFailedOpenIsTold(t *testing.T) {
	m := disk.NewMem()
	threeSegments(t, m)
	m = m.Crash(disk.KillProcess())
	var told []Report
	p := openTold(t, m, &told).Partition(ID{topicA, 0}, Config{})
	m.Inject(&disk.Fault{Err: disk.EIO, Only: []disk.Op{disk.OpOpen}, Persistent: true})
	for range 2 {
		if _, err := p.Offsets(); !errors.Is(err, disk.EIO) {
			t.Fatal(err)
		}
	}
	m.Clear()
	if _, err := p.Offsets(); err != nil {
		t.Fatal(err)
	}
	if got := causes(told); len(got) != 1 || got[0] != Opening {
		t.Fatal(told)
	}
}

// crowdedFS has room for so many open files.
type crowdedFS struct {
	disk.FS
	open, most atomic.Int32
}

type crowdedFile struct {
	disk.File
	fs *crowdedFS
}

func (f *crowdedFS) OpenFile(name string, flag int) (disk.File, error) {
	if f.open.Load() >= f.most.Load() && strings.Contains(name, topicADir) {
		return nil, &os.PathError{Op: "open", Path: name, Err: syscall.EMFILE}
	}
	file, err := f.FS.OpenFile(name, flag)
	if err == nil {
		f.open.Add(1)
		file = &crowdedFile{file, f}
	}
	return file, err
}

func (f *crowdedFS) SyncDir(name string) error {
	if f.open.Load() >= f.most.Load() {
		return &os.PathError{Op: "open", Path: name, Err: syscall.EMFILE}
	}
	return f.FS.SyncDir(name)
}

func (f *crowdedFile) Close() error {
	f.fs.open.Add(-1)
	return f.File.Close()
}

var topicADir = strings.TrimSuffix(ID{topicA, 0}.String(), "0")

// TestTooManyOpenFiles: others that are open are closed for it.
func TestTooManyOpenFiles(t *testing.T) {
	fsys := &crowdedFS{FS: disk.NewMem()}
	fsys.most.Store(16) // 8 are synced at once, and each needs two
	opt := testOptions()
	opt.MaxUnsyncedFiles = 4
	d, err := OpenDir(fsys, "segments", opt)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for n := range int32(30) {
			p := d.Partition(ID{topicA, n}, Config{SegmentBytes: 200})
			mustAppend(t, p, made{records: 3})
			if err := p.SyncTo(context.Background(), endOf(p)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestTooManyOpenFilesIsNotLatched: it says nothing about what is on disk.
func TestTooManyOpenFilesIsNotLatched(t *testing.T) {
	fsys := &crowdedFS{FS: disk.NewMem()}
	fsys.most.Store(100)
	d := openTest(t, fsys)
	p := d.Partition(ID{topicA, 0}, Config{})
	mustAppend(t, p, made{})
	s := p.segments[0]
	if _, err := s.log.acquire(); err != nil { // in use, so not closed for it
		t.Fatal(err)
	}
	if _, err := s.index.acquire(); err != nil {
		t.Fatal(err)
	}
	fsys.most.Store(0)
	if err := p.SyncTo(context.Background(), 1); !errors.Is(err, syscall.EMFILE) || !errors.Is(err, ErrStorage) {
		t.Fatal(err)
	}
	fsys.most.Store(100)
	if err := p.SyncTo(context.Background(), 1); err != nil || p.newDir || p.synced != 1 {
		t.Fatal(err, p.newDir, p.synced)
	}
	mustAppend(t, p, made{})
}
