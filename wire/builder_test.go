package wire

// header2 is a request header v2 without client id and tags.
func header2(key, version int16) []byte {
	return []byte{byte(key >> 8), byte(key), byte(version >> 8), byte(version), 0, 0, 0, 1, 0xff, 0xff, 0}
}

// builder builds a body from a shape: strings and record sets are empty, every array has the same length.
type builder struct {
	b      []byte
	length int
	fill   *step // when set, only this array has that length, and the others one element

	// The hostile-th length (counted from 1) is written as value; 0: none.
	hostile int
	value   int32
	lengths int // so far
}

func (w *builder) put(s shape) {
	for i := range s {
		switch st := &s[i]; st.op {
		case opSkip:
			w.b = append(w.b, make([]byte, st.n)...)
		case opText:
			w.text(st.compact)
		case opBlob:
			w.count(st, 0)
		case opTags:
			w.b = append(w.b, 0)
		case opGroup:
			w.b = append(w.b, 1)
			w.put(st.inner)
		default:
			w.array(st)
		}
	}
}

// number is a length, or the hostile value in its place.
func (w *builder) number(n int) int32 {
	if w.lengths++; w.lengths == w.hostile {
		return w.value
	}
	return int32(n)
}

func (w *builder) text(compact bool) {
	n := w.number(0)
	if compact {
		w.b = appendUvarint(w.b, uint32(n)+1)
	} else {
		w.b = append(w.b, byte(n>>8), byte(n))
	}
}

func (w *builder) count(st *step, length int) {
	n := w.number(length)
	if st.compact {
		w.b = appendUvarint(w.b, uint32(n)+1)
		return
	}
	w.b = append(w.b, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
}

func (w *builder) array(st *step) {
	n := w.length
	if w.fill != nil && w.fill != st {
		n = 1
	}
	w.count(st, n)
	for range n {
		switch st.op {
		case opItems:
			w.b = append(w.b, make([]byte, st.n)...)
		case opTexts:
			w.text(st.compact)
		case opGroups:
			w.put(st.inner)
		}
	}
}

func appendUvarint(b []byte, v uint32) []byte {
	for ; v >= 0x80; v >>= 7 {
		b = append(b, byte(v)|0x80)
	}
	return append(b, byte(v))
}

// arrays calls f with every array of a shape.
func arrays(s shape, f func(*step)) {
	for i := range s {
		switch st := &s[i]; st.op {
		case opItems, opTexts:
			f(st)
		case opGroups:
			f(st)
			arrays(st.inner, f)
		case opGroup:
			arrays(st.inner, f)
		}
	}
}
