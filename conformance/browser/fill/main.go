package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sr"
)

// filler is the clients that everything is made with.
type filler struct {
	bootstrap   string
	withHostile bool
	client      *kgo.Client
	admin       *kadm.Client
	registry    *sr.Client
}

func main() {
	bootstrap := flag.String("bootstrap", "127.0.0.1:9092", "the broker, HOST:PORT")
	registry := flag.String("registry", "http://127.0.0.1:8081", "the schema registry")
	hostile := flag.Bool("hostile", true, "write the hostile texts, too")
	flag.Parse()
	ctx, stop := context.WithCancel(context.Background())
	if err := fill(ctx, *bootstrap, *registry, *hostile); err != nil {
		fmt.Fprintln(os.Stderr, "fill:", err)
		os.Exit(1)
	}
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin) // until who started it is done
	stop()
}

func fill(ctx context.Context, bootstrap, registry string, hostile bool) error {
	f := &filler{bootstrap: bootstrap, withHostile: hostile}
	var err error
	if f.client, err = f.newClient("fill"); err != nil {
		return err
	}
	f.admin = kadm.NewClient(f.client)
	if f.registry, err = sr.NewClient(sr.URLs(registry)); err != nil {
		return fmt.Errorf("make a client of %s: %w", registry, err)
	}
	made, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for _, step := range []struct {
		what string
		do   func(context.Context) error
	}{
		{"topics", f.topics}, {"schemas", f.schemas}, {"records", f.records}, {"hostile texts", f.hostile}, {"groups", f.groups}, {"security", f.security}, {"telemetry", f.telemetry},
	} {
		if err := step.do(made); err != nil {
			return fmt.Errorf("make %s: %w", step.what, err)
		}
	}
	return f.members(ctx)
}

func (f *filler) newClient(id string, opts ...kgo.Opt) (*kgo.Client, error) {
	cl, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(f.bootstrap), kgo.ClientID(id), kgo.DisableClientMetrics(), kgo.RecordPartitioner(kgo.StickyKeyPartitioner(nil)), kgo.ProducerLinger(0),
	}, opts...)...)
	if err != nil {
		return nil, fmt.Errorf("make client %q: %w", id, err)
	}
	return cl, nil
}
