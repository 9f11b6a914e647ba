package handlers

import (
	"fmt"
	"net"
	"strings"

	"doze/journal"
	"doze/wire"
)

// caller is who made a request, as members of groups are described.
type caller struct {
	cause      journal.Cause
	clientID   string
	clientHost string
}

func callerOf(r *wire.Request) caller {
	return caller{cause: causeOf(r), clientID: r.ClientID, clientHost: clientHost(r.Conn.Remote())}
}

// clientHost is a client's address as Kafka writes it: Java's InetAddress without a name. A client on a Unix socket is on
// this machine.
func clientHost(remote net.Addr) string {
	host, _, err := net.SplitHostPort(remote.String())
	if err != nil {
		return "/127.0.0.1"
	}
	host, _, _ = strings.Cut(host, "%")
	ip := net.ParseIP(host)
	if ip == nil || ip.To4() != nil {
		return "/" + host
	}
	words := make([]string, 8)
	for i := range words {
		words[i] = fmt.Sprintf("%x", int(ip[2*i])<<8|int(ip[2*i+1]))
	}
	return "/" + strings.Join(words, ":")
}
