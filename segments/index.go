package segments

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sort"
	"sync"

	"doze/disk"
)

const (
	indexMagic       = "DOZEIDX1"
	indexHeaderBytes = 32
	entryBytes       = 72
	searchBlock      = 56 // entries that a search reads at once: 4 KiB
)

// Bits of an entry's attributes above Kafka's eight.
const (
	// entryVouched: when this entry was written, the log up to the end of its batch had been synced.
	entryVouched = 0x8000
	// entryStampUnknown: the entry was rebuilt from the log; its stamp is the one before it, a lower bound.
	entryStampUnknown = 0x4000
	// entryAbort: the batch is the marker of a transaction that was aborted. A marker's sequence is its coordinator's epoch.
	entryAbort = 0x2000
	// entryAborts: the segment has such a marker, among this batch and those before it.
	entryAborts = 0x1000
)

// entry is one batch in an index: its header without what only a reader of records needs.
type entry struct {
	offset     int64
	position   uint32
	size       uint32
	delta      int32 // last offset - offset
	epoch      int32
	maxSoFar   int64 // largest timestamp of the segment up to and including this batch: it makes time searchable
	stamp      uint64
	producerID int64
	sequence   int32
	prodEpoch  int16
	attributes uint16
	maxTime    int64
	records    int32
}

func (e *entry) last() int64 { return e.offset + int64(e.delta) }
func (e *entry) end() int64  { return int64(e.position) + int64(e.size) }

// control tells whether the batch is a transaction marker.
func (e *entry) control() bool { return e.attributes&attrControl != 0 }

// entryOf makes the entry of a batch behind the one that prev is of, nil for the first of a segment.
func entryOf(h *Header, position int64, stamp uint64, prev *entry) entry {
	e := entry{offset: h.BaseOffset, position: uint32(position), size: uint32(h.Size), delta: h.LastOffsetDelta,
		epoch: h.LeaderEpoch, maxSoFar: h.MaxTimestamp, stamp: stamp, producerID: h.ProducerID,
		sequence: h.BaseSequence, prodEpoch: h.ProducerEpoch, attributes: uint16(h.Attributes) & 0xff,
		maxTime: h.MaxTimestamp, records: h.Records}
	if h.Records == 0 { // compacted: no record has the time
		e.maxTime, e.maxSoFar = -1, -1
	} else if h.Control() {
		e.mark(&h.Marker)
	}
	if prev != nil {
		e.maxSoFar = max(e.maxSoFar, prev.maxSoFar)
		e.attributes |= prev.attributes & entryAborts
	} else {
		e.maxSoFar = max(e.maxSoFar, -1)
	}
	return e
}

// mark notes what a marker says, where other batches have their sequence.
func (e *entry) mark(m *StoredMarker) {
	if !m.Known {
		panic(fmt.Sprintf("index a marker at offset %d whose record was not read", e.offset))
	}
	e.sequence = m.CoordinatorEpoch
	if !m.Commit {
		e.attributes |= entryAbort | entryAborts
	}
}

// sameBatch tells whether the entry describes the batch with that header at that place.
func (e *entry) sameBatch(h *Header, position int64) bool {
	other := entryOf(h, position, e.stamp, nil)
	other.maxSoFar = e.maxSoFar
	other.attributes |= e.attributes & (entryVouched | entryStampUnknown | entryAborts)
	return *e == other
}

func appendEntry(b []byte, e *entry) []byte {
	from := len(b)
	b = binary.BigEndian.AppendUint64(b, uint64(e.offset))
	b = binary.BigEndian.AppendUint32(b, e.position)
	b = binary.BigEndian.AppendUint32(b, e.size)
	b = binary.BigEndian.AppendUint32(b, uint32(e.delta))
	b = binary.BigEndian.AppendUint32(b, uint32(e.epoch))
	b = binary.BigEndian.AppendUint64(b, uint64(e.maxSoFar))
	b = binary.BigEndian.AppendUint64(b, e.stamp)
	b = binary.BigEndian.AppendUint64(b, uint64(e.producerID))
	b = binary.BigEndian.AppendUint32(b, uint32(e.sequence))
	b = binary.BigEndian.AppendUint16(b, uint16(e.prodEpoch))
	b = binary.BigEndian.AppendUint16(b, e.attributes)
	b = binary.BigEndian.AppendUint64(b, uint64(e.maxTime))
	b = binary.BigEndian.AppendUint32(b, uint32(e.records))
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b[from:], castagnoli))
}

var errBadEntry = errors.New("index entry is damaged")

// parseEntry reads the entry at the start of b.
//
//fuzz:parser class=index FuzzIndex
func parseEntry(b []byte) (entry, error) {
	if len(b) < entryBytes {
		return entry{}, errBadEntry
	}
	b = b[:entryBytes]
	if crc32.Checksum(b[:entryBytes-4], castagnoli) != binary.BigEndian.Uint32(b[entryBytes-4:]) {
		return entry{}, errBadEntry
	}
	return entry{
		offset:     int64(binary.BigEndian.Uint64(b)),
		position:   binary.BigEndian.Uint32(b[8:]),
		size:       binary.BigEndian.Uint32(b[12:]),
		delta:      int32(binary.BigEndian.Uint32(b[16:])),
		epoch:      int32(binary.BigEndian.Uint32(b[20:])),
		maxSoFar:   int64(binary.BigEndian.Uint64(b[24:])),
		stamp:      binary.BigEndian.Uint64(b[32:]),
		producerID: int64(binary.BigEndian.Uint64(b[40:])),
		sequence:   int32(binary.BigEndian.Uint32(b[48:])),
		prodEpoch:  int16(binary.BigEndian.Uint16(b[52:])),
		attributes: binary.BigEndian.Uint16(b[54:]),
		maxTime:    int64(binary.BigEndian.Uint64(b[56:])),
		records:    int32(binary.BigEndian.Uint32(b[64:])),
	}, nil
}

// follows tells whether the entry can come after prev (nil: be the first of a segment with that base).
func (e *entry) follows(prev *entry, base int64) bool {
	if e.size < headerBytes || e.delta < 0 || e.offset < base {
		return false
	}
	aborts, expected := e.attributes&entryAborts != 0, e.attributes&entryAbort != 0
	if prev == nil {
		return e.position == 0 && aborts == expected
	}
	if expected = expected || prev.attributes&entryAborts != 0; aborts != expected {
		return false
	}
	return int64(e.position) == prev.end() && e.offset > prev.last() && e.maxSoFar >= prev.maxSoFar && e.stamp >= prev.stamp
}

func indexHeader(base int64) []byte {
	b := append(make([]byte, 0, indexHeaderBytes), indexMagic...)
	b = binary.BigEndian.AppendUint64(b, uint64(base))
	b = append(b, make([]byte, 12)...)
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// checkIndexHeader tells whether b starts an index of the segment with that base.
//
//fuzz:parser class=index FuzzIndex
func checkIndexHeader(b []byte, base int64) error {
	if len(b) < indexHeaderBytes {
		return errors.New("index has no header")
	}
	if string(b[:indexHeaderBytes]) != string(indexHeader(base)) {
		return errors.New("index header is damaged or of another segment")
	}
	return nil
}

func entryPosition(i int) int64 { return indexHeaderBytes + int64(i)*entryBytes }

// readEntries reads entries i up to j of an index file into b and returns the bytes.
//
//fuzz:not-a-parser it reads bytes of a known length; the entries are checked where they are used
func readEntries(f disk.File, i, j int, b []byte) ([]byte, error) {
	n := (j - i) * entryBytes
	if cap(b) < n {
		b = make([]byte, n)
	}
	b = b[:n]
	got, err := f.ReadAt(b, entryPosition(i))
	if got < n {
		if err == nil || err == io.EOF {
			err = errBadEntry
		}
		return nil, fmt.Errorf("read index entries %d to %d: %w", i, j, err)
	}
	return b, nil
}

// searching is what a search needs; pooled, so that one allocates nothing.
type searching struct {
	block [searchBlock * entryBytes]byte
	e     entry
}

var searches = sync.Pool{New: func() any { return new(searching) }}

// searchEntries finds the first of the n entries in an index file for which holds is true; at is n when there is none.
// holds must be false up to some entry and true from there on. The search begins at guess and goes away from it in
// growing steps, then halves what is left: a good guess finds the entry with one read.
func searchEntries(f disk.File, n, guess int, holds func(*entry) bool) (at int, found entry, err error) {
	s := searches.Get().(*searching)
	defer searches.Put(s)
	lo, hi, at := 0, n, guess // holds is false before lo and true from hi on, which found is the entry of
	for step := searchBlock / 2; lo < hi; step *= 8 {
		from := max(lo, min(at-searchBlock/2, hi-searchBlock))
		to := min(from+searchBlock, hi)
		b, err := readEntries(f, from, to, s.block[:])
		if err != nil {
			return 0, entry{}, err
		}
		first, last, err := s.ends(b, holds)
		switch {
		case err != nil:
			return 0, entry{}, err
		case !last:
			lo, at = to, to+step
		case first && from > lo:
			hi, at, found = from, from-step, s.e
		default:
			return s.within(b, from, holds)
		}
		if at <= lo && lo > 0 || at >= hi && hi < n || at < 0 || at >= n {
			at = int(uint(lo+hi) >> 1)
		}
	}
	return hi, found, nil
}

// ends tells whether holds is true for the last and the first entry of a block, and leaves the first in s.e.
func (s *searching) ends(b []byte, holds func(*entry) bool) (first, last bool, err error) {
	if s.e, err = parseEntry(b[len(b)-entryBytes:]); err != nil {
		return false, false, err
	}
	if last = holds(&s.e); !last {
		return false, false, nil
	}
	s.e, err = parseEntry(b)
	return err == nil && holds(&s.e), true, err
}

// within searches a block whose last entry holds; its first has number from.
func (s *searching) within(b []byte, from int, holds func(*entry) bool) (at int, found entry, err error) {
	i := sort.Search(len(b)/entryBytes-1, func(i int) bool {
		e, perr := parseEntry(b[i*entryBytes:])
		if perr != nil {
			err = perr
		}
		s.e = e
		return perr == nil && holds(&s.e)
	})
	if err != nil {
		return 0, entry{}, err
	}
	found, err = parseEntry(b[i*entryBytes:])
	return from + i, found, err
}

func oneEntry(f disk.File, i int) (entry, error) {
	b, err := readEntries(f, i, i+1, nil)
	if err != nil {
		return entry{}, err
	}
	return parseEntry(b)
}
