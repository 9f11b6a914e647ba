package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"doze/disk"
)

// In the journal's directory:
//
//	00000000000000000001.journal    entries from 1 on; the next file's name says where it ends
//	00000000000000004711.snapshot   the state after entry 4711
//	clean-stop                      how far the journal reached at the last clean stop
//	*.torn                          bytes that a crash left behind the last entry, cut off at a start
//	*.damaged                       files that `doze repair` replaced
//	*.tmp                           what a crash left of a file that was being made; removed at a start
const (
	journalSuffix  = ".journal"
	snapshotSuffix = ".snapshot"
	tornSuffix     = ".torn"
	damagedSuffix  = ".damaged"
	tempSuffix     = ".tmp"
	markerName     = "clean-stop"
)

func journalName(first uint64) string { return fmt.Sprintf("%020d%s", first, journalSuffix) }
func snapshotName(seq uint64) string  { return fmt.Sprintf("%020d%s", seq, snapshotSuffix) }

// parseName gives the sequence in a file's name.
//
//fuzz:parser class=journal FuzzName
func parseName(name, suffix string) (uint64, bool) {
	digits, ok := strings.CutSuffix(name, suffix)
	if !ok || len(digits) != 20 {
		return 0, false
	}
	seq, err := strconv.ParseUint(digits, 10, 64)
	return seq, err == nil
}

// listing is what a journal's directory holds, each list in order of sequence.
type listing struct {
	journals  []uint64 // first sequences
	snapshots []uint64 // sequences
	temps     []string
	marker    bool
}

func list(fsys disk.FS, dir string) (listing, error) {
	var l listing
	entries, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return l, fmt.Errorf("list journal directory %s: %w", dir, err)
	}
	for _, e := range entries { // ReadDir sorts by name, and names of equal length sort as their numbers do
		if seq, ok := parseName(e.Name(), journalSuffix); ok && seq > 0 {
			l.journals = append(l.journals, seq)
		} else if seq, ok := parseName(e.Name(), snapshotSuffix); ok {
			l.snapshots = append(l.snapshots, seq)
		} else if strings.HasSuffix(e.Name(), tempSuffix) {
			l.temps = append(l.temps, e.Name())
		} else if e.Name() == markerName {
			l.marker = true
		}
	}
	return l, nil
}

// marker is the content of the clean-stop file: the journal reached this far and was closed. It is never removed, for it
// stays true: a journal that does not reach it any more has lost something.
//
//	 0  8  magic "dozestop"
//	 8 16  cluster id
//	24  8  first sequence of the last file
//	32  8  its size
//	40  8  last sequence
//	48  4  chain of the last entry
//	52  4  CRC32C of bytes 0 to 52
type marker struct {
	ClusterID [16]byte
	FirstSeq  uint64
	Size      int64
	Seq       uint64
	Chain     uint32
}

const markerSize = 56

var markerMagic = [8]byte{'d', 'o', 'z', 'e', 's', 't', 'o', 'p'}

func (m marker) encode() []byte {
	b := make([]byte, markerSize)
	copy(b, markerMagic[:])
	copy(b[8:], m.ClusterID[:])
	binary.LittleEndian.PutUint64(b[24:], m.FirstSeq)
	binary.LittleEndian.PutUint64(b[32:], uint64(m.Size))
	binary.LittleEndian.PutUint64(b[40:], m.Seq)
	binary.LittleEndian.PutUint32(b[48:], m.Chain)
	binary.LittleEndian.PutUint32(b[52:], crc32.Checksum(b[:52], castagnoli))
	return b
}

var errMarker = errors.New("the clean-stop marker does not verify")

// parseMarker reads the clean-stop file.
//
//fuzz:parser class=journal FuzzMarker
func parseMarker(b []byte) (marker, error) {
	if len(b) != markerSize || [8]byte(b) != markerMagic ||
		crc32.Checksum(b[:52], castagnoli) != binary.LittleEndian.Uint32(b[52:]) {
		return marker{}, errMarker
	}
	return marker{
		ClusterID: [16]byte(b[8:]),
		FirstSeq:  binary.LittleEndian.Uint64(b[24:]),
		Size:      int64(binary.LittleEndian.Uint64(b[32:])),
		Seq:       binary.LittleEndian.Uint64(b[40:]),
		Chain:     binary.LittleEndian.Uint32(b[48:]),
	}, nil
}

// readMarker reads the clean-stop file of a directory.
//
//fuzz:parser class=journal FuzzMarker
func readMarker(fsys disk.FS, dir string) (marker, error) {
	return readMarkerAt(fsys, path.Join(dir, markerName))
}

//fuzz:parser class=journal FuzzMarker
func readMarkerAt(fsys disk.FS, name string) (marker, error) {
	f, err := fsys.OpenFile(name, readOnly)
	if err != nil {
		return marker{}, err
	}
	defer f.Close()
	b := make([]byte, markerSize+1)
	n, err := f.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return marker{}, err
	}
	return parseMarker(b[:n])
}

func writeMarker(fsys disk.FS, dir string, m marker) error {
	err := writeAside(fsys, dir, markerName, func(w io.Writer) error {
		_, err := w.Write(m.encode())
		return err
	})
	if err != nil {
		return fmt.Errorf("write clean-stop marker: %w", err)
	}
	return nil
}

// createJournal makes a journal file that holds only its header. The name appears only when the header is on disk.
func createJournal(fsys disk.FS, dir string, h FileHeader) error {
	name := journalName(h.FirstSeq)
	err := writeAside(fsys, dir, name, func(w io.Writer) error {
		_, err := w.Write(h.encode())
		return err
	})
	if err != nil {
		return fmt.Errorf("create journal file %s: %w", name, err)
	}
	return nil
}
