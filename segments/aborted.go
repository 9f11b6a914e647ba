package segments

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"

	"doze/disk"
)

// A segment that has markers of aborted transactions has a list of those that had batches, in a file beside its index:
// read_committed tells its clients which batches they must not show. The list is a fold over the index entries of the
// partition. README.md draws it.
const abortedBytes = 40

// abortedExt ends the name of its file.
const abortedExt = "aborted"

// aborted is a line of a segment's list: an aborted transaction whose marker is in the segment, or a mark that the list is
// whole up to an offset.
type aborted struct {
	producer int64 // -1: a mark
	first    int64 // first offset of the transaction; mark: how many lines are before
	last     int64 // offset of the marker; mark: last offset of the log
	stable   int64 // the last stable offset behind the marker; mark: size of the log
}

var errBadAborted = errors.New("list of aborted transactions is damaged or not whole")

func appendAborted(b []byte, a *aborted) []byte {
	from := len(b)
	b = binary.BigEndian.AppendUint64(b, uint64(a.producer))
	b = binary.BigEndian.AppendUint64(b, uint64(a.first))
	b = binary.BigEndian.AppendUint64(b, uint64(a.last))
	b = binary.BigEndian.AppendUint64(b, uint64(a.stable))
	b = append(b, 0, 0, 0, 0)
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b[from:], castagnoli))
}

// parseAborted reads the line at the start of b.
//
//fuzz:parser class=index FuzzAborted
func parseAborted(b []byte) (aborted, error) {
	if len(b) < abortedBytes || crc32.Checksum(b[:abortedBytes-4], castagnoli) != binary.BigEndian.Uint32(b[abortedBytes-4:]) ||
		binary.BigEndian.Uint32(b[abortedBytes-8:]) != 0 {
		return aborted{}, errBadAborted
	}
	return aborted{producer: int64(binary.BigEndian.Uint64(b)), first: int64(binary.BigEndian.Uint64(b[8:])),
		last: int64(binary.BigEndian.Uint64(b[16:])), stable: int64(binary.BigEndian.Uint64(b[24:]))}, nil
}

// abortedList is a segment's list. It changes under mu of the partition, but flushed and tail also under flushing of the
// segment.
type abortedList struct {
	file    *file
	any     bool // the segment has a marker of an aborted transaction, so that there is a list; known with the segment
	usable  bool // the file is whole as far as flushed says, and the tail has the rest; else it is made anew when it is asked for
	flushed int  // lines in the file
	tail    []aborted
}

// lacking tells whether there is a list to be made anew.
func (l *abortedList) lacking() bool { return l.any && !l.usable }

// load looks at the end of the file when the segment was opened: it is whole when it ends with the mark of the segment as it
// is. The caller holds mu.
func (l *abortedList) load(last, size int64) error {
	l.usable, l.flushed, l.tail = !l.any, 0, nil
	if !l.any {
		return nil
	}
	f, err := l.file.acquire()
	if err != nil {
		return nil // it is made anew
	}
	defer l.file.release()
	n, err := f.Size()
	if err != nil {
		return err
	}
	lines := int(n / abortedBytes)
	if lines == 0 {
		return nil
	}
	mark, err := oneAborted(f, lines-1)
	if errors.Is(err, errBadAborted) {
		return nil
	}
	if err == nil && mark == (aborted{producer: -1, first: int64(lines - 1), last: last, stable: size}) {
		l.usable, l.flushed = true, lines
	}
	return err
}

func oneAborted(f disk.File, i int) (aborted, error) {
	var b [abortedBytes]byte
	if err := readAborted(f, i, b[:]); err != nil {
		return aborted{}, err
	}
	return parseAborted(b[:])
}

// readAborted fills b with the lines of a file from number i on.
//
//fuzz:not-a-parser it reads bytes of a known length; the lines are checked where they are used
func readAborted(f disk.File, i int, b []byte) error {
	n, err := f.ReadAt(b, int64(i)*abortedBytes)
	if n == len(b) {
		return nil
	}
	if err == nil || err == io.EOF {
		err = errBadAborted
	}
	return fmt.Errorf("read aborted transaction %d: %w", i, err)
}

// add notes the marker of a transaction that was aborted; had tells whether the transaction had any batches. The caller
// holds mu.
func (l *abortedList) add(a aborted, had bool) {
	l.any = true
	if had && l.usable {
		l.tail = append(l.tail, a)
	}
}

// closeAborted writes what is left of a full segment's list, and that it is whole.
func (p *Partition) closeAborted(s *segment) error {
	s.flushing.Lock()
	defer s.flushing.Unlock()
	return p.flushAborted(s, true)
}

// flushAborted moves lines from memory to the file; the caller holds flushing of the segment. With mark it says that the
// list is whole.
func (p *Partition) flushAborted(s *segment, mark bool) error {
	p.mu.Lock()
	l := s.aborted
	last, size := s.end-1, s.size
	p.mu.Unlock()
	if !l.any || !l.usable || len(l.tail) == 0 && !mark {
		return nil
	}
	b := make([]byte, 0, (len(l.tail)+1)*abortedBytes)
	for i := range l.tail {
		b = appendAborted(b, &l.tail[i])
	}
	lines := l.flushed + len(l.tail)
	if mark {
		b = appendAborted(b, &aborted{producer: -1, first: int64(lines), last: last, stable: size})
		lines++
	}
	if err := l.write(b); err != nil {
		return fmt.Errorf("write aborted transactions: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !s.aborted.usable { // a reader found the file damaged meanwhile
		return nil
	}
	s.aborted.flushed = lines
	s.aborted.tail = append([]aborted(nil), s.aborted.tail[len(l.tail):]...)
	return nil
}

// write puts lines behind those of the file. The first ones make it, after an older one was removed and not in its place: a
// power loss could leave parts of both, and each line of either is whole.
func (l *abortedList) write(b []byte) error {
	open := l.file.acquire
	if l.flushed == 0 {
		l.file.close() // of a try before, which failed: what is written must not go to a file that has no name any more
		if err := l.file.cache.fs.Remove(l.file.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		open = l.file.create
	}
	f, err := open()
	if err != nil {
		return err
	}
	defer l.file.release()
	_, err = f.WriteAt(b, int64(l.flushed)*abortedBytes)
	return err
}
