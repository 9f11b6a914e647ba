package console_test

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

// A person's own columns: headers and parts of values, in the address, with all digits.
func TestOwnColumns(t *testing.T) {
	w := start(t)
	w.topic("t", 1)
	w.produce(w.client(),
		&kgo.Record{Topic: "t", Key: []byte("k"), Value: []byte(`{"total":9007199254740993,"by":{"name":"Ada"}}`), Headers: []kgo.RecordHeader{{Key: "region", Value: []byte("<b>eu")}}},
		&kgo.Record{Topic: "t", Value: []byte("no JSON")})
	at := func(columns string) string { return "/topics/t?columns=" + queryEscape(columns) }
	page := w.get(at(`headers["region"]; value.total; value.by; timestamp; size > 3`))
	page.has(t, "<code>headers[&#34;region&#34;]</code></th>", `<code class="short">&lt;b&gt;eu</code>`, `<code class="short">9007199254740993</code>`,
		`<code class="short">{&#34;name&#34;:&#34;Ada&#34;}</code>`, `<code class="short">true</code>`, `title="no such key: region"`, `value="headers[&#34;region&#34;]; value.total; value.by; timestamp; size &gt; 3"`)
	w.get("/topics/t").lacks(t, "<th scope=\"col\"><code>")
	w.get(at("value.")).has(t, "The column value. is no CEL expression", "Such as")
	w.get(at("1;2;3;4;5;6;7")).has(t, "More than 6 columns")
	w.get(at(strings.Repeat("[1].map(x, ", 60)+"x"+strings.Repeat(")", 60))).has(t, "is no CEL expression")
	w.get(at(`[1,2,3,4,5,6,7,8,9].map(a, [1,2,3,4,5,6,7,8,9].map(b, [1,2,3,4,5,6,7,8,9].map(c, [1,2,3,4,5,6,7,8,9].map(d, d))))`)).has(t, "cost limit exceeded")
}

// Topics that somebody has pinned come first, in his browser.
func TestPins(t *testing.T) {
	w := start(t)
	for _, name := range []string{"alpha", "beta", "tmp.gamma"} {
		w.topic(name, 1)
	}
	order := func(page reply, names ...string) {
		t.Helper()
		last := -1
		for _, name := range names {
			i := strings.Index(page.Body, `href="/topics/`+name+`"`)
			if i <= last {
				t.Errorf("%s is not behind the others:\n%s", name, page.Body)
			}
			last = i
		}
	}
	order(w.get("/topics"), "alpha", "beta", "tmp.gamma")
	w.get("/topics/beta").has(t, ">Pin</button>")
	w.changes("/preferences", "back", "/topics/beta", "pin", "beta").has(t, ">Unpin</button>")
	order(w.get("/topics"), "beta", "alpha", "tmp.gamma")
	order(w.get("/topics?topics.sort=-name"), "beta", "tmp.gamma", "alpha")
	w.changes("/preferences", "back", "/topics", "pin", "<script>")
	w.changes("/preferences", "back", "/topics/beta", "pin", "beta").has(t, ">Pin</button>")
	order(w.get("/topics"), "alpha", "beta", "tmp.gamma")
	// A word behind an exclamation mark leaves out.
	w.get("/topics?topics.q=!tmp").lacks(t, "tmp.gamma</a>")
	w.get("/topics?topics.q=a+!tmp").has(t, "alpha</a>", "beta</a>")
}

// Commands of empty pages are those that work here.
func TestExactCommands(t *testing.T) {
	w := start(t)
	at := w.broker.Addr()
	w.get("/topics").has(t, "doze topic create orders:3 -b "+at)
	w.topic("empty", 1)
	w.get("/topics/empty").has(t, "echo hello | doze produce empty -b "+at)
	w.get("/topics/empty/consumers").has(t, "doze consume empty --group my-group -b "+at)
	w.get("/groups").has(t, "doze consume orders --group my-group -b "+at)
	w.get("/schemas").has(t, "curl "+w.broker.Ready().Registry+"/subjects/")
	w.get("/security/quotas").has(t, "--bootstrap-server "+at)
}
