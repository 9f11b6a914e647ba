package wire

import (
	"fmt"
	"net"
	"strings"
)

// Host is the peer's address as Kafka writes it in ACLs: Java's InetAddress without a name, "10.0.0.7" or
// "0:0:0:0:0:0:0:1". A client on a Unix socket is on this machine, whatever it calls its own end of it.
func (c *Conn) Host() string {
	c.hostOnce.Do(func() { c.host = hostOf(c.nc.RemoteAddr()) })
	return c.host
}

func hostOf(remote net.Addr) string {
	a, ok := remote.(*net.TCPAddr)
	if !ok {
		return "127.0.0.1"
	}
	if four := a.IP.To4(); four != nil {
		return four.String()
	}
	ip, words := a.IP.To16(), make([]string, 8)
	if ip == nil {
		return a.IP.String()
	}
	for i := range words {
		words[i] = fmt.Sprintf("%x", int(ip[2*i])<<8|int(ip[2*i+1]))
	}
	return strings.Join(words, ":")
}
