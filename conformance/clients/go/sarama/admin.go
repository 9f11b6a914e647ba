package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/IBM/sarama"
)

func (c *client) CreateTopic(_ context.Context, topic string, partitions int) error {
	return c.admin.CreateTopic(topic, &sarama.TopicDetail{NumPartitions: int32(partitions), ReplicationFactor: 1}, false)
}

func (c *client) Topics(context.Context) ([]string, error) {
	t, err := c.admin.ListTopics()
	return slices.Collect(maps.Keys(t)), err
}

func (c *client) Partitions(_ context.Context, topic string) (int, error) {
	t, err := c.admin.DescribeTopics([]string{topic})
	if err != nil {
		return 0, err
	}
	if t[0].Err != sarama.ErrNoError {
		return 0, t[0].Err
	}
	return len(t[0].Partitions), nil
}

func (c *client) Groups(context.Context) ([]string, error) {
	g, err := c.admin.ListConsumerGroups()
	return slices.Collect(maps.Keys(g)), err
}

func (c *client) Group(_ context.Context, group string) (string, int, error) {
	g, err := c.admin.DescribeConsumerGroups([]string{group})
	if err != nil {
		return "", 0, err
	}
	if g[0].Err != sarama.ErrNoError {
		return "", 0, g[0].Err
	}
	return g[0].State, len(g[0].Members), nil
}

func (c *client) Committed(_ context.Context, group, topic string) (map[int32]int64, error) {
	r, err := c.admin.ListConsumerGroupOffsets(group, nil)
	if err != nil {
		return nil, err
	}
	offsets := map[int32]int64{}
	for p, b := range r.Blocks[topic] {
		if b.Err != sarama.ErrNoError {
			return nil, fmt.Errorf("partition %d: %w", p, b.Err)
		}
		offsets[p] = b.Offset
	}
	return offsets, nil
}

func (c *client) Ends(_ context.Context, topic string) (map[int32]int64, error) {
	parts, err := c.sarama.Partitions(topic)
	if err != nil {
		return nil, err
	}
	offsets := map[int32]int64{}
	for _, p := range parts {
		if offsets[p], err = c.sarama.GetOffset(topic, p, sarama.OffsetNewest); err != nil {
			return nil, err
		}
	}
	return offsets, nil
}

func (c *client) DeleteGroup(_ context.Context, group string) error {
	return c.admin.DeleteConsumerGroup(group)
}

func (c *client) DeleteTopic(_ context.Context, topic string) error {
	return c.admin.DeleteTopic(topic)
}
