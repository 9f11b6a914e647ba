package console_test

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"doze/console"
)

// hostile are texts that would run, break out or break, were they shown as they are.
func hostile() []string {
	var all []string
	inner := []string{"alert(1)", "fetch('//e')", "x"}
	for i, form := range []string{
		"<script>%s</script>", "\"><script>%s</script>", "'><img src=x onerror=%s>", "<svg/onload=%s>", "javascript:%s", "\" onmouseover=\"%s", "' onfocus='%s' autofocus='",
		"{{%s}}", "${%s}", "</textarea><script>%s</script>", "</title><script>%s</script>", "<!--%s-->", "]]>%s", "&lt;script&gt;%s", "\u2028%s\u2029", "\u202e%s", "%%00%s",
		"\x00%s", "\xff\xfe%s", "x' hx-get='/topics' hx-trigger='load' %s", "x\" x-data=\"{a:%s}\" x-init=\"a", "<iframe srcdoc='<script>%s</script>'>", "<a href=javascript:%s>x</a>",
		"<style>@import'//e';%s</style>", "<base href=//e>%s", "<meta http-equiv=refresh content=0;url=//e>%s", "data:text/html,<script>%s</script>", "\\\"><b>%s", "a\r\nSet-Cookie: x=%s", "../../%s", "?at=1&%s",
		"#%s", "//e/%s", "%%3Cscript%%3E%s", "<details open ontoggle=%s>", "<math><mi xlink:href=javascript:%s>", "`%s`", "<input autofocus onfocus=%s>", "\u0000<b>%s", "~%s",
	} {
		all = append(all, fmt.Sprintf(form, inner[i%len(inner)]))
	}
	return append(all, ".", "..", "~", "a/b", strings.Repeat("x", 4000), strings.Repeat("🙂", 500), "＜script＞", "%", "%2e%2e")
}

var (
	tagForm  = regexp.MustCompile(`<[a-zA-Z][^>]*>`)
	badTag   = regexp.MustCompile(`(?i)<(iframe|math|style|base|svg|img|b>|object|embed)`)
	badAttr  = regexp.MustCompile(`(?i)\s(on\w+|srcdoc|xlink:href|x-init|style)\s*=`)
	badValue = regexp.MustCompile(`(?i)(href|src|action)="\s*(javascript|data|vbscript):`)
)

// harmless fails when a page has an element or attribute that only a hostile text would have made.
func (r reply) harmless(t *testing.T, what string) {
	t.Helper()
	for _, tag := range tagForm.FindAllString(r.Body, -1) {
		bare := regexp.MustCompile(`"[^"]*"`).ReplaceAllString(tag, `""`)
		script := strings.HasPrefix(strings.ToLower(tag), "<script") && !strings.Contains(tag, `src="/static/`)
		load := strings.Contains(bare, "hx-trigger") && strings.Contains(tag, `"load"`)
		if badTag.MatchString(tag) || badAttr.MatchString(bare) || badValue.MatchString(html.UnescapeString(tag)) && !strings.Contains(tag, "data-copy") || script || load {
			t.Errorf("%s: the page has %s", what, tag)
		}
	}
}

// Hostile texts in every field that a page shows: keys, values, headers' names and values, groups, client ids, configs, searches,
// filters, and what people type into forms.
func TestHostileTexts(t *testing.T) {
	texts := hostile()
	about := told{console.About{Endpoints: []console.Endpoint{{Name: texts[0], Address: texts[1], Protocol: texts[2], CAFile: texts[3]}}, Recovered: texts[:3]}}
	w := start(t, func(o *console.Options) { o.Broker, o.Recent = about, hostileRecent(texts) })
	w.topic("t", 1)
	c := w.client()
	admin := kadm.NewClient(c)
	for i, s := range texts {
		w.produce(c, &kgo.Record{Topic: "t", Key: []byte(s), Value: []byte(s), Headers: []kgo.RecordHeader{{Key: strings.ToValidUTF8(s, "?"), Value: []byte(s)}, {Key: "my-trace", Value: []byte(s)}}})
		if i%10 == 0 {
			offsets := kadm.Offsets{}
			offsets.AddOffset("t", 0, int64(i), -1)
			if err := admin.CommitAllOffsets(t.Context(), strings.ToValidUTF8(s, "?"), offsets); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, path := range []string{"/", "/?client=kafkajs", "/?client=go", "/topics", "/topics/t?limit=500", "/topics/t?limit=500&from=oldest", "/topics/t/consumers", "/topics/t/config", "/topics/t/partitions", "/topics/t/acls"} {
		w.get(path).harmless(t, path)
	}
	for i, s := range texts {
		w.get(fmt.Sprintf("/topics/t/message/0/%d", i)).harmless(t, s)
		w.get(fmt.Sprintf("/topics/t/message/0/%d?view=raw", i)).harmless(t, s)
		w.get(fmt.Sprintf("/topics/t/produce?like=0-%d", i)).harmless(t, s)
	}
	for _, s := range texts {
		q := queryEscape(s)
		for _, path := range []string{"/topics?topics.q=" + q + "&topics.sort=" + q, "/topics/t?q=" + q + "&cel=" + q + "&from=" + q + "&offset=" + q + "&partition=" + q, "/topics-new?name=" + q + "&configs=" + q, "/topics/t/produce?value-subject=" + q, "/nowhere/" + q} {
			w.do("GET", path, "", nil).harmless(t, path)
		}
		w.post("/topics-new", "name", s, "partitions", s, "configs", s).harmless(t, "a form")
		w.post("/topics/t/produce", "key-form", s, "key", s, "value-form", s, "value", s, "headers", s, "partition", s).harmless(t, "a form")
	}
}

type hostileRecent []string

func (r hostileRecent) Recent(int) []console.Happening {
	var all []console.Happening
	for _, s := range r {
		all = append(all, console.Happening{What: s, Who: s, Href: s})
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
