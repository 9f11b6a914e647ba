package doze

import (
	"context"
	"net"
	"sync"

	"doze/wire"
)

// consolePrincipal is who the console is. Its type is one that no login gives, so that no user can be it.
const consolePrincipal = "Console:doze"

// pipeListener hands connections within the process to the server: the console is a client of the broker like others, whatever
// the listeners of the network ask of theirs.
type pipeListener struct {
	accept chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipeListener() *pipeListener {
	return &pipeListener{accept: make(chan net.Conn), closed: make(chan struct{})}
}

// Accept is the broker's end of the next connection.
func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.accept:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close refuses connections from now on.
func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr is no address of a network.
func (*pipeListener) Addr() net.Addr { return pipeAddr{} }

// dialAs connects as a principal, whatever address is asked for: there is one broker. from is where its browser is, which ACLs
// and limits of addresses see; nil: this machine.
func (l *pipeListener) dialAs(principal string, from net.Addr) func(ctx context.Context, _, _ string) (net.Conn, error) {
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		client, server := net.Pipe()
		select {
		case l.accept <- pipeConn{server, pipeAddr{principal}, from}:
			return client, nil
		case <-l.closed:
			return nil, net.ErrClosed
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// pipeConn is the broker's end of a connection within the process.
type pipeConn struct {
	net.Conn
	as   pipeAddr
	from net.Addr
}

// LocalAddr says who it is for.
func (c pipeConn) LocalAddr() net.Addr { return c.as }

// RemoteAddr is where the browser is.
func (c pipeConn) RemoteAddr() net.Addr {
	if c.from == nil {
		return pipeAddr{}
	}
	return c.from
}

// pipeAddr is the broker's end, which is made for a principal. No connection of a network has one.
type pipeAddr struct{ principal string }

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "console" }

// throughConsole says whether a connection is one of the console's.
func throughConsole(c *wire.Conn) bool {
	_, ok := c.Local().(pipeAddr)
	return ok
}

// consoleGate lets everybody in who comes by the pipe, as whom the pipe was made for.
type consoleGate struct{}

// Session begins a connection, which is logged in.
func (consoleGate) Session(c *wire.Conn) wire.Session {
	if at, ok := c.Local().(pipeAddr); ok {
		c.SetPrincipal(at.principal)
	}
	return consoleSession{}
}

type consoleSession struct{}

// Open says that the login is done.
func (consoleSession) Open() bool { return true }

// Frame is not called, for the session is open.
func (consoleSession) Frame(context.Context, []byte) ([]byte, bool, error) { return nil, false, nil }

// Request is shown the requests of a login, which the console does not send: the table answers.
func (consoleSession) Request(context.Context, *wire.Request) (wire.Reply, bool, error) {
	return nil, true, nil
}
