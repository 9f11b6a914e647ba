package handlers

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"net"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"

	"doze/configs"
	"doze/projections"
	"doze/wire"
)

// Telemetry is who wants what clients push about themselves (KIP-714). Its APIs are advertised only when somebody does, and
// answered in any case.
type Telemetry struct {
	// Sink gets what is pushed. It must not block for long, and is called by one goroutine at a time.
	Sink TelemetrySink
	// Default is what clients are asked for that no subscription matches; no metrics: nothing, as in Kafka.
	Default configs.Subscription
	// Cumulative asks for sums since a client began, where Kafka asks for sums since its last push.
	Cumulative bool
}

// TelemetrySink takes what clients push. An error is told to the client as INVALID_RECORD.
type TelemetrySink interface {
	Push(TelemetryPush) error
}

// TelemetryPush is one push of a client.
type TelemetryPush struct {
	Instance                      [16]byte // the client's own id
	ClientID, Principal           string
	SoftwareName, SoftwareVersion string
	Address                       string
	At                            int64 // ms
	IntervalMs                    int64
	Terminating                   bool // the client's last
	Metrics                       *metrics.MetricsData
}

// What is known of clients at most; and when one that is silent is forgotten, like in Kafka.
const (
	maxInstances        = 100
	maxInstancesOfConn  = 8
	instanceLeastMillis = 60_000
	maxSubscriptions    = 1000
)

// telemetry knows the subscriptions and the clients that have asked for them. All of it is soft state.
type telemetry struct {
	opt *Telemetry // nil: nobody wants any
	now func() int64

	mu        sync.Mutex
	revision  *projections.Revision // of the configs that the subscriptions were read from
	version   int                   // rises when subscriptions change
	values    map[string]map[string]string
	subs      []metricsSubscription
	instances []*instance         // in the order in which they were made
	lastOf    map[uint64][16]byte // by connection, the instance that came by it last
	parsing   sync.Mutex
}

type metricsSubscription struct {
	configs.Subscription
	patterns []*regexp.Regexp // of Match; nil matches nothing
}

// instance is one client as it names itself.
type instance struct {
	id                [16]byte
	attributes        map[string]string
	conn              uint64
	version           int // of the subscriptions
	metrics           []string
	interval          int64
	subscription      int32
	lastGet, lastPush int64
	terminating       bool
	lastError         int16
	expires           int64
}

func newTelemetry(opt *Telemetry, now func() int64) *telemetry {
	return &telemetry{opt: opt, now: now, lastOf: map[uint64][16]byte{}}
}

// enabled says whether somebody wants telemetry.
func (t *telemetry) enabled() bool { return t.opt != nil }

// refresh reads the subscriptions of a state. The lock is held.
func (t *telemetry) refresh(state *projections.State) {
	if t.revision == state.Configs.Revision() {
		return
	}
	t.revision = state.Configs.Revision()
	values := map[string]map[string]string{}
	var subs []metricsSubscription
	state.Configs.Resources(projections.ClientMetricsResource, func(name string) bool {
		values[name] = state.Configs.Map(projections.ClientMetricsResource, name)
		subs = append(subs, newSubscription(values[name]))
		return true
	})
	if !reflect.DeepEqual(values, t.values) {
		t.version++
		t.values, t.subs = values, subs
	}
}

func newSubscription(values map[string]string) metricsSubscription {
	s := metricsSubscription{Subscription: configs.ReadSubscription(values)}
	for _, m := range s.Match {
		compiled, _, _ := compilePattern(m.Pattern)
		s.patterns = append(s.patterns, compiled)
	}
	return s
}

func (s *metricsSubscription) matches(attributes map[string]string) bool {
	for i, m := range s.Match {
		value, known := attributes[m.Name]
		if !known || s.patterns[i] == nil || !s.patterns[i].MatchString(value) {
			return false
		}
	}
	return true
}

// instance finds or makes a client's, anew when the subscriptions have changed. The lock is held.
func (t *telemetry) instance(state *projections.State, r *wire.Request, id [16]byte) *instance {
	t.refresh(state)
	now := t.now()
	t.instances = slices.DeleteFunc(t.instances, func(in *instance) bool { return in.expires <= now })
	i := slices.IndexFunc(t.instances, func(in *instance) bool { return in.id == id })
	var in *instance
	switch {
	case i < 0:
		t.makeRoom(r.Conn.ID)
		in = t.newInstance(id, telemetryAttributes(r, id), r.Conn.ID)
		t.instances = append(t.instances, in)
		t.cameBy(r.Conn, id)
	case t.instances[i].version != t.version:
		in = t.newInstance(id, t.instances[i].attributes, t.instances[i].conn)
		t.instances[i] = in
		t.cameBy(r.Conn, id)
	default:
		in = t.instances[i]
	}
	in.expires = now + max(instanceLeastMillis, 3*in.interval)
	return in
}

// makeRoom forgets the oldest of a connection that has too many, or the oldest of all.
func (t *telemetry) makeRoom(conn uint64) {
	of := 0
	for _, in := range t.instances {
		if in.conn == conn {
			of++
		}
	}
	switch {
	case of >= maxInstancesOfConn:
		i := slices.IndexFunc(t.instances, func(in *instance) bool { return in.conn == conn })
		t.instances = slices.Delete(t.instances, i, i+1)
	case len(t.instances) >= maxInstances:
		t.instances = slices.Delete(t.instances, 0, 1)
	}
}

// cameBy notes the connection that an instance came by; as in Kafka, the last one goes when the connection does.
func (t *telemetry) cameBy(conn *wire.Conn, id [16]byte) {
	_, known := t.lastOf[conn.ID]
	t.lastOf[conn.ID] = id
	if !known {
		context.AfterFunc(conn.Context(), func() { t.ended(conn.ID) })
	}
}

func (t *telemetry) ended(conn uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	id := t.lastOf[conn]
	delete(t.lastOf, conn)
	t.instances = slices.DeleteFunc(t.instances, func(in *instance) bool { return in.id == id })
}

func (t *telemetry) newInstance(id [16]byte, attributes map[string]string, conn uint64) *instance {
	in := &instance{id: id, attributes: attributes, conn: conn, version: t.version, interval: 300_000}
	matched := false
	for i := range t.subs {
		if s := &t.subs[i]; s.matches(attributes) {
			matched = true
			in.metrics = append(in.metrics, s.Metrics...)
			in.interval = min(in.interval, s.IntervalMs)
		}
	}
	if !matched && t.opt != nil && len(t.opt.Default.Metrics) > 0 {
		in.metrics, in.interval = slices.Clone(t.opt.Default.Metrics), t.opt.Default.IntervalMs
	}
	slices.Sort(in.metrics)
	in.metrics = slices.Compact(in.metrics)
	if slices.Contains(in.metrics, "*") {
		in.metrics = []string{"*"}
	}
	in.subscription = subscriptionID(in)
	return in
}

// subscriptionID is a number that is another one for other metrics, another interval or another client.
func subscriptionID(in *instance) int32 {
	sum := crc32.NewIEEE()
	sum.Write(in.id[:])
	sum.Write([]byte(strings.Join(in.metrics, ",")))
	sum.Write(binary.BigEndian.AppendUint64(nil, uint64(in.interval)))
	return int32(sum.Sum32())
}

// telemetryAttributes are what subscriptions match.
func telemetryAttributes(r *wire.Request, id [16]byte) map[string]string {
	a := map[string]string{
		"client_instance_id": base64.RawURLEncoding.EncodeToString(id[:]), "client_id": r.ClientID,
		"client_software_name": "unknown", "client_software_version": "unknown",
	}
	if name, version := r.Conn.ClientSoftware(); name != "" {
		a["client_software_name"], a["client_software_version"] = name, version
	}
	if host, port, err := net.SplitHostPort(r.Conn.Remote().String()); err == nil {
		a["client_source_address"], a["client_source_port"] = host, port
		if _, err := strconv.Atoi(port); err != nil {
			delete(a, "client_source_port")
		}
	}
	return a
}

// mayGet notes a request for subscriptions and says whether it comes late enough.
func (in *instance) mayGet(now int64) bool {
	if now-max(in.lastGet, in.lastPush) >= in.interval {
		in.lastGet = now
		return true
	}
	return in.lastError == unknownSubscriptionID || in.lastError == unsupportedCompressionType
}

// mayPush notes a push and says whether it comes late enough: the first after the subscriptions may come at any time, since
// clients wait for a part of the interval only.
func (in *instance) mayPush(now int64) bool {
	if in.lastGet > in.lastPush || now-in.lastPush >= in.interval {
		in.lastPush = now
		return true
	}
	return false
}

// ConsoleTelemetry asks all clients for all of Kafka's own metrics, every five seconds, as sums since they began.
func ConsoleTelemetry(sink TelemetrySink) *Telemetry {
	return &Telemetry{
		Sink: sink, Cumulative: true,
		Default: configs.Subscription{Metrics: []string{"org.apache.kafka."}, IntervalMs: (5 * time.Second).Milliseconds()},
	}
}
