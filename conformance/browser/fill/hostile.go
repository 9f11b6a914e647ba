package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"unicode"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sr"

	"doze/conformance/hostile"
)

// hostileTexts is how many hostile texts there are.
var hostileTexts = len(hostile.Texts())

// hostileText is the nth of the hostile texts, as a field of text takes it.
func hostileText(n int) string { return hostile.Texts()[n].Valid() }

// hostile writes the texts wherever a client may write a text that a page shows.
func (f *filler) hostile(ctx context.Context) error {
	if !f.withHostile {
		return nil
	}
	var records []*kgo.Record
	for n := range hostileTexts {
		s := hostile.Texts()[n].Text // bytes may be any
		records = append(records, &kgo.Record{Topic: "hostile", Key: []byte(s), Value: []byte(s), Headers: headers(hostileText(n), s), Timestamp: begin})
	}
	if err := f.client.ProduceSync(ctx, records...).FirstErr(); err != nil {
		return err
	}
	if err := together(hostileTexts, func(n int) error { return f.hostileGroup(ctx, hostileText(n)) }); err != nil {
		return err
	}
	if err := together(hostileTexts, func(n int) error { return f.hostileSubject(ctx, n) }); err != nil {
		return err
	}
	var quotas []kadm.AlterClientQuotaEntry
	for n := range hostileTexts {
		quotas = append(quotas, kadm.AlterClientQuotaEntry{
			Entity: kadm.ClientQuotaEntity{{Type: "user", Name: text(hostileText(n))}, {Type: "client-id", Name: text(hostileText(n))}},
			Ops:    []kadm.AlterClientQuotaOp{{Key: "producer_byte_rate", Value: 1e9}},
		})
	}
	_, err := f.admin.AlterClientQuotas(ctx, quotas)
	return err
}

func (f *filler) hostileGroup(ctx context.Context, name string) error {
	var at kadm.Offsets
	at.Add(kadm.Offset{Topic: "hostile", Partition: 0, At: 1, LeaderEpoch: -1, Metadata: name})
	if err := f.admin.CommitAllOffsets(ctx, name, at); err != nil {
		return fmt.Errorf("commit of group %q: %w", name, err)
	}
	return nil
}

// hostileSubject registers a schema with a hostile title under a hostile name. A slash in a subject is one that proxies and routers
// differ about, so those texts have another.
func (f *filler) hostileSubject(ctx context.Context, n int) error {
	name := strings.TrimSpace(strings.Map(func(c rune) rune {
		switch {
		case c == '/':
			return '\u2215'
		case unicode.IsControl(c): // the registry takes none in a subject
			return '\u2424'
		}
		return c
	}, hostileText(n)))
	schema, err := json.Marshal(map[string]string{"type": "object", "title": hostileText(n), "description": hostileText(n)})
	if err != nil {
		return err
	}
	if _, err := f.registry.CreateSchema(ctx, name, sr.Schema{Schema: string(schema), Type: sr.TypeJSON}); err != nil {
		return fmt.Errorf("register %q: %w", name, err)
	}
	return nil
}

// together calls a function for 0 to n-1, some at a time, and gives the first error.
func together(n int, do func(int) error) error {
	var running sync.WaitGroup
	room := make(chan struct{}, 8)
	failed := make(chan error, n)
	for i := range n {
		running.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			if err := do(i); err != nil {
				failed <- err
			}
		})
	}
	running.Wait()
	close(failed)
	return <-failed
}
