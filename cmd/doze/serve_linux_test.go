package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// TestServeRefusesAReadOnlyDirectory runs as a user who may not write, also where the tests run as root: on Linux the
// user that files are opened as belongs to a thread.
func TestServeRefusesAReadOnlyDirectory(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{filepath.Dir(dir), dir} {
		if err := os.Chmod(d, 0o755); err != nil { //nolint:gosec // somebody else is to read it
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, want string
		make       func(path string) error
	}{
		{"empty", "permission denied", func(path string) error { return os.Mkdir(path, 0o555) }},
		{"used", "permission denied", func(path string) error {
			return os.MkdirAll(filepath.Join(path, "journal"), 0o755)
		}},
		{"shut", "permission denied", func(path string) error { return os.Mkdir(path, 0) }},
		{"missing", "permission denied", func(path string) error { return nil }},
	} {
		path := filepath.Join(dir, c.name)
		if err := c.make(path); err != nil {
			t.Fatal(err)
		}
		if c.name == "used" {
			if err := os.Chmod(path, 0o555); err != nil { //nolint:gosec // see above
				t.Fatal(err)
			}
		}
		var stdout, stderr bytes.Buffer
		code := asNobody(func() int {
			return run([]string{"serve", "--listen", "127.0.0.1:0", "--data-dir", path}, nil, &stdout, &stderr)
		})
		if code != exitError || !strings.Contains(stderr.String(), c.want) || !strings.Contains(stderr.String(), "; ") || strings.Count(stderr.String(), "\n") != 1 || stdout.Len() > 0 {
			t.Errorf("%s: %d, %s%s", c.name, code, &stdout, &stderr)
		}
	}
}

// asNobody calls f on a thread that opens files as the user nobody, and that ends with it.
func asNobody(f func() int) int {
	result := make(chan int)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread is not used again
		const nobody = 65534
		_ = syscall.Setfsgid(nobody)
		_ = syscall.Setfsuid(nobody)
		result <- f()
	}()
	return <-result
}
