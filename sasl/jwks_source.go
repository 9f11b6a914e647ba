package sasl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"
)

// KeyFile is a JWKS in a file, which is read again when it has changed. A file that has become unreadable changes nothing.
type KeyFile struct {
	path string

	mu      sync.Mutex
	changed time.Time
	size    int64
	set     *KeySet
}

// OpenKeyFile reads the file.
func OpenKeyFile(path string) (*KeyFile, error) {
	f := &KeyFile{path: path}
	return f, f.read()
}

func (f *KeyFile) read() error {
	info, err := os.Stat(f.path)
	if err != nil || f.set != nil && info.ModTime().Equal(f.changed) && info.Size() == f.size {
		return err
	}
	file, err := os.Open(f.path)
	if err != nil {
		return err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxJWKS+1))
	if err != nil {
		return err
	}
	set, err := ParseKeySet(content)
	if err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	f.set, f.changed, f.size = set, info.ModTime(), info.Size()
	return nil
}

// Key is one of the file as it is now.
func (f *KeyFile) Key(alg, id string) (any, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_ = f.read() // what was there before stays
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

	mu      sync.Mutex
	set     *KeySet
	fetched time.Time
}

const (
	expediteEvery = 10 * time.Second
	fetchLimit    = 10 * time.Second
)

// OpenKeyURL fetches the set and keeps it fresh until ctx ends. After a failure it waits backoff, then twice as long, up to
// longest, within one refresh.
func OpenKeyURL(ctx context.Context, url string, refresh, backoff, longest time.Duration) (*KeyURL, error) {
	u := &KeyURL{url: url, refresh: refresh, backoff: backoff, longest: longest, expedite: make(chan struct{}, 1)}
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
	for wait := u.backoff; u.fetch(ctx) != nil && wait <= u.longest; wait *= 2 {
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

func (u *KeyURL) fetch(ctx context.Context) error {
	defer func() {
		u.mu.Lock()
		u.fetched = time.Now()
		u.mu.Unlock()
	}()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.url, nil)
	if err != nil {
		return err
	}
	response, err := u.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errors.New("fetch the JWKS " + u.url + ": " + response.Status)
	}
	content, err := io.ReadAll(io.LimitReader(response.Body, maxJWKS+1))
	if err != nil {
		return fmt.Errorf("fetch the JWKS %s: %w", u.url, err)
	}
	set, err := ParseKeySet(content)
	if err != nil {
		return fmt.Errorf("fetch the JWKS %s: %w", u.url, err)
	}
	u.mu.Lock()
	u.set = set
	u.mu.Unlock()
	return nil
}
