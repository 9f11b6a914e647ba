package console_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"doze/console"
)

// client is a client of the walk's broker.
func (w *walk) client(opts ...kgo.Opt) *kgo.Client {
	w.t.Helper()
	c, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(w.broker.Addr()), kgo.RecordPartitioner(kgo.ManualPartitioner())}, opts...)...)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(c.Close)
	return c
}

// topic makes a topic.
func (w *walk) topic(name string, partitions int32, configs ...string) {
	w.t.Helper()
	values := map[string]*string{}
	for i := 0; i+1 < len(configs); i += 2 {
		values[configs[i]] = &configs[i+1]
	}
	if _, err := kadm.NewClient(w.client()).CreateTopic(w.t.Context(), partitions, 1, values, name); err != nil {
		w.t.Fatal(err)
	}
}

// produce sends records.
func (w *walk) produce(c *kgo.Client, records ...*kgo.Record) {
	w.t.Helper()
	if err := c.ProduceSync(w.t.Context(), records...).FirstErr(); err != nil {
		w.t.Fatal(err)
	}
}

// fill gives a topic numbered messages, a second apart, over its partitions in turn.
func (w *walk) fill(topic string, partitions, n int) {
	w.t.Helper()
	c := w.client()
	var all []*kgo.Record
	for i := range n {
		all = append(all, &kgo.Record{Topic: topic, Partition: int32(i % partitions), Key: fmt.Appendf(nil, "k%d", i), Value: fmt.Appendf(nil, `{"n":%d,"big":9007199254740993}`, i), Timestamp: time.UnixMilli(1_700_000_000_000 + int64(i)*1000)})
	}
	w.produce(c, all...)
}

var shownKey = regexp.MustCompile(`<code class="short">(k\d+)</code>`)

// keys are the keys of the messages that a page shows, in order.
func (r reply) keys() []string {
	var all []string
	for _, m := range shownKey.FindAllStringSubmatch(r.Body, -1) {
		all = append(all, m[1])
	}
	return all
}

var continueLink = regexp.MustCompile(`<a class="button" href="([^"]+)" rel="next" data-long>Continue`)

// next is the address behind Continue; "" when there is no more.
func (r reply) next() string {
	m := continueLink.FindStringSubmatch(r.Body)
	if m == nil {
		return ""
	}
	return strings.ReplaceAll(m[1], "&amp;", "&")
}

// Page after page shows every message once, in the order of time, from either end, with filters and without.
func TestEveryMessageIsShownOnce(t *testing.T) {
	w := start(t)
	w.topic("orders", 3)
	w.fill("orders", 3, 250)
	for _, c := range []struct {
		query string
		want  func(i int) string
		n     int
	}{
		{"limit=20", func(i int) string { return fmt.Sprintf("k%d", 249-i) }, 250},
		{"limit=20&from=oldest", func(i int) string { return fmt.Sprintf("k%d", i) }, 250},
		{"limit=20&from=oldest&partition=1", func(i int) string { return fmt.Sprintf("k%d", 3*i+1) }, 83},
		{"limit=7&cel=" + "value.n+%25+50+%3D%3D+0", func(i int) string { return fmt.Sprintf("k%d", 200-50*i) }, 5},
		{"limit=3&q=%22n%22%3A11&in=value&from=oldest", func(i int) string {
			return []string{"k11", "k110", "k111", "k112", "k113", "k114", "k115", "k116", "k117", "k118", "k119"}[i]
		}, 11},
		{"from=offset&offset=80&limit=500", func(i int) string { return fmt.Sprintf("k%d", 240+i) }, 10},
		{"from=time&time=1700000200000&limit=50", func(i int) string { return fmt.Sprintf("k%d", 200+i) }, 50},
	} {
		at, seen := "/topics/orders?"+c.query, 0
		for pages := 0; at != ""; pages++ {
			page := w.get(at)
			for _, key := range page.keys() {
				if seen < c.n && key != c.want(seen) {
					t.Fatalf("%s: message %d is %s, want %s", c.query, seen, key, c.want(seen))
				}
				seen++
			}
			if at = page.next(); pages > 100 {
				t.Fatalf("%s does not end", c.query)
			}
		}
		if seen != c.n {
			t.Errorf("%s shows %d messages, want %d", c.query, seen, c.n)
		}
	}
}

func TestWhatAPersonMistypes(t *testing.T) {
	w := start(t)
	w.topic("orders", 1)
	for query, want := range map[string]string{
		"from=offset&offset=x": "is no whole number", "from=time&time=yesterday": "write it as 2026", "partition=9": "no partition 9", "cursor=x": "begin the search again",
		"cel=value.": "is no CEL expression", "cel=1%2B1": "gives int", "q=x&cel=" + strings.Repeat("x", 9000): "at most",
	} {
		w.get("/topics/orders?"+query).has(t, want)
	}
	if got := w.do("GET", "/topics/nothing", "", nil); got.Status != http.StatusNotFound {
		t.Errorf("an unknown topic: %d", got.Status)
	}
}

// A filter that costs too much or fails for a message is told, with the first reason.
func TestFilterThatFails(t *testing.T) {
	w := start(t)
	w.topic("orders", 1)
	w.fill("orders", 1, 3)
	w.get("/topics/orders?cel=value.missing+%3D%3D+1").has(t, "could not be evaluated for 3 messages", "no such key")
	list := "[1,1,1,1,1,1,1,1,1,1]"
	w.get("/topics/orders?cel="+strings.ReplaceAll(list+".all(a,"+list+".all(b,"+list+".all(c,"+list+".all(d,"+list+".all(e,"+list+".all(f,a+b+c+d+e+f>0))))))", "+", "%2B")).has(t, "cost")
}

func TestOneMessage(t *testing.T) {
	w := start(t)
	w.topic("orders", 1)
	w.produce(w.client(kgo.ProducerBatchCompression(kgo.ZstdCompression())), &kgo.Record{
		Topic: "orders", Key: []byte("k"), Value: []byte(`{"id":9007199254740993,"nested":{"a":[1,2,{"b":null}]},"<script>":"<img src=x>","empty":{}}`),
		Headers: []kgo.RecordHeader{{Key: "traceparent", Value: []byte("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")}, {Key: "a", Value: nil}, {Key: "a", Value: []byte{}}, {Key: "raw", Value: []byte{0xff, 0}}},
	}, &kgo.Record{Topic: "orders", Key: []byte("k")}, &kgo.Record{Topic: "orders", Key: []byte{}, Value: []byte(strings.Repeat("zstd ", 500))})
	w.get("/topics/orders").has(t, "tombstone", `<span class="badge">empty</span>`, `<span class="badge">null</span>`, "zstd")
	page := w.get("/topics/orders/message/0/0")
	page.has(t, "9007199254740993", "&lt;img src=x&gt;", "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", "create time", "<details", "Produce like this one")
	page.lacks(t, "<img", "9007199254740992")
	w.get("/topics/orders/message/0/0?view=hex").has(t, "7b 22 69 64")
	w.get("/topics/orders/message/0/0?view=raw").has(t, "&lt;img src=x&gt;")
	w.get("/topics/orders/message/0/0", "HX-Request", "true").has(t, `<tr class="opened">`)
	got := w.get("/topics/orders/message/0/0/value")
	if !strings.HasPrefix(got.Header.Get("Content-Disposition"), "attachment") || !strings.HasPrefix(got.Body, `{"id":9007`) {
		t.Errorf("the download: %v %s", got.Header, got.Body)
	}
	w.get("/trace?id=0af7651916cd43dd8448eb211c80319c").has(t, "1 message in 1 topic", "/topics/orders/message/0/0")
	for _, path := range []string{"/topics/orders/message/0/99", "/topics/orders/message/7/0", "/topics/orders/message/x/0", "/topics/orders/message/0/0/other"} {
		if got := w.do("GET", path, "", nil); got.Status != http.StatusNotFound {
			t.Errorf("%s: %d", path, got.Status)
		}
	}
}

// Live pages poll and are answered 204 while nothing comes; a page that is not live counts what is new.
func TestLiveMessages(t *testing.T) {
	w := start(t)
	w.topic("orders", 2)
	w.fill("orders", 2, 4)
	polls := regexp.MustCompile(`hx-get="(/topics/orders/messages-[^"]+)"`)
	poll := func(page reply) string {
		m := polls.FindStringSubmatch(page.Body)
		if m == nil {
			t.Fatalf("nothing polls: %s", page.Body)
		}
		return strings.ReplaceAll(m[1], "&amp;", "&")
	}
	liveAt, newAt := poll(w.get("/topics/orders?live=yes")), poll(w.get("/topics/orders"))
	for _, at := range []string{liveAt, newAt} {
		if got := w.do("GET", at, "", nil); got.Status != http.StatusNoContent {
			t.Errorf("%s: %d %s", at, got.Status, got.Body)
		}
	}
	w.fill("orders", 2, 6)
	w.get(newAt).has(t, ">6 new</a>")
	if keys := w.get(liveAt).keys(); len(keys) != 10 {
		t.Errorf("live: %v", keys)
	}
}

// Transactions: markers are shown as such, and committed-only hides what was aborted.
func TestMessagesOfTransactions(t *testing.T) {
	w := start(t)
	w.topic("orders", 1)
	c := w.client(kgo.TransactionalID("t1"))
	for i, end := range []kgo.TransactionEndTry{kgo.TryAbort, kgo.TryCommit} {
		if err := c.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		w.produce(c, &kgo.Record{Topic: "orders", Key: fmt.Appendf(nil, "k%d", i), Value: []byte("v")})
		if err := c.EndTransaction(context.Background(), end); err != nil {
			t.Fatal(err)
		}
	}
	w.get("/topics/orders").has(t, "abort of a transaction", "commit of a transaction", "k0", "k1", "marker")
	if keys := w.get("/topics/orders?committed=yes").keys(); len(keys) != 1 || keys[0] != "k1" {
		t.Errorf("committed: %v", keys)
	}
	if err := c.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	w.produce(c, &kgo.Record{Topic: "orders", Value: []byte("open")})
	w.get("/topics/orders/producers").has(t, "t1", "Ongoing", "1 producer")
	if err := c.EndTransaction(context.Background(), kgo.TryAbort); err != nil {
		t.Fatal(err)
	}
}

func TestProduce(t *testing.T) {
	w := start(t)
	w.topic("orders", 2)
	w.get("/topics/orders/produce").has(t, `name="value-form"`)
	page := w.changes("/topics/orders/produce", "key-form", "text", "key", "k1", "value-form", "json", "value", `{"a": 1}`, "headers", "region: eu\nregion: us\n", "partition", "1", "time", "2026-11-30 09:00:00.123")
	page.has(t, "Produced to partition 1 at offset 0", "2026-11-30 09:00:00.123 UTC", "region")
	for _, c := range [][]string{
		{"value-form", "json", "value", "{\n\"a\":"}, {"value-form", "hex", "value", "xyz"}, {"value-form", "text", "value", "x", "partition", "9"}, {"value-form", "text", "headers", "nocolon"},
		{"value-form", "schema", "value", "{}"}, {"value-form", "schema", "value", "{}", "value-subject", "none"}, {"value-form", "text", "time", "soon"}, {"value-form", "odd"},
	} {
		if got := w.post("/topics/orders/produce", c...); got.Status != http.StatusUnprocessableEntity || !strings.Contains(got.Body, "note bad") {
			t.Errorf("%q: %d %s", c, got.Status, got.Body)
		}
	}
	w.changes("/topics/orders/produce", "key-form", "null", "value-form", "null", "partition", "0").has(t, "tombstone")
}

// One like another carries its bytes and the headers that are chosen; those of traces are left out unless they are.
func TestProduceLikeThisOne(t *testing.T) {
	w := start(t)
	w.topic("orders", 1)
	w.produce(w.client(), &kgo.Record{Topic: "orders", Key: []byte{0xff}, Value: []byte("v"), Headers: []kgo.RecordHeader{{Key: "b3", Value: []byte("0")}, {Key: "keep", Value: []byte{1, 2}}, {Key: "none"}}})
	form := w.get("/topics/orders/produce?like=0-0")
	carried := regexp.MustCompile(`name="carry" value="([^"]+)"( checked)?`).FindAllStringSubmatch(form.Body, -1)
	if len(carried) != 3 || carried[0][2] != "" || carried[1][2] == "" {
		t.Fatalf("headers to carry: %q", carried)
	}
	unescape := strings.NewReplacer("&#43;", "+", "&#34;", `"`, "&amp;", "&")
	pairs := []string{"key-form", "base64", "key", "/w==", "value-form", "text", "value", "v", "carry", unescape.Replace(carried[1][1]), "carry", unescape.Replace(carried[2][1])}
	w.changes("/topics/orders/produce", pairs...).has(t, "offset 1", "keep", "01 02", `<span class="badge">null</span>`)
	w.post("/topics/orders/produce", append(pairs, "time", "x")...).has(t, "keep:")
	if got := w.do("GET", "/topics/orders/produce?like=x", "", nil); got.Status != http.StatusUnprocessableEntity {
		t.Errorf("like=x: %d", got.Status)
	}
}

// What an export writes, an import gives back byte for byte.
func TestExportAndImport(t *testing.T) {
	w := start(t)
	w.topic("orders", 2)
	w.topic("copy", 2)
	sent := []*kgo.Record{
		{Topic: "orders", Partition: 1, Key: []byte("a"), Value: []byte("line\r\n\"quoted\",=1"), Timestamp: time.UnixMilli(1_700_000_000_001), Headers: []kgo.RecordHeader{{Key: "h", Value: []byte{0, 1}}, {Key: "n"}}},
		{Topic: "orders", Partition: 0, Key: nil, Value: []byte{}, Timestamp: time.UnixMilli(1_700_000_000_002)},
		{Topic: "orders", Partition: 0, Key: []byte{}, Value: nil, Timestamp: time.UnixMilli(1_700_000_000_003)},
		{Topic: "orders", Partition: 1, Key: []byte{0xff}, Value: []byte(`{"a":"é"}`), Timestamp: time.UnixMilli(1_700_000_000_004)},
	}
	w.produce(w.client(), sent...)
	for _, kind := range []string{"json", "csv"} {
		file := w.get("/topics/orders/export?from=oldest&kind=" + kind)
		if !strings.HasPrefix(file.Header.Get("Content-Disposition"), "attachment") {
			t.Errorf("%s: %v", kind, file.Header)
		}
		if got := w.upload("copy", file.Body, "partitions", "keep", "times", "keep"); got.Status != http.StatusSeeOther {
			t.Fatalf("%s: %d %s", kind, got.Status, got.Body)
		}
		back := w.get("/topics/copy/export?from=oldest&kind=" + kind)
		if kind == "json" && withoutOffsets(t, back.Body) != withoutOffsets(t, file.Body) {
			t.Errorf("%s:\n%s\nis not\n%s", kind, back.Body, file.Body)
		}
	}
	w.get("/topics/copy/import").has(t, `type="file"`)
	for _, bad := range []string{"", "a,b\n1,2", `{"partition":7}`, `{"key":1}`, "{\"value\":\"!\",\"valueBase64\":true}"} {
		if got := w.upload("copy", bad, "partitions", "keep"); got.Status != http.StatusUnprocessableEntity {
			t.Errorf("%q: %d", bad, got.Status)
		}
	}
}

func withoutOffsets(t *testing.T, lines string) string {
	t.Helper()
	var out strings.Builder
	for line := range strings.Lines(lines) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		delete(m, "offset")
		b, _ := json.Marshal(m)
		out.Write(append(b, '\n'))
	}
	return out.String()
}

// upload sends a file as the form of imports does.
func (w *walk) upload(topic, file string, pairs ...string) reply {
	w.t.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	for i := 0; i+1 < len(pairs); i += 2 {
		_ = form.WriteField(pairs[i], pairs[i+1])
	}
	part, err := form.CreateFormFile("file", "export")
	if err != nil {
		w.t.Fatal(err)
	}
	_, _ = part.Write([]byte(file))
	_ = form.Close()
	return w.do("POST", "/topics/"+topic+"/import", form.FormDataContentType(), &b)
}

// A search that finds nothing pauses when its budget is spent, says how far it came, and goes on just there.
func TestSearchHasABudget(t *testing.T) {
	w := start(t)
	w.topic("orders", 1)
	w.fill("orders", 1, 300)
	defer console.SetBudget(100)()
	page := w.get("/topics/orders?q=nothing&from=oldest")
	page.has(t, "The search paused here", "of 300 offsets")
	for at := page.next(); at != ""; at = page.next() {
		page = w.get(at)
	}
	page.has(t, "Looked at")
	page.lacks(t, "The search paused here")
}

// A message that is larger than a page shows is clipped there and whole in its download.
func TestLargeMessage(t *testing.T) {
	w := start(t)
	w.topic("orders", 1)
	value := `{"a":"` + strings.Repeat("x", 500_000) + `"}`
	w.produce(w.client(), &kgo.Record{Topic: "orders", Value: []byte(value)})
	page := w.get("/topics/orders/message/0/0")
	page.has(t, "clipped")
	if len(page.Body) > 400_000 {
		t.Errorf("the page has %d bytes", len(page.Body))
	}
	if got := w.get("/topics/orders/message/0/0/value"); got.Body != value {
		t.Errorf("the download has %d bytes", len(got.Body))
	}
}

func TestFormsAreBounded(t *testing.T) {
	w := start(t)
	w.topic("orders", 1)
	if got := w.post("/topics/orders/produce", "value-form", "text", "value", strings.Repeat("x", 2<<20)); got.Status != http.StatusRequestEntityTooLarge {
		t.Errorf("a form of 2 MiB: %d", got.Status)
	}
	if got := w.upload("orders", strings.Repeat("x", 33<<20)); got.Status != http.StatusUnprocessableEntity || !strings.Contains(got.Body, "more than 32.0 MiB") {
		t.Errorf("a file of 33 MiB: %d %s", got.Status, got.Body)
	}
}
