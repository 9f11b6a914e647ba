package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
)

// ShapeError says which field of a request's body does not have the shape that the protocol gives it.
type ShapeError struct {
	Field string
	Err   error
}

func (e *ShapeError) Error() string { return fmt.Sprintf("check field %s: %v", e.Field, e.Err) }

func (e *ShapeError) Unwrap() error { return e.Err }

var (
	errNull    = errors.New("null, which it may not be")
	errLong    = errors.New("longer than 32767 bytes")
	errTagged  = errors.New("a tag that this version does not have")
	errTagSize = errors.New("the tag's size is not its content's")
)

// check walks a request's body by its shape and reckons what the decoded request will take in memory. It refuses what
// Kafka's parser refuses; bytes after the body are let pass, as Kafka does. It stops with ErrMemory at limit, and it
// does not look into records.
//
//fuzz:parser class=body FuzzCheck
func (s shape) check(b []byte, limit int64) (measure, error) {
	w := walker{b: b, limit: limit}
	err := w.walk(s)
	return w.measure, err
}

// measure is what the walk finds out about a decoded request.
type measure struct {
	cost    int64 // bytes of memory
	aliases bool  // it has byte slices (or unknown tags) that lie in the body
	mend    bool  // it has strings that are not UTF-8
}

type walker struct {
	measure
	b     []byte
	limit int64
}

func (w *walker) walk(s shape) error {
	for i := range s {
		st := &s[i]
		var err error
		switch st.op {
		case opSkip:
			if st.n > len(w.b) {
				return errShort
			}
			w.b = w.b[st.n:]
		case opText:
			err = w.text(st)
		case opBlob:
			err = w.blob(st)
		case opTags:
			err = w.tags(st.tags)
		case opGroup:
			err = w.group(st)
		default:
			err = w.array(st)
		}
		if err != nil {
			return inField(st.name, err)
		}
	}
	return nil
}

// inField names the field of an error: the innermost one names itself first.
func inField(name string, err error) error {
	if err == nil || name == "" {
		return err
	}
	if e, ok := err.(*ShapeError); ok {
		e.Field = name + "." + e.Field
		return e
	}
	return &ShapeError{name, err}
}

// take charges n bytes of memory.
func (w *walker) take(n int64) error {
	if w.cost += n; w.cost > w.limit {
		return fmt.Errorf("the request takes more than %d bytes decoded: %w", w.limit, ErrMemory)
	}
	return nil
}

// compactLength reads a length of the flexible versions; a negative one is null.
func (w *walker) compactLength() (int, error) {
	if len(w.b) > 0 && w.b[0] < 0x80 {
		n := int(w.b[0]) - 1
		w.b = w.b[1:]
		return n, nil
	}
	v, rest, err := uvarint(w.b)
	w.b = rest
	return int(int32(v - 1)), err
}

// length reads the length of bytes or of an array; a negative one is null.
func (w *walker) length(st *step) (int, error) {
	if st.compact {
		return w.compactLength()
	}
	if len(w.b) < 4 {
		return 0, errShort
	}
	n := int(int32(binary.BigEndian.Uint32(w.b)))
	w.b = w.b[4:]
	return n, nil
}

func (w *walker) text(st *step) (err error) {
	var n int
	switch {
	case st.compact:
		if n, err = w.compactLength(); err != nil {
			return err
		}
	case len(w.b) < 2:
		return errShort
	default:
		n = int(int16(binary.BigEndian.Uint16(w.b)))
		w.b = w.b[2:]
	}
	switch {
	case n < 0 && st.nullable:
		return nil
	case n < 0:
		return errNull
	case n > math.MaxInt16:
		return errLong
	case n > len(w.b):
		return errShort
	}
	valid := utf8.Valid(w.b[:n])
	w.b = w.b[n:]
	if !valid {
		w.mend = true
		n *= 4 // a byte becomes three, beside what it was
	}
	if st.nullable {
		n += sizeText
	}
	return w.take(int64(n + sizeAlloc))
}

// blob passes over bytes, which the decoded request aliases.
func (w *walker) blob(st *step) error {
	n, err := w.length(st)
	switch {
	case err != nil:
		return err
	case n < 0 && !st.nullable:
		return errNull
	case n > len(w.b):
		return errShort
	}
	if n > 0 {
		w.aliases = true
		w.b = w.b[n:]
	}
	return nil
}

// group passes over a struct that begins with a byte which is negative for null.
func (w *walker) group(st *step) error {
	if len(w.b) == 0 {
		return errShort
	}
	null := int8(w.b[0]) < 0
	w.b = w.b[1:]
	if null {
		return nil
	}
	if err := w.take(st.size + sizeAlloc); err != nil {
		return err
	}
	return w.walk(st.inner)
}

func (w *walker) array(st *step) error {
	n, err := w.length(st)
	switch {
	case err != nil:
		return err
	case n < 0 && st.nullable:
		return nil
	case n < 0:
		return errNull
	case n > len(w.b): // an element has a byte at least
		return errShort
	}
	if err := w.take(int64(n)*st.size + sizeAlloc); err != nil {
		return err
	}
	switch st.op {
	case opItems:
		return w.items(n * st.n)
	case opTexts:
		element := step{compact: st.compact}
		for range n {
			if err := w.text(&element); err != nil {
				return err
			}
		}
	case opGroups:
		for range n {
			if err := w.walk(st.inner); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *walker) items(n int) error {
	if n > len(w.b) {
		return errShort
	}
	w.b = w.b[n:]
	return nil
}

// tags passes over a tag section.
func (w *walker) tags(known []tag) error {
	if len(w.b) > 0 && w.b[0] == 0 {
		w.b = w.b[1:]
		return nil
	}
	count, rest, err := uvarint(w.b)
	if err != nil {
		return err
	}
	w.b = rest
	for unknown := int64(0); count > 0; count-- {
		found, err := w.tag(known)
		if err != nil {
			return err
		}
		if found {
			continue
		}
		if unknown++; unknown == 1 {
			err = w.take(sizeTags)
		} else {
			err = w.take(sizeTag)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tag passes over one tag, and says whether it is a known one.
func (w *walker) tag(known []tag) (bool, error) {
	number, rest, err := uvarint(w.b)
	if err != nil {
		return false, err
	}
	size, rest, err := uvarint(rest)
	if err != nil {
		return false, err
	}
	if size > math.MaxInt32 || int(size) > len(rest) {
		return false, errShort
	}
	w.b = rest
	for i := range known {
		if t := &known[i]; t.number == number {
			return true, inField(t.name, w.known(t, int(size)))
		}
	}
	w.b, w.aliases = rest[size:], true
	return false, nil
}

// known checks a known tag's content.
func (w *walker) known(t *tag, size int) error {
	if !t.valid {
		return errTagged
	}
	before := len(w.b)
	if err := w.walk(t.shape); err != nil {
		return err
	}
	if before-len(w.b) != size {
		return errTagSize
	}
	return nil
}
