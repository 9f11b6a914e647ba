//go:build !linux

package disk

import "os"

// datasync is the full sync where there is no cheaper one (on darwin Go asks for F_FULLFSYNC).
func datasync(f *os.File) error { return f.Sync() }

// preallocate does nothing: without it a sync costs more, and nothing else changes.
func preallocate(*os.File, int64) error { return nil }

// nextData does not know.
func nextData(_ *os.File, off int64) (int64, error) { return off, nil }
