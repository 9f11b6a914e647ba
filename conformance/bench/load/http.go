package load

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
)

// HTTP is a connection to a server that sends every answer with its length; it takes little of the client's CPU.
type HTTP struct {
	conn net.Conn
	in   *bufio.Reader
	out  []byte
	host string
}

// DialHTTP connects to HOST:PORT.
func DialHTTP(addr string) (*HTTP, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", addr, err)
	}
	return &HTTP{conn: conn, in: bufio.NewReaderSize(conn, 16<<10), host: addr}, nil
}

// Close closes the connection.
func (c *HTTP) Close() error { return c.conn.Close() }

// Do sends a request and returns the body of the answer, whose status must be 200.
func (c *HTTP) Do(method, path string, body []byte) ([]byte, error) {
	c.out = fmt.Appendf(c.out[:0], "%s %s HTTP/1.1\r\nHost: %s\r\n", method, path, c.host)
	if body != nil {
		c.out = fmt.Appendf(c.out, "Content-Type: application/vnd.schemaregistry.v1+json\r\nContent-Length: %d\r\n", len(body))
	}
	c.out = append(append(c.out, "\r\n"...), body...)
	if _, err := c.conn.Write(c.out); err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	status, length, err := c.head()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	answer := make([]byte, length)
	if _, err := io.ReadFull(c.in, answer); err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	if status != "200" {
		return nil, fmt.Errorf("%s %s: %s %s", method, path, status, answer)
	}
	return answer, nil
}

// head reads the status and the length.
func (c *HTTP) head() (status string, length int, err error) {
	for first := true; ; first = false {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return "", 0, err
		}
		text := strings.TrimSpace(string(line))
		switch key, value, _ := strings.Cut(text, ":"); {
		case first:
			_, status, _ = strings.Cut(text, " ")
			status, _, _ = strings.Cut(status, " ")
		case text == "":
			return status, length, nil
		case strings.EqualFold(key, "Content-Length"):
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil || length < 0 || length > 1<<26 {
				return "", 0, fmt.Errorf("an answer of length %q", value)
			}
		}
	}
}
