//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"

	"doze/conformance/bench/brokers"
	"doze/conformance/bench/load"
	"doze/conformance/bench/machine"
)

// registryRows measures doze's schema registry, which the others have no like of.
func registryRows() []row {
	perCore := func(limit float64) []metric {
		return []metric{
			{key: "core", label: "a second of the broker's CPU", unit: "requests", targets: []target{atLeast(limit)}},
			{key: "rate", label: "a second", unit: "requests"},
			{key: "cpu", label: "CPU", unit: "us"},
		}
	}
	return []row{
		{name: "registry-register", title: "64 clients register new Avro schemas, each answer after its fsync",
			metrics: perCore(2000), columns: dozeOnly, broker: none, make: newRegister},
		{name: "registry-read", title: "schemas by id, as clients read them that do not know one yet",
			metrics: perCore(20_000), columns: dozeOnly, broker: none, make: newReadByID},
		{name: "registry-start", title: "a start with 100,000 schemas until an id is answered",
			metrics: []metric{
				{key: "clean", label: "after a clean stop", unit: "ms", targets: []target{atMost(1000)}},
				{key: "killed", label: "after kill -9", unit: "ms"},
				{key: "cpu", label: "CPU, clean", unit: "ms"},
				{key: "rss", label: "memory", unit: "MiB", targets: []target{atMost(300)}}},
			columns: dozeOnly, broker: none, cold: true, runs: 3, make: newRegistryStart},
	}
}

// registryLoad sends requests over many connections, one at a time on each.
type registryLoad struct {
	s     *subject
	conns []*load.HTTP
	next  atomic.Int64
}

const registryConns = 64

func (w *registryLoad) open(ctx context.Context) (err error) {
	if w.s.broker, err = w.s.bench.startBroker(ctx, w.s.kind, brokers.Setup{Registry: true}); err != nil {
		return err
	}
	return w.dial()
}

func (w *registryLoad) dial() error {
	w.conns = nil
	for range registryConns {
		c, err := load.DialHTTP(w.s.broker.RegistryAddr)
		if err != nil {
			return err
		}
		w.conns = append(w.conns, c)
	}
	_, err := w.conns[0].Do("PUT", "/config", []byte(`{"compatibility":"NONE"}`))
	return err
}

func (w *registryLoad) close() {
	for _, c := range w.conns {
		c.Close()
	}
	w.s.dropOwn()
}

// each sends n requests: ask is told the number of each.
func (w *registryLoad) each(ctx context.Context, n int, ask func(c *load.HTTP, i int) error) error {
	var left atomic.Int64
	left.Store(int64(n))
	var all sync.WaitGroup
	errs := make(chan error, len(w.conns))
	for _, c := range w.conns {
		all.Go(func() {
			for left.Add(-1) >= 0 && ctx.Err() == nil {
				if err := ask(c, int(w.next.Add(1))); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	all.Wait()
	close(errs)
	return <-errs
}

func (w *registryLoad) timed(ctx context.Context, n int, ask func(c *load.HTTP, i int) error) (sample, error) {
	cpu, wall, err := w.s.cost(func() error { return w.each(ctx, n, ask) })
	if err != nil {
		return nil, err
	}
	return sample{"cpu": perUnit(cpu, n), "core": float64(n) / cpu.Seconds(), "rate": float64(n) / wall.Seconds()}, nil
}

// schemaOf is the i-th schema: a record of ten fields, some 500 bytes.
func schemaOf(i int) []byte {
	text := fmt.Sprintf(`{"type":"record","name":"Order%d","namespace":"com.example.shop","fields":[{"name":"id","type":"long"}`, i)
	for f := range 9 {
		text += fmt.Sprintf(`,{"name":"field_%d","type":["null","string"],"default":null}`, f)
	}
	body, err := json.Marshal(map[string]string{"schema": text + "]}"})
	if err != nil {
		panic(err) // a string in a map
	}
	return body
}

func registerOne(c *load.HTTP, i int) error {
	_, err := c.Do("POST", fmt.Sprintf("/subjects/topic-%d-value/versions", i), schemaOf(i))
	return err
}

type register struct{ registryLoad }

func newRegister(s *subject) workload { return &register{registryLoad{s: s}} }

func (w *register) prepare(ctx context.Context) error { return w.open(ctx) }

func (w *register) measure(ctx context.Context) (sample, error) {
	return w.timed(ctx, w.s.size(4000, 20_000), registerOne)
}

type readByID struct{ registryLoad }

func newReadByID(s *subject) workload { return &readByID{registryLoad{s: s}} }

const schemasToRead = 1000

func (w *readByID) prepare(ctx context.Context) error {
	if err := w.open(ctx); err != nil {
		return err
	}
	return w.each(ctx, schemasToRead, registerOne)
}

func (w *readByID) measure(ctx context.Context) (sample, error) {
	return w.timed(ctx, w.s.size(40_000, 200_000), func(c *load.HTTP, i int) error {
		_, err := c.Do("GET", fmt.Sprintf("/schemas/ids/%d", 1+i%schemasToRead), nil)
		return err
	})
}

type registryStart struct{ registryLoad }

func newRegistryStart(s *subject) workload { return &registryStart{registryLoad{s: s}} }

func (w *registryStart) prepare(ctx context.Context) error {
	if err := w.open(ctx); err != nil {
		return err
	}
	return w.each(ctx, w.s.size(20_000, 100_000), registerOne)
}

func (w *registryStart) measure(ctx context.Context) (sample, error) {
	values := sample{}
	for _, c := range w.conns {
		c.Close()
	}
	b := w.s.broker
	served := func() error {
		c, err := load.DialHTTP(b.RegistryAddr)
		if err != nil {
			return err
		}
		defer c.Close()
		_, err = c.Do("GET", "/schemas/ids/1", nil)
		return err
	}
	b.Kill()
	wall, _, err := timeRestart(ctx, b, served)
	if err != nil {
		return nil, err
	}
	values["killed"] = milliseconds(wall)
	if err := b.Stop(); err != nil {
		return nil, err
	}
	wall, cpu, err := timeRestart(ctx, b, served)
	if err != nil {
		return nil, err
	}
	values["clean"], values["cpu"] = milliseconds(wall), milliseconds(cpu)
	m, err := machine.MemoryOf(b.PID())
	values["rss"] = mebibytes(m.RSS)
	return values, err
}
