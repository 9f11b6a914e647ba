package doze

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"doze/registry"
	"doze/wire/httpguard"
)

// maxRegistryRequests bounds the requests to the schema registry that are in hand at once: each may parse a megabyte.
const maxRegistryRequests = 64

// bindRegistry takes the registry's address, before anything is made on the disk.
func (b *Broker) bindRegistry() error {
	if b.opt.SchemaRegistry == "" {
		return nil
	}
	ln, err := net.Listen("tcp", b.opt.SchemaRegistry)
	if b.opt.SchemaRegistryMayLack && (&ListenError{Err: err}).InUse() {
		b.noRegistry = b.opt.SchemaRegistry
		b.opt.Logger.Warn("there is no schema registry: another program has its address", "address", b.noRegistry)
		return nil
	}
	if err != nil {
		return fmt.Errorf("listen on %s for the schema registry: %w; give --schema-registry-addr a free address, or --schema-registry=false", b.opt.SchemaRegistry, err)
	}
	b.registryListener = ln
	b.onClose(func() error { ln.Close(); return nil }) // the server has closed it already, unless the start failed
	return nil
}

// serveRegistry answers the registry's clients from now on.
func (b *Broker) serveRegistry() error {
	if b.registryListener == nil {
		return nil
	}
	r := registry.New(registry.Options{
		Store:  b.store,
		Report: func(err error) { b.opt.Logger.Error("the schema registry", "error", err) },
	})
	var hosts []string
	if host, _, err := net.SplitHostPort(b.opt.SchemaRegistry); err == nil {
		hosts = append(hosts, host)
	}
	if name, err := os.Hostname(); err == nil {
		hosts = append(hosts, name)
	}
	hosts = append(hosts, ".docker.internal")
	server := httpguard.Server(httpguard.Guard{Hosts: hosts}.Wrap(httpguard.Limit(maxRegistryRequests, r)))
	go server.Serve(b.registryListener) //nolint:errcheck // it ends when it is closed
	b.onClose(func() error { return stopHTTP(server) })
	return nil
}

// stopHTTP lets requests in hand finish, for a while.
func stopHTTP(server *http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if server.Shutdown(ctx) != nil {
		return server.Close()
	}
	return nil
}

func (b *Broker) registryURL() string {
	if b.registryListener == nil {
		return ""
	}
	addr, _ := b.registryListener.Addr().(*net.TCPAddr)
	host := addr.IP.String()
	if addr.IP.IsUnspecified() {
		host = "127.0.0.1"
	}
	return fmt.Sprintf("http://%s", net.JoinHostPort(host, fmt.Sprint(addr.Port)))
}
