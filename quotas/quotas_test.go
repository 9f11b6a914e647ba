package quotas

import (
	"fmt"
	"net/netip"
	"testing"
)

func TestScopesAreBounded(t *testing.T) {
	m := NewRate(Windows{11, 1000})
	m.SetLimits(NewLimits(map[Entity]float64{{Client: byDefault}: 1}))
	for i := range maxGauges + 500 {
		m.Record("u", fmt.Sprint(i), 100, int64(i))
	}
	if n := len(m.gauges); n != maxGauges || m.used.Len() != n {
		t.Errorf("%d scopes are kept, %d in order, want %d", n, m.used.Len(), maxGauges)
	}
	if wait := m.Record("u", fmt.Sprint(maxGauges), 1, maxGauges+500); wait == 0 {
		t.Error("a client that was here lately is forgotten")
	}
	m.Record("u", "late", 1, forgetAfter+20_000)
	if n := len(m.gauges); n != 1 {
		t.Errorf("%d scopes are kept an hour later", n)
	}
}

func TestAddressesConnect(t *testing.T) {
	a := NewAddresses(Windows{11, 1000})
	one, two := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")
	if a.Connect(one, 0) != 0 || len(a.rates) != 0 {
		t.Error("without limits something is measured")
	}
	a.SetLimits(&AddressLimits{Of: map[netip.Addr]float64{one: 1}})
	for range 10 {
		if wait := a.Connect(one, 1_000_000); wait != 0 {
			t.Fatalf("a connection within the limit waits %d ms", wait)
		}
	}
	for range 3 { // a refused one is not counted: the next waits no longer
		if wait := a.Connect(one, 1_000_000); wait != 1000 {
			t.Errorf("the eleventh is refused for %d ms, want a window", wait)
		}
	}
	if a.Connect(two, 1_000_000) != 0 || len(a.rates) != 1 {
		t.Error("an address without a limit is measured")
	}
	if wait := a.Connect(one, 1_000_600); wait != 400 {
		t.Errorf("0.6 s later it is refused for %d ms, want 400", wait)
	}
	// As in Kafka the span is whole windows and the one under way, so it does not grow for good before there are ten.
	if wait := a.Connect(one, 1_001_000); wait != 1000 {
		t.Errorf("a second later it waits %d ms", wait)
	}
	if wait := a.Connect(one, 1_011_500); wait != 0 {
		t.Errorf("when the windows have gone by it waits %d ms", wait)
	}
	a.SetLimits(&AddressLimits{Of: map[netip.Addr]float64{one: 100}, Default: 1})
	for i := range 11 {
		if wait := a.Connect(two, 2_000_000); (wait > 0) != (i == 10) {
			t.Errorf("connection %d by the default waits %d ms", i, wait)
		}
	}
	for i := range maxGauges + 10 {
		a.Connect(netip.AddrFrom4([4]byte{11, 0, byte(i >> 8), byte(i)}), 2_000_000)
	}
	if n := len(a.rates); n > maxGauges {
		t.Errorf("%d addresses are kept", n)
	}
}

func TestPaceOfAllConnections(t *testing.T) {
	p := NewPace(Windows{11, 1000})
	if p.Connect(0, 1_000_000) != 0 {
		t.Error("no limit makes one wait")
	}
	for range 20 {
		p.Connect(2, 1_000_000)
	}
	if wait := p.Connect(2, 1_000_000); wait != 500 {
		t.Errorf("the 21st waits %d ms, want 500", wait)
	}
	if wait := p.Connect(2, 1_000_000); wait != 1000 {
		t.Errorf("the 22nd waits %d ms: what waits counts", wait)
	}
}

// BenchmarkRecord is what one measured request costs with 1,000 limits.
func BenchmarkRecord(b *testing.B) {
	of := map[Entity]float64{}
	for i := range 1000 {
		of[Entity{User: named(fmt.Sprint("u", i)), Client: named(fmt.Sprint("c", i%7))}] = 1e12
		of[Entity{Client: named(fmt.Sprint("c", i))}] = 1e12
	}
	m := NewRate(Windows{11, 1000})
	m.SetLimits(NewLimits(of))
	now := int64(1_000_000)
	for b.Loop() {
		m.Record("ANONYMOUS", "c5", 1000, now)
		now++
	}
}
