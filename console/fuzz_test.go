package console

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// lost is a console whose broker is not there: what is looked at is only how it takes what a browser sends.
func lost(f testing.TB) *Console {
	c, err := New(Options{Bootstrap: []string{"127.0.0.1:1"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(c.Close)
	return c
}

// FuzzConsoleForms: any address, cookies and form: an answer that is whole, with the policy of the console, and no text of the
// request outside of quotes; what the parsers of forms take comes back the same.
func FuzzConsoleForms(f *testing.F) {
	f.Add("/preferences", "theme=dark&back=%2F%2Fevil", "eyJ0IjoiPGI+IiwidSI6Ii8vZSJ9", "0~3-7.9-1")
	f.Add("/?at=0&client=<script>", "a=b\nc", "", "1-2")
	f.Add("/nowhere/%00%ff", "x: y\n: z", "e30", "")
	f.Add("/static/../console.go", "retention.ms=1\r\n#", "!", "5~1-3")
	c := lost(f)
	f.Fuzz(func(t *testing.T, address, text, cookie, cursor string) {
		if u, err := url.ParseRequestURI(address); err == nil && u.Host == "" && !strings.HasPrefix(u.Path, "/topics") && u.Path != "/healthz" && u.Path != "/" && u.Path != "/trace" {
			for _, method := range []string{http.MethodGet, http.MethodPost} {
				hr := httptest.NewRequest(method, "/", strings.NewReader(text))
				hr.URL, hr.Host = u, "localhost"
				hr.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				hr.AddCookie(&http.Cookie{Name: toastCookie, Value: cookie})
				hr.AddCookie(&http.Cookie{Name: zoneCookie, Value: cursor})
				hr.AddCookie(&http.Cookie{Name: pinsCookie, Value: cookie})
				if pins := pinsOf(hr); slices.Contains(toggled(toggled(pins, "a"), "a"), "a") {
					t.Fatalf("of the pins %q one is there twice", pins)
				}
				w := httptest.NewRecorder()
				c.ServeHTTP(w, hr)
				if w.Code >= 500 || w.Header().Get("Content-Security-Policy") != policy || strings.Contains(w.Body.String(), "<script>") {
					t.Fatalf("%s %s: %d %v %s", method, address, w.Code, w.Header(), w.Body)
				}
			}
		}
		if to := wayBack(ownPathOf(address)); !ownPath(to) || strings.HasPrefix(to, "/login") {
			t.Fatalf("a login that leads to %q", to)
		}
		if got := parseToast(cookie); got != nil && got.Undo != "" && !ownPath(got.Undo) {
			t.Fatalf("a toast that leads to %q", got.Undo)
		}
		if at, err := parseCursor(cursor); err == nil {
			again, err := parseCursor(formatCursor(at))
			if err != nil || len(again) != len(at) {
				t.Fatalf("cursor %q is %v and %v, %v", cursor, at, again, err)
			}
		}
		if pairs, err := parsePairs(text); err == nil {
			for _, p := range pairs {
				if p.Name == "" || strings.ContainsAny(p.Name+p.Value, "\n") {
					t.Fatalf("%q has the pair %q", text, p)
				}
			}
		}
		if headers, err := parseHeaders(strings.Fields(cookie), text); err == nil {
			for _, h := range headers {
				back, err := parseHeaders([]string{codeHeader(h)}, "")
				if err != nil || back[0].Key != h.Key || string(back[0].Value) != string(h.Value) || (back[0].Value == nil) != (h.Value == nil) {
					t.Fatalf("header %q comes back as %q, %v", h, back, err)
				}
			}
		}
		for _, form := range sideForms {
			_, _ = parseSide(form, text)
		}
		_, _ = parseMoment(text, time.UTC)
	})
}

// FuzzHostGuard: a request gets through only to a name that the console answers to, and one that changes something only from
// itself.
func FuzzHostGuard(f *testing.F) {
	f.Add("localhost:9093", "", "")
	f.Add("evil.example", "http://evil.example", "same-origin")
	f.Add("127.0.0.1:9093", "http://127.0.0.1:9093@evil.example", "cross-site")
	f.Add("[::1]:9093", "null", "none")
	c := lost(f)
	f.Fuzz(func(t *testing.T, host, origin, site string) {
		for _, path := range []string{"/nowhere", "/static/console.css", "/preferences"} {
			hr := httptest.NewRequest(http.MethodPost, path, strings.NewReader("theme=dark"))
			hr.Host = host
			hr.Header.Set("Origin", origin)
			hr.Header.Set("Sec-Fetch-Site", site)
			w := httptest.NewRecorder()
			c.ServeHTTP(w, hr)
			from, err := url.Parse(origin)
			foreign := origin != "" && (err != nil || !strings.EqualFold(from.Host, host))
			evil := strings.Contains(strings.ToLower(host), "evil.example")
			if w.Code != http.StatusForbidden && (foreign || evil || site == "cross-site") {
				t.Fatalf("%s to %q from %q (%s): %d", path, host, origin, site, w.Code)
			}
			if w.Header().Get("Content-Security-Policy") == "" && w.Code != http.StatusForbidden {
				t.Fatalf("%s to %q has no policy", path, host)
			}
		}
	})
}

// FuzzTraceHeaders: what is taken for a trace has an id that an address can hold.
func FuzzTraceHeaders(f *testing.F) {
	f.Add("traceparent", []byte("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"))
	f.Add("b3", []byte("80f198ee56343ba864fe8b2a57d3eff7-e457b5a2e4d86bd1-1-05e3ac9a4f6e3b90"))
	f.Add("X-B3-TraceId", []byte("463ac35c9f6413ad"))
	f.Add("my-trace", []byte("<script>"))
	f.Add("my-trace", []byte(" "))
	f.Fuzz(func(t *testing.T, name string, value []byte) {
		headers := []kgo.RecordHeader{{Key: name, Value: value}, {Key: "x-b3-spanid", Value: value}, {Key: "x-b3-sampled", Value: value}}
		for _, tr := range parseTrace(headers, []string{"my-trace"}) {
			if tr.ID == "" || len(tr.ID) > maxTraceHeader || tr.Form != "W3C" && tr.Form != "B3" && !strings.EqualFold(tr.Form, "my-trace") {
				t.Fatalf("%q %q is %+v", name, value, tr)
			}
			if (tr.Form == "W3C" || tr.Form == "B3") && strings.Trim(tr.ID+tr.Span, "0123456789abcdef") != "" {
				t.Fatalf("%q %q is %+v", name, value, tr)
			}
		}
	})
}

// FuzzFilter: any expression over any record ends within its cost, and any text is found or not.
func FuzzFilter(f *testing.F) {
	f.Add(`value.total > 100 && key.startsWith("eu-")`, "x", []byte(`{"total":9007199254740993}`))
	f.Add(`headers["a"] == "b" || offset % 2 == 0`, "", []byte{0xff})
	f.Add(`[1,2,3].all(a, [1,2,3].all(b, a + b > 0))`, "é", []byte(`[[[1]]]`))
	f.Add(`valueText.matches("(a+)+$")`, "", []byte(strings.Repeat("a", 100)))
	f.Fuzz(func(t *testing.T, expression, text string, value []byte) {
		record := &kgo.Record{Key: []byte(text), Value: value, Headers: []kgo.RecordHeader{{Key: "a", Value: value}}}
		began := time.Now()
		columns, err := newColumns(t.Context(), expression, decoder{})
		if cells := columns.cells(record); err == nil && columns != nil && len(cells) != len(columns.titles) {
			t.Fatalf("%d columns have %d cells", len(columns.titles), len(cells))
		}
		filter, err := newFilter(t.Context(), text, "", expression, decoder{})
		if err != nil || filter == nil {
			return
		}
		filter.matches(record)
		if took := time.Since(began); took > 20*time.Second {
			t.Fatalf("%q takes %s", expression, took)
		}
	})
}

// FuzzInternalTopics: records of Kafka's own topics: what is decoded is JSON.
func FuzzInternalTopics(f *testing.F) {
	f.Add([]byte("\x00\x01\x00\x01g\x00\x01t\x00\x00\x00\x00"), []byte("\x00\x03\x00\x00\x00\x00\x00\x00\x00\x05\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte("\x00\x02\x00\x01g"), []byte("\x00\x03\x00\x08consumer\x00\x00\x00\x01\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00\x7f\xff\xff\xff"))
	f.Add([]byte("\x00\x00\x00\x01x"), []byte("\x00\x00"))
	f.Fuzz(func(t *testing.T, key, value []byte) {
		for _, topic := range []string{offsetsTopic, transactionsTopic, "orders"} {
			for _, side := range []bool{false, true} {
				d, is := internal(&kgo.Record{Topic: topic, Key: key, Value: value}, side)
				if is && (topic == "orders" || !json.Valid([]byte(d.Text))) {
					t.Fatalf("%s %x %x is %q", topic, key, value, d.Text)
				}
			}
		}
	})
}

// FuzzDecodings: bytes in every decoding: JSON is JSON, and nothing grows beyond what is there.
func FuzzDecodings(f *testing.F) {
	f.Add([]byte("\x82\xa1a\xcf\xff\xff\xff\xff\xff\xff\xff\xff\xa1b\x93\xc0\xc3\xcb\x3f\xf8\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte("\xdd\xff\xff\xff\xff"))
	f.Add([]byte("\xa2\x61a\x1b\xff\xff\xff\xff\xff\xff\xff\xff\x61b\x80"))
	f.Add([]byte(`{"a":[1,{"b":null}],"a":"<script>"}`))
	f.Add([]byte(strings.Repeat("[", 300)))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, how := range decodings {
			d := decoder{value: how}.decode(t.Context(), b, how, nil)
			if d.JSON && !json.Valid([]byte(d.Text)) {
				t.Fatalf("%x as %s is %q", b, how, d.Text)
			}
			if len(d.Text) > 64*len(b)+1024 && how != "cbor" && how != "auto" || len(d.Text) > maxShown+8 {
				t.Fatalf("%d bytes as %s are %d", len(b), how, len(d.Text))
			}
			if d.JSON {
				parseJSONTree([]byte(d.Text))
			}
		}
	})
}

// FuzzImport: a file of any bytes; what is taken is written by an export as it was read.
func FuzzImport(f *testing.F) {
	f.Add([]byte(`{"partition":1,"timestamp":5,"key":"k","value":null,"headers":[{"key":"h","value":"AAE=","base64":true}]}`))
	f.Add([]byte(strings.Join(csvHead, ",") + "\n1,2,3,,k,text,AA==,base64,[]\n"))
	f.Add([]byte("{"))
	f.Fuzz(func(t *testing.T, b []byte) {
		records, err := parseImport(b)
		if err != nil {
			return
		}
		var file strings.Builder
		if err := writeLines(&file, records); err != nil {
			t.Fatal(err)
		}
		again, err := parseImport([]byte(file.String()))
		if err != nil || len(again) != len(records) && len(records) > 0 {
			if len(records) > 0 {
				t.Fatalf("%q is %d records, then %d: %v", b, len(records), len(again), err)
			}
		}
		for i := range again {
			if string(again[i].Value) != string(records[i].Value) || string(again[i].Key) != string(records[i].Key) || (again[i].Value == nil) != (records[i].Value == nil) {
				t.Fatalf("%q: record %d changes", b, i)
			}
		}
		_ = writeCSV(io.Discard, records)
	})
}
