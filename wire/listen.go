package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Listener is where a server accepts.
type Listener struct {
	Name string // "PLAINTEXT" unless ListenOptions says otherwise

	ln        net.Listener
	gate      Gate
	wrap      func(net.Conn) net.Conn
	handshake func(context.Context, net.Conn) (string, error)
	advertise string // HOST:PORT, or ""
	host      string // the advertised address, split
	port      int32
	server    *Server
}

// ListenOptions of one listener.
type ListenOptions struct {
	Name      string                  // listener name; "": "PLAINTEXT"
	Advertise string                  // HOST:PORT that answers name for this broker; "": the local address of each connection
	Gate      Gate                    // nil: no login
	Wrap      func(net.Conn) net.Conn // nil: plain; TLS puts its layer here
	// Handshake comes before the first request, on the connection's own goroutine, and gives the principal; "": nobody in
	// particular. An error ends the connection.
	Handshake func(ctx context.Context, wrapped net.Conn) (principal string, err error)
}

// Listen opens an address: HOST:PORT (port 0 takes a free one) or unix:PATH. A connection is accepted after Serve only.
func (s *Server) Listen(addr string, opt ListenOptions) (*Listener, error) {
	ln, err := listen(addr)
	if err != nil {
		return nil, err
	}
	l, err := s.ListenOn(ln, opt)
	if err != nil {
		ln.Close()
	}
	return l, err
}

// ListenOn uses a listener that exists, of any kind.
func (s *Server) ListenOn(ln net.Listener, opt ListenOptions) (*Listener, error) {
	l := &Listener{Name: opt.Name, ln: ln, gate: opt.Gate, wrap: opt.Wrap, handshake: opt.Handshake, advertise: opt.Advertise, server: s}
	if l.Name == "" {
		l.Name = "PLAINTEXT"
	}
	if opt.Advertise != "" {
		host, port, err := splitHostPort(opt.Advertise)
		if err != nil {
			return nil, fmt.Errorf("advertise %q: %w", opt.Advertise, err)
		}
		l.host, l.port = host, port
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners = append(s.listeners, l)
	return l, nil
}

// Addr is the address that the listener has.
func (l *Listener) Addr() net.Addr { return l.ln.Addr() }

// Advertised is the address to name for this broker where no connection is at hand (a start-up summary): the advertised
// one, else the listener's own with the loopback address for a wildcard.
func (l *Listener) Advertised() (host string, port int32) { return l.advertisedTo(l.ln.Addr()) }

func (l *Listener) close() { l.ln.Close() }

func splitHostPort(s string) (string, int32, error) {
	host, p, err := net.SplitHostPort(s)
	if err != nil {
		return "", 0, err
	}
	port, err := strconv.ParseUint(p, 10, 16)
	if err != nil || port == 0 {
		return "", 0, fmt.Errorf("%q is not a port from 1 to 65535", p)
	}
	if host == "" {
		return "", 0, errors.New("the host is missing")
	}
	return host, int32(port), nil
}

// advertisedTo is the address that a connection whose local end is local must see for this broker.
func (l *Listener) advertisedTo(local net.Addr) (string, int32) {
	if l.advertise != "" {
		return l.host, l.port
	}
	if a, ok := local.(*net.TCPAddr); ok {
		return tcpHost(a), int32(a.Port)
	}
	if first := l.server.firstTCP(); first != nil && first != l {
		return first.Advertised()
	}
	if a, ok := local.(*net.UnixAddr); ok {
		return a.Name, 0
	}
	return "localhost", 9092
}

// tcpHost is an address's host as a client can dial it: a wildcard is reached by loopback.
func tcpHost(a *net.TCPAddr) string {
	switch {
	case len(a.IP) == 0:
		return "localhost"
	case a.IP.IsUnspecified() && a.IP.To4() != nil:
		return "127.0.0.1"
	case a.IP.IsUnspecified():
		return "localhost"
	case a.Zone != "":
		return a.IP.String() + "%" + a.Zone
	}
	return a.IP.String()
}

func (s *Server) firstTCP() *Listener {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.listeners {
		if _, ok := l.ln.Addr().(*net.TCPAddr); ok {
			return l
		}
	}
	return nil
}

const unixPrefix = "unix:"

// Bind opens an address as Listen does, for ListenOn: who connects waits until a server takes the listener and serves.
func Bind(addr string) (net.Listener, error) { return listen(addr) }

func listen(addr string) (net.Listener, error) {
	if path, ok := strings.CutPrefix(addr, unixPrefix); ok {
		return listenUnix(path)
	}
	cfg := net.ListenConfig{KeepAliveConfig: keepAlive}
	ln, err := cfg.Listen(background, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	return ln, nil
}

// listenUnix takes over a socket file that nobody listens on any more; it is open to its owner only.
func listenUnix(path string) (net.Listener, error) {
	ln, err := net.Listen("unix", path)
	if errors.Is(err, syscall.EADDRINUSE) && abandoned(path) {
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("remove abandoned socket: %w", err)
		}
		ln, err = net.Listen("unix", path)
	}
	if err != nil {
		return nil, fmt.Errorf("listen on %s%s: %w", unixPrefix, path, err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		ln.Close()
		return nil, fmt.Errorf("listen on %s%s: %w", unixPrefix, path, err)
	}
	return ln, nil
}

// abandoned says that a path is a socket which refuses connections.
func abandoned(path string) bool {
	if fi, err := os.Lstat(path); err != nil || fi.Mode()&os.ModeSocket == 0 {
		return false
	}
	nc, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		nc.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}
