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
