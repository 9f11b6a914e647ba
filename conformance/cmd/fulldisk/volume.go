//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// volume is a small tmpfs, and a directory that is not on it.
type volume struct{ at, elsewhere string }

const volumeBytes = 16 << 20

func mount() (*volume, error) {
	at, err := os.MkdirTemp("", "doze-full-disk-")
	if err != nil {
		return nil, err
	}
	elsewhere, err := os.MkdirTemp("", "doze-full-disk-metadata-")
	if err != nil {
		return nil, err
	}
	if err := syscall.Mount("tmpfs", at, "tmpfs", 0, fmt.Sprintf("size=%d", volumeBytes)); err != nil {
		return nil, fmt.Errorf("mount a tmpfs: %w", err)
	}
	return &volume{at, elsewhere}, nil
}

func (v *volume) logs() string { return filepath.Join(v.at, "logs") }

func (v *volume) unmount() {
	_ = syscall.Unmount(v.at, syscall.MNT_DETACH) // it goes with the namespace otherwise
	_ = os.RemoveAll(v.at)
	_ = os.RemoveAll(v.elsewhere)
}

// fill writes until there is no space left, down to the last block.
func (v *volume) fill() error {
	f, err := os.Create(filepath.Join(v.at, "filler"))
	if err != nil {
		return err
	}
	defer f.Close()
	for n := 1 << 20; n > 0; {
		if _, err := f.Write(make([]byte, n)); errors.Is(err, syscall.ENOSPC) {
			n /= 2
		} else if err != nil {
			return err
		}
	}
	return nil
}
