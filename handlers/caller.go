package handlers

import (
	"doze/journal"
	"doze/wire"
)

// caller is who made a request, as members of groups are described.
type caller struct {
	cause      journal.Cause
	clientID   string
	clientHost string
	access     access
}

func (b *Broker) callerOf(r *wire.Request) caller {
	return caller{cause: causeOf(r), clientID: r.ClientID, clientHost: "/" + r.Conn.Host(), access: b.access(r)}
}
