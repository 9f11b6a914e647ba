package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"doze/conformance"
	"doze/conformance/kafka"
)

// brokers hands out the broker that a scenario asks for, one at a time: the last one again when it will do.
type brokers struct {
	options options
	key     string
	current conformance.Broker
	started int
}

// brokerKey tells which scenarios can share a broker. A scenario that wants its own has a key of its own.
func brokerKey(s conformance.Scenario) string {
	var b strings.Builder
	b.WriteString(s.Kafka + " " + s.Group)
	for _, name := range slices.Sorted(maps.Keys(s.Set)) {
		fmt.Fprintf(&b, " %s=%s", name, s.Set[name])
	}
	if s.Logins {
		b.WriteString(" logins")
	}
	if s.SignedTokens {
		b.WriteString(" signed tokens")
	}
	if s.Fresh {
		b.WriteString(" " + s.Name)
	}
	return b.String()
}

func (b *brokers) take(ctx context.Context, s conformance.Scenario) (conformance.Broker, error) {
	if b.options.kafka != "start" {
		return elsewhere(b.options.kafka), nil
	}
	key := brokerKey(s)
	if b.current != nil && b.key == key {
		return b.current, nil
	}
	b.close()
	node, err := kafka.Start(ctx, b.nodeOptions(s))
	if err != nil {
		return nil, err
	}
	b.key, b.current = key, started{kafka.Broker{Node: node}}
	return b.current, nil
}

// nodeOptions make a node start fast, and keep retention away from records that scripts date years back.
func (b *brokers) nodeOptions(s conformance.Scenario) kafka.Options {
	b.started++
	set := map[string]string{"log.retention.check.interval.ms": "86400000", "log.initial.task.delay.ms": "86400000"}
	java := []string{"-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"}
	if s.Logins {
		maps.Copy(set, conformance.LoginProperties())
		maps.Copy(set, conformance.LoginListeners(b.options.port))
	}
	if s.SignedTokens {
		signed, err := conformance.SignedTokenProperties()
		if err != nil {
			panic(err) // the temporary directory cannot be written to
		}
		maps.Copy(set, signed)
		java = append(java, conformance.SignedTokenJava())
	}
	maps.Copy(set, s.Set)
	return kafka.Options{
		Name:    fmt.Sprintf("record-%d-%d", b.options.port, b.started),
		Version: s.Kafka,
		Port:    b.options.port,
		Set:     set,
		Java:    java,
	}
}

func (b *brokers) close() {
	if b.current != nil {
		if err := b.current.Close(); err != nil {
			fmt.Fprintln(os.Stderr, "record:", err)
		}
	}
	b.current = nil
}

// started is a broker of the recorder's own.
type started struct{ kafka.Broker }

func (s started) LoginAddr() string { return conformance.LoginAddr(s.Addr()) }

// elsewhere is a broker that somebody else runs.
type elsewhere string

var errElsewhere = errors.New("the scenario restarts its broker, which takes --kafka start")

func (e elsewhere) Addr() string      { return string(e) }
func (e elsewhere) LoginAddr() string { return conformance.LoginAddr(string(e)) }
func (e elsewhere) Restart() error    { return errElsewhere }
func (e elsewhere) Kill() error       { return errElsewhere }
func (e elsewhere) Close() error      { return nil }
