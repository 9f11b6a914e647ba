package httpguard

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHosts(t *testing.T) {
	g := Guard{Hosts: []string{"dev.example.com", ".internal"}}
	for host, want := range map[string]bool{
		"127.0.0.1:8081": true, "127.0.0.1": true, "[::1]:8081": true, "localhost:8081": true, "LOCALHOST": true, "a.localhost": true, "doze": true, "192.168.1.4:1": true,
		"dev.example.com": true, "DEV.example.com.:8081": true, "host.docker.internal:8081": true,
		"evil.example.com:8081": false, "127.0.0.1.evil.com": false, "": false, "localhost@evil.com": false, "a.internal.evil.com": false, "x/y": false, "internal.": true,
	} {
		if got := g.Allows(host); got != want {
			t.Errorf("%q is allowed: %t", host, got)
		}
	}
}

func TestRequestsOfOtherPages(t *testing.T) {
	served := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	h := Guard{}.Wrap(Limit(1, served))
	for _, c := range []struct {
		method, host string
		headers      [2]string
		want         int
	}{
		{"POST", "localhost:8081", [2]string{}, 200},
		{"POST", "localhost:8081", [2]string{"Origin", "http://localhost:8081"}, 200},
		{"POST", "localhost:8081", [2]string{"Origin", "http://localhost:3000"}, 403},
		{"POST", "localhost:8081", [2]string{"Origin", "null"}, 403},
		{"DELETE", "localhost:8081", [2]string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"GET", "localhost:8081", [2]string{"Origin", "http://evil.com"}, 200}, // the browser keeps the answer from the page
		{"GET", "evil.com:8081", [2]string{}, 403},
	} {
		r := httptest.NewRequest(c.method, "/subjects", nil)
		r.Host = c.host
		if c.headers[0] != "" {
			r.Header.Set(c.headers[0], c.headers[1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.want || w.Code == 403 && !strings.Contains(w.Body.String(), `"error_code":403`) {
			t.Errorf("%s to %s with %v: %d %s", c.method, c.host, c.headers, w.Code, w.Body)
		}
	}
}

func FuzzHost(f *testing.F) {
	for _, host := range []string{"localhost:8081", "[::1%25lo]:1", "a.b", "evil.com:80:80", "\x00.internal"} {
		f.Add(host)
	}
	f.Fuzz(func(t *testing.T, host string) {
		g := Guard{Hosts: []string{"dev.example.com"}}
		if g.Allows(host) && strings.Contains(strings.ToLower(host), "evil.com") {
			t.Fatalf("%q is allowed", host)
		}
	})
}
