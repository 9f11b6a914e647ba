package console_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"

	"doze/console"
)

func TestTopicIsCreatedAndListed(t *testing.T) {
	w := start(t)
	w.get("/topics").has(t, "There is no topic yet")
	w.get("/topics-new").has(t, "<html", `name="partitions"`)
	w.get("/topics-new", "HX-Request", "true").lacks(t, "<html")

	wrong := w.post("/topics-new", "name", "orders", "partitions", "3", "replicas", "-1", "configs", "cleanup.policy=nonsense")
	if wrong.Status != http.StatusUnprocessableEntity {
		t.Errorf("a config that is not: %d", wrong.Status)
	}
	wrong.has(t, "INVALID_CONFIG", `value="orders"`)
	w.post("/topics-new", "name", "orders", "partitions", "many", "replicas", "1").has(t, "give a whole number")

	created := w.post("/topics-new", "name", "orders", "partitions", "3", "replicas", "-1", "configs", "# kept\ncleanup.policy=compact\n")
	if created.Status != http.StatusSeeOther || created.Header.Get("Location") != "/topics/orders" {
		t.Fatalf("created: %d %v %s", created.Status, created.Header, created.Body)
	}
	list := w.get("/topics")
	list.has(t, "Topic orders was created", `href="/topics/orders"`, "compact", "1 topic")
	w.get("/topics").lacks(t, "was created")
	w.get("/topics?topics.q=nothing").has(t, "Nothing has")
}

// A topic's pages: partitions, config with what acts here, consumers with lag, ACLs.
func TestTopicPages(t *testing.T) {
	b := told{}
	w := start(t, func(o *console.Options) { o.Broker = b })
	w.topic("orders", 2, "retention.ms", "60000000000")
	w.fill("orders", 2, 10)
	w.get("/topics/orders/partitions").has(t, "End offset", "Add partitions", "2 partitions")
	w.get("/topics?internal=yes&topics.sort=-size").has(t, "10", `aria-sort="descending"`)

	w.get("/topics/orders/config").has(t, "retention.ms", "60000000000", "604800000", "this topic", "acts", "How long") // value, default, source, whether it acts, documentation
	w.get("/topics/orders/config?changed=yes").lacks(t, "segment.bytes")
	w.get("/topics/orders/config/follower.replication.throttled.replicas").has(t, "changes nothing here")
	w.get("/topics/orders/config/retention.ms").has(t, "Reset to the default")
	if got := w.post("/topics/orders/config/retention.ms", "value", "soon"); got.Status != http.StatusUnprocessableEntity {
		t.Errorf("a value that is none: %d", got.Status)
	}
	w.changes("/topics/orders/config/retention.ms", "value", "70000000000").has(t, "70000000000", "is now", "Undo")
	w.changes("/topics/orders/config/retention.ms", "value", "", "reset", "yes").lacks(t, "70000000000")
	if got := w.do("GET", "/topics/orders/config/no.such.key", "", nil); got.Status != http.StatusNotFound {
		t.Errorf("a key that is none: %d", got.Status)
	}

	w.get("/topics/orders/consumers").has(t, "No group has committed")
	admin := kadm.NewClient(w.client())
	offsets := kadm.Offsets{}
	offsets.AddOffset("orders", 0, 3, -1)
	if err := admin.CommitAllOffsets(t.Context(), "readers/..", offsets); err != nil {
		t.Fatal(err)
	}
	w.get("/topics/orders/consumers").has(t, "readers/..", `<td class="num">2`, `href="/groups/readers%2F.."`)
	w.get("/topics/orders/acls").has(t, "SECURITY_DISABLED")
	w.get("/topics/orders/producers").has(t, "No transaction is open")
}

// What destroys asks for the name that is typed; a deleted topic can be made anew.
func TestTopicChanges(t *testing.T) {
	w := start(t)
	w.topic("orders", 1, "retention.ms", "60000000000")
	w.fill("orders", 1, 3)
	w.changes("/topics/orders/partitions-add", "count", "4").has(t, "orders has 4 partitions")
	w.post("/topics/orders/partitions-add", "count", "2").has(t, "note bad")
	w.get("/topics/orders/partitions-add").has(t, `value="5"`)

	w.get("/topics-new?like=orders").has(t, "retention.ms=60000000000", `value="4"`)
	w.get("/topics/orders/purge", "HX-Request", "true").has(t, `data-typed="orders"`, "data-when-typed")
	w.post("/topics/orders/purge", "typed", "order").has(t, "type its name")
	w.changes("/topics/orders/purge", "typed", "orders").has(t, "3 offsets of orders were purged", "There is no message here")
	w.get("/topics/orders/delete").lacks(t, "data-typed") // it has no data any more

	w.fill("orders", 1, 1)
	w.post("/topics/orders/delete").has(t, "type its name")
	page := w.changes("/topics/orders/delete", "typed", "orders")
	page.has(t, "Topic orders was deleted", "Undo")
	undo := strings.ReplaceAll(regexp.MustCompile(`<a href="([^"]+)" hx-get="[^"]+">Undo`).FindStringSubmatch(page.Body)[1], "&amp;", "&")
	w.get(undo).has(t, `value="orders"`, "retention.ms=60000000000", `value="4"`)

	w.topic("latest", 1, "cleanup.policy", "compact")
	w.fill("latest", 1, 1)
	w.post("/topics/latest/purge", "typed", "latest").has(t, "Kafka deletes no records of a topic whose cleanup.policy is compact")
}

// The bytes on disk of topics and of partitions are those that the broker tells.
func TestSizes(t *testing.T) {
	w := start(t)
	w.topic("sized", 2)
	w.fill("sized", 2, 20)
	sizes, err := kadm.NewClient(w.client()).DescribeAllLogDirs(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	total := int64(0)
	sizes.Each(func(d kadm.DescribedLogDir) {
		d.Topics.Each(func(p kadm.DescribedLogDirPartition) {
			total += p.Size
			w.get("/topics/sized/partitions").has(t, fmt.Sprintf(`<span title="%s bytes">`, grouped(p.Size)))
		})
	})
	if total == 0 {
		t.Fatal("the broker tells no sizes")
	}
	w.get("/topics").has(t, fmt.Sprintf(`<span title="%s bytes">`, grouped(total)))
	w.get("/topics?topics.sort=-size").has(t, fmt.Sprintf(`<span title="%s bytes">`, grouped(total)))
	if got := w.do("GET", "/topics/nothing-yet", "", nil); got.Status != http.StatusNotFound || !strings.Contains(got.Body, "There is no topic nothing-yet") || !strings.Contains(got.Body, "doze topic create") {
		t.Error(got.Status, got.Body)
	}
	w.get("/").has(t, `<span class="big">1</span> <span>topic</span>`, `<span class="big">2</span> <span>partitions</span>`)
}

// grouped is a number as pages show it, below a million.
func grouped(n int64) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}
