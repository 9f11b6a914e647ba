package main

import (
	"errors"
	"os"
)

func diskFree(string) (uint64, error) { return 0, errors.New("not told by this system") }

// openFilesMax is what Windows has: no limit that matters.
func openFilesMax() (uint64, error) { return 1 << 24, nil }

// writable tries: Windows' rights are not to be read from a mode.
func writable(dir string) bool {
	f, err := os.CreateTemp(dir, "doze-doctor-*")
	if err != nil {
		return false
	}
	f.Close()
	return os.Remove(f.Name()) == nil
}
