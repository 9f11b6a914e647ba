package segments

import (
	"encoding/binary"
	"errors"
	"io"
)

// record is what the walk keeps of a record: keys, values and headers are skipped.
type record struct {
	timestampDelta int64
	offsetDelta    int32
	keyBytes       int32 // -1: null
	valueBytes     int32 // -1: null
}

// records walks the records of a batch, inflating on the way. It holds one chunk of inflated bytes at a time.
type records struct {
	chunk []byte   // unread inflated bytes
	whole []byte   // chunk as it came
	taken int64    // inflated bytes before whole
	src   source   // nil: chunk is all there is
	left  int64    // how many more bytes may be inflated
	anew  *rewrite // nil: the records stay as they are
	from  int      // in a record that is copied: what of whole was not copied yet; else -1
}

// openRecords starts a walk over the bytes behind a batch's header. limit 0 means DefaultInflateBytes.
//
//fuzz:parser class=records FuzzRecords
func openRecords(h *Header, payload []byte, limit int64) (*records, error) {
	if h.Codec() == None {
		return &records{chunk: payload, whole: payload, from: -1}, nil
	}
	if limit <= 0 {
		limit = DefaultInflateBytes
	}
	src, err := openSource(h.Codec(), payload)
	if err != nil {
		return nil, err
	}
	return &records{src: src, left: limit, from: -1}, nil
}

func (w *records) close() {
	if w.src != nil {
		w.src.close()
		w.src = nil
	}
}

// position counts inflated bytes that were read.
func (w *records) position() int64 { return w.taken + int64(w.read()) }

// read counts the bytes of the chunk that were read.
func (w *records) read() int { return len(w.whole) - len(w.chunk) }

// refill takes the next chunk; io.EOF when there is none.
func (w *records) refill() error {
	if w.src == nil {
		return io.EOF
	}
	if w.from >= 0 {
		w.anew.write(w.whole[w.from:])
		w.from = 0
	}
	chunk, err := w.src.next()
	if err != nil {
		return err
	}
	w.taken += int64(len(w.whole))
	w.chunk, w.whole = chunk, chunk
	if w.left -= int64(len(chunk)); w.left < 0 {
		return refuse(InflateLimit, "records inflate to more than the limit")
	}
	return nil
}

var errMalformed = &CheckError{Reason: BadRecord, Detail: "malformed record"}

// next reads one record. The errors are *CheckError.
func (w *records) next(r *record) error {
	if w.fast(r) {
		return nil
	}
	err := w.slow(r)
	if err == io.EOF {
		return refuse(BadRecord, "the records end early")
	}
	return err
}

// fast reads a record that lies in the chunk, has no headers and only numbers of up to three bytes: most records. It
// says no, having read nothing, to all others, the malformed ones among them.
func (w *records) fast(r *record) bool {
	b := w.chunk
	size, at := short(b, 0)
	if size&1 != 0 || at < 0 || int(size>>1) > len(b)-at {
		return false
	}
	b = b[at : at+int(size>>1)]
	stamp, at := short(b, 1) // behind the attributes, of which none is defined
	if at < 0 {
		return false
	}
	offset, at := short(b, at)
	if at < 0 {
		return false
	}
	rest := at
	key, at := short(b, at)
	if at < 0 {
		return false
	}
	keyBytes := unzigzag(key)
	at += int(max(keyBytes, 0))
	value, at := short(b, at)
	if at < 0 {
		return false
	}
	valueBytes := unzigzag(value)
	at += int(max(valueBytes, 0))
	if at != len(b)-1 || b[at] != 0 {
		return false
	}
	*r = record{timestampDelta: int64(unzigzag(stamp)), offsetDelta: unzigzag(offset), keyBytes: max(keyBytes, -1),
		valueBytes: max(valueBytes, -1)}
	w.chunk = w.chunk[cap(w.chunk)-cap(b)+len(b):]
	if w.anew != nil {
		w.anew.head(r, int64(len(b)-rest))
		w.anew.write(b[rest:])
	}
	return true
}

func unzigzag(v uint32) int32 { return int32(v>>1) ^ -int32(v&1) }

// short reads a number of up to three bytes at b[at:] and returns where it ends, -1 when there is none.
func short(b []byte, at int) (uint32, int) {
	if at < 0 || at+2 >= len(b) {
		return shortAtEnd(b, at)
	}
	v := uint32(b[at])
	if v < 0x80 {
		return v, at + 1
	}
	v = v&0x7f | uint32(b[at+1])<<7
	if v < 0x80<<7 {
		return v, at + 2
	}
	v = v&0x3fff | uint32(b[at+2])<<14
	if v < 0x80<<14 {
		return v, at + 3
	}
	return 0, -1
}

// shortAtEnd is short near the end of the bytes: one byte only.
func shortAtEnd(b []byte, at int) (uint32, int) {
	if uint(at) < uint(len(b)) && b[at] < 0x80 {
		return uint32(b[at]), at + 1
	}
	return 0, -1
}

func (w *records) slow(r *record) error {
	size, err := w.varint()
	if err != nil {
		return err
	}
	end := w.position() + int64(size)
	if size < 0 {
		return errMalformed
	}
	if err := w.skip(1); err != nil { // attributes: none defined
		return err
	}
	if r.timestampDelta, err = w.varlong(); err != nil {
		return err
	}
	if r.offsetDelta, err = w.varint(); err != nil {
		return err
	}
	if w.position() > end {
		return errMalformed
	}
	if w.anew != nil {
		w.anew.head(r, end-w.position())
		w.from = w.read()
	}
	if r.keyBytes, err = w.bytes(); err != nil {
		return err
	}
	if r.valueBytes, err = w.bytes(); err != nil {
		return err
	}
	if err := w.headers(end); err != nil {
		return err
	}
	if w.position() != end {
		return errMalformed
	}
	if w.anew != nil {
		w.anew.write(w.whole[w.from:w.read()])
		w.from = -1
	}
	return nil
}

func (w *records) headers(end int64) error {
	n, err := w.varint()
	if err != nil || n == 0 {
		return err
	}
	if n < 0 || int64(n) > end-w.position() {
		return errMalformed
	}
	for range n {
		key, err := w.bytes()
		if err != nil {
			return err
		}
		if key < 0 {
			return errMalformed
		}
		if _, err := w.bytes(); err != nil {
			return err
		}
	}
	return nil
}

// bytes skips a length and that many bytes, and returns the length, -1 for null.
func (w *records) bytes() (int32, error) {
	n, err := w.varint()
	if err != nil || n <= 0 {
		return max(n, -1), err
	}
	return n, w.skip(int64(n))
}

func (w *records) skip(n int64) error {
	for n > int64(len(w.chunk)) {
		n -= int64(len(w.chunk))
		w.chunk = nil
		if err := w.refill(); err != nil {
			return err
		}
	}
	w.chunk = w.chunk[n:]
	return nil
}

func (w *records) varint() (int32, error) {
	if len(w.chunk) > 0 && w.chunk[0] < 0x80 { // one byte: nearly always
		v := w.chunk[0]
		w.chunk = w.chunk[1:]
		return int32(v>>1) ^ -int32(v&1), nil
	}
	v, err := w.uvarint(5)
	if v > 0xffffffff {
		return 0, errMalformed
	}
	return int32(uint32(v)>>1) ^ -int32(v&1), err
}

func (w *records) varlong() (int64, error) {
	v, err := w.uvarint(10)
	return int64(v>>1) ^ -int64(v&1), err
}

func (w *records) uvarint(most int) (uint64, error) {
	if len(w.chunk) >= binary.MaxVarintLen64 {
		v, n := binary.Uvarint(w.chunk)
		if n <= 0 || n > most {
			return 0, errMalformed
		}
		w.chunk = w.chunk[n:]
		return v, nil
	}
	return w.slowUvarint(most)
}

// slowUvarint reads a number that may lie across two chunks.
func (w *records) slowUvarint(most int) (uint64, error) {
	var buf [binary.MaxVarintLen64]byte
	for i := range most {
		for len(w.chunk) == 0 {
			if err := w.refill(); err != nil {
				return 0, err
			}
		}
		buf[i] = w.chunk[0]
		w.chunk = w.chunk[1:]
		if buf[i] < 0x80 {
			v, n := binary.Uvarint(buf[:i+1])
			if n <= 0 {
				return 0, errMalformed
			}
			return v, nil
		}
	}
	return 0, errMalformed
}

// end checks that no inflated byte is left.
func (w *records) end() error {
	for len(w.chunk) == 0 {
		err := w.refill()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return refuse(BadRecord, "bytes are left over behind the last record")
}
