package sasl

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// told is who is told of failures, where it does not matter of which.
func told(t *testing.T) func(error) { return func(err error) { t.Log(err) } }

// reports are what was told.
type reports struct {
	mu   sync.Mutex
	said []string
}

func (r *reports) add(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said = append(r.said, err.Error())
}

func (r *reports) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.said
}

// TestKeyFileIsAnother: a link that leads to another file of the same size and time, as package managers make them.
func TestKeyFileIsAnother(t *testing.T) {
	k, dir, then := madeKeys(t), t.TempDir(), time.Unix(1, 0)
	link := filepath.Join(dir, "keys.json")
	lead := func(id string) {
		file := filepath.Join(dir, id)
		if err := os.WriteFile(file, jwks(t, ecJWK(t, id, "P-256", k.p256)), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, then, then); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(link)
		if err := os.Symlink(file, link); err != nil {
			t.Fatal(err)
		}
	}
	lead("one")
	f, err := OpenKeyFile(link, told(t))
	if err != nil {
		t.Fatal(err)
	}
	lead("two")
	if _, err := f.Key("ES256", "one"); err == nil {
		t.Error("a key that was taken away still lets in")
	}
	if _, err := f.Key("ES256", "two"); err != nil {
		t.Error(err)
	}
}

// TestBrokenKeyFilesAreTold, once for each; they are not read for every token that comes; and what mends them is seen.
func TestBrokenKeyFilesAreTold(t *testing.T) {
	k, path := madeKeys(t), filepath.Join(t.TempDir(), "keys.json")
	write := func(content []byte) {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	good := jwks(t, ecJWK(t, "one", "P-256", k.p256))
	write(good)
	var r reports
	f, err := OpenKeyFile(path, r.add)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(id string, want bool) {
		t.Helper()
		if _, err := f.Key("ES256", id); (err == nil) != want {
			t.Errorf("key %s: %v", id, err)
		}
	}
	write(good[:len(good)/2])
	ask("one", true)
	tried := f.tried
	for range 100 {
		ask("one", true)
	}
	if said := r.all(); len(said) != 1 || !strings.Contains(said[0], "correct the file") || f.tried.Sub(tried) > 0 && time.Since(tried) < retryEvery {
		t.Errorf("told %q", said)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	ask("one", true)
	if said := r.all(); len(said) != 2 {
		t.Errorf("a file that is gone: told %q", said)
	}
	write(jwks(t, ecJWK(t, "two", "P-256", k.p256)))
	ask("one", false)
	ask("two", true)
}

// TestFailedFetchesAreTold: the first of several, without what stands behind the URL's path.
func TestFailedFetchesAreTold(t *testing.T) {
	k := madeKeys(t)
	var served, fail atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		served.Add(1)
		if fail.Load() > 0 {
			http.Error(w, "no", http.StatusInternalServerError)
			return
		}
		_, _ = w.Write(jwks(t, rsaJWK("first", &k.rsa.PublicKey)))
	}))
	defer server.Close()
	var r reports
	if _, err := OpenKeyURL(t.Context(), server.URL+"/?planted", 5*time.Millisecond, time.Millisecond, 2*time.Millisecond, r.add); err != nil {
		t.Fatal(err)
	}
	for round := 1; round <= 2; round++ {
		fail.Store(1)
		waitFor(t, func() bool { return len(r.all()) == round })
		before := served.Load()
		waitFor(t, func() bool { return served.Load() > before+5 })
		fail.Store(0)
		before = served.Load()
		waitFor(t, func() bool { return served.Load() > before+1 })
	}
	fail.Store(1)
	server.Close() // what follows fails by another error
	waitFor(t, func() bool { return len(r.all()) == 3 })
	for _, said := range r.all() {
		if strings.Contains(said, "planted") || !strings.Contains(said, "go on") {
			t.Errorf("told %q", said)
		}
	}
}
