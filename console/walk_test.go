package console_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"doze"
	"doze/console"
)

// TestMain holds that the tests together execute every template, when all of them ran.
func TestMain(m *testing.M) {
	code := m.Run()
	if code == 0 && allRan() {
		for _, name := range console.Templates() {
			console.Visited.Lock()
			if console.Visited.Times[name] == 0 {
				fmt.Printf("FAIL: no test executes the template %q\n", name)
				code = 1
			}
			console.Visited.Unlock()
		}
		code = max(code, hostileFields())
	}
	os.Exit(code)
}

// Flags of the table of what is shown.
var (
	updateFields = flag.Bool("fields", false, "write testdata/fields.txt anew")
	everyText    = flag.Bool("every", false, "show each place every hostile text, not one of each kind")
)

// hostileFields shows hostile texts in every place of the pages, and holds the table of the places.
func hostileFields() (code int) {
	fail := complaint(func(text string) { fmt.Println("FAIL:", text); code = 1 })
	if err := console.ShowHostileTexts(*everyText, func(what, body string) { reply{Body: body}.harmless(fail, what) }); err != nil {
		fail(err.Error())
	}
	table, missed := console.FieldTable()
	for _, name := range missed {
		fail("the place " + name + " was not shown a hostile text of each kind")
	}
	const file = "testdata/fields.txt"
	if *updateFields {
		if err := os.WriteFile(file, []byte(table), 0o600); err != nil {
			fail(err.Error())
		}
	}
	was, err := os.ReadFile(file)
	if err != nil {
		fail(err.Error())
	}
	for _, line := range lacking(string(was), table) {
		fail("testdata/fields.txt has no longer: " + line + " (go test ./console -fields writes it anew)")
	}
	for _, line := range lacking(table, string(was)) {
		fail("testdata/fields.txt lacks: " + line + " (go test ./console -fields writes it anew)")
	}
	return code
}

// lacking are the lines of a text that another one has not.
func lacking(text, other string) []string {
	there := strings.Split(other, "\n")
	return slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return slices.Contains(there, line) })
}

// complaint is how a check that runs after the tests says what is wrong.
type complaint func(string)

func (complaint) Helper() {}

func (c complaint) Errorf(format string, args ...any) { c(fmt.Sprintf(format, args...)) }

// allRan says whether no flag left tests out.
func allRan() bool {
	for _, arg := range os.Args[1:] {
		for _, flag := range []string{"-test.run=", "-test.run", "-test.bench", "-test.fuzz=", "-test.bench=", "-test.skip=", "-test.short", "-test.list=", "-test.fuzzworker"} {
			if strings.HasPrefix(arg, flag) {
				return false
			}
		}
	}
	return true
}

// walk is a broker with a console, as a browser without scripts sees it.
type walk struct {
	t       testing.TB
	broker  *doze.Broker
	console *console.Console
	at      string // the URL of a broker's own console, in place of console
	cookies []*http.Cookie
}

// startBroker runs a broker on free ports, with a schema registry.
func startBroker(t testing.TB) *doze.Broker {
	t.Helper()
	broker := runBroker(t, doze.Options{
		DataDir: t.TempDir(), Listeners: []doze.Listener{{Address: "127.0.0.1:0"}}, SchemaRegistry: "127.0.0.1:0",
	})
	return broker
}

// start makes a walk with a broker of its own. change may set more options of the console.
func start(t testing.TB, change ...func(*console.Options)) *walk {
	t.Helper()
	broker := startBroker(t)
	o := console.Options{Bootstrap: []string{broker.Addr()}, Registry: broker.Ready().Registry}
	for _, f := range change {
		f(&o)
	}
	c, err := console.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return &walk{t: t, broker: broker, console: c}
}

// reply is what the console answered.
type reply struct {
	Status int
	Header http.Header
	Body   string
}

// do sends a request as a browser does. headers are names and values in turn.
func (w *walk) do(method, path, contentType string, body io.Reader, headers ...string) reply {
	w.t.Helper()
	r := httptest.NewRequest(method, path, body)
	r.Host = "127.0.0.1:9093"
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
		r.Header.Set("Origin", "http://127.0.0.1:9093")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	for _, c := range w.cookies {
		r.AddCookie(c)
	}
	if w.at != "" {
		return w.fetch(path)
	}
	rec := httptest.NewRecorder()
	w.console.ServeHTTP(rec, r)
	w.keep(rec.Result().Cookies())
	return reply{rec.Code, rec.Header(), rec.Body.String()}
}

// fetch is a page of a broker's own console.
func (w *walk) fetch(path string) reply {
	w.t.Helper()
	resp, err := http.Get(w.at + path)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Header, string(body)}
}

func (w *walk) keep(set []*http.Cookie) {
	for _, c := range set {
		kept := w.cookies[:0:0]
		for _, old := range w.cookies {
			if old.Name != c.Name {
				kept = append(kept, old)
			}
		}
		if c.MaxAge >= 0 {
			kept = append(kept, c)
		}
		w.cookies = kept
	}
}

// get is a page, which must be there.
func (w *walk) get(path string, headers ...string) reply {
	w.t.Helper()
	got := w.do("GET", path, "", nil, headers...)
	if got.Status != http.StatusOK {
		w.t.Fatalf("GET %s: %d\n%s", path, got.Status, got.Body)
	}
	return got
}

// post sends a form: names and values in turn.
func (w *walk) post(path string, pairs ...string) reply {
	w.t.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	return w.do("POST", path, "application/x-www-form-urlencoded", strings.NewReader(form.Encode()))
}

// changes sends a form that must be taken, and answers with the page that the browser is sent to.
func (w *walk) changes(path string, pairs ...string) reply {
	w.t.Helper()
	got := w.post(path, pairs...)
	if got.Status != http.StatusSeeOther {
		w.t.Fatalf("POST %s %q: %d\n%s", path, pairs, got.Status, got.Body)
	}
	return w.get(got.Header.Get("Location"))
}

// has fails unless the body holds all of the texts.
func (r reply) has(t testing.TB, texts ...string) {
	t.Helper()
	for _, s := range texts {
		if !strings.Contains(r.Body, s) {
			t.Errorf("the page lacks %q:\n%s", s, r.Body)
		}
	}
}

// lacks fails when the body holds one of the texts.
func (r reply) lacks(t testing.TB, texts ...string) {
	t.Helper()
	for _, s := range texts {
		if strings.Contains(r.Body, s) {
			t.Errorf("the page has %q:\n%s", s, r.Body)
		}
	}
}

// runBroker runs a broker until the test ends.
func runBroker(t testing.TB, o doze.Options) *doze.Broker {
	t.Helper()
	broker, err := doze.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- broker.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return broker
}
