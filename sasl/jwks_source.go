package sasl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"
)

// KeyFile is a JWKS in a file, which is read again when it has changed. A file that has become unreadable changes nothing, but
// is told.
type KeyFile struct {
	path   string
	report func(error)

	mu     sync.Mutex
	stamp  os.FileInfo // of what was read last; nil: it was not there
	set    *KeySet
	failed string    // why the file could not be used when it was last read; "": it could
	tried  time.Time // when that was
}

// retryEvery is how soon a file that could not be used is read again though it looks the same: what was wrong may be mended
// without a trace on it.
const retryEvery = time.Second

// OpenKeyFile reads the file. report is told of later failures, once for each.
func OpenKeyFile(path string, report func(error)) (*KeyFile, error) {
	f := &KeyFile{path: path, report: report}
	var err error
	f.stamp, _ = os.Stat(path)
	f.set, err = readKeyFile(path)
	return f, err
}

// reread reads the file when it is another than it was. The stamp is taken first: what changes meanwhile is read again next time.
func (f *KeyFile) reread() {
	now, _ := os.Stat(f.path)
	changed := !sameState(now, f.stamp)
	if !changed && (f.failed == "" || time.Since(f.tried) < retryEvery) {
		return
	}
	f.stamp, f.tried = now, time.Now()
	set, err := readKeyFile(f.path)
	if err == nil {
		f.set, f.failed = set, ""
		return
	}
	if changed || err.Error() != f.failed {
		f.report(fmt.Errorf("read changed keys of tokens: %w; the old ones go on: correct the file", err))
	}
	f.failed = err.Error()
}

func sameState(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && os.SameFile(a, b)
}

// readKeyFile reads bytes for [ParseKeySet].
//
//fuzz:not-a-parser it reads bytes and looks at none.
func readKeyFile(path string) (*KeySet, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxJWKS+1))
	if err != nil {
		return nil, err
	}
	set, err := ParseKeySet(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return set, nil
}

// Key is one of the file as it is now.
func (f *KeyFile) Key(alg, id string) (any, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reread() // what was there before stays
	return f.set.Key(alg, id)
}

// KeyURL is a JWKS behind a URL, which is fetched at start, again every Refresh, and when a token names a key that is not
// there, though not more often than expediteEvery. No redirection is followed: only what the operator named is asked.
type KeyURL struct {
	url              string
	refresh          time.Duration
	backoff, longest time.Duration
	client           *http.Client
	expedite         chan struct{}
	report           func(error)

	mu      sync.Mutex
	set     *KeySet
	fetched time.Time
	failing bool // the last fetch failed, which was told
}

const (
	expediteEvery = 10 * time.Second
	fetchLimit    = 10 * time.Second
)

// OpenKeyURL fetches the set and keeps it fresh until ctx ends. After a failure it waits backoff, then twice as long, up to
// longest, within one refresh. report is told of the first of several failures.
func OpenKeyURL(ctx context.Context, at string, refresh, backoff, longest time.Duration, report func(error)) (*KeyURL, error) {
	u := &KeyURL{url: at, report: report, refresh: refresh, backoff: backoff, longest: longest, expedite: make(chan struct{}, 1)}
	u.client = &http.Client{Timeout: fetchLimit, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if err := u.fetch(ctx); err != nil {
		return nil, err
	}
	go u.keepFresh(ctx)
	return u, nil
}

// Key is one of the last set. A key that is missing is looked for in the next one.
func (u *KeyURL) Key(alg, id string) (any, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	key, err := u.set.Key(alg, id)
	if err != nil && time.Since(u.fetched) > expediteEvery {
		select {
		case u.expedite <- struct{}{}:
		default:
		}
	}
	return key, err
}

func (u *KeyURL) keepFresh(ctx context.Context) {
	ticker := time.NewTicker(u.refresh)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-u.expedite:
		}
		u.fetchPatiently(ctx)
	}
}

func (u *KeyURL) fetchPatiently(ctx context.Context) {
	for wait := u.backoff; !u.freshened(ctx) && wait <= u.longest; wait *= 2 {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		if wait <= 0 {
			return
		}
	}
}

// freshened fetches the set once, and tells of the first failure after a success.
func (u *KeyURL) freshened(ctx context.Context) bool {
	err := u.fetch(ctx)
	u.mu.Lock()
	first := err != nil && !u.failing
	u.failing = err != nil
	u.mu.Unlock()
	if first && ctx.Err() == nil {
		u.report(fmt.Errorf("%w; the keys that were fetched before go on", err))
	}
	return err == nil
}

// fetch does not repeat the URL: its query may be a secret.
func (u *KeyURL) fetch(ctx context.Context) error {
	set, err := u.download(ctx)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.fetched = time.Now()
	if err != nil {
		return fmt.Errorf("fetch the JWKS: %w", err)
	}
	u.set = set
	return nil
}

func (u *KeyURL) download(ctx context.Context) (*KeySet, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.url, nil)
	if err != nil {
		return nil, errors.New("its URL cannot be read")
	}
	response, err := u.client.Do(request)
	var of *url.Error
	if errors.As(err, &of) {
		err = of.Err
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", request.URL.Host, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: status %d", request.URL.Host, response.StatusCode)
	}
	content, err := io.ReadAll(io.LimitReader(response.Body, maxJWKS+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", request.URL.Host, err)
	}
	return ParseKeySet(content)
}
