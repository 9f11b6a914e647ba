package quotas

import (
	"container/list"
	"math"
	"sync"
	"sync/atomic"
)

// Meter measures one kind of use of all clients against the limits that are set. Its methods may be called by any goroutine.
// Without limits nothing is measured.
type Meter struct {
	windows Windows
	bucket  bool
	limits  atomic.Pointer[Limits]

	mu      sync.Mutex
	clients map[Scope]*client       // by user and client id: what was found for them
	gauges  map[Scope]*list.Element // of *gauge, the one used last at the front
	used    *list.List
}

// client is what the limits come to for one user with one client id.
type client struct {
	limits  *Limits // that it was found in
	scope   Scope
	limit   float64
	limited bool
	at      *list.Element // of its gauge
}

// gauge is what one scope has used.
type gauge struct {
	scope  Scope
	at     int64 // when it was last used
	gone   bool  // forgotten
	rate   rate
	bucket bucket
}

// A scope is forgotten when it has not been used for so long, or when there are too many: clients choose their ids.
const (
	forgetAfter = 3_600_000
	maxGauges   = 10_000
)

// NewRate makes a meter of a rate.
func NewRate(w Windows) *Meter { return newMeter(w, false) }

// NewBucket makes a meter of tokens.
func NewBucket(w Windows) *Meter { return newMeter(w, true) }

func newMeter(w Windows, bucket bool) *Meter {
	return &Meter{windows: w, bucket: bucket, clients: map[Scope]*client{}, gauges: map[Scope]*list.Element{}, used: list.New()}
}

// SetLimits replaces the limits, nil for none. What was measured stays.
func (m *Meter) SetLimits(l *Limits) { m.limits.Store(l) }

// Enabled says whether any limit is set.
func (m *Meter) Enabled() bool { return m.limits.Load() != nil }

// Record adds to what a client has used and says how long it is to wait, ms.
func (m *Meter) Record(user, clientID string, value float64, now int64) int64 {
	l := m.limits.Load()
	if l == nil {
		return 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	c, g := m.find(l, user, clientID, now)
	switch {
	case m.bucket && !c.limited:
		return 0
	case m.bucket:
		g.bucket.take(m.windows, c.limit, value, now)
		return g.bucket.debt(m.windows, c.limit, now)
	}
	g.rate.record(m.windows, value, now)
	if !c.limited {
		return 0
	}
	return g.rate.excess(m.windows, c.limit, now)
}

// Unrecord takes back what Record added at the same time.
func (m *Meter) Unrecord(user, clientID string, value float64, now int64) {
	l := m.limits.Load()
	if l == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	_, g := m.find(l, user, clientID, now)
	g.rate.record(m.windows, -value, now)
}

// TryTake takes tokens unless the bucket is overdrawn: then it takes none and says how long until it is not, ms.
func (m *Meter) TryTake(user, clientID string, value float64, now int64) int64 {
	l := m.limits.Load()
	if l == nil {
		return 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	c, g := m.find(l, user, clientID, now)
	if !c.limited {
		return 0
	}
	if debt := g.bucket.debt(m.windows, c.limit, now); debt > 0 {
		return debt
	}
	g.bucket.take(m.windows, c.limit, value, now)
	return 0
}

// Most is what a client that has used nothing may use at once without waiting.
func (m *Meter) Most(user, clientID string) float64 {
	l := m.limits.Load()
	if l == nil {
		return math.MaxFloat64
	}
	limit, limited := l.limit(l.scope(user, clientID))
	if !limited {
		return math.MaxFloat64
	}
	return limit * float64(m.windows.Count-1) * float64(m.windows.Size/1000)
}

// find gives what the limits come to for a client, and what its scope has used. To work it out takes many looks into the limits,
// so it is kept.
func (m *Meter) find(l *Limits, user, clientID string, now int64) (*client, *gauge) {
	key := Scope{user, clientID}
	c := m.clients[key]
	if c == nil || c.limits != l {
		if len(m.clients) >= maxGauges {
			clear(m.clients)
		}
		c = &client{limits: l, scope: l.scope(user, clientID)}
		c.limit, c.limited = l.limit(c.scope)
		m.clients[key] = c
	}
	if c.at == nil || c.at.Value.(*gauge).gone {
		c.at = m.gauge(c.scope, now)
	}
	m.used.MoveToFront(c.at)
	g := c.at.Value.(*gauge)
	g.at = now
	return c, g
}

// gauge finds or makes what a scope has used.
func (m *Meter) gauge(s Scope, now int64) *list.Element {
	at, known := m.gauges[s]
	if !known {
		m.forget(now)
		at = m.used.PushFront(&gauge{scope: s})
		m.gauges[s] = at
	}
	return at
}

// forget drops scopes that were not used for long, and makes room for one.
func (m *Meter) forget(now int64) {
	for at := m.used.Back(); at != nil; at = m.used.Back() {
		g := at.Value.(*gauge)
		if len(m.gauges) < maxGauges && now-g.at < forgetAfter {
			return
		}
		m.used.Remove(at)
		delete(m.gauges, g.scope)
		g.gone = true
	}
}
