package wire

import (
	"io"
	"testing"
)

// BenchmarkRequest is a tiny request and its answer over loopback, client included.
func BenchmarkRequest(b *testing.B) {
	_, l := start(b, Options{}, table{})
	p := dial(b, l)
	request := frameOf(NewRequest(12, 4), 1)
	answer := make([]byte, 64)
	b.ReportAllocs()
	for b.Loop() {
		p.Write(request)
		if _, err := io.ReadAtLeast(p, answer, 4); err != nil {
			b.Fatal(err)
		}
	}
}
