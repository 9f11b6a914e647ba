//go:build linux && !race

package wire

import (
	"encoding/binary"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// bombs are well-formed frames of the given size that want to be many times larger when decoded.
func bombs(size int) map[string][]byte {
	frame := func(b []byte) []byte { return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...) }
	repeat := func(b, element []byte) []byte {
		n := size / len(element)
		b = appendUvarint(b, uint32(n)+1)
		for range n {
			b = append(b, element...)
		}
		return append(b, make([]byte, 16)...)
	}
	tags := appendUvarint(append(header2(12, 4), 2, 'g', 0, 0, 0, 1, 2, 'm', 0), uint32(size/5))
	for i := range size / 5 {
		tags = append(tags, byte(i)|0x80, byte(i>>7)|0x80, byte(i>>14)|0x80, byte(i>>21), 0)
	}
	return map[string][]byte{
		"empty names":           frame(repeat(header2(15, 5), []byte{1})),
		"topics":                frame(repeat(header2(19, 7), []byte{1, 0, 0, 0, 1, 0, 1, 1, 1, 0})),
		"partitions":            frame(repeat(append(header2(9, 7), 2, 'g', 2, 2, 't'), []byte{0, 0, 0, 0})),
		"one-byte names":        frame(repeat(header2(15, 5), []byte{2, 'x'})),
		"unknown tags":          frame(tags),
		"topics to be produced": frame(repeat(append(header2(0, 9), 0, 0, 1, 0, 0, 0, 0), []byte{1, 1, 0})),
	}
}

// Four connections at a time send each bomb; the server's memory stays within its budgets for frames and decoded
// requests and the collector's overhead, and others are served.
func TestBombsTakeBoundedMemory(t *testing.T) {
	c := startChild(t)
	c.dial().ask(NewRequest(3, 12), 1)
	before := c.memory("VmRSS")
	for name, bomb := range bombs(3 << 20) {
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				p := c.dial()
				p.Write(bomb)
				p.Read(make([]byte, 1)) // an answer, or the end
				p.Close()
			})
		}
		all.Wait()
		c.dial().ask(NewRequest(3, 12), 1)
		t.Logf("%-22s peak %4d MiB over %d", name, (c.memory("VmHWM")-before)>>20, before>>20)
	}
	if grew := c.memory("VmHWM") - before; grew > 384<<20 {
		t.Errorf("memory grew by %d MiB", grew>>20)
	}
}

// What a connection takes while it is idle, and while a fetch is parked on it.
func TestMemoryOfIdleAndParkedConnections(t *testing.T) {
	const n = 2000
	c := startChild(t)
	before := c.memory("VmRSS")
	peers := make([]*peer, n)
	for i := range peers {
		peers[i] = c.dial()
		peers[i].ask(NewRequest(3, 12), 1)
	}
	idle := (c.memory("VmRSS") - before) / n
	for _, p := range peers {
		p.send(frameOf(NewRequest(1, 17), 2))
	}
	probe := c.dial()
	for probe.ask(NewRequest(12, 4), 3).(*kmsg.HeartbeatResponse).ThrottleMillis < n {
	}
	parked := (c.memory("VmRSS") - before) / n
	t.Logf("an idle connection takes %d bytes, a parked fetch %d", idle, parked)
	if idle > 12<<10 {
		t.Errorf("an idle connection takes %d bytes", idle)
	}
}

// BenchmarkServer is the processor time that the server alone takes for a tiny request.
func BenchmarkServer(b *testing.B) {
	c := startChild(b)
	p := c.dial()
	heartbeat := NewRequest(12, 4).(*kmsg.HeartbeatRequest)
	before := c.cpu()
	for b.Loop() {
		p.ask(heartbeat, 1)
	}
	b.ReportMetric(float64(c.cpu()-before)/float64(b.N), "server-ns/op")
}

// BenchmarkConnect is the processor time that the server takes for a connection with one request.
func BenchmarkConnect(b *testing.B) {
	c := startChild(b)
	before := c.cpu()
	for b.Loop() {
		p := c.dial()
		p.ask(NewRequest(18, 3), 1)
		p.Close()
	}
	b.ReportMetric(float64(c.cpu()-before)/float64(b.N), "server-ns/op")
}
