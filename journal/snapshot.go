package journal

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"os"
	"path"

	"doze/disk"
)

// A snapshot file, little endian: a header, blocks of rows, an empty block, the trailer.
//
//	header  0  8  magic "dozesnap"
//	        8  4  format version
//	       12  4  chain of the entry it was taken after
//	       16  8  feature bits that a reader must know
//	       24 16  cluster id
//	       40  8  sequence of the entry it was taken after
//	       48  8  time of that entry
//	       56  4  zero
//	       60  4  CRC32C of bytes 0 to 60
//	block   0  4  length n of its rows, at most 16 MiB; 0 ends the blocks
//	        4  n  rows, each: length (4 bytes), content
//	        +  4  CRC32C of length and rows
//	trailer 0  8  number of rows
//	        8 32  the state's hash: SHA-256 over all rows, each after its length as in a block
//	       40  4  CRC32C of bytes 0 to 40
const (
	snapshotBlock   = 256 << 10
	snapshotTrailer = 44
)

var snapshotMagic = [8]byte{'d', 'o', 'z', 'e', 's', 'n', 'a', 'p'}

// point is a place in the history that a snapshot was taken at.
type point struct {
	ClusterID [16]byte
	Seq       uint64
	At        int64
	Chain     uint32
}

func (p point) encode() []byte {
	b := make([]byte, headerSize)
	copy(b, snapshotMagic[:])
	binary.LittleEndian.PutUint32(b[8:], formatVersion)
	binary.LittleEndian.PutUint32(b[12:], p.Chain)
	copy(b[24:], p.ClusterID[:])
	binary.LittleEndian.PutUint64(b[40:], p.Seq)
	binary.LittleEndian.PutUint64(b[48:], uint64(p.At))
	binary.LittleEndian.PutUint32(b[60:], crc32.Checksum(b[:60], castagnoli))
	return b
}

var (
	errNotSnapshot    = errors.New("not a doze snapshot")
	errSnapshotDamage = errors.New("checksum differs")
	errSnapshotHash   = errors.New("the state's hash differs")
)

// parsePoint reads a snapshot's header from headerSize bytes.
//
//fuzz:parser class=snapshot FuzzSnapshot
func parsePoint(b []byte) (point, error) {
	if [8]byte(b) != snapshotMagic {
		return point{}, errNotSnapshot
	}
	if crc32.Checksum(b[:60], castagnoli) != binary.LittleEndian.Uint32(b[60:]) {
		return point{}, errSnapshotDamage
	}
	version, features := binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint64(b[16:])
	if version != formatVersion || features&^uint64(knownFeatures) != 0 {
		return point{}, &NewerError{Version: version, Features: features}
	}
	return point{
		ClusterID: [16]byte(b[24:]),
		Seq:       binary.LittleEndian.Uint64(b[40:]),
		At:        int64(binary.LittleEndian.Uint64(b[48:])),
		Chain:     binary.LittleEndian.Uint32(b[12:]),
	}, nil
}

func newHash() hash.Hash { return sha256.New() }

// HashOf is the hash of a state: SHA-256 over its rows, each after its length in 4 bytes, little endian.
func HashOf(rows func(yield func(row []byte) error) error) ([32]byte, error) {
	w := rowWriter{hash: newHash(), to: io.Discard}
	err := rows(w.row)
	if err == nil {
		err = w.flush()
	}
	return w.sum(), err
}

// rowWriter writes rows in blocks and hashes them.
type rowWriter struct {
	to    io.Writer
	hash  hash.Hash
	block []byte // 4 bytes of length, then rows
	count uint64
}

var errRowLength = fmt.Errorf("row longer than %d bytes", MaxBody-4)

func (w *rowWriter) row(row []byte) error {
	if len(row) > MaxBody-4 {
		return errRowLength
	}
	if len(w.block) > 4 && len(w.block)+4+len(row) > snapshotBlock {
		if err := w.flush(); err != nil {
			return err
		}
	}
	if len(w.block) == 0 {
		w.block = append(w.block, 0, 0, 0, 0)
	}
	w.block = binary.LittleEndian.AppendUint32(w.block, uint32(len(row)))
	w.block = append(w.block, row...)
	w.count++
	return nil
}

func (w *rowWriter) flush() error {
	if len(w.block) == 0 {
		return nil
	}
	w.hash.Write(w.block[4:])
	binary.LittleEndian.PutUint32(w.block, uint32(len(w.block)-4))
	w.block = binary.LittleEndian.AppendUint32(w.block, crc32.Checksum(w.block, castagnoli))
	_, err := w.to.Write(w.block)
	w.block = w.block[:0]
	return err
}

func (w *rowWriter) sum() (sum [32]byte) {
	w.hash.Sum(sum[:0])
	return sum
}

// finish writes the last block, the empty one and the trailer.
func (w *rowWriter) finish() error {
	if err := w.flush(); err != nil {
		return err
	}
	empty := make([]byte, 4, 8+snapshotTrailer)
	end := binary.LittleEndian.AppendUint32(empty, crc32.Checksum(empty, castagnoli))
	sum := w.sum()
	end = append(binary.LittleEndian.AppendUint64(end, w.count), sum[:]...)
	end = binary.LittleEndian.AppendUint32(end, crc32.Checksum(end[8:], castagnoli))
	_, err := w.to.Write(end)
	return err
}

// cursor is an io.Writer over a positional file.
type cursor struct {
	file disk.File
	off  int64
}

func (c *cursor) Write(p []byte) (int, error) {
	n, err := c.file.WriteAt(p, c.off)
	c.off += int64(n)
	return n, err
}

// writeSnapshot writes a snapshot so that its name appears only when all of it is on disk. It returns the state's hash.
func writeSnapshot(fsys disk.FS, dir string, p point, rows func(yield func(row []byte) error) error) ([32]byte, error) {
	var sum [32]byte
	name := snapshotName(p.Seq)
	err := writeAside(fsys, dir, name, func(w io.Writer) error {
		if _, err := w.Write(p.encode()); err != nil {
			return err
		}
		rw := rowWriter{to: w, hash: newHash()}
		if err := rows(rw.row); err != nil {
			return err
		}
		if err := rw.finish(); err != nil {
			return err
		}
		sum = rw.sum()
		return nil
	})
	if err != nil {
		return sum, fmt.Errorf("write snapshot %s: %w", name, err)
	}
	return sum, nil
}

// writeAside writes a file under a temporary name, syncs it, renames it to name and syncs the directory.
func writeAside(fsys disk.FS, dir, name string, write func(io.Writer) error) error {
	temp := path.Join(dir, name+tempSuffix)
	if err := writeSynced(fsys, temp, write); err != nil {
		_ = fsys.Remove(temp)
		return err
	}
	if err := fsys.Rename(temp, path.Join(dir, name)); err != nil {
		_ = fsys.Remove(temp)
		return err
	}
	return fsys.SyncDir(dir)
}

func writeSynced(fsys disk.FS, name string, write func(io.Writer) error) error {
	f, err := fsys.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(&cursor{file: f}, 64<<10)
	err = write(w)
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	return err
}

// readSnapshot gives the rows of a snapshot to load, block by block, each after its checksum was verified. Whoever gets
// an error throws away what was loaded.
//
//fuzz:parser class=snapshot FuzzSnapshot
func readSnapshot(r io.Reader, load func(row []byte) error) (point, [32]byte, error) {
	head := make([]byte, headerSize)
	if _, err := io.ReadFull(r, head); err != nil {
		return point{}, [32]byte{}, fmt.Errorf("read header: %w", err)
	}
	p, err := parsePoint(head)
	if err != nil {
		return p, [32]byte{}, err
	}
	sum := newHash()
	var block []byte
	count := uint64(0)
	for {
		if block, err = readBlock(r, block); err != nil {
			return p, [32]byte{}, err
		}
		if len(block) == 0 {
			break
		}
		sum.Write(block)
		n, err := loadRows(block, load)
		if err != nil {
			return p, [32]byte{}, err
		}
		count += n
	}
	hash, err := readTrailer(r, count)
	if err == nil && [32]byte(sum.Sum(nil)) != hash {
		err = errSnapshotHash
	}
	return p, hash, err
}

// readBlock reads a block into memory that grows with what is really there, not with what the length says.
//
//fuzz:parser class=snapshot FuzzSnapshot
func readBlock(r io.Reader, into []byte) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, fmt.Errorf("read block: %w", err)
	}
	n := int(binary.LittleEndian.Uint32(head[:]))
	if n < 0 || n > MaxBody {
		return nil, fmt.Errorf("block of %d bytes", uint(n))
	}
	into = into[:0]
	for want := n + 4; want > 0; {
		step := min(want, snapshotBlock)
		at := len(into)
		into = append(into, make([]byte, step)...)
		if _, err := io.ReadFull(r, into[at:]); err != nil {
			return nil, fmt.Errorf("read block: %w", err)
		}
		want -= step
	}
	want := crc32.Update(crc32.Checksum(head[:], castagnoli), castagnoli, into[:n])
	if binary.LittleEndian.Uint32(into[n:]) != want {
		return nil, errSnapshotDamage
	}
	return into[:n], nil
}

func loadRows(block []byte, load func(row []byte) error) (count uint64, err error) {
	for len(block) > 0 {
		if len(block) < 4 {
			return count, io.ErrUnexpectedEOF
		}
		n := binary.LittleEndian.Uint32(block)
		block = block[4:]
		if uint64(n) > uint64(len(block)) {
			return count, io.ErrUnexpectedEOF
		}
		if err := load(block[:n:n]); err != nil {
			return count, fmt.Errorf("load row: %w", err)
		}
		block = block[n:]
		count++
	}
	return count, nil
}

// readTrailer reads what follows the empty block and holds the number of rows against it.
//
//fuzz:parser class=snapshot FuzzSnapshot
func readTrailer(r io.Reader, rows uint64) (sum [32]byte, err error) {
	b := make([]byte, snapshotTrailer)
	if _, err := io.ReadFull(r, b); err != nil {
		return sum, fmt.Errorf("read trailer: %w", err)
	}
	if crc32.Checksum(b[:40], castagnoli) != binary.LittleEndian.Uint32(b[40:]) {
		return sum, errSnapshotDamage
	}
	if got := binary.LittleEndian.Uint64(b); got != rows {
		return sum, fmt.Errorf("%d rows, the trailer says %d", rows, got)
	}
	if n, _ := r.Read(make([]byte, 1)); n != 0 {
		return sum, errors.New("bytes after the trailer")
	}
	return [32]byte(b[8:]), nil
}

// loadSnapshot loads the snapshot file into a fresh state. The hash is the one that it was taken with.
func loadSnapshot[S State[S]](fsys disk.FS, name string, fresh func() S) (S, point, [32]byte, error) {
	state := fresh()
	f, err := fsys.OpenFile(name, readOnly)
	if err != nil {
		return state, point{}, [32]byte{}, fmt.Errorf("open snapshot %s: %w", name, err)
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return state, point{}, [32]byte{}, fmt.Errorf("size of snapshot %s: %w", name, err)
	}
	p, hash, err := readSnapshot(bufio.NewReaderSize(io.NewSectionReader(f, 0, size), 64<<10), state.LoadRow)
	if err != nil {
		return state, p, hash, fmt.Errorf("load snapshot %s: %w", name, err)
	}
	return state, p, hash, nil
}
