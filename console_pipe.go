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

// dial connects, whatever address is asked for: there is one broker.
func (l *pipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.accept <- server:
		return client, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "console" }

// consoleGate lets everybody in who comes by the pipe, as the console.
type consoleGate struct{}

// Session begins a connection, which is logged in.
func (consoleGate) Session(c *wire.Conn) wire.Session {
	c.SetPrincipal(consolePrincipal)
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
