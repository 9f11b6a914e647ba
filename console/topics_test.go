package console_test

import (
	"net/http"
	"testing"
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
