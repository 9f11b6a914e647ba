package quotas

import (
	"net/netip"
	"strconv"
	"strings"
)

// AddressesOf are the addresses that a quota or a limit for a host means: the address that it is, or those of localhost. Other names
// have none. Nobody asks a name server: one that a client chose would be asked for, and would answer what it likes.
func AddressesOf(host string) []netip.Addr {
	if strings.EqualFold(host, "localhost") {
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}
	}
	if ip, ok := numericAddress(host); ok {
		return []netip.Addr{ip}
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	if err != nil {
		return nil
	}
	return []netip.Addr{ip.Unmap().WithZone("")}
}

// numericAddress reads an IPv4 address as Java does: one to four decimal numbers, of which the last stands for all bytes that
// are left, so that 1.2.3 is 1.2.0.3.
func numericAddress(host string) (ip netip.Addr, ok bool) {
	const longest = len("255.255.255.255")
	parts := strings.Split(host, ".")
	if len(host) > longest || len(parts) > 4 {
		return ip, false
	}
	var all uint64
	for i, part := range parts {
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (4 - i)
		}
		n, err := strconv.ParseUint(part, 10, bits)
		if err != nil || part[0] == '+' {
			return ip, false
		}
		all = all<<bits | n
	}
	return netip.AddrFrom4([4]byte{byte(all >> 24), byte(all >> 16), byte(all >> 8), byte(all)}), true
}
