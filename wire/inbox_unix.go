//go:build unix

package wire

import (
	"io"
	"net"
	"syscall"
)

// rawConn gives the descriptor's gate of a plain socket; nil for everything else (TLS, pipes).
func rawConn(nc net.Conn) syscall.RawConn {
	sc, ok := nc.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return nil
	}
	return raw
}

// tryRead reads what there is without waiting. false: nothing yet, wait until the socket is readable; the chunk goes
// back to its pool for that time.
func (in *inbox) tryRead(fd uintptr) bool {
	in.n, in.err = 0, nil
	buf := in.room()
	for {
		n, err := syscall.Read(int(fd), buf)
		switch {
		case err == syscall.EINTR:
			continue
		case err == syscall.EAGAIN:
			in.shed()
			return false
		case err != nil:
			in.err = &net.OpError{Op: "read", Net: "socket", Err: err}
		case n == 0:
			in.err = io.EOF
		default:
			in.n = n
		}
		return true
	}
}
