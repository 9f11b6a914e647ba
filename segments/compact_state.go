package segments

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"path"

	"doze/disk"
)

// The file "cleaned" of a partition says how far it is compacted, and which segment is taking the place of others. The
// README draws it, and says what a crash leaves.
const (
	cleanedFile  = "cleaned"
	cleanedMagic = "DOZECLN1"
	cleanedBytes = 64
)

// cleanState is what that file says.
type cleanState struct {
	clean     int64 // everything below was compacted
	rewritten int64 // segments that begin below may have been replaced since a clean stop
	swap      swap
}

// swap is a cleaned segment that takes the place of those with bases from base up to end.
type swap struct {
	base, end        int64  // base -1: none
	size             int64  // of the cleaned log
	entries          int    // of its index
	logCRC, indexCRC uint32 // of the two files
}

var noSwap = swap{base: -1, end: -1}

func (c cleanState) encode() []byte {
	b := append(make([]byte, 0, cleanedBytes), cleanedMagic...)
	for _, v := range []int64{c.clean, c.rewritten, c.swap.base, c.swap.end, c.swap.size} {
		b = binary.BigEndian.AppendUint64(b, uint64(v))
	}
	for _, v := range []uint32{uint32(c.swap.entries), c.swap.logCRC, c.swap.indexCRC} {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// decodeCleanState is the inverse of encode and takes nothing else.
//
//fuzz:parser class=snapshot FuzzCleanState
func decodeCleanState(b []byte) (cleanState, error) {
	if len(b) != cleanedBytes || string(b[:8]) != cleanedMagic ||
		crc32.Checksum(b[:cleanedBytes-4], castagnoli) != binary.BigEndian.Uint32(b[cleanedBytes-4:]) {
		return cleanState{swap: noSwap}, errBadState
	}
	at := func(i int) int64 { return int64(binary.BigEndian.Uint64(b[8+8*i:])) }
	c := cleanState{clean: at(0), rewritten: at(1),
		swap: swap{base: at(2), end: at(3), size: at(4), entries: int(binary.BigEndian.Uint32(b[48:])),
			logCRC: binary.BigEndian.Uint32(b[52:]), indexCRC: binary.BigEndian.Uint32(b[56:])}}
	if c.clean < 0 || c.rewritten < 0 || c.swap.base < -1 || c.swap.end < c.swap.base || c.swap.size < 0 {
		return cleanState{swap: noSwap}, errBadState
	}
	return c, nil
}

// readCleanState reads a partition's file; one that is missing or does not verify says that nothing is compacted.
//
//fuzz:parser class=snapshot FuzzCleanState
func readCleanState(fsys disk.FS, dir string) (cleanState, error) {
	b, err := disk.ReadFile(fsys, path.Join(dir, cleanedFile), 4<<10)
	if errors.Is(err, fs.ErrNotExist) {
		return cleanState{swap: noSwap}, nil
	}
	if err != nil {
		return cleanState{swap: noSwap}, err
	}
	c, err := decodeCleanState(b)
	if errors.Is(err, errBadState) {
		err = nil
	}
	return c, err
}

// writeCleanState replaces the file durably.
func (p *Partition) writeCleanState(c cleanState) error {
	return p.dir.files.withRoom(func() error {
		return disk.WriteFile(p.dir.fs, p.path, path.Join(p.path, cleanedFile), c.encode())
	})
}
