package wire

import (
	"errors"
	"time"
)

// ErrLogin ends a connection whose handshake or login takes too long.
var ErrLogin = errors.New("handshake and login take too long")

// limitLogin bounds the time that a client may take before it is known who it is. The first login counts; what follows,
// as a session that expires, is the gate's.
func (c *Conn) limitLogin() {
	if c.gate == nil && c.Listener.handshake == nil {
		return
	}
	c.login = time.AfterFunc(c.server.opt.MaxLogin, func() { c.Close(ErrLogin) })
}

// loggedIn is called when it may be that the client is known.
func (c *Conn) loggedIn() {
	if c.open() {
		c.endLogin()
	}
}

func (c *Conn) endLogin() {
	if c.login != nil {
		c.login.Stop()
		c.login = nil
	}
}

// secure is what comes before the first request.
func (c *Conn) secure() error {
	defer c.loggedIn()
	handshake := c.Listener.handshake
	if handshake == nil {
		return nil
	}
	principal, err := handshake(c.ctx.Context, c.nc)
	if err != nil {
		return err
	}
	if principal != "" {
		c.SetPrincipal(principal)
	}
	c.touch()
	return nil
}
