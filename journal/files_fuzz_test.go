package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"testing"

	"doze/disk"
)

// sealed gives size bytes that begin with b and end with the checksum of what is before it.
func sealed(b []byte, size int) []byte {
	b = append(bytes.Clone(b), make([]byte, size)...)[:size]
	binary.LittleEndian.PutUint32(b[size-4:], crc32.Checksum(b[:size-4], castagnoli))
	return b
}

// A header that is accepted is what this version writes; one whose checksum holds is accepted, newer, or named.
func FuzzFileHeader(f *testing.F) {
	h := FileHeader{Version: formatVersion, ClusterID: [16]byte{1}, FirstSeq: 7, Chain: 3, Salt: 4, Skipped: 2}
	f.Add(h.encode())
	h.Version = 2
	f.Add(h.encode())
	h.Version, h.Features = formatVersion, 1<<40
	f.Add(h.encode())
	f.Add(journalMagic[:])
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, b := range [][]byte{data, sealed(append(bytes.Clone(journalMagic[:]), data[min(8, len(data)):]...), headerSize)} {
			h, err := parseFileHeader(b)
			var newer *NewerError
			switch {
			case err == nil && !bytes.Equal(h.encode(), b[:headerSize]):
				t.Fatalf("%x is accepted as %+v", b, h)
			case err == nil && h.before() >= h.FirstSeq:
				t.Fatalf("entry %d comes before %d", h.before(), h.FirstSeq)
			case errors.As(err, &newer) && newer.Version == formatVersion && newer.Features == 0:
				t.Fatalf("%x is newer, but nothing in it is: %v", b, err)
			}
		}
	})
}

func FuzzMarker(f *testing.F) {
	f.Add(marker{ClusterID: [16]byte{1}, FirstSeq: 7, Size: 4096, Seq: 9, Chain: 3}.encode())
	f.Add(markerMagic[:])
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, err := parseMarker(data); err == nil && !bytes.Equal(m.encode(), data) {
			t.Fatalf("%x is accepted as %+v", data, m)
		}
		b := sealed(append(bytes.Clone(markerMagic[:]), data[min(8, len(data)):]...), markerSize)
		m, err := parseMarker(b)
		if err != nil || !bytes.Equal(m.encode(), b) {
			t.Fatalf("%x is read as %+v: %v", b, m, err)
		}
	})
}

// FuzzFrame puts two frames of any content before any bytes, and damages one byte of the frames: a scanner gives the
// whole frames, stops at the first that is not, and judges what it finds there.
func FuzzFrame(f *testing.F) {
	frame, _ := sealFrame(append(beginFrame(nil), "body"...), 0, frameHeader{Seq: 3}, 1, 2)
	f.Add([]byte("a"), []byte("b"), []byte{}, uint32(0), byte(0))
	f.Add([]byte("a"), []byte("bb"), frame, uint32(40), byte(1))
	f.Add([]byte("a"), []byte("b"), vouch(2, 5), uint32(63), byte(0x80))
	f.Add([]byte("dzJ1"), frame, append(make([]byte, 600), vouch(9, 5)...), uint32(0), byte(0))
	f.Fuzz(func(t *testing.T, one, two, behind []byte, at uint32, change byte) {
		_, _ = parseFrameHeader(behind, at)
		if len(one) == 0 || len(two) == 0 {
			return // a body is never empty
		}
		h := FileHeader{Version: formatVersion, FirstSeq: 1, Salt: 5, Chain: 6}
		b := h.encode()
		b, chain := sealFrame(append(beginFrame(b), one...), len(b), frameHeader{Seq: 1}, h.Salt, h.Chain)
		second := len(b)
		b, _ = sealFrame(append(beginFrame(b), two...), second, frameHeader{Seq: 2, Durable: 1}, h.Salt, chain)
		end := len(b)
		place := headerSize + int(at)%(end-headerSize)
		b[place] ^= change
		whole := 2
		if change != 0 && place < second {
			whole = 0
		} else if change != 0 {
			whole = 1
		}
		mustScan(t, append(b, behind...), [][]byte{one, two}[:whole], change == 0)
	})
}

// mustScan reads a file whose first frames are known. What is behind them may happen to be more frames when open is set.
func mustScan(t *testing.T, file []byte, want [][]byte, open bool) {
	t.Helper()
	fsys := disk.NewMem()
	writeFile(t, fsys, "x", file)
	s, err := openScanner(fsys, "x")
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	mustStaySmall(t, len(file), func() {
		for i := 0; ; i++ {
			_, body, err := s.next()
			if err != nil {
				if i < len(want) {
					t.Fatalf("frame %d is not read: %v", i+1, err)
				}
				mustJudge(t, s, err)
				return
			}
			if i < len(want) && !bytes.Equal(body, want[i]) || i >= len(want) && !open {
				t.Fatalf("frame %d is read as %q", i+1, body)
			}
		}
	})
}

func mustJudge(t *testing.T, s *scanner, stopped error) {
	t.Helper()
	var bad *badFrame
	if !errors.As(stopped, &bad) && stopped != io.EOF {
		t.Fatalf("stopped by %v", stopped)
	}
	for _, last := range []bool{true, false} {
		tail, err := s.judge(stopped, 0, last)
		var damage *DamageError
		if err != nil && !errors.As(err, &damage) || tail != nil && (err != nil || !last || tail.Bytes < 0) {
			t.Fatalf("judged as %+v, %v", tail, err)
		}
	}
}
