//go:build linux

package machine

import (
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Floor is one bare operation, measured in this process on the CPU of the client.
type Floor struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}

// Floors measures the operations that need no second process. The rest (loopback, echo, sendfile) is what the floor
// server costs and stands in the table beside the brokers.
func Floors(dir string) ([]Floor, error) {
	write, err := pageCacheWrite(dir)
	if err != nil {
		return nil, err
	}
	extend, err := fdatasync(dir, false)
	if err != nil {
		return nil, err
	}
	overwrite, err := fdatasync(dir, true)
	if err != nil {
		return nil, err
	}
	return []Floor{
		{"CRC32C", checksum(), "s/GB"},
		{"page-cache write", write, "s/GB"},
		{"fdatasync, 4 KiB appended", extend, "us"},
		{"fdatasync, 4 KiB appended into preallocated space", overwrite, "us"},
	}, nil
}

const floorBlock = 1 << 20

func checksum() float64 {
	block, table := make([]byte, floorBlock), crc32.MakeTable(crc32.Castagnoli)
	const rounds = 256
	start := time.Now()
	for range rounds {
		crc32.Checksum(block, table)
	}
	return time.Since(start).Seconds() / (rounds * floorBlock) * 1e9
}

func pageCacheWrite(dir string) (float64, error) {
	f, err := os.Create(filepath.Join(dir, "floor-write"))
	if err != nil {
		return 0, fmt.Errorf("create floor file: %w", err)
	}
	defer discard(f)
	block := make([]byte, floorBlock)
	const rounds = 256
	start := time.Now()
	for range rounds {
		if _, err := f.Write(block); err != nil {
			return 0, fmt.Errorf("write floor file: %w", err)
		}
	}
	return time.Since(start).Seconds() / (rounds * floorBlock) * 1e9, nil
}

// fdatasync returns the median time of a 4 KiB append and its sync, in microseconds.
func fdatasync(dir string, preallocated bool) (float64, error) {
	f, err := os.Create(filepath.Join(dir, "floor-sync"))
	if err != nil {
		return 0, fmt.Errorf("create floor file: %w", err)
	}
	defer discard(f)
	const rounds = 101
	block := make([]byte, 4096)
	if preallocated {
		for range rounds {
			f.Write(block)
		}
		if err := f.Sync(); err != nil {
			return 0, fmt.Errorf("sync floor file: %w", err)
		}
	}
	took := make([]float64, rounds)
	for i := range took {
		start := time.Now()
		if _, err := f.WriteAt(block, int64(i)*4096); err != nil {
			return 0, fmt.Errorf("write floor file: %w", err)
		}
		if err := syscall.Fdatasync(int(f.Fd())); err != nil {
			return 0, fmt.Errorf("sync floor file: %w", err)
		}
		took[i] = time.Since(start).Seconds() * 1e6
	}
	return Median(took), nil
}

func discard(f *os.File) {
	f.Close()
	os.Remove(f.Name())
}
