package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// both runs a test on the real file system and on the one in memory: they must not differ.
func both(t *testing.T, f func(t *testing.T, fsys FS)) {
	t.Run("os", func(t *testing.T) {
		o, err := OpenOS(filepath.Join(t.TempDir(), "root"))
		if err != nil {
			t.Fatal(err)
		}
		defer o.Close()
		f(t, o)
	})
	t.Run("mem", func(t *testing.T) { f(t, NewMem()) })
}

func put(t *testing.T, fsys FS, name, content string) {
	t.Helper()
	f, err := fsys.OpenFile(name, os.O_RDWR|os.O_CREATE)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte(content), 0); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, fsys FS, name string) string {
	t.Helper()
	b, err := ReadFile(fsys, name, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestFiles(t *testing.T) {
	both(t, func(t *testing.T, fsys FS) {
		if err := fsys.MkdirAll("a/b"); err != nil {
			t.Fatal(err)
		}
		put(t, fsys, "a/b/f", "hello")
		put(t, fsys, "a/b/e", "")
		f, err := fsys.OpenFile("a/b/f", os.O_RDWR)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		p := make([]byte, 4)
		if n, err := f.ReadAt(p, 3); n != 2 || err != io.EOF || string(p[:2]) != "lo" {
			t.Fatal(n, err)
		}
		if n, err := f.ReadAt(p, 5); n != 0 || err != io.EOF {
			t.Fatal(n, err)
		}
		if err := f.Preallocate(20); err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt([]byte("x"), 8); err != nil {
			t.Fatal(err)
		}
		if err := f.Truncate(10); err != nil {
			t.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			t.Fatal(err)
		}
		if got := get(t, fsys, "a/b/f"); got != "hello\x00\x00\x00x\x00" {
			t.Fatalf("%q", got)
		}
		entries, err := fsys.ReadDir("a/b")
		if err != nil || len(entries) != 2 || entries[0].Name() != "e" || entries[0].IsDir() {
			t.Fatal(entries, err)
		}
		if err := fsys.Rename("a/b/f", "a/b/e"); err != nil {
			t.Fatal(err)
		}
		if err := fsys.Rename("a/b", "c"); err != nil {
			t.Fatal(err)
		}
		if info, err := fsys.Stat("c/e"); err != nil || info.Size() != 10 || info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
			t.Fatal(info, err)
		}
		if err := fsys.SyncDir("c"); err != nil {
			t.Fatal(err)
		}
		if err := fsys.SyncDir("."); err != nil {
			t.Fatal(err)
		}
		if err := fsys.Remove("c"); err == nil {
			t.Fatal("removed a directory that is not empty")
		}
		if err := fsys.RemoveAll("c"); err != nil {
			t.Fatal(err)
		}
		if err := fsys.RemoveAll("c"); err != nil {
			t.Fatal(err)
		}
		if _, err := f.ReadAt(p[:1], 0); err != nil || p[0] != 'h' {
			t.Fatal("an open file outlives its name:", err)
		}
		if s, err := fsys.Space(); err != nil || s.Free == 0 || s.Free > s.Total {
			t.Fatal(s, err)
		}
	})
}

func TestErrors(t *testing.T) {
	both(t, func(t *testing.T, fsys FS) {
		put(t, fsys, "f", "x")
		is := func(err, want error) {
			t.Helper()
			if !errors.Is(err, want) {
				t.Errorf("%v, want %v", err, want)
			}
		}
		_, err := fsys.OpenFile("missing", os.O_RDONLY)
		is(err, fs.ErrNotExist)
		_, err = fsys.OpenFile("missing/f", os.O_RDWR|os.O_CREATE)
		is(err, fs.ErrNotExist)
		_, err = fsys.OpenFile("f", os.O_RDWR|os.O_CREATE|os.O_EXCL)
		is(err, fs.ErrExist)
		_, err = fsys.Stat("missing")
		is(err, fs.ErrNotExist)
		_, err = fsys.ReadDir("missing")
		is(err, fs.ErrNotExist)
		is(fsys.Remove("missing"), fs.ErrNotExist)
		is(fsys.Rename("missing", "g"), fs.ErrNotExist)
		f, _ := fsys.OpenFile("f", os.O_RDONLY)
		if _, err := f.WriteAt([]byte("y"), 0); err == nil {
			t.Error("wrote to a file that is open for reading")
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		_, err = f.ReadAt(make([]byte, 1), 0)
		is(err, fs.ErrClosed)
		for _, name := range []string{"../f", "/etc/passwd", "a/../../f"} {
			if _, err := fsys.OpenFile(name, os.O_RDONLY); err == nil {
				t.Error("opened", name)
			}
		}
		if _, err := ReadFile(fsys, "f", 0); err == nil {
			t.Error("read more than the limit")
		}
	})
}

func TestNoNameLeavesTheRoot(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "secret"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := OpenOS(filepath.Join(dir, "root"))
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	if err := os.Symlink("../secret", filepath.Join(o.Path(), "link")); err != nil {
		t.Fatal(err)
	}
	if _, err := o.OpenFile("link", os.O_RDONLY); err == nil {
		t.Fatal("followed a link out of the root")
	}
}

func TestLock(t *testing.T) {
	both(t, func(t *testing.T, fsys FS) {
		l, err := fsys.Lock("lock")
		if err != nil {
			t.Fatal(err)
		}
		_, err = fsys.Lock("lock")
		held := (*LockedError)(nil)
		if !errors.As(err, &held) || held.PID != os.Getpid() || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if l, err = fsys.Lock("lock"); err != nil {
			t.Fatal(err)
		}
		l.Close()
	})
}

func TestCrashForgetsWhatWasNotSynced(t *testing.T) {
	m := NewMem()
	m.MkdirAll("d")
	m.SyncDir(".")
	put(t, m, "d/kept", "first")
	f, _ := m.OpenFile("d/kept", os.O_RDWR)
	f.Sync()
	m.SyncDir("d")
	f.WriteAt([]byte("later and longer"), 0)
	put(t, m, "d/new", "x")
	m.Rename("d/kept", "d/moved")

	killed := m.Crash(KillProcess())
	if got := killed.Dump(); got != "d/moved 16\nd/new 1\n" {
		t.Fatal(got)
	}
	lost := m.Crash(PowerLoss())
	if got := lost.Dump(); got != "d/kept 5\n" || get(t, lost, "d/kept") != "first" {
		t.Fatal(got)
	}
	m.SyncDir("d")
	lost = m.Crash(PowerLoss())
	if got := lost.Dump(); got != "d/moved 5\nd/new 0\n" || get(t, lost, "d/moved") != "first" {
		t.Fatal(got)
	}
}

func TestTornCrashMixesSectors(t *testing.T) {
	old, young := bytes.Repeat([]byte{'o'}, 4*sectorBytes), bytes.Repeat([]byte{'y'}, 4*sectorBytes)
	m := NewMem()
	put(t, m, "f", string(old))
	f, _ := m.OpenFile("f", os.O_RDWR)
	f.Sync()
	m.SyncDir(".")
	f.WriteAt(young, 0)
	states := map[string]bool{}
	for seed := range uint64(200) {
		got := get(t, m.Crash(TornPowerLoss(seed)), "f")
		state := ""
		for at := 0; at < len(got); at += sectorBytes {
			sector := got[at : at+sectorBytes]
			if strings.Count(sector, sector[:1]) != sectorBytes {
				t.Fatal("a sector is torn")
			}
			state += sector[:1]
		}
		states[state] = true
	}
	if len(states) != 16 {
		t.Fatal(len(states), "of 16 states")
	}
}

func TestFaults(t *testing.T) {
	m := NewMem()
	put(t, m, "f", "12345678")
	f, _ := m.OpenFile("f", os.O_RDWR)
	f.Sync()
	fault := &Fault{After: 1, Err: ENOSPC, Only: []Op{OpWrite}, Short: true}
	m.Inject(fault)
	write := func(s string) (int, error) { return f.WriteAt([]byte(s), 0) }
	if _, err := write("aa"); err != nil {
		t.Fatal(err)
	}
	if n, err := write("bbbb"); n != 2 || !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(n, err)
	}
	if _, err := write("c"); err != nil || m.Fired(fault) != 1 {
		t.Fatal("once only:", err)
	}
	if got := get(t, m, "f"); got != "cb345678" {
		t.Fatal(got)
	}
	m.Inject(&Fault{Err: EIO, Only: []Op{OpSync}})
	if err := f.Sync(); !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	m.SyncDir(".")
	if got := get(t, m.Crash(PowerLoss()), "f"); got != "12345678" {
		t.Fatal("a sync after a failed one proved something:", got)
	}
	m.Inject(&Fault{Err: EIO, Persistent: true, Match: func(name string) bool { return name == "f" }})
	for range 3 {
		if _, err := write("x"); err == nil {
			t.Fatal("written")
		}
	}
	put(t, m, "g", "other files work")
	m.Clear()
	if _, err := write("x"); err != nil {
		t.Fatal(err)
	}
}

// TestWriteFileIsAllOrNothing fails each operation in turn and crashes in every state.
func TestWriteFileIsAllOrNothing(t *testing.T) {
	m := NewMem()
	m.Trace()
	if err := WriteFile(m, ".", "f", []byte("old")); err != nil {
		t.Fatal(err)
	}
	want := []string{"create f.new", "write f.new 3", "sync f.new", "rename f.new f", "syncdir ."}
	if got := m.TakeTrace(); !slices.Equal(got, want) {
		t.Fatal(got)
	}
	for n := range len(want) {
		for seed := range uint64(20) {
			crashed := m.Crash(KillProcess())
			crashed.Inject(&Fault{After: n, Err: EIO, Persistent: seed%2 == 0})
			err := WriteFile(crashed, ".", "f", []byte("new"))
			if err == nil {
				t.Fatal("no error at operation", n)
			}
			crashed.Clear()
			for _, loss := range []Loss{KillProcess(), PowerLoss(), TornPowerLoss(seed)} {
				if got := get(t, crashed.Crash(loss), "f"); got != "old" && got != "new" {
					t.Fatalf("operation %d: %q", n, got)
				}
			}
		}
	}
}
