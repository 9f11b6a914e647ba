//go:build linux

package machine

import (
	"os"
	"testing"
	"time"
)

func TestCPUTimeCountsThisProcess(t *testing.T) {
	before, err := CPUTime(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	const work, patience = 20 * time.Millisecond, time.Minute
	for start := time.Now(); time.Since(start) < patience; {
		now, err := CPUTime(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		if now-before >= work {
			return
		}
	}
	t.Errorf("a busy process used less than %s of CPU in %s", work, patience)
}

func TestMemoryOfThisProcess(t *testing.T) {
	m, err := MemoryOf(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if m.RSS < 1<<20 || m.PSS <= 0 || m.PSS > m.RSS {
		t.Errorf("memory %+v", m)
	}
}

func TestQuantile(t *testing.T) {
	values := []float64{5, 1, 4, 2, 3}
	for q, want := range map[float64]float64{0: 1, 0.5: 3, 0.8: 4, 0.99: 5, 1: 5} {
		if got := Quantile(values, q); got != want {
			t.Errorf("quantile %g is %g, want %g", q, got, want)
		}
	}
	if got := Median(nil); got != 0 {
		t.Errorf("median of nothing is %g", got)
	}
}
