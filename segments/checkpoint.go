package segments

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"sort"

	"doze/disk"
)

// The clean checkpoint is one file for all partitions: a sorted table, and behind it a row for each partition that was
// ever used. A start reads the table only; the row is read when the partition is opened. It stays true after a crash:
// files only grow, so a row describes a prefix, and the partition is clean when its files are just that prefix.
const (
	checkpointName      = "checkpoint"
	checkpointMagic     = "DOZECHK1"
	checkpointHeader    = 16 // magic, number of partitions, CRC of this header and the table
	checkpointTableRow  = 36 // id, position, length, CRC
	checkpointMost      = 1 << 20
	checkpointRowHeader = 28
)

// row is what a partition was like at a clean stop.
type row struct {
	base      int64 // of the last segment
	size      int64 // of its log
	entries   int   // of its index
	end       int64 // next offset
	epochs    epochs
	producers producers
}

func appendRow(b []byte, r *row) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(r.base))
	b = binary.BigEndian.AppendUint64(b, uint64(r.size))
	b = binary.BigEndian.AppendUint32(b, uint32(r.entries))
	b = binary.BigEndian.AppendUint64(b, uint64(r.end))
	return append(b, encodeState(r.epochs, r.producers)...)
}

//fuzz:parser class=snapshot FuzzState
func decodeRow(b []byte) (row, error) {
	if len(b) < checkpointRowHeader {
		return row{}, errBadState
	}
	r := row{base: int64(binary.BigEndian.Uint64(b)), size: int64(binary.BigEndian.Uint64(b[8:])),
		entries: int(binary.BigEndian.Uint32(b[16:])), end: int64(binary.BigEndian.Uint64(b[20:]))}
	var err error
	r.epochs, r.producers, err = decodeState(b[checkpointRowHeader:])
	if r.base < 0 || r.size < 0 || r.end < r.base {
		err = errBadState
	}
	return r, err
}

// checkpoint is the file as it was at the start.
type checkpoint struct {
	f     disk.File // nil when there is none
	table []byte
}

// openCheckpoint reads the table. A checkpoint that does not verify is as good as none: partitions are then recovered
// from their own files.
func openCheckpoint(fsys disk.FS, name string) (checkpoint, error) {
	f, err := fsys.OpenFile(name, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return checkpoint{}, nil
	}
	if err != nil {
		return checkpoint{}, err
	}
	size, err := f.Size()
	if err == nil {
		var table []byte
		if table, err = readCheckpointTable(f, size); err == nil {
			return checkpoint{f, table}, nil
		}
	}
	f.Close()
	if errors.Is(err, errBadState) {
		return checkpoint{}, nil
	}
	return checkpoint{}, err
}

//fuzz:parser class=snapshot FuzzCheckpoint
func readCheckpointTable(f disk.File, size int64) ([]byte, error) {
	header := make([]byte, checkpointHeader)
	if size < checkpointHeader {
		return nil, errBadState
	}
	if _, err := f.ReadAt(header, 0); err != nil {
		return nil, err
	}
	n := int64(binary.BigEndian.Uint32(header[8:]))
	if string(header[:8]) != checkpointMagic || n > checkpointMost || checkpointHeader+n*checkpointTableRow > size {
		return nil, errBadState
	}
	table := make([]byte, n*checkpointTableRow)
	if n > 0 {
		if _, err := f.ReadAt(table, checkpointHeader); err != nil {
			return nil, err
		}
	}
	crc := crc32.Update(crc32.Checksum(header[:12], castagnoli), castagnoli, table)
	if crc != binary.BigEndian.Uint32(header[12:]) {
		return nil, errBadState
	}
	return table, nil
}

func appendID(b []byte, id ID) []byte {
	b = append(b, id.Topic[:]...)
	return binary.BigEndian.AppendUint32(b, uint32(id.Partition))
}

// raw returns a partition's row as bytes.
func (c *checkpoint) raw(id ID) ([]byte, bool) {
	key := appendID(make([]byte, 0, 20), id)
	n := len(c.table) / checkpointTableRow
	i := sort.Search(n, func(i int) bool { return bytes.Compare(c.table[i*checkpointTableRow:][:20], key) >= 0 })
	if i == n {
		return nil, false
	}
	t := c.table[i*checkpointTableRow:][:checkpointTableRow]
	if !bytes.Equal(t[:20], key) {
		return nil, false
	}
	b := make([]byte, min(binary.BigEndian.Uint32(t[28:]), snapshotMost))
	if _, err := c.f.ReadAt(b, int64(binary.BigEndian.Uint64(t[20:]))); err != nil {
		return nil, false
	}
	return b, crc32.Checksum(b, castagnoli) == binary.BigEndian.Uint32(t[32:])
}

// ids lists the partitions that have a row.
func (c *checkpoint) ids() []ID {
	ids := make([]ID, len(c.table)/checkpointTableRow)
	for i := range ids {
		t := c.table[i*checkpointTableRow:]
		ids[i].Partition = int32(binary.BigEndian.Uint32(t[16:]))
		copy(ids[i].Topic[:], t)
	}
	return ids
}

func (c *checkpoint) row(id ID) (row, bool) {
	b, ok := c.raw(id)
	if !ok {
		return row{}, false
	}
	r, err := decodeRow(b)
	return r, err == nil
}

func (c *checkpoint) close() {
	if c.f != nil {
		c.f.Close()
		c.f = nil
	}
}

// checkpointRow is a row to be written.
type checkpointRow struct {
	id  ID
	row []byte
}

func encodeCheckpoint(rows []checkpointRow) []byte {
	sort.Slice(rows, func(i, j int) bool {
		a, b := rows[i].id, rows[j].id
		if c := bytes.Compare(a.Topic[:], b.Topic[:]); c != 0 {
			return c < 0
		}
		return a.Partition < b.Partition
	})
	b := append(make([]byte, 0, checkpointHeader+len(rows)*(checkpointTableRow+128)), checkpointMagic...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(rows)))
	b = append(b, 0, 0, 0, 0)
	at := uint64(checkpointHeader + len(rows)*checkpointTableRow)
	for _, r := range rows {
		b = appendID(b, r.id)
		b = binary.BigEndian.AppendUint64(b, at)
		b = binary.BigEndian.AppendUint32(b, uint32(len(r.row)))
		b = binary.BigEndian.AppendUint32(b, crc32.Checksum(r.row, castagnoli))
		at += uint64(len(r.row))
	}
	crc := crc32.Update(crc32.Checksum(b[:12], castagnoli), castagnoli, b[checkpointHeader:])
	binary.BigEndian.PutUint32(b[12:], crc)
	for _, r := range rows {
		b = append(b, r.row...)
	}
	return b
}

func writeCheckpoint(fsys disk.FS, dir, name string, rows []checkpointRow) error {
	if err := disk.WriteFile(fsys, dir, name, encodeCheckpoint(rows)); err != nil {
		return fmt.Errorf("write checkpoint: %w", err)
	}
	return nil
}
