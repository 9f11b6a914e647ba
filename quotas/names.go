package quotas

import (
	"net/netip"
	"strings"
)

// AddressesOf are the addresses that a quota or a limit for a host means: the address that it is, or those of localhost. Other names
// have none. Nobody asks a name server: one that a client chose would be asked for, and would answer what it likes.
func AddressesOf(host string) []netip.Addr {
	if strings.EqualFold(host, "localhost") {
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	if err != nil {
		return nil
	}
	return []netip.Addr{ip.Unmap().WithZone("")}
}
