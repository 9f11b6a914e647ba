//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"doze/conformance/bench/brokers"
)

// profileSeconds is how long a CPU profile runs; the row's work is repeated until it is over.
const profileSeconds = 5

// profileRow writes doze's profiles of a row, after it was measured: profiling costs what it measures.
func (b *bench) profileRow(ctx context.Context, r row, turns []turn, out *rowReport) {
	if b.profile == "" || r.broker == none {
		return
	}
	for _, t := range turns {
		if t.subject.kind != brokers.Doze || out.Errors[brokers.Doze] != "" {
			continue
		}
		b.freezeOthers(t.subject.broker)
		if err := b.profileTurn(ctx, t, r.name); err != nil {
			b.say("%s: profile: %v", r.name, err)
		}
	}
}

func (b *bench) profileTurn(ctx context.Context, t turn, name string) error {
	if err := os.MkdirAll(b.profile, 0o755); err != nil {
		return fmt.Errorf("make profile directory: %w", err)
	}
	url := "http://" + t.subject.broker.PprofAddr + "/debug/pprof/"
	cpu := make(chan error, 1)
	go func() {
		cpu <- download(ctx, fmt.Sprintf("%sprofile?seconds=%d", url, profileSeconds), filepath.Join(b.profile, name+".cpu.pprof"))
	}()
	for end := time.Now().Add(profileSeconds * time.Second); time.Now().Before(end); {
		if _, err := t.work.measure(ctx); err != nil {
			return err
		}
	}
	if err := <-cpu; err != nil {
		return err
	}
	return download(ctx, url+"heap?gc=1", filepath.Join(b.profile, name+".heap.pprof"))
}

func download(ctx context.Context, url, path string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("ask for profile: %w", err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("ask for profile: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("ask for profile %s: %s", url, resp.Status)
	}
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("create profile: %w", err)
	}
	defer f.Close()
	if _, err := io.Copy(f, resp.Body); err != nil {
		return fmt.Errorf("write profile %s: %w", path, err)
	}
	return f.Close()
}
