package journal

import (
	"math"
	"os"
	"runtime"
	"testing"

	"doze/disk"
)

func readFile(t testing.TB, fsys disk.FS, name string) []byte {
	t.Helper()
	b, err := disk.ReadFile(fsys, name, math.MaxInt64)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// writeFile makes the file hold b.
func writeFile(t testing.TB, fsys disk.FS, name string, b []byte) {
	t.Helper()
	f, err := fsys.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
	if err == nil {
		_, err = f.WriteAt(b, 0)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func changeFile(t testing.TB, fsys disk.FS, name string, change func([]byte) []byte) {
	t.Helper()
	writeFile(t, fsys, name, change(readFile(t, fsys, name)))
}

// yield lets another goroutine run, in a loop that waits for it.
func yield() { runtime.Gosched() }
