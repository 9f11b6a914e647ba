package certs

import (
	"crypto/tls"
	"fmt"
	"net"
	"sync/atomic"
)

// maxHandshake bounds what a client sends before its certificate was looked at. Java takes 32 KiB in a message.
const maxHandshake = 64 << 10

// Server speaks TLS on a connection, as [tls.Server] does, but for a client whose handshake is longer than any needs to be: a
// certificate is kept until its last byte has come, and this is before anybody has said who it is. The config is one of
// [Identity.Config].
func Server(nc net.Conn, config *tls.Config) *tls.Conn {
	return tls.Server(&bounded{Conn: nc}, config)
}

// NewListener is [tls.NewListener] with connections of [Server].
func NewListener(ln net.Listener, config *tls.Config) net.Listener { return &listener{ln, config} }

type listener struct {
	net.Listener
	config *tls.Config
}

func (l *listener) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return Server(nc, l.config), nil
}

// bounded is a connection whose peer may send so much until it is known.
type bounded struct {
	net.Conn
	known atomic.Bool
	read  int // until then
}

// Read counts.
//
//fuzz:not-a-parser it counts bytes and looks at none.
func (b *bounded) Read(p []byte) (int, error) {
	if b.known.Load() {
		return b.Conn.Read(p)
	}
	if b.read >= maxHandshake {
		return 0, fmt.Errorf("the client has sent %d bytes, and its handshake is not done", b.read)
	}
	n, err := b.Conn.Read(p[:min(len(p), maxHandshake-b.read)])
	b.read += n
	return n, err
}

// unbound has the connection's bound end when its certificate, or that it has none, was found to be right.
func unbound(c *tls.Config, nc net.Conn) *tls.Config {
	b, ok := nc.(*bounded)
	if !ok {
		return c
	}
	c = c.Clone()
	c.VerifyConnection = func(tls.ConnectionState) error { b.known.Store(true); return nil }
	return c
}
