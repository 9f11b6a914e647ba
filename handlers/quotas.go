package handlers

import (
	"context"
	"math"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"doze/configs"
	"doze/projections"
	"doze/quotas"
	"doze/wire"
)

// Keys of quotas.
const (
	producerByteRate       = "producer_byte_rate"
	consumerByteRate       = "consumer_byte_rate"
	requestPercentage      = "request_percentage"
	controllerMutationRate = "controller_mutation_rate"
	connectionCreationRate = "connection_creation_rate"
)

// clientQuotas measures what clients use and makes those wait that use too much. What is measured is soft state; what is allowed
// is the projection's, and is looked up again when that has changed.
type clientQuotas struct {
	now     func() int64 // ms
	mute    func(ctx context.Context, d time.Duration) <-chan struct{}
	windows quotas.Windows

	produce, fetch, requests, mutations *quotas.Meter
	addresses                           *quotas.Addresses
	connections                         *quotas.Pace

	revision atomic.Pointer[projections.Revision]
	any      atomic.Bool // a limit of clients is set
	changing sync.Mutex
}

func newClientQuotas(static *configs.Broker, now func() int64) *clientQuotas {
	w := quotaWindows(static, "quota.window.num", "quota.window.size.seconds")
	return &clientQuotas{
		now: now, mute: muteTimer, windows: w,
		produce: quotas.NewRate(w), fetch: quotas.NewRate(w), requests: quotas.NewRate(w),
		mutations: quotas.NewBucket(quotaWindows(static, "controller.quota.window.num", "controller.quota.window.size.seconds")),
		addresses: quotas.NewAddresses(w), connections: quotas.NewPace(w),
	}
}

func quotaWindows(static *configs.Broker, count, seconds string) quotas.Windows {
	return quotas.Windows{Count: int(static.Int(count)), Size: static.Int(seconds) * 1000}
}

// muteTimer gives a channel that is closed after d; the timer goes with its connection.
func muteTimer(ctx context.Context, d time.Duration) <-chan struct{} {
	over := make(chan struct{})
	t := time.NewTimer(d)
	go func() {
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
		}
		close(over)
	}()
	return over
}

// refresh looks up the limits of a state, when they are not those that are known. It says whether clients have any.
func (q *clientQuotas) refresh(state *projections.State) bool {
	if q.revision.Load() == state.Quotas.Revision() {
		return q.any.Load()
	}
	q.changing.Lock()
	defer q.changing.Unlock()
	if q.revision.Load() != state.Quotas.Revision() {
		q.load(state)
		q.revision.Store(state.Quotas.Revision())
	}
	return q.any.Load()
}

func (q *clientQuotas) load(state *projections.State) {
	of := map[string]map[quotas.Entity]float64{}
	ips := &quotas.AddressLimits{Of: map[netip.Addr]float64{}}
	state.Quotas.Each(func(c projections.ClientQuota) bool {
		switch limit := quotaNumber(c.Value); {
		case c.IP.Kind == projections.QuotaDefault:
			ips.Default = math.Trunc(limit)
		case c.IP.Kind == projections.QuotaNamed:
			for _, at := range quotas.AddressesOf(c.IP.Name) {
				ips.Of[at] = math.Trunc(limit)
			}
		default:
			if of[c.Key] == nil {
				of[c.Key] = map[quotas.Entity]float64{}
			}
			of[c.Key][quotas.Entity{User: limitName(c.User), Client: limitName(c.ClientID)}] = limit
		}
		return true
	})
	for key, meter := range map[string]*quotas.Meter{
		producerByteRate: q.produce, consumerByteRate: q.fetch, requestPercentage: q.requests, controllerMutationRate: q.mutations,
	} {
		meter.SetLimits(quotas.NewLimits(of[key]))
	}
	q.any.Store(len(of) > 0)
	if len(ips.Of) == 0 && ips.Default == 0 {
		ips = nil
	}
	q.addresses.SetLimits(ips)
}

func limitName(n projections.QuotaName) quotas.Name {
	return quotas.Name{Text: n.Name, Default: n.Kind == projections.QuotaDefault, Set: n.Kind != projections.QuotaAbsent}
}

// quotaUser is the name of a connection's user, as quotas have it.
func quotaUser(r *wire.Request) string {
	return strings.TrimPrefix(r.Conn.Principal(), "User:")
}

// Admit says what becomes of a new connection (wire.Options).
func (b *Broker) Admit(from netip.Addr) wire.Admission {
	state, _ := b.view()
	q := b.quotas
	q.refresh(state)
	var a wire.Admission
	now := q.now()
	if rate := b.settings(state).Int("max.connection.creation.rate"); rate < math.MaxInt32 {
		wait := q.connections.Connect(float64(rate), now)
		a.Wait = time.Duration(wait) * time.Millisecond
		now += wait
	}
	a.Refuse = time.Duration(q.addresses.Connect(from, now)) * time.Millisecond
	return a
}
