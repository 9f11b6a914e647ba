package doze

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"doze/certs"
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
	address, secure := b.opt.RegistryAddress()
	if secure {
		identity, err := b.identity(b.opt.registryListener())
		if err != nil {
			return fmt.Errorf("schema registry: %w", err)
		}
		b.registryTLS = identity.Config()
	}
	// What a listener takes opens the registry too: tokens that nobody has signed keep nobody out.
	protected := (b.opt.protected(b.opt.registryListener()) && secure || b.opt.anyLogin()) && !slices.ContainsFunc(b.opt.Listeners, b.opt.takesUnsigned)
	if err := b.refuseExposed(address, "the schema registry", "let clients log in (--user)", protected); err != nil {
		return err
	}
	ln, err := net.Listen("tcp", address)
	if b.opt.SchemaRegistryMayLack && (&ListenError{Err: err}).InUse() {
		b.noRegistry = address
		b.opt.Logger.Warn("there is no schema registry: another program has its address", "address", b.noRegistry)
		return nil
	}
	if err != nil {
		return &ListenError{Address: address, Err: err, For: "the schema registry", Flag: "schema-registry"}
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
	rules, err := b.opt.mappingRules(b.opt.registryListener())
	if err != nil {
		return err
	}
	login, err := b.registryLogin(rules, b.registryTLS != nil && b.registryTLS.ClientAuth != tls.NoClientCert)
	if err != nil {
		return err
	}
	r := registry.New(registry.Options{
		Store: b.store, Authenticate: login,
		Report: func(err error) { b.opt.Logger.Error("the schema registry", "error", err) },
	})
	address, _ := b.opt.RegistryAddress()
	var hosts []string
	if host, _, err := net.SplitHostPort(address); err == nil {
		hosts = append(hosts, host)
	}
	if name, err := os.Hostname(); err == nil {
		hosts = append(hosts, name)
	}
	hosts = append(hosts, ".docker.internal", ".doze")
	server := httpguard.Server(httpguard.Guard{Hosts: hosts}.Wrap(httpguard.Limit(maxRegistryRequests, r)))
	ln := b.registryListener
	if b.registryTLS != nil {
		ln = certs.NewListener(ln, b.registryTLS)
		server.ErrorLog = slog.NewLogLogger(b.opt.Logger.Handler(), slog.LevelDebug) // of handshakes that fail
	}
	go server.Serve(ln) //nolint:errcheck // it ends when it is closed
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
	scheme := "http"
	if b.registryTLS != nil {
		scheme = "https"
	}
	return fmt.Sprintf("%s://%s", scheme, net.JoinHostPort(host, fmt.Sprint(addr.Port)))
}

// RegistryAddress is where the registry will listen, and whether by HTTPS.
func (o Options) RegistryAddress() (address string, secure bool) {
	if address, plain := strings.CutPrefix(o.SchemaRegistry, "http://"); plain {
		return address, false
	}
	address, secure = strings.CutPrefix(o.SchemaRegistry, "https://")
	return address, secure || hasTLS(o.protocolOf(o.registryListener()))
}

// registryListener is the listener whose certificates and rules the registry has: the first one with TLS.
func (o Options) registryListener() Listener {
	for _, l := range o.Listeners {
		if hasTLS(o.protocolOf(l)) {
			return l
		}
	}
	return Listener{Name: "schema registry", Protocol: protocolOfAll(o)}
}

// protocolOfAll is what the registry has when no listener has TLS.
func protocolOfAll(o Options) string {
	if o.TLS.CertFile != "" {
		return protocolSSL
	}
	return protocolPlain
}

// anyLogin says whether clients of some listener log in; then those of the registry do too.
func (o Options) anyLogin() bool { return slices.ContainsFunc(o.Listeners, o.asksForLogin) }
