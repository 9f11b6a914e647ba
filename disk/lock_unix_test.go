//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package disk

import (
	"path/filepath"
	"syscall"
	"testing"
)

// A child between its fork and its exec has a copy of every descriptor: a lock that was given up is free nevertheless.
func TestLockIsFreeBesideACopy(t *testing.T) {
	o, err := OpenOS(filepath.Join(t.TempDir(), "root"))
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	l, err := o.Lock("lock")
	if err != nil {
		t.Fatal(err)
	}
	held, err := syscall.Dup(int(l.(fileLock).Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(held)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l, err = o.Lock("lock")
	if err != nil {
		t.Fatalf("the lock was given up, and a copy of its descriptor keeps it: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestPipesDoNotWait: what stands where a file or directory should be is an error or an empty file, and keeps nobody waiting.
func TestPipesDoNotWait(t *testing.T) {
	o, err := OpenOS(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	if err := syscall.Mkfifo(filepath.Join(o.Path(), "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := ReadFile(o, "pipe", 10); err == nil && len(b) > 0 {
		t.Errorf("a pipe was read as a file: %q", b)
	}
	if entries, err := o.ReadDir("pipe"); err == nil {
		t.Errorf("a pipe was read as a directory: %v", entries)
	}
}
