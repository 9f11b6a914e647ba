package console

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Login lets people in by name and password.
type Login struct {
	// Fits says whether it is the user's password. A name that nobody has takes as long as a wrong password. The error says why
	// nobody could tell.
	Fits func(ctx context.Context, user, password string) (bool, error)

	// Delay is how long a refusal is held back, ten seconds at most.
	Delay time.Duration

	// Lifetime is how long a session lasts at most. 0, or more than twelve hours: twelve hours.
	Lifetime time.Duration

	// Dial is Options.Dial as a user. from is where his browser is.
	Dial func(user string, from net.Addr) func(ctx context.Context, network, address string) (net.Conn, error)

	// Registry is Options.RegistryHandler as a user.
	Registry func(user string) http.Handler

	// As are Options.Client and Options.RegistryTransport as a user, where no dialer makes the console him. His session keeps the
	// password: clients connect again. nil: Dial does.
	As func(user, password string) ([]kgo.Opt, http.RoundTripper)
}

// Bounds of logins.
const (
	maxLoginForm  = 16 << 10 // bytes of the form
	maxLogins     = 8        // that are tried at once; what is more is told to come again
	maxLoginDelay = 10 * time.Second
)

// door stands before the pages: who has no session is led to the login. Files and /healthz are free.
type door struct {
	c        *Console // of nobody
	sessions *sessions
	trying   chan struct{}
	free     *http.ServeMux
}

func newDoor(c *Console) *door {
	d := &door{c: c, sessions: newSessions(c), trying: make(chan struct{}, maxLogins), free: http.NewServeMux()}
	d.free.Handle("GET /static/", c.pages)
	d.free.Handle("GET /healthz", c.pages)
	d.free.Handle("GET /login", d.serve(d.form))
	d.free.Handle("POST /login", limitedForm(d.serve(d.login)))
	d.free.Handle("POST /logout", d.serve(d.logout))
	return d
}

func limitedForm(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxLoginForm)
		next.ServeHTTP(w, r)
	})
}

// ServeHTTP lets in who has a session, to the pages as he sees them.
func (d *door) ServeHTTP(w http.ResponseWriter, hr *http.Request) {
	if _, pattern := d.free.Handler(hr); pattern != "" {
		d.free.ServeHTTP(w, hr)
		return
	}
	if s := d.sessions.of(hr); s != nil {
		s.pages(hr.Context()).pages.ServeHTTP(w, hr)
		return
	}
	d.serve(func(r *request) (answer, error) { return strangerTo(r), nil }).ServeHTTP(w, hr)
}

// serve runs an action of nobody, which has no past.
func (d *door) serve(do action) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, hr *http.Request) {
		r, _ := d.c.newRequest(w, hr) // only ?at= can be wrong, which is for who is let in
		r.at = 0
		a, err := do(r)
		if err != nil {
			p := asProblem(err)
			a = loginPage{To: "/", Wrong: p.Message + ". " + p.Hint, Status: p.Status}
		}
		a.send(r, w)
	})
}

func (d *door) close() { d.sessions.closeAll() }

// form is the page of the login; who has a session goes on.
func (d *door) form(r *request) (answer, error) {
	p := loginPage{To: wayBack(r.query("to"))}
	if d.sessions.of(r.Request) != nil {
		return done{To: p.To}, nil
	}
	return p, nil
}

// login begins a session. A name that nobody has and a wrong password get the same answer, after the same work and delay.
func (d *door) login(r *request) (answer, error) {
	select {
	case d.trying <- struct{}{}:
		defer func() { <-d.trying }()
	default:
		return nil, problem{Status: http.StatusServiceUnavailable, Message: "Too many are logging in at this moment", Hint: "Try again in a moment."}
	}
	f, err := r.form()
	if err != nil {
		return nil, err
	}
	p, user, password := loginPage{To: wayBack(f.text("to"))}, f.text("user"), f.text("password")
	fits := user != "" && len(user) <= maxText && password != ""
	if fits {
		if fits, err = d.c.opt.Login.Fits(r.Context(), user, password); err != nil {
			return nil, problem{Status: http.StatusBadGateway, Message: "Nobody could tell whether that is right", Hint: err.Error()}
		}
	}
	if !fits {
		pause(r.Context(), min(d.c.opt.Login.Delay, maxLoginDelay))
		p.User, p.Wrong, p.Status = clip(user, maxText), "Name or password is wrong.", http.StatusUnauthorized
		return p, nil
	}
	id, err := d.sessions.begin(r.Request, user, password)
	if err != nil {
		return nil, err
	}
	return session{cookie: cookieOf(r.Request, id, 0), to: p.To}, nil
}

// logout ends the session.
func (d *door) logout(r *request) (answer, error) {
	d.sessions.end(r.Request)
	return session{cookie: cookieOf(r.Request, "", -1), to: "/login"}, nil
}

// wayBack is where a login leads: a path of the console's own.
//
//fuzz:parser class=http FuzzConsoleForms
func wayBack(to string) string {
	if !ownPath(to) || strings.HasPrefix(to, "/login") || strings.HasPrefix(to, "/logout") {
		return "/"
	}
	return to
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// session is the answer that begins or ends one.
type session struct {
	cookie *http.Cookie
	to     string
}

func (s session) send(r *request, w http.ResponseWriter) {
	http.SetCookie(w, s.cookie)
	done{To: s.to}.send(r, w)
}

// sessionCookie is the cookie's name. Browsers send cookies to all ports of a host: each console has one of its own.
func sessionCookie(r *http.Request) string {
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		return "doze_session_" + port
	}
	return "doze_session"
}

// cookieOf keeps a session with the browser until it is closed; age -1 takes it away. Behind a proxy with TLS it never goes without.
func cookieOf(r *http.Request, id string, age int) *http.Cookie {
	return &http.Cookie{
		Name: sessionCookie(r), Value: id, Path: "/", MaxAge: age, HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https",
	}
}

// loginPage is the answer and the dot of the template "login": a page of its own, without the navigation.
type loginPage struct {
	To, User, Wrong string
	Status          int
	Theme           string
}

func (p loginPage) send(r *request, w http.ResponseWriter) {
	p.Theme = r.look
	partial{Name: "login", Data: p, Status: p.Status}.send(r, w)
}

// strangerTo is what a request without a session gets: a browser's page leads to the login and back, a script's part says so where
// problems are shown, and what a program asks for is 401.
func strangerTo(r *request) answer {
	reading := r.Method == http.MethodGet || r.Method == http.MethodHead
	to := wayBack(ownPathOf(r.Referer()))
	switch {
	case r.htmx():
		return sessionEnded{withQuery("/login", "to", wayBack(ownPathOf(r.Header.Get("HX-Current-URL"))))}
	case reading:
		to = wayBack(r.URL.RequestURI())
	}
	switch {
	case !strings.Contains(r.Header.Get("Accept"), "text/html"):
		return unauthorized{}
	case !reading:
		return loginPage{To: to, Wrong: "The session has ended: nothing was changed. Log in and send it again.", Status: http.StatusUnauthorized}
	case r.Header.Get("Sec-Fetch-Site") == "cross-site":
		return knock{r.URL.RequestURI()}
	}
	return done{To: withQuery("/login", "to", to)}
}

// ownPathOf is the path of an address that a header names.
//
//fuzz:parser class=http FuzzConsoleForms
func ownPathOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "/"
	}
	return u.RequestURI()
}

// knock answers who comes by a link of another site, with which a browser sends no strict cookie: the page asks again by itself, as
// from here.
type knock struct{ To string }

func (k knock) send(r *request, w http.ResponseWriter) {
	partial{Name: "login-knock", Data: k}.send(r, w)
}

// sessionEnded says to a script's page that it has no session any more, and leaves the rest of it as it is.
type sessionEnded struct{ Login string }

func (s sessionEnded) send(r *request, w http.ResponseWriter) {
	for _, header := range [][2]string{{"HX-Retarget", "#problem"}, {"HX-Reswap", "innerHTML"}, {"HX-Push-Url", "false"}, {"HX-Replace-Url", "false"}} {
		w.Header().Set(header[0], header[1])
	}
	partial{Name: "login-note", Data: s, Status: http.StatusUnauthorized}.send(r, w)
}

// unauthorized is for programs.
type unauthorized struct{}

func (unauthorized) send(_ *request, w http.ResponseWriter) {
	w.Header().Set("WWW-Authenticate", `Form realm="doze console", action="/login"`)
	http.Error(w, "this console asks for a login: POST user and password to /login, and send the cookie that it answers with", http.StatusUnauthorized)
}

// mayLookInside says whether a client may see what no request of Kafka's shows: whoever may alter the cluster may give himself
// everything else.
func (k *kafka) mayLookInside(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	req := kmsg.NewPtrDescribeClusterRequest()
	req.IncludeClusterAuthorizedOperations = true
	resp, err := req.RequestWith(ctx, k.client)
	return err == nil && resp.ErrorCode == 0 && resp.ClusterAuthorizedOperations > 0 && resp.ClusterAuthorizedOperations&(1<<kmsg.ACLOperationAlter) != 0
}

// outsider are the options of who may not look inside.
func outsider(opt Options) Options {
	opt.Traffic, opt.Journal, opt.Telemetry, opt.Recent, opt.Doctor, opt.Access = nil, nil, nil, nil, nil, nil
	if opt.Broker != nil {
		opt.Broker = fromOutside{opt.Broker}
	}
	return opt
}

// fromOutside is a broker that says nothing of the machine it is on.
type fromOutside struct{ Broker }

// About leaves out what lies on the disk.
func (b fromOutside) About() About {
	about := b.Broker.About()
	about.DataDir, about.Recovered = "", nil
	return about
}
