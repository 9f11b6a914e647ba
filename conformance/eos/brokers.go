package eos

import (
	"context"
	"errors"

	"doze/conformance/kafka"
	"doze/conformance/kill"
)

// Broker is what a job runs against.
type Broker interface {
	Addr() string
	Kill() error                      // with SIGKILL, and start it again on its data
	Finish(ctx context.Context) error // stop it and look at what it left
	Close() error                     // end it if it still runs
}

// StartDoze starts a doze that keeps its data below dir.
func StartDoze(binary, dir string) (Broker, error) {
	b, err := kill.NewBroker(binary, dir)
	if err != nil {
		return nil, err
	}
	if _, err := b.Start(); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return &dozeBroker{Broker: b, runs: true}, nil
}

type dozeBroker struct {
	*kill.Broker
	runs bool
}

func (b *dozeBroker) Kill() error {
	if err := b.Broker.Kill(); err != nil {
		return err
	}
	_, err := b.Start()
	b.runs = err == nil
	return err
}

func (b *dozeBroker) Finish(ctx context.Context) error {
	if err := b.Stop(); err != nil {
		return err
	}
	b.runs = false
	return b.Check(ctx)
}

func (b *dozeBroker) Close() error {
	var err error
	if b.runs {
		err = b.Broker.Kill()
	}
	return errors.Join(err, b.Broker.Close())
}

// StartKafka starts a real Kafka.
func StartKafka(ctx context.Context, port int) (Broker, error) {
	node, err := kafka.Start(ctx, kafka.Options{
		Name: "eos", Port: port,
		Set: map[string]string{"group.initial.rebalance.delay.ms": "0", "offsets.topic.num.partitions": "4", "transaction.state.log.num.partitions": "4"},
	})
	if err != nil {
		return nil, err
	}
	return kafkaBroker{kafka.Broker{Node: node}}, nil
}

type kafkaBroker struct{ kafka.Broker }

func (b kafkaBroker) Finish(context.Context) error { return nil }

// Elsewhere is a broker that somebody else runs; it is not killed.
type Elsewhere string

// Addr is where clients connect.
func (e Elsewhere) Addr() string { return string(e) }

// Kill fails: the broker belongs to somebody else.
func (e Elsewhere) Kill() error { return errors.New("kill the broker: somebody else runs it") }

// Finish does nothing.
func (e Elsewhere) Finish(context.Context) error { return nil }

// Close does nothing.
func (e Elsewhere) Close() error { return nil }
