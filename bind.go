package doze

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"

	"doze/wire"
)

// ListenError says that an address cannot be listened on.
type ListenError struct {
	Address string
	Err     error
	// For is what was to listen there beside the broker, and Flag begins the names of its flags; empty: a listener.
	For, Flag string
}

func (e *ListenError) Error() string {
	if e.For != "" {
		return fmt.Sprintf("listen on %s for %s: %v; %s", e.Address, e.For, e.Err, e.Elsewhere())
	}
	if e.InUse() {
		return fmt.Sprintf("%v; end the process that has it, or listen elsewhere: port 0 takes a free one", e.Err)
	}
	return fmt.Sprintf("%v; give an address of this machine, such as 127.0.0.1:9092", e.Err)
}

func (e *ListenError) Unwrap() error { return e.Err }

// Elsewhere says how to have it listen on another address.
func (e *ListenError) Elsewhere() string {
	if e.For != "" {
		return fmt.Sprintf("give --%s-addr a free address, or --%s=false", e.Flag, e.Flag)
	}
	return "choose another port: --listen 127.0.0.1:0 takes a free one"
}

// InUse tells whether somebody else has the address.
func (e *ListenError) InUse() bool {
	const inUseOnWindows = syscall.Errno(10048)
	return errors.Is(e.Err, syscall.EADDRINUSE) || errors.Is(e.Err, inUseOnWindows)
}

// bind takes the TCP addresses before anything is made on the disk, so that a port in use leaves nothing behind. Who
// connects meanwhile waits. The path of a socket may lie in the data directory: it comes later.
func (b *Broker) bind() error {
	b.bound = make([]net.Listener, len(b.opt.Listeners))
	b.onClose(func() error {
		for _, ln := range b.bound {
			if ln != nil {
				ln.Close() // the server has closed it already, unless the start failed
			}
		}
		return nil
	})
	for i, l := range b.opt.Listeners {
		if strings.HasPrefix(l.Address, unixPrefix) {
			continue
		}
		if err := b.bindOne(i); err != nil {
			return err
		}
	}
	return nil
}

// bindOne takes the address of listener i, if it has not been taken.
func (b *Broker) bindOne(i int) error {
	if b.bound[i] != nil {
		return nil
	}
	l := b.opt.Listeners[i]
	address := l.Address
	if !strings.HasPrefix(address, unixPrefix) {
		what, more := "listener "+l.Name, "let clients log in (--user) or show certificates (--tls-cert, --tls-client-ca)"
		if b.opt.takesUnsigned(l) {
			what, more = what+", which takes tokens that nobody has signed,", "take signed ones (--oauth-jwks)"
		}
		if err := b.refuseExposed(address, what, more, b.opt.protected(l)); err != nil {
			return err
		}
	}
	ln, err := wire.Bind(address)
	if err != nil {
		return &ListenError{Address: address, Err: err}
	}
	b.bound[i] = ln
	return nil
}
