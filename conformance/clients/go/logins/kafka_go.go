package main

import (
	"context"
	"net"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"
)

func (a attempt) kafkaGo() (sasl.Mechanism, error) {
	switch a.mechanism {
	case "SCRAM-SHA-256":
		return scram.Mechanism(scram.SHA256, a.user, a.password)
	case "SCRAM-SHA-512":
		return scram.Mechanism(scram.SHA512, a.user, a.password)
	}
	return plain.Mechanism{Username: a.user, Password: a.password}, nil
}

func tryKafkaGo(ctx context.Context, a attempt) error {
	mechanism, err := a.kafkaGo()
	if err != nil {
		return err
	}
	// Its transport takes the name to check from the address only when it dials by host name.
	host, _, err := net.SplitHostPort(a.bootstrap)
	if err != nil {
		return err
	}
	a.tls.ServerName = host
	transport := &kafka.Transport{TLS: a.tls, SASL: mechanism}
	defer transport.CloseIdleConnections()
	writer := &kafka.Writer{Addr: kafka.TCP(a.bootstrap), Topic: a.topic, Transport: transport, BatchTimeout: time.Millisecond, MaxAttempts: 1}
	defer writer.Close()
	if err := writer.WriteMessages(ctx, kafka.Message{Value: []byte(a.id)}); err != nil {
		return err
	}
	reader := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{a.bootstrap}, Topic: a.topic, MaxWait: 100 * time.Millisecond,
		Dialer: &kafka.Dialer{TLS: a.tls, SASLMechanism: mechanism}})
	defer reader.Close()
	for {
		m, err := reader.ReadMessage(ctx)
		if err != nil {
			return err
		}
		if string(m.Value) == a.id {
			return nil
		}
	}
}
