package wire

import (
	"fmt"
	"net"
	"strings"
)

// Host is the peer's address as Kafka writes it in ACLs: Java's InetAddress without a name, "10.0.0.7" or
// "0:0:0:0:0:0:0:1". A client on a Unix socket is on this machine.
func (c *Conn) Host() string {
	c.hostOnce.Do(func() { c.host = hostOf(c.nc.RemoteAddr()) })
	return c.host
}

func hostOf(remote net.Addr) string {
	host, _, err := net.SplitHostPort(remote.String())
	if err != nil {
		return "127.0.0.1"
	}
	host, _, _ = strings.Cut(host, "%")
	ip := net.ParseIP(host)
	if ip == nil {
		return host
	}
	if four := ip.To4(); four != nil {
		return four.String()
	}
	words := make([]string, 8)
	for i := range words {
		words[i] = fmt.Sprintf("%x", int(ip[2*i])<<8|int(ip[2*i+1]))
	}
	return strings.Join(words, ":")
}
