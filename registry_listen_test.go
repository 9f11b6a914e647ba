package doze

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"strings"
	"testing"
)

// The address of a registry that nobody asked for does not keep the broker from starting, and no other is taken instead.
func TestRegistryAddressInUse(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	taken := ln.Addr().String()
	var log bytes.Buffer
	o := Options{
		DataDir: t.TempDir(), Listeners: []Listener{{Address: "127.0.0.1:0"}}, SchemaRegistry: taken, Logger: slog.New(slog.NewTextHandler(&log, nil)),
	}
	if _, err := New(o); err == nil || !strings.Contains(err.Error(), "give --schema-registry-addr a free address") {
		t.Fatalf("a registry that was asked for: %v", err)
	}
	o.SchemaRegistryMayLack = true
	b, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx) }()
	if r := b.Ready(); r.NoRegistry != taken || r.Registry != "" || strings.Contains(r.Line(), "registry") {
		t.Errorf("ready: %+v", r)
	}
	if !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), taken) {
		t.Errorf("logged: %s", log.String())
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
