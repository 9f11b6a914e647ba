package main

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sr"
)

// vectors are texts that run, load or go somewhere when a page takes them for markup, script or an address. N is replaced by a number: a
// text that ran calls hostile(N), which the walk looks for. Nothing of it is to happen.
var vectors = []string{
	`<script>hostile(N)</script>`, `<img src=x onerror=hostile(N)>`, `<svg onload=hostile(N)>`, `<svg/onload=hostile(N)//`, `<iframe srcdoc="<script>parent.hostile(N)</script>"></iframe>`,
	`<a href="javascript:hostile(N)">click</a>`, `javascript:hostile(N)`, `" onmouseover="hostile(N)" x="`, `' onfocus='hostile(N)' autofocus='`, `{{hostile(N)}}`,
	`{{constructor.constructor('hostile(N)')()}}`, "${hostile(N)}", "`+hostile(N)+`", `<div x-data="hostile(N)" x-init="hostile(N)">`, `<div hx-get="/broker" hx-trigger="load" hx-on::load="hostile(N)">`,
	`<style>@import "//evil.example/N.css"</style>`, `<link rel=stylesheet href="//evil.example/N.css">`, `<base href="//evil.example/N/">`, `<meta http-equiv=refresh content="0;url=//evil.example/N">`,
	`<form action="//evil.example/N"><button autofocus>x</button></form>`, `<object data="//evil.example/N"></object>`, `<embed src="//evil.example/N">`, `<details open ontoggle=hostile(N)>x</details>`,
	`<video><source onerror=hostile(N)></video>`, `<body onload=hostile(N)>`, `--><script>hostile(N)</script><!--`, `]]><script>hostile(N)</script>`, `\u003cscript\u003ehostile(N)\u003c/script\u003e`,
	`%3Cscript%3Ehostile(N)%3C/script%3E`, `&lt;script&gt;hostile(N)&lt;/script&gt;`, `&#60;img src=x onerror=hostile(N)&#62;`, "<scr\u200bipt>hostile(N)</script>", "\u202ehostile(N)\u202c", `</template><script>hostile(N)</script>`,
	`<template shadowrootmode=open><script>hostile(N)</script></template>`, `<math><mi xlink:href="javascript:hostile(N)">x</mi></math>`, `<input autofocus onfocus=hostile(N)>`, `<marquee onstart=hostile(N)>x</marquee>`,
	`../../hostile(N)`, `<dialog open id=dialog><h1>hostile(N)</h1></dialog>`,
}

// wrappings are what a text may have to close first.
var wrappings = []string{"", `">`, `'>`, `</code></td></table>`, `</textarea></title></script>`}

const hostileTexts = 200

// hostileText is the nth of the hostile texts.
func hostileText(n int) string {
	text := wrappings[n/len(vectors)%len(wrappings)] + vectors[n%len(vectors)]
	return strings.ReplaceAll(text, "N", fmt.Sprint(n))
}

// hostile writes the texts wherever a client may write a text that a page shows.
func (f *filler) hostile(ctx context.Context) error {
	if !f.withHostile {
		return nil
	}
	var records []*kgo.Record
	for n := range hostileTexts {
		s := hostileText(n)
		records = append(records, &kgo.Record{Topic: "hostile", Key: []byte(s), Value: []byte(s), Headers: headers(s, s), Timestamp: begin})
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
	name := strings.ReplaceAll(hostileText(n), "/", "\u2215")
	title := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(hostileText(n))
	if _, err := f.registry.CreateSchema(ctx, name, sr.Schema{Schema: `{"title":"` + title + `","type":"object"}`, Type: sr.TypeJSON}); err != nil {
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
