package quotas

import (
	"net/netip"
	"sync"
	"sync/atomic"
)

// Addresses measures how many connections addresses make.
type Addresses struct {
	windows Windows
	limits  atomic.Pointer[AddressLimits]

	mu    sync.Mutex
	rates map[netip.Addr]*counted
}

type counted struct {
	rate rate
	at   int64
}

// AddressLimits are connections a second, by address, and for all that have no limit of their own; 0: none.
type AddressLimits struct {
	Of      map[netip.Addr]float64
	Default float64
}

// NewAddresses makes a meter of connections.
func NewAddresses(w Windows) *Addresses {
	return &Addresses{windows: w, rates: map[netip.Addr]*counted{}}
}

// SetLimits replaces the limits, nil for none.
func (a *Addresses) SetLimits(l *AddressLimits) { a.limits.Store(l) }

// Connect counts a connection of an address. One that makes too many is to be closed after the given time, ms, and is not
// counted.
func (a *Addresses) Connect(from netip.Addr, now int64) int64 {
	l := a.limits.Load()
	if l == nil {
		return 0
	}
	limit, own := l.Of[from]
	if !own {
		limit = l.Default
	}
	if limit == 0 {
		return 0
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	c := a.counted(from, now)
	c.rate.record(a.windows, 1, now)
	wait := min(c.rate.excess(a.windows, limit, now), a.windows.Size)
	if wait > 0 {
		c.rate.record(a.windows, -1, now)
	}
	return wait
}

func (a *Addresses) counted(from netip.Addr, now int64) *counted {
	c := a.rates[from]
	if c == nil {
		a.forget(now)
		c = &counted{}
		a.rates[from] = c
	}
	c.at = now
	return c
}

// forget makes room: what was not used for long goes, and all of it when that is not enough.
func (a *Addresses) forget(now int64) {
	if len(a.rates) < maxGauges {
		return
	}
	for from, c := range a.rates {
		if now-c.at >= forgetAfter {
			delete(a.rates, from)
		}
	}
	if len(a.rates) >= maxGauges {
		clear(a.rates)
	}
}

// Pace measures the connections of all addresses together: the one too many waits before it is served.
type Pace struct {
	windows Windows
	mu      sync.Mutex
	rate    rate
}

// NewPace makes a meter of all connections.
func NewPace(w Windows) *Pace { return &Pace{windows: w} }

// Connect counts a connection and says how long it is to wait, ms, when limit are taken a second; 0: no limit.
func (p *Pace) Connect(limit float64, now int64) int64 {
	if limit == 0 {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rate.record(p.windows, 1, now)
	return min(p.rate.excess(p.windows, limit, now), p.windows.Size)
}
