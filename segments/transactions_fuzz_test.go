package segments

import (
	"bytes"
	"errors"
	"sync/atomic"
	"testing"

	"doze/disk"
)

func FuzzMarker(f *testing.F) {
	for _, m := range []Marker{{}, {Commit: true, CoordinatorEpoch: 1 << 30}} {
		b := m.batch(7)
		f.Add(b.raw[headerBytes:])
	}
	f.Add(made{records: 1, value: []byte("x"), control: true}.bytes()[headerBytes:])
	f.Fuzz(func(t *testing.T, b []byte) {
		found, ok := parseMarker(b)
		if !ok {
			return
		}
		m := Marker{Commit: found.Commit, CoordinatorEpoch: found.CoordinatorEpoch}
		again := m.batch(0)
		if third, ok := parseMarker(again.raw[headerBytes:]); !ok || third != found {
			t.Fatalf("%+v, then %+v", found, third)
		}
	})
}

// FuzzAborted opens a list that is any bytes: it is made anew, or says what its lines say.
func FuzzAborted(f *testing.F) {
	line := aborted{producer: 3, first: 0, last: 1, stable: 2}
	mark := aborted{producer: -1, first: 1, last: 1, stable: 160}
	f.Add(appendAborted(appendAborted(nil, &line), &mark))
	f.Add(appendAborted(nil, &line))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if a, err := parseAborted(b); err == nil && !bytes.Equal(appendAborted(nil, &a), b[:abortedBytes]) {
			t.Fatal("another encoding")
		}
		mem := disk.NewMem()
		file, err := mem.OpenFile("list", 0x42)
		if err != nil {
			t.Fatal(err)
		}
		file.WriteAt(b, 0)
		cache := files{fs: mem, limit: 1, unsyncedLimit: 1}
		l := abortedList{file: cache.file("list"), any: true}
		if err := l.load(1, 160); err != nil || !l.usable && l.flushed > 0 {
			t.Fatal(l, err)
		}
		l.flushed = len(b) / abortedBytes
		search := abortedSearch{abortedList: l, last: new(atomic.Pointer[abortedBlock]), to: 10}
		if _, _, err := search.collect(nil); err != nil && !errors.Is(err, errBadAborted) {
			t.Fatal(err)
		}
	})
}
