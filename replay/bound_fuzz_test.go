package replay

import "testing"

// What is read as a bound is a place that prints, or counts, back to the same.
func FuzzParseBound(f *testing.F) {
	for _, s := range []string{"0", "4711", "9223372036854775807", "18446744073709551615", "2026-11-29T20:19:38.123Z", "2026-11-29", "2026-11-29 20:19", "0000-01-01", "2026-02-29T10:00:00+14:00", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b, err := ParseBound(s)
		if err != nil {
			return
		}
		if !b.set || !b.time && b.n < 0 {
			t.Fatalf("%q is read as %+v", s, b)
		}
		if !b.time {
			return
		}
		if again, err := ParseBound(Time(b.n)); err != nil || again != b {
			t.Fatalf("%q is %s, which is read as %+v: %v", s, Time(b.n), again, err)
		}
	})
}

func FuzzParseMatch(f *testing.F) {
	for _, s := range []string{"kind=TopicCreated", "topic=a=b", "=x", "x", "group="} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if m, err := ParseMatch(s); err == nil && (m.Key == "" || m.Key+"="+m.Value != s) {
			t.Fatalf("%q is read as %+v", s, m)
		}
	})
}
