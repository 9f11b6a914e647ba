package console_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// TestGroupsOfAllKinds: each kind is listed and shown with its members.
func TestGroupsOfAllKinds(t *testing.T) {
	w := start(t)
	w.get("/groups").has(t, "No group has ever joined")
	w.topicOf("orders", 2, 3)
	w.commit("billing", "orders", 1, 3)
	w.joinClassic("payments", "orders", 0, 1)
	w.joinConsumer("audit", "orders")
	w.joinShare("workers", "orders")
	w.joinStreams("counter", "orders")

	list := w.get("/groups")
	list.has(t, "5 groups", `href="/groups/billing"`, "classic", "consumer", "share", "streams", "Empty")
	hasLacks(t, w.get("/groups?kind=share"), []string{`href="/groups/workers"`}, `href="/groups/billing"`)
	w.get("/groups?sort=-lag").has(t, `href="/groups/billing"`)
	hasLacks(t, w.get("/groups?state=Empty"), []string{"billing"}, `href="/groups/audit"`)

	w.get("/groups/payments").has(t, "billing-app", "range", "orders <small>0-1</small>", "Stop them first")
	w.get("/groups/audit").has(t, "consumer-member", "uniform", "of the assignment")
	w.get("/groups/workers").has(t, "share-member")
	w.get("/groups/counter").has(t, "streams-member", "process process-1", "zone=a", "Topology")
	w.get("/groups/billing").has(t, "No members", ">Reset offsets</a>")

	if got := w.do("GET", "/groups/nobody", "", nil); got.Status != http.StatusNotFound {
		t.Errorf("a group that is not there: %d", got.Status)
	}
}

// TestGroupLivePart: a poll is 204 until something changes.
func TestGroupLivePart(t *testing.T) {
	w := start(t)
	w.topicOf("orders", 1, 3)
	w.commit("billing", "orders", 1)
	shown := w.get("/groups/billing")
	poll := html.UnescapeString(regexp.MustCompile(`hx-get="(/groups/billing/now[^"]*)"`).FindStringSubmatch(shown.Body)[1])
	if got := w.do("GET", poll, "", nil, "HX-Request", "true"); got.Status != http.StatusNoContent {
		t.Fatalf("nothing changed: %d\n%s", got.Status, got.Body)
	}
	w.commit("billing", "orders", 2)
	got := w.get(poll, "HX-Request", "true")
	got.has(t, `id="group-now"`, `href="/groups/billing?p.sort=`)
	got.lacks(t, "seen=x", "<html")
}

// TestLagUnderTransactions: markers and aborted records are no lag, and an open transaction hides what is behind it.
func TestLagUnderTransactions(t *testing.T) {
	w := start(t)
	w.topicOf("orders", 1, 2)
	ctx := testContext(t)
	cl := w.kafkaClient(kgo.TransactionalID("tx"))
	transaction := func(end kgo.TransactionEndTry, records int) {
		t.Helper()
		if err := cl.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		for range records {
			cl.Produce(ctx, &kgo.Record{Topic: "orders", Value: []byte("x")}, nil)
		}
		if err := cl.Flush(ctx); err != nil {
			t.Fatal(err)
		}
		if err := cl.EndTransaction(ctx, end); err != nil {
			t.Fatal(err)
		}
	}
	transaction(kgo.TryCommit, 3) // offsets 2 to 4, marker 5
	w.commit("done", "orders", 5)
	lag := func(group string) string {
		t.Helper()
		m := regexp.MustCompile(`<dt>Lag</dt><dd>([0-9,]+)`).FindStringSubmatch(w.get("/groups/" + group).Body)
		if m == nil {
			t.Fatalf("no lag of %s", group)
		}
		return m[1]
	}
	if got := lag("done"); got != "0" {
		t.Errorf("all is read but a marker: lag %s", got)
	}
	transaction(kgo.TryAbort, 4)  // 6 to 9, marker 10
	transaction(kgo.TryCommit, 1) // 11, marker 12
	if got := lag("done"); got != "1" {
		t.Errorf("one record was committed since, four aborted: lag %s", got)
	}
	w.commit("half", "orders", 1)
	if got := lag("half"); got != "5" {
		t.Errorf("one, three and one are left: lag %s", got)
	}
	if err := cl.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	if err := cl.ProduceSync(ctx, &kgo.Record{Topic: "orders", Value: []byte("open")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	if got := lag("done"); got != "1" {
		t.Errorf("with a transaction open: lag %s", got)
	}
	if err := cl.EndTransaction(ctx, kgo.TryAbort); err != nil {
		t.Fatal(err)
	}
}

// plan takes the plan out of a preview.
func plan(t *testing.T, r reply) string {
	t.Helper()
	m := regexp.MustCompile(`(?s)<textarea name="plan"[^>]*>(.*?)</textarea>`).FindStringSubmatch(r.Body)
	if m == nil {
		t.Fatalf("no plan in\n%s", r.Body)
	}
	return html.UnescapeString(m[1])
}

func TestResetOffsets(t *testing.T) {
	w := start(t)
	w.topicOf("orders", 2, 5)
	w.commit("billing", "orders", 2, 3)
	w.commit("other", "orders", 1)
	at := func(p int32, want int64) {
		t.Helper()
		if got := w.committed("billing", "orders", p); got != want {
			t.Errorf("partition %d is at %d, not %d", p, got, want)
		}
	}
	preview := func(q string) reply { return w.get("/groups/billing/reset?" + q) }

	preview("").has(t, "Show what would happen", `value="orders"`)
	shown := preview("strategy=earliest")
	shown.has(t, "Reset 2 partitions", "the log has 0 to 5")
	at(0, 2) // a preview changes nothing
	page := w.changes("/groups/billing/reset", "plan", plan(t, shown))
	page.has(t, "Reset 2 partitions of billing", `>Undo</a>`)
	at(0, 0)
	at(1, 0)
	undo := html.UnescapeString(regexp.MustCompile(`href="([^"]*)" hx-get="[^"]*">Undo`).FindStringSubmatch(page.Body)[1])
	w.changes("/groups/billing/reset", "plan", plan(t, w.get(undo))).has(t, "Reset 2 partitions")
	at(0, 2)
	at(1, 3)

	w.changes("/groups/billing/reset", "plan", plan(t, preview("strategy=shift&value=-1&topic=orders&partitions=1")))
	at(0, 2)
	at(1, 2)
	w.changes("/groups/billing/reset", "plan", plan(t, preview("strategy=offset&value=99")))
	at(0, 5)
	w.changes("/groups/billing/reset", "plan", plan(t, preview("strategy=copy&from=other")))
	at(0, 1)
	at(1, 5)
	w.changes("/groups/billing/reset", "plan", plan(t, preview("strategy=timestamp&value=0")))
	at(0, 0)
	preview("strategy=timestamp&value="+url.QueryEscape(time.Now().Add(time.Hour).UTC().Format(time.RFC3339))).has(t, "no record is as late as that")

	preview("strategy=copy").has(t, "choose the group to copy from")
	hasLacks(t, preview("strategy=offset&value=<b>"), []string{"&lt;b&gt;"}, "<b>")
	preview("strategy=earliest&topic=nowhere").has(t, "nowhere")
	preview("strategy=earliest&topic=orders&partitions=7").has(t, "there is no such partition", "Nothing would change")

	stale := plan(t, preview("strategy=latest"))
	w.commit("billing", "orders", 4, 4)
	if got := w.post("/groups/billing/reset", "plan", stale); got.Status != http.StatusUnprocessableEntity {
		t.Errorf("a plan of another moment: %d", got.Status)
	}
	if got := w.post("/groups/billing/reset", "plan", "nonsense"); got.Status != http.StatusUnprocessableEntity {
		t.Errorf("no plan: %d", got.Status)
	}
}

// TestResetIsRefusedWithMembers: the page says why, and what it refuses is not done.
func TestResetIsRefusedWithMembers(t *testing.T) {
	w := start(t)
	w.topicOf("orders", 1, 5)
	w.commit("busy", "orders", 2)
	w.joinClassic("busy", "orders", 0)
	shown := w.get("/groups/busy/reset?strategy=earliest")
	shown.has(t, "The group has 1 member (billing-app", "disabled")
	if got := w.post("/groups/busy/reset", "plan", plan(t, shown)); got.Status != http.StatusConflict {
		t.Errorf("a reset with members: %d", got.Status)
	}
	w.get("/groups/busy/delete").has(t, "Stop them first", "disabled")
	if got := w.post("/groups/busy/delete", "typed", "busy"); got.Status != http.StatusConflict {
		t.Errorf("a deletion with members: %d %s", got.Status, got.Body)
	}
	w.get("/groups/busy/forget").has(t, "read by billing-app")
}

func TestResetOfShareGroup(t *testing.T) {
	w := start(t)
	w.topicOf("orders", 1, 5)
	w.joinShare("workers", "orders")
	w.leaveShare("workers")
	shown := w.get("/groups/workers/reset?strategy=offset&value=3&topic=orders")
	w.changes("/groups/workers/reset", "plan", plan(t, shown)).has(t, "Reset 1 partition of workers")
	w.get("/groups/workers").has(t, `<td class="num">3</td>`)
	w.changes("/groups/workers/forget", "topic", "orders").has(t, "Deleted the offsets of workers")
	w.changes("/groups/workers/delete").has(t, "Deleted group workers")
}

func TestDeleteGroupAndOffsets(t *testing.T) {
	w := start(t)
	w.topicOf("orders", 1, 5)
	w.topicOf("returns", 1, 5)
	w.commit("billing", "orders", 2)
	w.commit("billing", "returns", 3)
	w.get("/groups/billing/forget").has(t, "Delete 1 offset in orders", "Delete 1 offset in returns")
	hasLacks(t, w.changes("/groups/billing/forget", "topic", "returns"), []string{"Deleted the offsets of billing in returns"}, ">returns</a>")
	if got := w.post("/groups/billing/forget", "topic", "returns"); got.Status != http.StatusUnprocessableEntity {
		t.Errorf("offsets that are not there: %d", got.Status)
	}

	w.get("/groups/billing/delete").has(t, "Type the group", "offsets of 1 partition")
	if got := w.post("/groups/billing/delete", "typed", "bill"); got.Status != http.StatusUnprocessableEntity {
		t.Errorf("another name typed: %d", got.Status)
	}
	w.changes("/groups/billing/delete", "typed", "billing").has(t, "Deleted group billing", "No group has ever")
}

// TestHostileGroupNames: a group's name has no rules. It is shown as text, and its page can be reached.
func TestHostileGroupNames(t *testing.T) {
	w := start(t)
	w.topicOf("orders", 1, 1)
	for _, name := range []string{"<script>alert(1)</script>", `"onmouseover="alert(1)`, "a/b?c#d%2F", "{{.}}", "..", "~x", "ünïcode ☃"} {
		w.commit(name, "orders", 0)
		w.get("/groups").lacks(t, "<script>alert", `"onmouseover="alert`)
		page := w.get("/groups/" + hrefSegment(t, w.get("/groups?q="+url.QueryEscape(name))))
		hasLacks(t, page, []string{"<h1>", html.EscapeString(name)[:2]}, "<script>alert", `"onmouseover="alert`)
	}
}

// hrefSegment is the first way to a group on a page.
func hrefSegment(t *testing.T, r reply) string {
	t.Helper()
	m := regexp.MustCompile(`<a href="/groups/([^"?]+)">`).FindStringSubmatch(r.Body)
	if m == nil {
		t.Fatalf("no group on\n%s", r.Body)
	}
	return html.UnescapeString(m[1])
}

// TestManyGroups: a page of a thousand groups is made at once.
func TestManyGroups(t *testing.T) {
	w := start(t)
	w.topicOf("orders", 1, 1)
	w.manyGroups(1000, "orders")
	began := time.Now()
	page := w.get("/groups")
	took := time.Since(began)
	page.has(t, "1,000 groups", "Page 1 of 20")
	if got := strings.Count(page.Body, "<tr data-href"); got != 50 {
		t.Errorf("%d rows", got)
	}
	t.Logf("a page of 1,000 groups took %s", took)
	if took > 5*time.Second {
		t.Errorf("a page of 1,000 groups took %s", took)
	}
	w.get(fmt.Sprintf("/groups?page=%d&sort=-lag", 20)).has(t, "Page 20 of 20")
}

// hasLacks fails unless the page has all of the first texts and none of the others.
func hasLacks(t testing.TB, r reply, has []string, lacks ...string) {
	t.Helper()
	r.has(t, has...)
	r.lacks(t, lacks...)
}
