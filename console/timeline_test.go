package console_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"doze"
	"doze/conformance/hostile"
	"doze/console"
)

// withInside is a console of fakes that say the text everywhere; it has no broker, and asks none.
func withInside(t *testing.T, text string, journalErr error) *walk {
	t.Helper()
	c, err := console.New(console.Options{
		Bootstrap: []string{"127.0.0.1:1"}, Traffic: fakeTraffic{text}, Journal: fakeJournal{text, journalErr}, Telemetry: fakeTelemetry{text},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return &walk{t: t, console: c}
}

// insidePages are all pages of traffic, telemetry and timeline.
func insidePages(name string) []string {
	group := url.PathEscape(name)
	return []string{
		"/traffic", "/traffic/now?seen=x", "/traffic?before=5&client=c&errors=yes", "/traffic?api=nothing", "/traffic/requests/7",
		"/telemetry", "/telemetry/now?seen=x", "/telemetry/clients/abc", "/telemetry/clients/abc/now?seen=x", "/telemetry/clients/abc?q=zzz",
		"/timeline", "/timeline/now?seen=x", "/timeline?before=5&area=topics&q=" + url.QueryEscape(name), "/timeline?kind=nothing", "/timeline?kind=later",
		"/timeline?from=2026-11-30+14:03&to=2026-11-30", "/timeline/entries/5", "/timeline/entries/1", "/timeline/entries/12", "/timeline/state", "/timeline?at=5",
		"/timeline/state?at=5&table=groups&skip=100", "/timeline/state?at=5&table=acls&q=nothing", "/timeline/state?at=1&q=" + url.QueryEscape(name),
		"/timeline/changes", "/timeline/changes?from=3&to=4", "/timeline/changes?from=4&to=4",
		"/timeline/groups/" + group, "/timeline/groups/" + group + "?at=5", "/timeline/groups/" + group + "?commits=yes", "/timeline/groups/" + group + "/requests",
		"/timeline/groups/empty/requests", "/timeline/groups/" + group + "/lag", "/timeline/groups/empty/lag",
		"/?at=5", "/topics?at=5", "/topics-new?at=5",
	}
}

var (
	quoted = regexp.MustCompile(`"[^"]*"`)
	styled = regexp.MustCompile(`<[a-z]+[^>]* (style|on[a-z]+)=`)
)

// The pages of the inside with each of the hostile texts in every field.
func TestHostileTextsOfTheInside(t *testing.T) {
	traffic, journal, telemetry := &fakeTraffic{}, &fakeJournal{}, &fakeTelemetry{}
	c, err := console.New(console.Options{Bootstrap: []string{"127.0.0.1:1"}, Traffic: traffic, Journal: journal, Telemetry: telemetry})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	w, pages := &walk{t: t, console: c}, 0
	for i, s := range hostileTexts() {
		traffic.text, journal.text, telemetry.text = s, s, s
		for n, path := range insidePages(hostile.Texts()[i].Valid()) {
			if n%12 == i%12 { // each text on a twelfth of the pages, each page with twenty texts
				w.do("GET", path, "", nil).harmless(t, path)
				pages++
			}
		}
	}
	if pages < 700 {
		t.Errorf("%d pages", pages)
	}
}

func TestHostileNamesExecuteNothing(t *testing.T) {
	w := withInside(t, hostileName, nil)
	for _, path := range insidePages(hostileName) {
		got := w.do("GET", path, "", nil)
		if got.Status != http.StatusOK && !strings.HasPrefix(path, "/topics-new") {
			t.Errorf("%s: %d", path, got.Status)
		}
		got.lacks(t, "<script>alert", "<img src=x", `="javascript:`, "onerror=alert(2)>'`")
		if unquoted := quoted.ReplaceAllString(got.Body, `""`); styled.MatchString(unquoted) {
			t.Errorf("%s has a style or a handler in an attribute", path)
		}
	}
	text := w.get("/timeline/changes.txt?from=1&to=5")
	if text.Header.Get("Content-Disposition") == "" || !strings.HasPrefix(text.Header.Get("Content-Type"), "text/plain") || strings.ContainsAny(text.Body, "\x00\u202e") {
		t.Errorf("the text is sent as %v", text.Header)
	}
	text.has(t, "Topics: 1 created, 1 deleted, 1 changed", "# entry 5", "-> ")
}

func TestPagesOfTheInsidePollAndStandStill(t *testing.T) {
	w := withInside(t, "orders", nil)
	for _, path := range []string{"/traffic", "/telemetry", "/telemetry/clients/abc", "/timeline"} {
		page := w.get(path)
		poll := regexp.MustCompile(`hx-get="([^"]*/now[^"]*)"`).FindStringSubmatch(page.Body)
		if poll == nil {
			t.Errorf("%s does not poll", path)
			continue
		}
		if got := w.do("GET", strings.ReplaceAll(poll[1], "&amp;", "&"), "", nil, "HX-Request", "true"); got.Status != http.StatusNoContent {
			t.Errorf("%s: nothing changed, and the poll is answered with %d", path, got.Status)
		}
	}
	w.get("/traffic?before=5").lacks(t, "hx-trigger=\"every")
}

func TestTrafficPage(t *testing.T) {
	w := withInside(t, "orders", nil)
	w.get("/traffic").has(t, "1.5 ms", `href="/traffic/requests/7"`, "Older requests", "6 before them are not")
	w.get("/traffic/requests/7").has(t, "authBytes", "(hidden)", `href="/topics/orders"`, `href="/timeline/groups/orders"`, "Previous request", "What it changed")
	w.do("GET", "/traffic/requests/99", "", nil).has(t, "Request 99 is not kept")
	w.do("GET", "/traffic/requests/x", "", nil).has(t, "There is no request x")
}

func TestTelemetryPage(t *testing.T) {
	w := withInside(t, "app", nil)
	w.get("/telemetry").has(t, `href="/telemetry/clients/abc"`, "ended")
	w.get("/telemetry/clients/abc").has(t, "<polyline points=", "1.5/s", "7 more metrics")
	w.get("/telemetry/clients/abc?q=sent").has(t, "3 metrics are left out")
	w.do("GET", "/telemetry/clients/nobody", "", nil).has(t, "No client instance nobody")
}

func TestTimelinePage(t *testing.T) {
	w := withInside(t, "orders", nil)
	w.get("/timeline").has(t, `<rect class="mark configs"`, "Earlier entries", `href="/timeline/entries/5"`, `href="/traffic/requests/7"`, `href="/schemas/subjects/orders"`, "50 %")
	w.get("/timeline?kind=later").has(t, "Look on in earlier entries", "200,000 entries were looked at")
	w.get("/timeline/entries/5").has(t, "as of this entry", "the request in Traffic", "What it changed", `rel="prev"`, `rel="next"`)
	w.get("/timeline/state?at=5").has(t, "As of entry 5 of the journal: read-only", "1,200", "One entry later", "2023-11-14 22:13:20.000 UTC", `href="/timeline/groups/orders?at=5"`)
	w.get("/timeline/groups/orders?at=5").has(t, "read-only", "Before", "After", "Next step", "generation")
	w.get("/timeline/groups/orders/requests").has(t, "3 times")
	w.get("/timeline/groups/orders/lag").has(t, "at most 2", "<polyline")
	for _, path := range []string{"/timeline?from=yesterday", "/timeline/changes?from=x"} {
		if got := w.do("GET", path, "", nil); got.Status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d", path, got.Status)
		}
	}
	if got := w.do("POST", "/topics-new?at=5", "application/x-www-form-urlencoded", strings.NewReader("name=x")); got.Status != http.StatusConflict {
		t.Errorf("a change of the past: %d", got.Status)
	}
}

func TestThePastOfPagesOfThePresent(t *testing.T) {
	w := withInside(t, "orders", nil)
	for path, want := range map[string]string{
		"/topics?at=5": "As of entry 5", "/topics/orders/partitions?at=5": "As of entry 5", "/nowhere?at=5": "shows the present only", "/?at=5": "As of entry 5",
	} {
		w.do("GET", path, "", nil).has(t, want)
	}
}

func TestErrorsOfTheJournalAreExplained(t *testing.T) {
	w := withInside(t, "orders", errors.New("the disk is gone"))
	for _, path := range insidePages("orders") {
		if strings.HasPrefix(path, "/timeline") && !strings.HasSuffix(path, "/requests") {
			w.do("GET", path, "", nil).has(t, "the disk is gone")
		}
	}
}

func TestAnotherKafkaHasNoInside(t *testing.T) {
	w := start(t)
	for _, path := range []string{"/traffic", "/traffic/requests/1", "/telemetry", "/telemetry/clients/abc/now", "/timeline", "/timeline/entries/1", "/timeline/state", "/timeline/groups/g", "/timeline/groups/g/lag", "/timeline/groups/g/requests"} {
		if got := w.do("GET", path, "", nil); got.Status != http.StatusNotFound || !strings.Contains(got.Body, "is not known here") {
			t.Errorf("%s: %d", path, got.Status)
		}
	}
}

// startConsole runs a broker with its own console and gives the console's URL.
func startConsole(t testing.TB) (*doze.Broker, *walk) {
	t.Helper()
	broker := runBroker(t, doze.Options{DataDir: t.TempDir(), Listeners: []doze.Listener{{Address: "127.0.0.1:0"}}, Console: "127.0.0.1:0"})
	return broker, &walk{t: t, broker: broker, at: broker.Ready().Console}
}

// A consumer's life as the pages of a real broker tell it.
func TestTheInsideOfABroker(t *testing.T) {
	broker, w := startConsole(t)
	cl, err := kgo.NewClient(kgo.SeedBrokers(broker.Addr()), kgo.ClientID("shop"), kgo.ConsumerGroup("billing"), kgo.ConsumeTopics("orders"), kgo.DisableAutoCommit())
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	ctx := t.Context()
	if _, err := kadm.NewClient(cl).CreateTopic(ctx, 1, 1, nil, "orders"); err != nil {
		t.Fatal(err)
	}
	if err := cl.ProduceSync(ctx, &kgo.Record{Topic: "orders", Value: []byte("a record that nobody keeps")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	if got := cl.PollRecords(ctx, 1); got.NumRecords() != 1 {
		t.Fatal(got.Err())
	}
	if err := cl.CommitUncommittedOffsets(ctx); err != nil {
		t.Fatal(err)
	}
	w.get("/traffic?client=shop&api=Produce").has(t, "orders[1]", "1 records")
	w.get("/traffic?group=billing").has(t, "OffsetCommit", "orders-0@1")
	id := regexp.MustCompile(`/traffic/requests/(\d+)`).FindStringSubmatch(w.get("/traffic?api=OffsetCommit").Body)[1]
	w.get("/traffic/requests/"+id).has(t, "What it changed", "group billing committed orders-0@1", "topics")
	w.get("/traffic?api=Produce").lacks(t, "a record that nobody keeps")
	w.get("/timeline").has(t, "topic orders was created with 1 partition", "CreateTopics by shop", ">request</a>", "<rect class=\"mark offsets\"")
	entry := regexp.MustCompile(`/timeline/entries/(\d+)`).FindStringSubmatch(w.get("/timeline?group=billing&area=offsets").Body)[1]
	w.get("/timeline/entries/"+entry).has(t, "the request in Traffic", "Offsets and lag", "created billing orders 0")
	w.get("/timeline/state?table=offsets&at="+entry).has(t, "lag-then", "billing", "read-only")
	w.get("/timeline/state?table=partitions&at="+entry).has(t, "end-then", "orders")
	w.get("/timeline/groups/billing").has(t, "joined group billing")
	step := regexp.MustCompile(`/timeline/groups/billing\?at=(\d+)`).FindStringSubmatch(w.get("/timeline/groups/billing").Body)[1]
	w.get("/timeline/groups/billing?at="+step).has(t, "Before", "After", "orders:[0]")
	w.get("/timeline/groups/billing/requests").has(t, "JoinGroup", "SyncGroup")
	w.get("/timeline/groups/billing/lag").has(t, "offset 1 of 1", "0 <small>behind")
	w.get("/timeline/changes").has(t, "created", "CreateTopics by shop")
	w.get("/timeline/changes.txt").has(t, "+ orders", "CreateTopics by shop")
	w.get("/topics?at="+entry).has(t, "read-only", "orders")
	w.get("/").has(t, "topic orders was created")
	w.get("/telemetry").has(t, "KIP-714")
}

// How long the pages take with 1,000 topics, 1,000 groups and 10,000 commits.
func BenchmarkTimelinePages(b *testing.B) {
	broker, w := startConsole(b)
	cl, err := kgo.NewClient(kgo.SeedBrokers(broker.Addr()))
	if err != nil {
		b.Fatal(err)
	}
	defer cl.Close()
	admin := kadm.NewClient(cl)
	for i := range 1000 {
		topic := fmt.Sprint("topic-", i)
		if _, err := admin.CreateTopic(b.Context(), 1, 1, nil, topic); err != nil {
			b.Fatal(err)
		}
	}
	for i := range 10_000 {
		var offsets kadm.Offsets
		offsets.AddOffset(fmt.Sprint("topic-", i%1000), 0, int64(i), -1)
		if _, err := admin.CommitOffsets(b.Context(), fmt.Sprint("group-", i%1000), offsets); err != nil {
			b.Fatal(err)
		}
	}
	for _, path := range []string{
		"/timeline", "/timeline?topic=topic-7", "/traffic", "/timeline/state?at=900", "/timeline/state?table=offsets", "/timeline/changes?from=10&to=11000",
		"/timeline/entries/5000", "/timeline/groups/group-7/lag",
	} {
		b.Run(path, func(b *testing.B) {
			for b.Loop() {
				w.get(path)
			}
		})
	}
}
