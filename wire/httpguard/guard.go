package httpguard

import (
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// Guard says which requests reach a handler.
type Guard struct {
	// Hosts are names that a request may be sent to, beside addresses, localhost and names without a dot, which no site on the
	// internet has. A name that begins with a dot allows all under it.
	Hosts []string
}

// Wrap is the handler behind the guard.
func (g Guard) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !g.Allows(r.Host):
			refuse(w, http.StatusForbidden, "Host '"+r.Host+"' is not one that this server answers to: use its address or localhost, or allow the name")
		case changes(r.Method) && foreign(r):
			refuse(w, http.StatusForbidden, "A page of another origin may not change anything here")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// Allows says whether a request may be sent to the host: HOST or HOST:PORT.
//
//fuzz:parser class=http FuzzHost
func (g Guard) Allows(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	if name == "" || strings.ContainsAny(name, "/\\@ \t\r\n%:?#") {
		return false
	}
	if !strings.Contains(name, ".") || strings.HasSuffix(name, ".localhost") {
		return true
	}
	for _, allowed := range g.Hosts {
		allowed = strings.ToLower(allowed)
		if name == allowed || strings.HasPrefix(allowed, ".") && strings.HasSuffix(name, allowed) {
			return true
		}
	}
	return false
}

func changes(method string) bool {
	return method != http.MethodGet && method != http.MethodHead && method != http.MethodOptions
}

// foreign says whether a browser sent the request for a page of another origin. Clients that are no browser send neither header.
func foreign(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "cross-site", "same-site":
		return true
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	from, err := url.Parse(origin)
	return err != nil || !strings.EqualFold(from.Host, r.Host)
}

func refuse(w http.ResponseWriter, status int, message string) {
	b, err := json.Marshal(map[string]any{"error_code": status, "message": message})
	if err != nil {
		b = []byte(`{}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b) // a client that has gone is told nothing
}

// Limits of a server.
const (
	maxHeader     = 64 << 10
	headerTimeout = 10 * time.Second
	readTimeout   = 30 * time.Second
	writeTimeout  = 60 * time.Second
	idleTimeout   = 2 * time.Minute
)

// Server is an HTTP server with limits on all that a client may take its time with.
func Server(handler http.Handler) *http.Server {
	return &http.Server{
		Handler: handler, MaxHeaderBytes: maxHeader, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
	}
}

// Limit is the handler with a bound on how many requests are in hand at once; what is more waits, until its client gives up.
func Limit(n int, next http.Handler) http.Handler {
	room := make(chan struct{}, n)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case room <- struct{}{}:
			defer func() { <-room }()
			next.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	})
}
