package journal

import (
	"bytes"
	"io"
	"runtime/metrics"
	"testing"

	"github.com/vmihailenco/msgpack/v5"
)

// mustStaySmall says that f allocates in proportion to the bytes that it was given.
func mustStaySmall(t *testing.T, given int, f func()) {
	t.Helper()
	before := allocatedBytes()
	f()
	if got, most := allocatedBytes()-before, uint64(64*given+2<<20); got > most {
		t.Fatalf("%d bytes were allocated for %d bytes of input", got, given)
	}
}

func allocatedBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

func sampleBodies(f *testing.F) (bodies [][]byte) {
	for _, e := range samples {
		entry := sampleEntry(e)
		b, err := appendBody(nil, &entry)
		if err != nil {
			f.Fatal(err)
		}
		bodies = append(bodies, b)
	}
	entry := sampleEntry(samples[0])
	entry.Events = samples
	b, err := appendBody(nil, &entry)
	if err != nil {
		f.Fatal(err)
	}
	return append(bodies, b)
}

// What a decoder accepts is what this version would write.
func FuzzDecodeBody(f *testing.F) {
	for _, b := range sampleBodies(f) {
		f.Add(b)
	}
	f.Add([]byte{0xdd, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		d := newDecoder()
		var entry Entry
		var err error
		mustStaySmall(t, len(b), func() { entry, err = d.decode(b) })
		if err != nil {
			return
		}
		again, err := appendBody(nil, &entry)
		if err != nil || !bytes.Equal(again, b) {
			t.Fatalf("%x is accepted and written as %x (%v)", b, again, err)
		}
		total := 0
		for _, n := range d.sizes {
			total += n
		}
		if len(d.sizes) != len(entry.Events) || total > len(b) {
			t.Fatalf("%d events of %v bytes in %d bytes", len(entry.Events), d.sizes, len(b))
		}
		for _, e := range entry.Events {
			_ = Line(e)
		}
	})
}

// What checkShape accepts, another reader of msgpack finds to be one value, and no byte of it can go or come.
func FuzzCheckShape(f *testing.F) {
	for _, b := range sampleBodies(f) {
		f.Add(b)
	}
	f.Add(bytes.Repeat([]byte{0x91}, 40))
	f.Add([]byte{0xdf, 0xff, 0xff, 0xff, 0xff, 1})
	f.Add([]byte{0xc0})
	f.Fuzz(func(t *testing.T, b []byte) {
		var err error
		mustStaySmall(t, 0, func() { err = checkShape(b) })
		if err != nil {
			return
		}
		r := bytes.NewReader(b)
		if err := msgpack.NewDecoder(r).Skip(); err != nil || r.Len() != 0 {
			t.Fatalf("%x: %v, %d bytes left", b, err, r.Len())
		}
		if checkShape(append(bytes.Clone(b), 0)) == nil || checkShape(b[:len(b)-1]) == nil {
			t.Fatalf("%x is whole, and so it is with a byte more or less", b)
		}
	})
}

// A file's name and its sequence say the same.
func FuzzName(f *testing.F) {
	f.Add(journalName(4711))
	f.Add(snapshotName(0))
	f.Add("99999999999999999999.journal")
	f.Add("+0000000000000000001.journal")
	f.Fuzz(func(t *testing.T, name string) {
		if seq, ok := parseName(name, journalSuffix); ok && journalName(seq) != name {
			t.Errorf("%q is taken for the file of %d", name, seq)
		}
		if seq, ok := parseName(name, snapshotSuffix); ok && snapshotName(seq) != name {
			t.Errorf("%q is taken for the snapshot of %d", name, seq)
		}
	})
}

// rowsIn cuts data into rows: a length byte, as many bytes.
func rowsIn(data []byte) (rows [][]byte) {
	for len(data) > 0 {
		n := min(int(data[0]), len(data)-1)
		rows = append(rows, data[1:1+n])
		data = data[1+n:]
	}
	return rows
}

func snapshotOf(t testing.TB, p point, rows [][]byte) ([]byte, [32]byte) {
	t.Helper()
	var b bytes.Buffer
	b.Write(p.encode())
	w := rowWriter{to: &b, hash: newHash()}
	for _, row := range rows {
		if err := w.row(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.finish(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), w.sum()
}

// Rows that were written are read; a snapshot with a byte changed is refused; any accepted bytes are those of its rows.
func FuzzSnapshot(f *testing.F) {
	good, _ := snapshotOf(f, point{Seq: 9, At: 5, Chain: 7}, [][]byte{[]byte("a"), {}, bytes.Repeat([]byte("b"), 300)})
	f.Add(good, uint32(0))
	f.Add(good[:len(good)-1], uint32(70))
	f.Add([]byte{}, uint32(3))
	f.Add([]byte("dozesnap"), uint32(100))
	f.Fuzz(func(t *testing.T, data []byte, flip uint32) {
		acceptedSnapshot(t, data)
		rows := rowsIn(data)
		p := point{ClusterID: [16]byte{1}, Seq: uint64(flip), At: int64(flip), Chain: flip}
		b, sum := snapshotOf(t, p, rows)
		got, hash, i := collect(t, b)
		if got != p || hash != sum || i != len(rows) {
			t.Fatalf("%+v with %d rows is read as %+v with %d", p, len(rows), got, i)
		}
		b[int(flip)%len(b)] ^= byte(flip>>24) | 1
		if _, _, err := readSnapshot(bytes.NewReader(b), func([]byte) error { return nil }); err == nil {
			t.Fatalf("a snapshot with byte %d changed is accepted", int(flip)%len(b))
		}
		// A block that verifies and holds anything.
		if _, _, err := readSnapshot(io.MultiReader(bytes.NewReader(p.encode()), bytes.NewReader(sealedBlock(data))), func([]byte) error { return nil }); err == nil {
			t.Fatal("a snapshot without a trailer is accepted")
		}
	})
}

func collect(t *testing.T, b []byte) (point, [32]byte, int) {
	t.Helper()
	n := 0
	p, hash, err := readSnapshot(bytes.NewReader(b), func([]byte) error { n++; return nil })
	if err != nil {
		t.Fatal(err)
	}
	return p, hash, n
}

func acceptedSnapshot(t *testing.T, data []byte) {
	t.Helper()
	var rows [][]byte
	var p point
	var hash [32]byte
	var err error
	mustStaySmall(t, len(data), func() {
		p, hash, err = readSnapshot(bytes.NewReader(data), func(row []byte) error { rows = append(rows, bytes.Clone(row)); return nil })
	})
	if err != nil {
		return
	}
	if _, sum := snapshotOf(t, p, rows); sum != hash {
		t.Fatalf("accepted with hash %x, its rows have %x", hash, sum)
	}
}

func sealedBlock(rows []byte) []byte {
	w := rowWriter{to: io.Discard, hash: newHash()}
	var b bytes.Buffer
	w.to = &b
	w.block = append(make([]byte, 4), rows...)
	_ = w.flush()
	return b.Bytes()
}
