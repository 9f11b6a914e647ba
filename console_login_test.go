package doze

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"
)

// visitor is a browser at a console, with the cookies that it was given.
type visitor struct {
	t       *testing.T
	url     string
	cookies map[string]*http.Cookie
}

// page is what a visitor was answered, without following where it leads.
type visited struct {
	*http.Response
	body string
}

func (v *visitor) send(method, path, form string, headers ...string) visited {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), method, v.url+path, strings.NewReader(form))
	if err != nil {
		v.t.Fatal(err)
	}
	r.Header.Set("Accept", "text/html,*/*")
	if form != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	for _, c := range v.cookies {
		r.AddCookie(c)
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	for _, c := range resp.Cookies() {
		if delete(v.cookies, c.Name); c.MaxAge >= 0 {
			v.cookies[c.Name] = c
		}
	}
	return visited{resp, string(body)}
}

func (v *visitor) get(path string, headers ...string) visited {
	return v.send(http.MethodGet, path, "", headers...)
}

func (v *visitor) login(user, password, to string) visited {
	return v.send(http.MethodPost, "/login", url.Values{"user": {user}, "password": {password}, "to": {to}}.Encode())
}

func visit(t *testing.T, console string) *visitor {
	return &visitor{t, console, map[string]*http.Cookie{}}
}

// want fails unless a page has the status and holds the texts.
func (p visited) want(t *testing.T, status int, texts ...string) visited {
	t.Helper()
	if p.StatusCode != status {
		t.Errorf("%s: %d, not %d\n%s", p.Request.URL, p.StatusCode, status, p.body)
	}
	for _, s := range texts {
		if !strings.Contains(p.body, s) {
			t.Errorf("%s lacks %q\n%s", p.Request.URL, s, p.body)
		}
	}
	return p
}

func startWithLogin(t *testing.T) *Broker {
	t.Helper()
	b, err := New(Options{
		DataDir: t.TempDir(), Listeners: []Listener{{Name: "CLIENTS", Protocol: "SASL_PLAINTEXT", Address: "127.0.0.1:0"}}, Console: "127.0.0.1:0", SchemaRegistry: "127.0.0.1:0",
		Users: map[string]string{"admin": "secret", "alice": "wonder"}, ConsoleLogin: true,
		Properties: map[string]string{
			"sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256", "allow.everyone.if.no.acl.found": "false", "super.users": "User:admin",
			"connection.failed.authentication.delay.ms": "0",
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return b
}

// Who has no session is led to the login, whatever he asks for, and is told nothing else.
func TestConsoleOfNobody(t *testing.T) {
	b := startWithLogin(t)
	v := visit(t, b.Ready().Console)
	v.get("/healthz").want(t, http.StatusOK, "ok")
	v.get("/static/console.css").want(t, http.StatusOK)
	if got := v.get("/topics?topics.q=x&at=1").want(t, http.StatusSeeOther); got.Header.Get("Location") != "/login?to=%2Ftopics%3Ftopics.q%3Dx%26at%3D1" {
		t.Errorf("led to %s", got.Header.Get("Location"))
	}
	if got := v.get("/topics", "Accept", "*/*").want(t, http.StatusUnauthorized, "/login"); got.Header.Get("WWW-Authenticate") == "" {
		t.Error("a program is not told how to log in")
	}
	part := v.get("/overview/now", "HX-Request", "true", "HX-Current-URL", v.url+"/?client=go").want(t, http.StatusUnauthorized, `href="/login?to=%2F%3Fclient%3Dgo"`)
	if part.Header.Get("HX-Retarget") != "#problem" || strings.Contains(part.body, "<html") {
		t.Errorf("a part of a page: %v %s", part.Header, part.body)
	}
	v.send(http.MethodPost, "/topics-new", "name=x&partitions=1", "Referer", v.url+"/topics-new").want(t, http.StatusUnauthorized, "nothing was changed", `value="/topics-new"`)
	v.get("/topics", "Sec-Fetch-Site", "cross-site").want(t, http.StatusOK, `http-equiv="refresh"`, `href="/topics"`)
	v.send(http.MethodPost, "/login", "user=admin&password=secret", "Origin", "http://evil.example", "Sec-Fetch-Site", "cross-site").want(t, http.StatusForbidden)
	if len(v.cookies) > 0 {
		t.Errorf("cookies %v", v.cookies)
	}
}

// A wrong password and a name that nobody has are answered alike, and so is a form that is none.
func TestConsoleLoginIsRefused(t *testing.T) {
	b := startWithLogin(t)
	v := visit(t, b.Ready().Console)
	wrong := v.login("alice", "no", "/topics").want(t, http.StatusUnauthorized, "Name or password is wrong.", `value="/topics"`)
	for _, user := range []string{"nobody", "User:admin", "<b>", "ALICE"} {
		got := v.login(user, "no", "/topics").want(t, http.StatusUnauthorized)
		if strings.ReplaceAll(got.body, strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(user), "alice") != wrong.body {
			t.Errorf("%s is answered in another way:\n%s\n%s", user, got.body, wrong.body)
		}
	}
	v.login("alice", "", "/").want(t, http.StatusUnauthorized)
	v.login("", "wonder", "/").want(t, http.StatusUnauthorized)
	v.send(http.MethodPost, "/login", "user="+strings.Repeat("x", 20<<10)).want(t, http.StatusRequestEntityTooLarge)
	if len(v.cookies) > 0 {
		t.Errorf("cookies %v", v.cookies)
	}
}

// Who logs in is himself to the broker: he sees and changes what ACLs let him, and not the inside of the broker.
func TestConsoleOfAUser(t *testing.T) {
	b := startWithLogin(t)
	admin, alice := visit(t, b.Ready().Console), visit(t, b.Ready().Console)
	if got := admin.login("admin", "secret", "//evil.example").want(t, http.StatusSeeOther); got.Header.Get("Location") != "/" {
		t.Errorf("led to %s", got.Header.Get("Location"))
	}
	for _, c := range admin.cookies {
		if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Secure || len(c.Value) < 43 || c.MaxAge != 0 {
			t.Errorf("cookie %+v", c)
		}
	}
	admin.get("/").want(t, http.StatusOK, "The broker answers", "The schema registry answers", `title="You are admin here. Log out."`)
	admin.send(http.MethodPost, "/topics-new", "name=orders-of-all&partitions=2&replicas=1").want(t, http.StatusSeeOther)
	admin.get("/traffic").want(t, http.StatusOK, "User:admin", "CreateTopics")
	admin.get("/timeline").want(t, http.StatusOK, "orders-of-all")

	if got := alice.login("alice", "wonder", "/topics").want(t, http.StatusSeeOther); got.Header.Get("Location") != "/topics" {
		t.Errorf("led to %s", got.Header.Get("Location"))
	}
	if got := alice.get("/topics").want(t, http.StatusOK); strings.Contains(got.body, "orders-of-all") {
		t.Error("alice sees a topic that she may not describe")
	}
	alice.send(http.MethodPost, "/topics-new", "name=hers&partitions=1&replicas=1").want(t, http.StatusUnprocessableEntity, "AUTHORIZATION_FAILED")
	for _, path := range []string{"/traffic", "/traffic/requests/1", "/timeline", "/timeline/state", "/timeline/changes.txt", "/telemetry", "/topics?at=1", "/?at=1", "/login-as?at=1"} {
		got := alice.get(path).want(t, http.StatusForbidden, "is not shown to alice")
		if strings.Contains(got.body, "orders-of-all") {
			t.Errorf("%s shows alice a topic", path)
		}
	}
	if got := alice.get("/").want(t, http.StatusOK); strings.Contains(got.body, "orders-of-all") || strings.Contains(got.body, b.fs.Path()) {
		t.Errorf("alice's overview:\n%s", got.body)
	}
	admin.send(http.MethodPost, "/security/acls/edit", url.Values{
		"principal": {"User:alice"}, "host": {"127.0.0.1"}, "type": {"2"}, "name": {"orders-of-all"}, "pattern": {"3"}, "operation": {"3"}, "permission": {"3"},
	}.Encode()).want(t, http.StatusSeeOther)
	admin.get("/security").want(t, http.StatusOK, "User:alice")
	alice.get("/topics/orders-of-all").want(t, http.StatusOK)
	alice.send(http.MethodPost, "/topics/orders-of-all/produce", "key-form=null&value-form=text&value=x").want(t, http.StatusUnprocessableEntity, "AUTHORIZATION_FAILED")
}

// A session ends with the logout: whoever kept the cookie is a stranger again.
func TestConsoleLogout(t *testing.T) {
	b := startWithLogin(t)
	v := visit(t, b.Ready().Console)
	v.login("alice", "wonder", "/").want(t, http.StatusSeeOther)
	kept := visit(t, v.url)
	for name, c := range v.cookies {
		kept.cookies[name] = c
	}
	kept.get("/login?to=/groups").want(t, http.StatusSeeOther)
	v.send(http.MethodPost, "/logout", "").want(t, http.StatusSeeOther)
	if len(v.cookies) > 0 {
		t.Errorf("cookies %v", v.cookies)
	}
	kept.get("/").want(t, http.StatusSeeOther)
}

// A user whose password a client has set (SCRAM) is let in as one that the broker was started with.
func TestConsoleLoginOfASCRAMUser(t *testing.T) {
	b := startWithLogin(t)
	client, err := kgo.NewClient(kgo.SeedBrokers(b.Addr()), kgo.SASL(plain.Auth{User: "admin", Pass: "secret"}.AsMechanism()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	done, err := kadm.NewClient(client).AlterUserSCRAMs(ctx, nil, []kadm.UpsertSCRAM{{User: "bob", Mechanism: kadm.ScramSha256, Iterations: 4096, Password: "builder"}})
	if err == nil {
		err = done.Error()
	}
	if err != nil {
		t.Fatal(err)
	}
	v := visit(t, b.Ready().Console)
	v.login("bob", "destroyer", "/").want(t, http.StatusUnauthorized)
	v.login("bob", "builder", "/").want(t, http.StatusSeeOther)
	v.get("/").want(t, http.StatusOK, "You are bob here")
}

func TestConsoleLoginNeedsUsers(t *testing.T) {
	users := map[string]string{"a": "b"}
	of := func(mechanisms string) map[string]string {
		return map[string]string{"sasl.enabled.mechanisms": mechanisms}
	}
	for _, c := range []struct {
		o       Options
		refused string
	}{
		{Options{}, "no listener has users"},
		{Options{Users: users}, "no listener has users"},
		{Options{Listeners: []Listener{{Protocol: "SASL_PLAINTEXT"}}, Properties: of("PLAIN")}, "nobody has one"},
		{Options{Listeners: []Listener{{Protocol: "SASL_PLAINTEXT"}}, Properties: of("PLAIN"), Users: users}, ""},
		{Options{Listeners: []Listener{{Protocol: "SASL_PLAINTEXT"}}, Properties: of("SCRAM-SHA-256")}, ""},
		{Options{Listeners: []Listener{{Protocol: "SASL_PLAINTEXT"}}, Properties: of("OAUTHBEARER"), OAuthUnsecured: true}, "nobody has one"},
		{Options{Listeners: []Listener{{Protocol: "SASL_PLAINTEXT"}}, Properties: map[string]string{
			"sasl.enabled.mechanisms": "PLAIN", "listener.name.sasl_plaintext.plain.sasl.jaas.config": `org.apache.kafka.common.security.plain.PlainLoginModule required user_x="y";`,
		}}, ""},
	} {
		c.o.ConsoleLogin, c.o.DataDir = true, t.TempDir()
		for i := range c.o.Listeners {
			c.o.Listeners[i].Address = "127.0.0.1:0"
		}
		err := c.o.Validate()
		if (err != nil) != (c.refused != "") || err != nil && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
	o := Options{DataDir: t.TempDir(), ConsoleTraceHeaders: []string{"x-trace", " "}}
	if err := o.Validate(); err == nil || !strings.Contains(err.Error(), "trace header") {
		t.Errorf("a trace header without a name: %v", err)
	}
}
