package conformance

import (
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/conformance/kafka"
)

// telemetryScenarios show KIP-714 with a broker whose plugin reads what clients push as OTLP and lets go of it.
func telemetryScenarios() []Scenario {
	list := []Scenario{
		{
			Name:  "telemetry-unconfigured",
			Claim: "Without a plugin telemetry is answered though not advertised: an id, no metrics, 300,000 ms, delta; a push is taken, and not read.",
			Set:   map[string]string{"metric.reporters": ""},
			Run:   runTelemetryUnconfigured,
		},
		{
			Name:  "telemetry-versions",
			Claim: "With a plugin GetTelemetrySubscriptions and PushTelemetry are advertised.",
			Run:   runTelemetryVersions,
		},
		{
			Name:  "telemetry-subscriptions",
			Claim: "Subscriptions are CLIENT_METRICS resources: metrics of all that match are gathered, the least interval of at most 300,000 ms counts, \"*\" stands for all; a change is told at once, however short ago the client asked.",
			Run:   runTelemetrySubscriptions,
		},
		{
			Name:  "telemetry-match",
			Claim: "A subscription matches by client id, software, address and instance id; each pattern must match the whole value, and all must match.",
			Run:   runTelemetryMatch,
		},
		{
			Name:  "telemetry-get-throttled",
			Claim: "A second request for subscriptions within the interval is THROTTLING_QUOTA_EXCEEDED, from any connection; another id is not throttled; after an unknown subscription or compression it is allowed.",
			Run:   runTelemetryGetThrottled,
		},
		{
			Name:  "telemetry-push",
			Claim: "A push is taken once after the subscriptions and then once an interval; a terminating one at any time, and after it each but the next is refused in turn.",
			Run:   runTelemetryPush,
		},
		{
			Name:  "telemetry-push-refusals",
			Claim: "A push with no id is INVALID_REQUEST, with another subscription id UNKNOWN_SUBSCRIPTION_ID, of an unknown compression UNSUPPORTED_COMPRESSION_TYPE, of more than telemetry.max.bytes TELEMETRY_TOO_LARGE, of a body that does not inflate, inflates to too much or is no OTLP INVALID_RECORD.",
			Run:   runTelemetryPushRefusals,
		},
		{
			Name:  "telemetry-push-elsewhere",
			Claim: "A push may come on another connection, and by a client id that nobody has asked for: its subscription id is the one it would have got. When the connection ends that an id came by first, the id is forgotten.",
			Run:   runTelemetryPushElsewhere,
		},
	}
	for i := range list {
		list[i].Fresh, list[i].Part = true, 3
		if list[i].Set == nil {
			list[i].Set = map[string]string{"metric.reporters": kafka.TelemetryReporter}
		}
	}
	return list
}

func getTelemetry(id [16]byte) *kmsg.GetTelemetrySubscriptionsRequest {
	req := kmsg.NewPtrGetTelemetrySubscriptionsRequest()
	req.ClientInstanceID = id
	return req
}

func pushTelemetry(id [16]byte, subscription int32, metrics []byte) *kmsg.PushTelemetryRequest {
	req := kmsg.NewPtrPushTelemetryRequest()
	req.ClientInstanceID, req.SubscriptionID, req.Metrics = id, subscription, metrics
	return req
}

// someMetrics is OTLP MetricsData with one resource, one scope and one metric without data.
var someMetrics = []byte{0x0a, 0x07, 0x12, 0x05, 0x12, 0x03, 0x0a, 0x01, 'm'}

func instance(n byte) [16]byte { return [16]byte{0x41, 14: 7, 15: n} }

// subscribe sets a subscription and waits for the broker to act on it.
func (n *Conn) subscribe(name string, configs ...configOp) {
	n.Do("subscription "+name, 1, alterConfigs(ofClientMetrics, name, configs...))
	time.Sleep(300 * time.Millisecond)
}

func (n *Conn) getTelemetry(step string, id [16]byte) *kmsg.GetTelemetrySubscriptionsResponse {
	return Ask[*kmsg.GetTelemetrySubscriptionsResponse](n, step, 0, getTelemetry(id))
}

func runTelemetryUnconfigured(c *C) {
	a := c.Conn("a")
	a.Send("not advertised", 3, apiVersions()).Only("ApiKeys").Await()
	r := a.getTelemetry("no id yet", [16]byte{})
	a.getTelemetry("the same id", r.ClientInstanceID)
	a.Do("push", 0, pushTelemetry(r.ClientInstanceID, r.SubscriptionID, someMetrics))
	b := a.getTelemetry("another", [16]byte{})
	a.Do("push what is no OTLP", 0, pushTelemetry(b.ClientInstanceID, b.SubscriptionID, []byte("no OTLP")))
}

func runTelemetryVersions(c *C) {
	c.Conn("a").Send("advertised", 3, apiVersions()).Only("ApiKeys").Await()
}

func runTelemetrySubscriptions(c *C) {
	a := c.Conn("a")
	one := a.getTelemetry("none", instance(1))
	a.subscribe("few", set("metrics", "org.apache.kafka.producer.,org.apache.kafka.consumer."), set("interval.ms", "60000"))
	a.getTelemetry("few: asked again at once", one.ClientInstanceID)
	a.subscribe("more", set("metrics", "org.apache.kafka.consumer.,org.apache.kafka.admin."), set("interval.ms", "30000"))
	a.getTelemetry("few and more", instance(1))
	a.subscribe("slow", set("metrics", "x."), set("interval.ms", "3600000"))
	a.getTelemetry("a slower one", instance(1))
	a.subscribe("all", set("metrics", "*"))
	a.getTelemetry("all", instance(1))
	a.subscribe("all", unset("metrics"))
	a.getTelemetry("all without metrics, which is nothing", instance(1))
	a.subscribe("empty", set("metrics", ""), set("interval.ms", "100"))
	a.getTelemetry("an empty list", instance(1))
	for _, name := range []string{"few", "more", "slow"} {
		a.subscribe(name, unset("metrics"), unset("interval.ms"))
	}
	a.subscribe("empty", unset("metrics"), unset("interval.ms"))
	a.getTelemetry("none again", instance(1))
	a.subscribe("few", set("metrics", "org.apache.kafka.producer."))
	a.getTelemetry("few again", instance(1))
	a.subscribe("few", set("metrics", "org.apache.kafka.producer."))
	a.getTelemetry("the same value is no change", instance(1))
}

func runTelemetryMatch(c *C) {
	a := c.Conn("a")
	a.Send("who it is", 3, apiVersions()).Only("ErrorCode").Await()
	for i, match := range []string{
		"client_id=conformance", "client_id=conf", "client_id=conf.*", "client_id=CONF.*", "client_software_name=conformance",
		"client_software_name=unknown", "client_software_version=1", "client_source_address=127[.]0[.]0[.]1", "client_source_port=[0-9]+",
		"client_id=conf.*,client_software_version=2", "client_id=conf.*,client_source_port=.+", "client_instance_id=QQAAAAAAAAAAAAAAAAAHDA",
		"client_id=conformance|other", "client_id= conformance ",
	} {
		a.subscribe("match", set("metrics", "m."), set("match", match))
		a.getTelemetry(match, instance(byte(i+1)))
	}
	a.subscribe("match", set("metrics", "m."), set("match", "client_software_name=unknown,client_software_version=unknown"))
	c.Conn("b").getTelemetry("who did not say", instance(90))
}

func runTelemetryGetThrottled(c *C) {
	a := c.Conn("a")
	a.subscribe("s", set("metrics", "m."), set("interval.ms", "60000"))
	one := a.getTelemetry("first", instance(1))
	a.getTelemetry("again", instance(1))
	c.Conn("b").getTelemetry("again elsewhere", instance(1))
	c.Conn("b").getTelemetry("another id", instance(2))
	a.Do("push of an unknown subscription", 0, pushTelemetry(instance(1), one.SubscriptionID+1, someMetrics))
	a.getTelemetry("allowed", instance(1))
	a.getTelemetry("and again not", instance(1))
	req := pushTelemetry(instance(1), one.SubscriptionID, someMetrics)
	req.CompressionType = 9
	a.Do("push of an unknown compression, throttled", 0, req)
	a.getTelemetry("still not", instance(1))
}

func runTelemetryPush(c *C) {
	a := c.Conn("a")
	a.subscribe("s", set("metrics", "m."), set("interval.ms", "60000"))
	one := a.getTelemetry("first", instance(1))
	push := func(step string, terminating bool) {
		req := pushTelemetry(instance(1), one.SubscriptionID, someMetrics)
		req.Terminating = terminating
		a.Do(step, 0, req)
	}
	push("push", false)
	push("push again", false)
	a.getTelemetry("subscriptions after a push", instance(1))
	push("terminate", true)
	push("after it", false)
	push("after that, within the interval", false)
	push("terminate again", true)
	push("terminate after terminating", true)
	push("after that", true)
	a.Do("nothing to push", 0, pushTelemetry(instance(2), 0, nil))
	a.subscribe("s", set("interval.ms", "1000"))
	two := a.getTelemetry("quick", instance(3))
	a.Do("push quick", 0, pushTelemetry(instance(3), two.SubscriptionID, someMetrics))
	time.Sleep(1200 * time.Millisecond)
	a.Do("push after the interval", 0, pushTelemetry(instance(3), two.SubscriptionID, someMetrics))
	time.Sleep(1200 * time.Millisecond)
	a.getTelemetry("subscriptions after the interval", instance(3))
}

func runTelemetryPushRefusals(c *C) {
	a := c.Conn("a")
	n := byte(0)
	push := func(step string, compression int8, metrics []byte) {
		n++
		r := Ask[*kmsg.GetTelemetrySubscriptionsResponse](a, step+": subscriptions", 0, getTelemetry(instance(n)))
		req := pushTelemetry(instance(n), r.SubscriptionID, metrics)
		req.CompressionType = compression
		a.Do(step, 0, req)
	}
	a.Do("no id", 0, pushTelemetry([16]byte{}, 0, someMetrics))
	a.Do("a reserved id", 0, pushTelemetry([16]byte{15: 1}, 0, someMetrics))
	a.Do("an unknown subscription", 0, pushTelemetry(instance(100), 1, someMetrics))
	push("plain", 0, someMetrics)
	push("empty", 0, nil)
	push("no OTLP", 0, []byte("this is no OTLP"))
	push("gzip", 1, gzipped(someMetrics))
	push("no gzip", 1, someMetrics)
	push("gzip cut short", 1, gzipped(someMetrics)[:15])
	push("gzip of what is no OTLP", 1, gzipped([]byte("this is no OTLP")))
	push("no snappy", 2, someMetrics)
	push("no lz4", 3, someMetrics)
	push("no zstd", 4, someMetrics)
	push("compression 5", 5, someMetrics)
	push("compression -1", -1, someMetrics)
	large := append([]byte{0x0a, 0x80, 0x80, 0x40}, make([]byte, 1<<20)...)
	push("too large", 0, large)
	push("gzip of too much", 1, gzipped([]byte(strings.Repeat("\x0a\x00", 1<<19+1))))
	push("gzip of just not too much", 1, gzipped([]byte(strings.Repeat("\x0a\x00", 1<<19))))
	push("fields that nobody knows", 0, []byte{0x7a, 0x01, 'x'})
}

func runTelemetryPushElsewhere(c *C) {
	a, b := c.Conn("a"), c.Conn("b").As("other")
	a.subscribe("s", set("metrics", "m."), set("interval.ms", "60000"))
	one := a.getTelemetry("subscriptions", instance(1))
	b.Do("push elsewhere", 0, pushTelemetry(instance(1), one.SubscriptionID, someMetrics))
	b.Close()
	a.getTelemetry("it is known though that one has ended", instance(1))
	a.Close()
	c.Conn("d").Send("the connection has ended that it came by", 3, apiVersions()).Only("ErrorCode").Await()
	AskUntil(c.Conn("d"), "then it is new", 0, getTelemetry(instance(1)), func(r *kmsg.GetTelemetrySubscriptionsResponse) bool { return r.ErrorCode == 0 })
	r := c.Conn("d").getTelemetry("of another id", instance(2))
	c.Conn("d").Close()
	time.Sleep(500 * time.Millisecond)
	c.Conn("e").Do("a push of that id, forgotten", 0, pushTelemetry(instance(2), r.SubscriptionID, someMetrics))
	c.Conn("e").Do("and again", 0, pushTelemetry(instance(2), r.SubscriptionID, someMetrics))
}
