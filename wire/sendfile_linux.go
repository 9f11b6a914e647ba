package wire

import (
	"fmt"
	"io"
	"os"
	"syscall"
)

// sendSection sends a file section by sendfile, with an offset of its own: the file's cursor is shared and stays where
// it is. What is no file of the system's, or not sent to a plain socket, is copied.
func (c *Conn) sendSection(s Section) error {
	stored, ok := s.(interface{ OS() (*os.File, int64) })
	if !ok || c.in.raw == nil {
		return c.copySection(s)
	}
	file, at := stored.OS()
	if file == nil {
		return c.copySection(s)
	}
	from, err := file.SyscallConn()
	if err != nil {
		return fmt.Errorf("send section of %s: %w", file.Name(), err)
	}
	send := sending{at: at, left: s.Size(), touch: c.touch}
	err = from.Control(func(fd uintptr) {
		send.src = int(fd)
		if err := c.in.raw.Write(send.try); err != nil && send.err == nil {
			send.err = err
		}
	})
	if err == nil {
		err = send.err
	}
	if err != nil {
		return fmt.Errorf("send section of %s: %w", file.Name(), err)
	}
	return nil
}

// sending is one sendfile in progress.
type sending struct {
	src  int
	at   int64
	left int64
	err  error

	touch func()
}

// try sends until all is sent, the socket's buffer is full (false: wait until it can be written), or it fails.
func (s *sending) try(socket uintptr) bool {
	const most = 1 << 30
	for s.left > 0 {
		n, err := syscall.Sendfile(int(socket), s.src, &s.at, int(min(s.left, most)))
		switch {
		case err == syscall.EINTR:
		case err == syscall.EAGAIN:
			return false
		case err != nil:
			s.err = os.NewSyscallError("sendfile", err)
			return true
		case n == 0:
			s.err = io.ErrUnexpectedEOF
			return true
		default:
			s.left -= int64(n)
			s.touch()
		}
	}
	return true
}
