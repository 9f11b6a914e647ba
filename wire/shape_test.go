package wire

import (
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestEveryVersionHasAShape(t *testing.T) {
	every(func(key, version int16) {
		if shapeOf(key, version) == nil {
			t.Errorf("%s v%d has no shape", kmsg.NameForKey(key), version)
		}
	})
}

// What a body is reckoned to take is what decoding it allocates, give or take: never much less, or hostile bodies would
// take memory that nobody counts. (The race detector's build allocates every array twice.)
func TestReckonedCostCoversTheDecoder(t *testing.T) {
	every(func(key, version int16) {
		s := shapeOf(key, version)
		arrays(s, func(st *step) {
			w := builder{length: 1000, fill: st}
			w.put(s)
			m, err := s.check(w.b, 1<<40)
			if err != nil {
				t.Fatalf("%s v%d: %v", kmsg.NameForKey(key), version, err)
			}
			took := allocated(t, key, version, w.b, covered(m.cost))
			if took > covered(m.cost) {
				t.Errorf("%s v%d: %d elements of %s: reckoned %d bytes, decoding took %d",
					kmsg.NameForKey(key), version, w.length, st.name, m.cost, took)
			}
		})
	})
}

func covered(cost int64) int64 { return 2*cost + cost/4 + 4096 }

// allocated is what decoding a body takes: the least of three times unless one was little enough, since whatever else
// runs is counted too.
func allocated(t *testing.T, key, version int16, b []byte, enough int64) int64 {
	t.Helper()
	least := int64(math.MaxInt64)
	for range 3 {
		body := kmsg.RequestForKey(key)
		body.SetVersion(version)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := body.ReadFrom(b)
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Errorf("%s v%d: kmsg refuses what the shape lets pass: %v", kmsg.NameForKey(key), version, err)
		}
		took := int64(after.TotalAlloc - before.TotalAlloc)
		if least = min(least, took); least <= enough {
			break
		}
	}
	return least
}

// Every length of every API and version, replaced by hostile ones before 16 KiB of zeros: either the check refuses, or
// what decoding takes is covered by what was reckoned.
func TestHostileLengths(t *testing.T) {
	every(func(key, version int16) {
		s := shapeOf(key, version)
		plain := builder{length: 1}
		plain.put(s)
		for i := range plain.lengths {
			for _, v := range []int32{math.MaxInt32, math.MaxInt32 - 1, 1 << 30, 1 << 14, 1<<14 - 1, 1 << 12, -1, -2, math.MinInt32} {
				w := builder{length: 1, hostile: i + 1, value: v}
				w.put(s)
				hostile(t, key, version, append(w.b, make([]byte, 16<<10)...))
			}
		}
	})
}

func hostile(t *testing.T, key, version int16, b []byte) {
	t.Helper()
	m, err := shapeOf(key, version).check(b, 1<<30)
	if err != nil || m.cost < freeDecode {
		return
	}
	if took := allocated(t, key, version, b, covered(m.cost)); took > covered(m.cost) {
		t.Errorf("%s v%d: reckoned %d bytes, decoding took %d: % x...", kmsg.NameForKey(key), version, m.cost, took, b[:min(len(b), 60)])
	}
}

// A request of every API and version, cut short at every byte, is refused; whole, and with bytes after it, it passes.
func TestCutBodies(t *testing.T) {
	every(func(key, version int16) {
		s := shapeOf(key, version)
		w := builder{length: 2}
		w.put(s)
		if _, err := s.check(w.b, 1<<20); err != nil {
			t.Errorf("%s v%d: %v", kmsg.NameForKey(key), version, err)
		}
		if _, err := s.check(append(w.b, 1, 2, 3), 1<<20); err != nil {
			t.Errorf("%s v%d with bytes after the body: %v", kmsg.NameForKey(key), version, err)
		}
		for n := range w.b {
			if _, err := s.check(w.b[:n:n], 1<<20); err == nil {
				t.Errorf("%s v%d cut at %d of %d bytes passes", kmsg.NameForKey(key), version, n, len(w.b))
			}
		}
	})
}

func TestShapeErrorNamesTheField(t *testing.T) {
	w := builder{length: 1}
	s := shapeOf(0, 3)
	w.put(s)
	_, err := s.check(w.b[:len(w.b)-1], 1<<20)
	if err == nil || !strings.Contains(err.Error(), "TopicData.PartitionData.Records") {
		t.Errorf("error %v", err)
	}
}
