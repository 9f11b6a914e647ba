package handlers

import (
	"context"
	"crypto/rand"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/wire"
)

// GetTelemetrySubscriptions (key 71), v0: which metrics a client is to push, and how often (KIP-714). A client without an id is
// given one.
//
// Subscriptions are the CLIENT_METRICS resources that match the client: their metrics are gathered, the least interval counts.
// Asked again within the interval it is THROTTLING_QUOTA_EXCEEDED, unless the subscriptions have changed, or the last push was
// refused for what the answer to this tells.
//
// No operation is asked for.
func (b *Broker) getTelemetrySubscriptions(_ context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.GetTelemetrySubscriptionsRequest)
	resp := respond[*kmsg.GetTelemetrySubscriptionsResponse](r)
	id := req.ClientInstanceID
	if id == ([16]byte{}) {
		id = newInstanceID()
	}
	state, _ := b.view()
	t := b.telemetry
	t.mu.Lock()
	defer t.mu.Unlock()
	in := t.instance(state, r, id)
	if !in.mayGet(t.now()) {
		resp.ErrorCode = throttlingQuotaExceeded
		return resp, nil
	}
	in.lastError = none
	resp.ClientInstanceID, resp.SubscriptionID = id, in.subscription
	resp.AcceptedCompressionTypes = []int8{4, 3, 1, 2} // zstd, lz4, gzip, snappy: the best first
	resp.PushIntervalMillis = int32(in.interval)
	resp.TelemetryMaxBytes = b.telemetryMaxBytes()
	resp.DeltaTemporality = t.opt == nil || !t.opt.Cumulative
	resp.RequestedMetrics = append([]string{}, in.metrics...)
	return resp, nil
}

// telemetryMaxBytes is telemetry.max.bytes, which only a start sets; at most 1 MiB, since what is inflated is held as a whole.
func (b *Broker) telemetryMaxBytes() int32 {
	return int32(min(b.static.Int("telemetry.max.bytes"), 1<<20))
}

// newInstanceID draws a UUID of version 4.
func newInstanceID() (id [16]byte) {
	rand.Read(id[:])
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return id
}
