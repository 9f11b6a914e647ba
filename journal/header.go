package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// A file's header, little endian:
//
//	 0  8  magic "dozejrnl"
//	 8  4  format version
//	12  4  zero
//	16  8  feature bits that a reader must know
//	24 16  cluster id
//	40  8  first sequence of the file
//	48  4  chain of the last frame before it, 0 when there is none: the first frame's chain begins here
//	52  4  salt: random, makes the checksums of this file's frame heads its own
//	56  4  skipped: how many sequences before the first one were given up by a repair, and are of no entry
//	60  4  CRC32C of bytes 0 to 60
const (
	headerSize    = 64
	formatVersion = 1
	knownFeatures = 0
)

var journalMagic = [8]byte{'d', 'o', 'z', 'e', 'j', 'r', 'n', 'l'}

// FileHeader begins a journal file.
type FileHeader struct {
	Version   uint32
	Features  uint64
	ClusterID [16]byte
	FirstSeq  uint64
	Chain     uint32
	Salt      uint32
	Skipped   uint32
}

// before is the last sequence of the file before this one, 0 when there was none.
func (h *FileHeader) before() uint64 { return h.FirstSeq - 1 - uint64(h.Skipped) }

func (h *FileHeader) encode() []byte {
	b := make([]byte, headerSize)
	copy(b, journalMagic[:])
	binary.LittleEndian.PutUint32(b[8:], h.Version)
	binary.LittleEndian.PutUint64(b[16:], h.Features)
	copy(b[24:], h.ClusterID[:])
	binary.LittleEndian.PutUint64(b[40:], h.FirstSeq)
	binary.LittleEndian.PutUint32(b[48:], h.Chain)
	binary.LittleEndian.PutUint32(b[52:], h.Salt)
	binary.LittleEndian.PutUint32(b[56:], h.Skipped)
	binary.LittleEndian.PutUint32(b[60:], crc32.Checksum(b[:60], castagnoli))
	return b
}

var (
	errNotJournal   = errors.New("not a doze journal")
	errHeaderShort  = errors.New("file ends inside its header")
	errHeaderDamage = errors.New("checksum of the header differs")
	errHeaderField  = errors.New("header holds what no version of doze writes")
)

// NewerError refuses a file that a newer version of doze wrote.
type NewerError struct {
	Version  uint32 // format version of the file
	Features uint64 // feature bits that are not known here
}

func (e *NewerError) Error() string {
	if e.Features != 0 {
		return fmt.Sprintf("the file needs features %#x that this version of doze does not know: use the version that wrote it or a later one", e.Features)
	}
	return fmt.Sprintf("the file has format %d, this version of doze reads up to %d: use the version that wrote it or a later one", e.Version, formatVersion)
}

// parseFileHeader reads the header of a journal file. A header that is whole but newer gives *NewerError.
//
//fuzz:parser class=journal FuzzFileHeader
func parseFileHeader(b []byte) (FileHeader, error) {
	if len(b) < headerSize {
		return FileHeader{}, errHeaderShort
	}
	if [8]byte(b) != journalMagic {
		return FileHeader{}, errNotJournal
	}
	if crc32.Checksum(b[:60], castagnoli) != binary.LittleEndian.Uint32(b[60:]) {
		return FileHeader{}, errHeaderDamage
	}
	h := FileHeader{
		Version:   binary.LittleEndian.Uint32(b[8:]),
		Features:  binary.LittleEndian.Uint64(b[16:]),
		ClusterID: [16]byte(b[24:]),
		FirstSeq:  binary.LittleEndian.Uint64(b[40:]),
		Chain:     binary.LittleEndian.Uint32(b[48:]),
		Salt:      binary.LittleEndian.Uint32(b[52:]),
		Skipped:   binary.LittleEndian.Uint32(b[56:]),
	}
	if h.Version != formatVersion {
		return h, &NewerError{Version: h.Version}
	}
	if unknown := h.Features &^ knownFeatures; unknown != 0 {
		return h, &NewerError{Version: h.Version, Features: unknown}
	}
	if h.FirstSeq == 0 || binary.LittleEndian.Uint32(b[12:]) != 0 || uint64(h.Skipped) >= h.FirstSeq {
		return h, errHeaderField
	}
	return h, nil
}
