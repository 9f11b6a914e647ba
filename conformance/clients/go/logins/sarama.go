package main

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"hash"

	"github.com/IBM/sarama"
	"github.com/xdg-go/scram"
)

// conversation is the SCRAM client that sarama leaves to its user.
type conversation struct {
	hash func() hash.Hash
	*scram.ClientConversation
}

func (c *conversation) Begin(user, password, authzID string) error {
	client, err := scram.HashGeneratorFcn(c.hash).NewClient(user, password, authzID)
	if err == nil {
		c.ClientConversation = client.NewConversation()
	}
	return err
}

func (a attempt) sarama() *sarama.Config {
	c := sarama.NewConfig()
	c.Version = sarama.MaxVersion
	c.Metadata.Retry.Max, c.Producer.Retry.Max = 0, 0
	c.Producer.Return.Successes = true
	c.Net.TLS.Enable, c.Net.TLS.Config = true, a.tls
	c.Net.SASL.Enable, c.Net.SASL.User, c.Net.SASL.Password = true, a.user, a.password
	c.Net.SASL.Mechanism = sarama.SASLMechanism(a.mechanism)
	hashes := map[string]func() hash.Hash{"SCRAM-SHA-256": sha256.New, "SCRAM-SHA-512": sha512.New}
	c.Net.SASL.SCRAMClientGeneratorFunc = func() sarama.SCRAMClient { return &conversation{hash: hashes[a.mechanism]} }
	return c
}

func trySarama(ctx context.Context, a attempt) error {
	client, err := sarama.NewClient([]string{a.bootstrap}, a.sarama())
	if err != nil {
		return err
	}
	defer client.Close()
	producer, err := sarama.NewSyncProducerFromClient(client)
	if err != nil {
		return err
	}
	if _, _, err := producer.SendMessage(&sarama.ProducerMessage{Topic: a.topic, Value: sarama.StringEncoder(a.id)}); err != nil {
		return err
	}
	consumer, err := sarama.NewConsumerFromClient(client)
	if err != nil {
		return err
	}
	partition, err := consumer.ConsumePartition(a.topic, 0, sarama.OffsetOldest)
	if err != nil {
		return err
	}
	defer partition.Close()
	for {
		select {
		case m := <-partition.Messages():
			if string(m.Value) == a.id {
				return nil
			}
		case <-ctx.Done():
			return errNotRead
		}
	}
}
