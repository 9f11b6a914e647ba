package doze

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"doze/disk"
)

// A broker that keeps nothing has a temporary directory. It carries a mark beside its lock, so that one whose broker was
// killed can be told from a data directory that somebody keeps there on purpose.
const (
	ephemeralPrefix = "doze-"
	ephemeralMark   = ".ephemeral"
)

// makeEphemeral makes the temporary directory, and removes those that killed brokers left.
func (b *Broker) makeEphemeral() error {
	sweepEphemeral(os.TempDir())
	dir, err := os.MkdirTemp("", ephemeralPrefix)
	if err != nil {
		return fmt.Errorf("make a temporary data directory: %w; set TMPDIR to a directory that is writable", err)
	}
	b.opt.DataDir = dir
	b.onClose(func() error { return os.RemoveAll(dir) })
	return nil
}

// markEphemeral is called under the directory's lock: from then on a sweep may take it, once the lock is free. A directory
// that somebody serves by its name is kept from then on.
func (b *Broker) markEphemeral() error {
	mark := filepath.Join(b.fs.Path(), ephemeralMark)
	if !b.opt.Ephemeral {
		if err := os.Remove(mark); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("keep data directory: %w; make it one that you may write to", err)
		}
		return nil
	}
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		return fmt.Errorf("mark temporary data directory: %w; set TMPDIR to a directory that is writable", err)
	}
	return nil
}

// Abandon removes the temporary directory of an ephemeral broker, for who ends the process without Close. The broker is
// of no use afterwards.
func (b *Broker) Abandon() {
	if b.opt.Ephemeral {
		_ = os.RemoveAll(b.opt.DataDir) // the process ends; the next ephemeral start sweeps what is left
	}
}

// sweepEphemeral removes the temporary directories of brokers that are dead. What it is not sure of stays.
func sweepEphemeral(temp string) {
	names, err := filepath.Glob(filepath.Join(temp, ephemeralPrefix+"[0-9]*"))
	if err != nil {
		return
	}
	for _, dir := range names {
		number := strings.TrimPrefix(filepath.Base(dir), ephemeralPrefix)
		if strings.Trim(number, "0123456789") == "" && isEphemeral(dir) {
			sweepOne(dir)
		}
	}
}

// isEphemeral tells a directory with mark and lock, none of them a link.
func isEphemeral(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return false
	}
	for _, name := range []string{ephemeralMark, lockName} {
		if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || !info.Mode().IsRegular() {
			return false
		}
	}
	return true
}

// sweepOne removes the directory if its lock is free: the lock is let go of however its holder ends.
func sweepOne(dir string) {
	fsys, err := disk.OpenOS(dir)
	if err != nil {
		return
	}
	defer fsys.Close()
	lock, err := fsys.Lock(lockName)
	if err != nil {
		return
	}
	ours := isEphemeral(dir) // its broker may have closed it meanwhile
	if lock.Close() == nil && ours {
		_ = os.RemoveAll(dir) // what stays is tried again at the next start
	}
}
