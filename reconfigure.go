package doze

import (
	"math"
	"net/netip"
	"strconv"
	"strings"

	"doze/configs"
	"doze/wire"
)

// reconfigure hands the broker's settings that change while it runs to those below who act on them.
func (b *Broker) reconfigure(broker *configs.Broker) {
	b.logs.SetProducerExpiry(broker.Int("producer.id.expiration.ms"))
	b.server.SetConnectionLimits(connectionLimits(broker))
}

func connectionLimits(broker *configs.Broker) wire.ConnectionLimits {
	limits := wire.ConnectionLimits{PerIP: int(broker.Int("max.connections.per.ip")), OtherIPs: map[string]int{}}
	if total := broker.Int("max.connections"); total < math.MaxInt32 {
		limits.Total = int(total)
	}
	for _, entry := range configs.Entries(broker.Text("max.connections.per.ip.overrides")) {
		colon := strings.LastIndexByte(entry, ':')
		if colon < 0 {
			continue
		}
		if n, err := strconv.Atoi(strings.TrimSpace(entry[colon+1:])); err == nil {
			for _, ip := range addressesOf(strings.TrimSpace(entry[:colon])) {
				limits.OtherIPs[ip] = n
			}
		}
	}
	return limits
}

// addressesOf are the addresses that a name of an override stands for. Names other than this machine's are not looked up: a
// change of configs waits for nobody's DNS.
func addressesOf(name string) []string {
	if strings.EqualFold(name, "localhost") {
		return []string{"127.0.0.1", "::1"}
	}
	ip, err := netip.ParseAddr(strings.Trim(name, "[]"))
	if err != nil {
		return nil
	}
	return []string{ip.Unmap().String()}
}
