package handlers

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"

	"doze/segments"
	"doze/wire"
)

// PushTelemetry (key 72), v0: metrics of a client, as OTLP MetricsData that may be compressed (KIP-714).
//
// It is looked at in Kafka's order: the id; whether the client has said that its last push was the last (which a push that is
// refused for it takes back again); the time, of which a terminating push is free; the subscription id; the compression; the
// size. An id that is not known is made known: a push with the subscription id that it would have got is taken.
//
// No operation is asked for.
func (b *Broker) pushTelemetry(_ context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.PushTelemetryRequest)
	resp := respond[*kmsg.PushTelemetryResponse](r)
	if reservedID(req.ClientInstanceID) {
		resp.ErrorCode = invalidRequest
		return resp, nil
	}
	interval, code := b.admitPush(r, req)
	if code == none && len(req.Metrics) > 0 {
		if err := b.takePush(r, req, interval); err != nil {
			b.log.Debug("telemetry of a client is refused", "client", r.ClientID, "err", err)
			code = invalidRecord
		}
		b.notePush(req, code)
	}
	resp.ErrorCode = code
	return resp, nil
}

// reservedID says whether an id is one of those that Kafka keeps for itself: 0 and 1.
func reservedID(id [16]byte) bool {
	return id == [16]byte{} || id == [16]byte{15: 1}
}

// admitPush says whether a push may be taken, and the interval that its client pushes at.
func (b *Broker) admitPush(r *wire.Request, req *kmsg.PushTelemetryRequest) (interval int64, code int16) {
	state, _ := b.view()
	t := b.telemetry
	t.mu.Lock()
	defer t.mu.Unlock()
	in := t.instance(state, r, req.ClientInstanceID)
	in.lastError = in.checkPush(req, t.now(), b.telemetryMaxBytes())
	in.terminating = req.Terminating
	return in.interval, in.lastError
}

func (in *instance) checkPush(req *kmsg.PushTelemetryRequest, now int64, most int32) int16 {
	switch {
	case in.terminating:
		return invalidRequest
	case !in.mayPush(now) && !req.Terminating:
		return throttlingQuotaExceeded
	case req.SubscriptionID != in.subscription:
		return unknownSubscriptionID
	case req.CompressionType < 0 || req.CompressionType > 4:
		return unsupportedCompressionType
	case len(req.Metrics) > int(most):
		return telemetryTooLarge
	}
	return none
}

// notePush remembers what came of a push that was admitted.
func (b *Broker) notePush(req *kmsg.PushTelemetryRequest, code int16) {
	t := b.telemetry
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, in := range t.instances {
		if in.id == req.ClientInstanceID {
			in.lastError = code
		}
	}
}

// takePush reads what was pushed and hands it on. Without anybody who wants it, it is inflated and no more, as in Kafka.
//
// Bodies are read one at a time: a message of nothing takes two bytes there and a hundred here.
func (b *Broker) takePush(r *wire.Request, req *kmsg.PushTelemetryRequest, interval int64) error {
	t := b.telemetry
	t.parsing.Lock()
	defer t.parsing.Unlock()
	body := req.Metrics
	if req.CompressionType != 0 {
		var err error
		if body, err = segments.Inflate(segments.Codec(req.CompressionType), body, int(b.telemetryMaxBytes())); err != nil {
			return fmt.Errorf("inflate telemetry: %w", err)
		}
	}
	if !t.enabled() {
		return nil
	}
	data, err := parseTelemetry(body)
	if err != nil {
		return err
	}
	p := TelemetryPush{
		Instance: req.ClientInstanceID, ClientID: r.ClientID, Principal: r.Conn.Principal(), Address: r.Conn.Host(),
		At: t.now(), IntervalMs: interval, Terminating: req.Terminating, Metrics: data,
	}
	p.SoftwareName, p.SoftwareVersion = r.Conn.ClientSoftware()
	return t.opt.Sink.Push(p)
}

// maxTelemetryDepth bounds messages within messages: a value may hold values.
const maxTelemetryDepth = 32

// parseTelemetry reads OTLP MetricsData.
//
//fuzz:parser class=payload FuzzTelemetry
func parseTelemetry(body []byte) (*metrics.MetricsData, error) {
	data := &metrics.MetricsData{}
	if err := (proto.UnmarshalOptions{RecursionLimit: maxTelemetryDepth, DiscardUnknown: true}).Unmarshal(body, data); err != nil {
		return nil, fmt.Errorf("read telemetry as OTLP: %w", err)
	}
	return data, nil
}
