package console_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"doze/console"
)

func TestOverview(t *testing.T) {
	w := start(t)
	page := w.get("/")
	page.has(t, "<h1>Overview</h1>", "The broker answers", "The schema registry answers", "bootstrap.servers="+w.broker.Addr(), `hx-get="/overview/now?seen=`)
	w.get("/?client=kafkajs").has(t, "new Kafka({")

	poll := regexp.MustCompile(`hx-get="(/overview/now[^"]*)"`).FindStringSubmatch(page.Body)[1]
	if got := w.do("GET", strings.ReplaceAll(poll, "&amp;", "&"), "", nil, "HX-Request", "true"); got.Status != http.StatusNoContent {
		t.Errorf("nothing changed, and the poll is answered with %d %s", got.Status, got.Body)
	}
	w.get("/overview/now?seen=x").has(t, `hx-get="/overview/now?seen=`)
}

// told is what a doze would say of itself.
type told struct{ about console.About }

func (b told) About() console.About  { return b.about }
func (told) Acts(_, key string) bool { return key != "follower.replication.throttled.replicas" }
func (told) Recent(int) []console.Happening {
	return []console.Happening{{Seq: 7, At: time.Date(2026, 11, 30, 9, 0, 0, 123e6, time.UTC), What: "topic orders was created", Who: "client app", Href: "/topics/orders"}}
}

// What doze says of itself: addresses to copy, clients' settings with login and TLS, what happened lately.
func TestOverviewOfDoze(t *testing.T) {
	b := told{console.About{Endpoints: []console.Endpoint{{Name: "SASL_SSL", Address: "localhost:9094", Protocol: "SASL_SSL", Mechanisms: []string{"PLAIN", "SCRAM-SHA-256"}, CAFile: "/etc/ca.pem"}}}}
	w := start(t, func(o *console.Options) { o.Broker, o.Recent = b, b })
	w.get("/").has(t, `data-copy="localhost:9094"`, "2026-11-30 09:00:00.123 UTC", `<a href="/topics/orders">topic orders was created</a>`, "security.protocol=SASL_SSL", "ScramLoginModule", "ssl.truststore.location=/etc/ca.pem")
	for client, want := range map[string]string{
		"librdkafka": "sasl.mechanisms=SCRAM-SHA-256", "kafkajs": "mechanism: &#39;scram-sha-256&#39;", "spring": "spring.kafka.properties.sasl.mechanism=SCRAM-SHA-256",
		"go": "AsSha256Mechanism", "env": "SCHEMA_REGISTRY_URL",
	} {
		w.get("/?client="+client).has(t, want)
	}
}

// A browser may load nothing but the console's own files, and nobody else's page may change anything.
func TestGuard(t *testing.T) {
	w := start(t)
	for _, path := range []string{"/", "/nowhere", "/healthz", "/static/console.js"} {
		got := w.do("GET", path, "", nil)
		if csp := got.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
			t.Errorf("%s: policy %q", path, csp)
		}
		if got := w.do("GET", path, "", nil, "Host", "x"); got.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: no nosniff", path)
		}
	}
	if got := w.do("POST", "/preferences", "application/x-www-form-urlencoded", strings.NewReader("theme=dark"), "Origin", "http://evil.example", "Sec-Fetch-Site", "cross-site"); got.Status != http.StatusForbidden {
		t.Errorf("a form of another origin: %d", got.Status)
	}
}

func TestNoPageOfThatName(t *testing.T) {
	w := start(t)
	got := w.do("GET", "/nowhere/<script>", "", nil)
	if got.Status != http.StatusNotFound {
		t.Errorf("%d", got.Status)
	}
	got.has(t, "There is no page /nowhere/&lt;script&gt;")
	if got := w.do("GET", "/nowhere", "", nil, "HX-Request", "true"); got.Header.Get("HX-Retarget") != "#problem" || strings.Contains(got.Body, "<html") {
		t.Errorf("for a script: %v %s", got.Header, got.Body)
	}
	w.do("GET", "/?at=x", "", nil).has(t, "names no entry")
	w.do("GET", "/?at=7", "", nil).has(t, "shows the present only", "As of entry 7")
}

func TestPreferences(t *testing.T) {
	w := start(t)
	w.changes("/preferences", "theme", "dark", "back", "/?client=go").has(t, `data-theme="dark"`, "kgo.NewClient")
	w.changes("/preferences", "zone", "Asia/Kolkata", "back", "/").has(t, "Asia/Kolkata")
	w.changes("/preferences", "zone", "UTC", "theme", "system", "back", "//evil.example").lacks(t, "data-theme", "evil")
	if got := w.post("/preferences", "zone", "No/Where"); got.Status != http.StatusUnprocessableEntity {
		t.Errorf("an unknown zone: %d", got.Status)
	}
}

func TestHealthz(t *testing.T) {
	w := start(t)
	w.get("/healthz").has(t, "ok")
	c, err := console.New(console.Options{Bootstrap: []string{"127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	down := &walk{t: t, console: c}
	if got := down.do("GET", "/healthz", "", nil); got.Status != http.StatusServiceUnavailable {
		t.Errorf("without a broker: %d %s", got.Status, got.Body)
	}
	down.get("/").has(t, "The broker does not answer")
}

// Files with their version in the address are kept by browsers, others are not there.
func TestStaticFiles(t *testing.T) {
	w := start(t)
	for _, m := range regexp.MustCompile(`(?:src|href)="(/static/[^"]+)"`).FindAllStringSubmatch(w.get("/").Body, -1) {
		if got := w.get(m[1]); !strings.Contains(got.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %v", m[1], got.Header)
		}
	}
	if got := w.do("GET", "/static/", "", nil); got.Status != http.StatusNotFound {
		t.Errorf("a listing: %d", got.Status)
	}
}
