package names

import (
	"fmt"
	"hash/fnv"
	"net/netip"
	"strings"
)

// Suffix ends every name of the zone.
const Suffix = ".doze"

// Ports of an instance at its own address.
const (
	KafkaPort    = 9092
	RegistryPort = 8081
	ConsolePort  = 9093
)

// DefaultName is the apex name that has an address by itself.
const DefaultName = "kafka"

// Addresses that names are hashed into.
const (
	firstHashed = 10
	lastHashed  = 65
)

func loopback(last byte) netip.Addr { return netip.AddrFrom4([4]byte{127, 0, 0, last}) }

// Addresses are all that a name may have.
func Addresses() []netip.Addr {
	all := []netip.Addr{loopback(3)}
	for last := firstHashed; last <= lastHashed; last++ {
		all = append(all, loopback(byte(last)))
	}
	return all
}

// Preferred is the address that a name has unless another name has it already.
func Preferred(name string) netip.Addr {
	if name == DefaultName {
		return loopback(3)
	}
	h := fnv.New32a()
	h.Write([]byte(name)) //nolint:errcheck // it never fails
	return loopback(byte(firstHashed + h.Sum32()%(lastHashed-firstHashed+1)))
}

// CheckName says whether a name can be one of the zone: a label of DNS in lower case.
func CheckName(name string) error {
	ok := name != "" && len(name) <= 63 && !strings.HasPrefix(name, "-") && !strings.HasSuffix(name, "-")
	for _, c := range name {
		ok = ok && (c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-')
	}
	if !ok {
		return fmt.Errorf("name %q cannot be one of the zone%s: it has letters a to z, digits and hyphens, at most 63", name, Suffix)
	}
	return nil
}
