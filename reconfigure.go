package doze

import (
	"math"
	"strconv"
	"strings"

	"doze/configs"
	"doze/quotas"
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
			for _, ip := range quotas.AddressesOf(strings.TrimSpace(entry[:colon])) {
				limits.OtherIPs[ip.String()] = n
			}
		}
	}
	return limits
}
