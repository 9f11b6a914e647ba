package doze

import (
	"fmt"
	"net"
)

// ExposedError says that an address can be reached from other machines, and that nobody has to log in there.
type ExposedError struct {
	Address string
	What    string // what listens there
	More    string // what would protect it
}

func (e *ExposedError) Error() string {
	return fmt.Sprintf("%s on %s could be used by everybody who reaches this machine, for nobody has to log in; "+
		"listen on 127.0.0.1, or %s. In a container, or where the network is trusted, say so: --unprotected (DOZE_UNPROTECTED=true); "+
		"publish the port to your own machine only: docker run -p 127.0.0.1:9092:9092", e.What, e.Address, e.More)
}

// refuseExposed is an error for an address that others can reach, unless the options accept that.
func (b *Broker) refuseExposed(address, what, more string, protected bool) error {
	if protected || b.opt.Unprotected || !reachableFromOutside(address) {
		return nil
	}
	return &ExposedError{Address: address, What: what, More: more}
}

// reachableFromOutside says whether an address is another than loopback. One that cannot be resolved cannot be listened on
// either, which is said there.
func reachableFromOutside(address string) bool {
	a, err := net.ResolveTCPAddr("tcp", address)
	return err == nil && !a.IP.IsLoopback()
}
