package main

import (
	"net/netip"
	"testing"

	"doze"
)

// TestEnvLineIsThisBrokers: the line of the summary gives a shell the addresses that the ready line has.
func TestEnvLineIsThisBrokers(t *testing.T) {
	inZone := &standing{name: "orders", address: netip.MustParseAddr("127.0.0.62")}
	for _, c := range []struct {
		name            string
		where           *standing
		kafka, registry string
		want            string
	}{
		{"usual places", new(standing), doze.DefaultAddress, "http://127.0.0.1:8081", `doze env`},
		{"no registry", new(standing), doze.DefaultAddress, "", `doze env --schema-registry=false`},
		{"another port", new(standing), "127.0.0.1:9192", "http://127.0.0.1:8181", `doze env --listen 127.0.0.1:9192 --schema-registry-addr 127.0.0.1:8181`},
		{"HTTPS", new(standing), doze.DefaultAddress, "https://127.0.0.1:8081", `doze env --schema-registry-addr https://127.0.0.1:8081`},
		{"in the zone", inZone, "127.0.0.62:9092", "http://127.0.0.62:8081", `doze env --name orders`},
		{"in the zone, another port", inZone, "127.0.0.62:9092", "http://127.0.0.62:8181", `doze env --name orders --schema-registry-addr orders.doze:8181`},
	} {
		ready := doze.Ready{Kafka: []string{c.kafka}, Registry: c.registry}
		line := c.where.envLine(ready, doze.Options{Listeners: []doze.Listener{{Address: c.kafka}}})
		if want := `eval "$(` + c.want + `)"`; line != want {
			t.Errorf("%s: %s, want %s", c.name, line, want)
		}
	}
}
