package handlers

import (
	"errors"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"
)

// pushed keeps what a sink is given.
type pushed struct {
	all []TelemetryPush
	err error
}

func (p *pushed) Push(one TelemetryPush) error {
	p.all = append(p.all, one)
	return p.err
}

func (c *testConn) getTelemetry(id [16]byte) *kmsg.GetTelemetrySubscriptionsResponse {
	req := kmsg.NewPtrGetTelemetrySubscriptionsRequest()
	req.ClientInstanceID = id
	return ask[*kmsg.GetTelemetrySubscriptionsResponse](c, req)
}

func (c *testConn) pushTelemetry(id [16]byte, subscription int32, body []byte) int16 {
	req := kmsg.NewPtrPushTelemetryRequest()
	req.ClientInstanceID, req.SubscriptionID, req.Metrics = id, subscription, body
	return ask[*kmsg.PushTelemetryResponse](c, req).ErrorCode
}

func TestTelemetryReachesTheConsole(t *testing.T) {
	b := startTestBroker(t, nil)
	sink := &pushed{}
	b.broker.telemetry.opt = ConsoleTelemetry(sink)
	c := b.connect()
	versions := ask[*kmsg.ApiVersionsResponse](c, kmsg.NewPtrApiVersionsRequest())
	advertised := 0
	for _, k := range versions.ApiKeys {
		if telemetryAPI(k.ApiKey) {
			advertised++
		}
	}
	if advertised != 2 {
		t.Errorf("%d of the two APIs are advertised", advertised)
	}
	r := c.getTelemetry([16]byte{})
	if r.DeltaTemporality || r.PushIntervalMillis != 5000 || len(r.RequestedMetrics) != 1 || r.RequestedMetrics[0] != "org.apache.kafka." {
		t.Errorf("the console asks for %+v", r)
	}
	body, err := proto.Marshal(&metrics.MetricsData{ResourceMetrics: []*metrics.ResourceMetrics{{SchemaUrl: "s"}}})
	if err != nil {
		t.Fatal(err)
	}
	if code := c.pushTelemetry(r.ClientInstanceID, r.SubscriptionID, body); code != none {
		t.Fatalf("a push is answered %d", code)
	}
	if code := c.pushTelemetry(r.ClientInstanceID, r.SubscriptionID, body); code != throttlingQuotaExceeded {
		t.Errorf("a push too early is answered %d", code)
	}
	b.clock.now.Add(5000)
	sink.err = errors.New("full")
	if code := c.pushTelemetry(r.ClientInstanceID, r.SubscriptionID, body); code != invalidRecord {
		t.Errorf("a push that the sink refuses is answered %d", code)
	}
	if len(sink.all) != 2 {
		t.Fatalf("the sink got %d pushes", len(sink.all))
	}
	if p := sink.all[0]; p.Instance != r.ClientInstanceID || p.ClientID != "test" || p.IntervalMs != 5000 || p.Metrics.ResourceMetrics[0].SchemaUrl != "s" ||
		p.Principal != "User:ANONYMOUS" {
		t.Errorf("the sink got %+v", p)
	}
}

func TestTelemetryInstancesAreBounded(t *testing.T) {
	b := startTestBroker(t, nil)
	id := func(n int) [16]byte { return [16]byte{1, 14: byte(n >> 8), 15: byte(n)} }
	has := func(n int) bool {
		b.broker.telemetry.mu.Lock()
		defer b.broker.telemetry.mu.Unlock()
		for _, in := range b.broker.telemetry.instances {
			if in.id == id(n) {
				return true
			}
		}
		return false
	}
	other := b.connect()
	other.getTelemetry(id(0))
	greedy := b.connect()
	for n := 1; n <= 9; n++ {
		greedy.getTelemetry(id(n))
	}
	if !has(0) || has(1) || !has(2) || !has(9) {
		t.Error("the ninth of a connection does not evict that connection's oldest, and nobody else's")
	}
	for n := 10; n < 130; n++ {
		b.connect().getTelemetry(id(n))
	}
	if n := len(b.broker.telemetry.instances); n != maxInstances {
		t.Errorf("%d instances are kept", n)
	}
	b.clock.now.Add(900_000)
	greedy.getTelemetry(id(500))
	if n := len(b.broker.telemetry.instances); n != 1 {
		t.Errorf("%d instances are kept after three intervals", n)
	}
}

func TestMetricsSubscriptionsAreBounded(t *testing.T) {
	b := startTestBroker(t, nil)
	c := b.connect()
	set := func(name, key, value string) int16 {
		req := kmsg.NewPtrIncrementalAlterConfigsRequest()
		req.Resources = []kmsg.IncrementalAlterConfigsRequestResource{{
			ResourceType: kmsg.ConfigResourceTypeClientMetrics, ResourceName: name,
			Configs: []kmsg.IncrementalAlterConfigsRequestResourceConfig{{Name: key, Value: &value}},
		}}
		return ask[*kmsg.IncrementalAlterConfigsResponse](c, req).Resources[0].ErrorCode
	}
	if code := set("s", "match", "client_id=((a{100}){100}){5}"); code != invalidConfig {
		t.Errorf("a pattern that becomes large is answered %d", code)
	}
	for i := range maxSubscriptions {
		if code := set(string(rune('a'+i%26))+string(rune('a'+i/26)), "interval.ms", "1000"); code != none {
			t.Fatalf("subscription %d is answered %d", i, code)
		}
	}
	if code := set("one more", "interval.ms", "1000"); code != policyViolation {
		t.Errorf("one more is answered %d", code)
	}
	if code := set("aa", "interval.ms", "2000"); code != none {
		t.Errorf("a change of one is answered %d", code)
	}
}

// What is taken as OTLP is OTLP: it can be written and read again. Depth and size are bounded.
func FuzzTelemetry(f *testing.F) {
	body, err := proto.Marshal(&metrics.MetricsData{ResourceMetrics: []*metrics.ResourceMetrics{{ScopeMetrics: []*metrics.ScopeMetrics{{
		Metrics: []*metrics.Metric{{Name: "m", Data: &metrics.Metric_Sum{Sum: &metrics.Sum{DataPoints: []*metrics.NumberDataPoint{{TimeUnixNano: 1}}}}}},
	}}}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(body)
	f.Add([]byte("this is no OTLP"))
	f.Add([]byte{0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, body []byte) {
		data, err := parseTelemetry(body)
		if err != nil {
			return
		}
		again, err := proto.Marshal(data)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := parseTelemetry(again); err != nil || !proto.Equal(back, data) {
			t.Fatalf("%x is taken and does not come back: %v", body, err)
		}
	})
}
