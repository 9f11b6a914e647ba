package console_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"doze/conformance/hostile"
	"doze/console"
)

// startLogin makes a walk whose console asks for a login: everybody's password is his name.
func startLogin(t *testing.T, now func() time.Time) *walk {
	t.Helper()
	broker := startBroker(t)
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", broker.Addr())
	}
	c, err := console.New(console.Options{
		Bootstrap: []string{broker.Addr()}, Dial: dial, Now: now, TraceHeaders: []string{"my-trace"},
		Login: &console.Login{
			Fits: func(_ context.Context, user, password string) (bool, error) { return user == password, nil },
			Dial: func(string, net.Addr) func(context.Context, string, string) (net.Conn, error) { return dial },
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return &walk{t: t, broker: broker, console: c}
}

// lost says whether the walk has no session.
func (w *walk) lost() bool {
	w.t.Helper()
	return w.do("GET", "/preferences", "", nil, "Accept", "text/html").Status == http.StatusSeeOther
}

// Who has no session is led to the login: a page goes there, a part of a page says so, a link of another site is tried again.
func TestStrangers(t *testing.T) {
	w := startLogin(t, nil)
	if got := w.do("GET", "/topics?at=1", "", nil, "Accept", "text/html"); got.Header.Get("Location") != "/login?to=%2Ftopics%3Fat%3D1" {
		t.Errorf("led to %q", got.Header.Get("Location"))
	}
	w.do("GET", "/topics", "", nil, "Accept", "text/html", "Sec-Fetch-Site", "cross-site").has(t, `http-equiv="refresh"`, `href="/topics"`)
	w.do("GET", "/overview/now", "", nil, "HX-Request", "true").has(t, "The session has ended", `href="/login?to=%2F"`)
}

// A session ends two hours after its last use, and twelve after its login.
func TestSessionsEnd(t *testing.T) {
	now := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	w := startLogin(t, func() time.Time { return now })
	if !w.lost() {
		t.Fatal("a stranger is let in")
	}
	login := func() { w.changes("/login", "user", "ada", "password", "ada", "to", "/") }
	login()
	for range 6 {
		if now = now.Add(119 * time.Minute); w.lost() {
			t.Fatalf("lost at %v", now)
		}
	}
	if now = now.Add(119 * time.Minute); !w.lost() {
		t.Error("a session of more than twelve hours")
	}
	login()
	if now = now.Add(121 * time.Minute); !w.lost() {
		t.Error("a session that was not used for two hours")
	}
}

// Sessions are bounded: the one that was not used for longest makes room.
func TestSessionsAreBounded(t *testing.T) {
	now := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	w := startLogin(t, func() time.Time { return now })
	var all []*walk
	for i := range 101 {
		one := &walk{t: t, broker: w.broker, console: w.console}
		now = now.Add(time.Second)
		if got := one.post("/login", "user", fmt.Sprint(i), "password", fmt.Sprint(i)); got.Status != http.StatusSeeOther {
			t.Fatalf("login: %d", got.Status)
		}
		all = append(all, one)
		if now = now.Add(time.Second); all[0].lost() {
			t.Fatal("the session that is used has ended")
		}
	}
	if !all[1].lost() || all[2].lost() {
		t.Error("not the one that was not used for longest has ended")
	}
}

// The hostile texts of a login's form and its way back stay text and lead nowhere else.
func TestHostileLogin(t *testing.T) {
	w := startLogin(t, nil)
	for _, text := range hostile.Texts() {
		s := text.Valid()
		w.do("GET", "/login?to="+url.QueryEscape(s), "", nil).harmless(t, s)
		w.post("/login", "user", s, "password", "x"+s, "to", s).harmless(t, s)
	}
	for _, to := range []string{"//evil.example", "/\\evil.example", "https://evil.example", "javascript:alert(1)", "/login?to=/", "/logout", ""} {
		one := &walk{t: t, broker: w.broker, console: w.console}
		if got := one.post("/login", "user", "a", "password", "a", "to", to); got.Header.Get("Location") != "/" {
			t.Errorf("%q leads to %q", to, got.Header.Get("Location"))
		}
	}
	// Behind a proxy with TLS the cookie stays there.
	got := w.do("POST", "/login", "application/x-www-form-urlencoded", strings.NewReader("user=a&password=a"), "X-Forwarded-Proto", "https")
	if cookie := got.Header.Get("Set-Cookie"); !strings.Contains(cookie, "; Secure") || !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Strict") {
		t.Errorf("cookie %q", cookie)
	}
}

// A filter that is too long for an address has a short one, which is a link as others are, and says when it is known no more.
func TestLongFilters(t *testing.T) {
	w := startLogin(t, nil)
	w.changes("/login", "user", "ada", "password", "ada")
	w.topic("orders", 1)
	w.produce(w.client(), &kgo.Record{Topic: "orders", Key: []byte("k1"), Value: []byte("v-first")}, &kgo.Record{Topic: "orders", Key: []byte("k2"), Value: []byte("v-second")})
	cel := `keyText == "k2" || keyText in [` + strings.Repeat(`"überlang", `, 500) + `"x"]`
	got := w.do("GET", "/topics/orders?from=oldest&cel="+url.QueryEscape(cel), "", nil)
	short := got.Header.Get("Location")
	if got.Status != http.StatusSeeOther || len(short) > 100 || !strings.HasPrefix(short, "/topics/orders?cel-id=") {
		t.Fatalf("%d %s", got.Status, short)
	}
	page := w.get(short)
	page.has(t, "überlang", "v-second")
	page.lacks(t, "v-first")
	other := &walk{t: t, broker: w.broker, console: w.console}
	other.changes("/login", "user", "eve", "password", "eve")
	other.get(short).has(t, "v-second")
	export := regexp.MustCompile(`href="(/topics/orders/export[^"]*kind=json[^"]*)"`).FindStringSubmatch(page.Body)
	if export == nil || len(export[1]) > 150 {
		t.Fatalf("export %q", export)
	}
	w.get(strings.ReplaceAll(export[1], "&amp;", "&")).lacks(t, "v-first")
	w.get("/topics/orders?cel-id=unknown").has(t, "not known any more")
	w.get("/topics/orders?cel-id=unknown").lacks(t, "v-first", "v-second")
	if got := w.do("GET", "/topics/orders/export?kind=json&cel-id=unknown", "", nil); got.Status != http.StatusGone {
		t.Errorf("an export under a filter that is not known: %d", got.Status)
	}
}

// Nothing on a page of the past changes anything, and what is sent to one is refused.
func TestThePastIsReadOnly(t *testing.T) {
	w := withInside(t, "orders", nil)
	posts := regexp.MustCompile(`(?:method="post" action|hx-post|hx-delete|hx-put)="([^"]*)"`)
	writes := regexp.MustCompile(`(?:href|hx-get)="([^"]*/(?:topics-new|new|edit|delete|purge|produce|import|reset|restore|settings|partitions-add)(?:\?[^"]*)?)"`)
	banner := regexp.MustCompile(`<div class="banner".*</div>`)
	for _, pattern := range w.console.Routes() {
		method, at, _ := strings.Cut(pattern, " ")
		at = filled(strings.TrimSuffix(at, "{$}"), "5") + "?at=5"
		if method != http.MethodGet {
			if got := w.do(method, at, "application/x-www-form-urlencoded", strings.NewReader("typed=5")); got.Status != http.StatusConflict || !strings.Contains(got.Body, "The past is read-only") {
				t.Errorf("%s %s: %d", method, at, got.Status)
			}
			continue
		}
		body := banner.ReplaceAllString(w.do(method, at, "", nil).Body, "") // it leads back to the present
		for _, form := range posts.FindAllStringSubmatch(body, -1) {
			if form[1] != "/preferences" {
				t.Errorf("%s has a form to %s", at, form[1])
			}
		}
		for _, link := range writes.FindAllStringSubmatch(body, -1) {
			if !strings.Contains(link[1], "at=5") { // with it the link is to the past, too
				t.Errorf("%s leads to %s", at, link[1])
			}
		}
	}
}
