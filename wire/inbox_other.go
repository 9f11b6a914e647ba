//go:build !unix

package wire

import (
	"net"
	"syscall"
)

// rawConn gives nothing where a socket cannot be tried: an idle connection waits in Read.
func rawConn(net.Conn) syscall.RawConn { return nil }

func (in *inbox) tryRead(uintptr) bool { return true }
