package console_test

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"doze/conformance/hostile"
	"doze/console"
)

// leaves says whether an address of a tag is none of the console.
func leaves(tag string) bool {
	for _, m := range address.FindAllStringSubmatch(tag, -1) {
		to := strings.ToLower(html.UnescapeString(m[1]))
		if to != "" && to[0] != '/' && to[0] != '#' && to[0] != '?' || strings.HasPrefix(to, "//") || strings.HasPrefix(to, `/\`) {
			return true
		}
	}
	return false
}

// hostileTexts are those that the browser's walk shows in Chromium, too.
func hostileTexts() []string {
	var all []string
	for _, text := range hostile.Texts() {
		all = append(all, text.Text)
	}
	return all
}

var (
	tagForm  = regexp.MustCompile(`<[a-zA-Z][^>]*>`)
	inQuotes = regexp.MustCompile(`"[^"]*"`)
	badTag   = regexp.MustCompile(`(?i)<(iframe|math|style|base|svg|img|b>|object|embed|video|audio|marquee|frameset|portal|noscript|track)\b`)
	badAttr  = regexp.MustCompile(`(?i)\s(on\w+|srcdoc|xlink:href|x-init|style)\s*=`)
	address  = regexp.MustCompile(`(?i)\s(?:href|src|action|formaction|hx-get|hx-post)="([^"]*)"`)
	ownSVG   = regexp.MustCompile(`^<svg (class="spark" )?viewBox="0 0 [0-9 ]+" [^>]*role="`)
)

// faults is who is told of them.
type faults interface {
	Helper()
	Errorf(format string, args ...any)
}

// harmless fails when a page has an element or attribute that only a hostile text would have made.
func (r reply) harmless(t faults, what string) {
	t.Helper()
	for _, tag := range tagForm.FindAllString(r.Body, -1) {
		bare := inQuotes.ReplaceAllString(tag, `""`)
		script := strings.HasPrefix(strings.ToLower(tag), "<script") && !strings.Contains(tag, `src="/static/`)
		load := strings.Contains(bare, "hx-trigger") && strings.Contains(tag, `"load"`)
		if badTag.MatchString(tag) && !ownSVG.MatchString(tag) || badAttr.MatchString(bare) || leaves(tag) || script || load {
			t.Errorf("%s: the page has %s", what, tag)
		}
	}
}

// Hostile texts in every field that a page shows: keys, values, headers' names and values, groups, client ids, configs, searches,
// filters, and what people type into forms. There are at least two hundred, and every one is a key, a value, a header and a group.
func TestHostileTexts(t *testing.T) {
	texts := hostileTexts()
	about := told{console.About{Endpoints: []console.Endpoint{{Name: texts[0], Address: texts[1], Protocol: texts[2], CAFile: texts[3]}}, Recovered: texts}}
	w := start(t, func(o *console.Options) { o.Broker, o.Recent = about, hostileRecent(texts) })
	w.topic("t", 1)
	w.hostileData(texts)
	pages := 0
	for _, path := range []string{
		"/", "/?client=kafkajs", "/?client=go", "/topics", "/topics/t?limit=500", "/topics/t?limit=500&from=oldest", "/topics/t/consumers?consumers.size=1000", "/topics/t/config", "/topics/t/partitions",
		"/topics/t/acls", "/groups?size=1000", "/groups?sort=-lag&size=1000",
	} {
		w.get(path).harmless(t, path)
		pages++
	}
	if n := strings.Count(w.get("/groups?size=1000").Body, "<tr data-href="); n < 200 {
		t.Errorf("%d groups with hostile names are shown", n)
	}
	for i, s := range texts {
		pages += w.hostilePages(i, s)
	}
	if len(texts) < 200 || pages < 3*len(texts) {
		t.Errorf("%d texts on %d pages", len(texts), pages)
	}
	t.Logf("%d texts, %d pages", len(texts), pages)
}

// hostileData writes a record of each text, and a group with each as name and metadata.
func (w *walk) hostileData(texts []string) {
	c := w.client()
	var records []*kgo.Record
	for _, s := range texts {
		records = append(records, &kgo.Record{Topic: "t", Key: []byte(s), Value: []byte(s), Headers: []kgo.RecordHeader{{Key: strings.ToValidUTF8(s, "?"), Value: []byte(s)}, {Key: "my-trace", Value: []byte(s)}}})
	}
	w.produce(c, records...)
	admin := kadm.NewClient(c)
	for i, text := range hostile.Texts() {
		offsets := kadm.Offsets{}
		offsets.Add(kadm.Offset{Topic: "t", At: int64(i), LeaderEpoch: -1, Metadata: text.Valid()})
		if err := admin.CommitAllOffsets(w.t.Context(), text.Valid(), offsets); err != nil {
			w.t.Fatalf("commit of %q: %v", text.Valid(), err)
		}
	}
}

// hostilePages looks at the pages of one text, and at those that are asked with it; it gives how many those are.
func (w *walk) hostilePages(i int, s string) int {
	t, ok := w.t.(*testing.T)
	if !ok {
		return 0
	}
	q, group := queryEscape(s), queryEscape(hostile.Texts()[i].Valid())
	paths := []string{
		fmt.Sprintf("/topics/t/message/0/%d", i), fmt.Sprintf("/topics/t/message/0/%d?view=raw", i), fmt.Sprintf("/topics/t/produce?like=0-%d", i), "/groups/" + group,
		"/topics?topics.q=" + q + "&topics.sort=" + q, "/topics/t?q=" + q + "&cel=" + q + "&from=" + q + "&offset=" + q + "&partition=" + q, "/topics-new?name=" + q + "&configs=" + q,
		"/topics/t/produce?value-subject=" + q, "/nowhere/" + q, "/topics/" + q, "/schemas/subjects/" + q, "/security/allowed?principal=" + q + "&name=" + q + "&host=" + q, "/trace?id=" + q,
		"/schemas/new?subject=" + q,
	}
	asked := 0
	for n, path := range paths {
		if n%5 == i%5 { // each text on a fifth of the pages, each page with a fifth of the texts, of all kinds
			w.do("GET", path, "", nil).harmless(t, path)
			asked++
		}
	}
	if i%5 > 0 {
		return asked
	}
	w.post("/topics-new", "name", s, "partitions", s, "configs", s).harmless(t, "a form")
	w.post("/topics/t/produce", "key-form", s, "key", s, "value-form", s, "value", s, "headers", s, "partition", s).harmless(t, "a form")
	return asked + 2
}

// Topics may have few names; the worst of them are shown, and their pages are theirs.
func TestHostileNamesOfTopics(t *testing.T) {
	w := start(t)
	names := hostile.TopicNames()
	for _, name := range names {
		if _, err := kadm.NewClient(w.client()).CreateTopic(t.Context(), 1, 1, nil, name); err != nil && !strings.Contains(err.Error(), "collides") {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, path := range []string{"", "/partitions", "/config", "/consumers", "/delete", "/produce"} {
			path = "/topics/" + name + path
			got := w.do("GET", path, "", nil)
			if got.harmless(t, path); got.Status >= 500 {
				t.Errorf("%s: %d", path, got.Status)
			}
		}
	}
	list := w.get("/topics?topics.size=1000")
	list.harmless(t, "the list")
	list.has(t, `href="/topics/constructor"`, `href="/topics/new"`, `href="/topics/..a"`)
}

type hostileRecent []string

func (r hostileRecent) Recent(int) []console.Happening {
	var all []console.Happening
	for _, s := range r {
		all = append(all, console.Happening{What: s, Who: s, Href: "/topics/" + queryEscape(s)})
	}
	return all
}

func queryEscape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, "%%%02X", s[i])
	}
	return b.String()
}
