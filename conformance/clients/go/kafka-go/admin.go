package main

import (
	"context"
	"fmt"

	"github.com/segmentio/kafka-go"
)

func (c *client) CreateTopic(ctx context.Context, topic string, partitions int) error {
	r, err := c.api.CreateTopics(ctx, &kafka.CreateTopicsRequest{
		Topics: []kafka.TopicConfig{{Topic: topic, NumPartitions: partitions, ReplicationFactor: 1}},
	})
	if err != nil {
		return err
	}
	return r.Errors[topic]
}

func (c *client) Topics(ctx context.Context) ([]string, error) {
	r, err := c.api.Metadata(ctx, &kafka.MetadataRequest{})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, t := range r.Topics {
		names = append(names, t.Name)
	}
	return names, nil
}

func (c *client) Partitions(ctx context.Context, topic string) (int, error) {
	r, err := c.api.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{topic}})
	if err != nil {
		return 0, err
	}
	return len(r.Topics[0].Partitions), r.Topics[0].Error
}

func (c *client) Groups(ctx context.Context) ([]string, error) {
	r, err := c.api.ListGroups(ctx, &kafka.ListGroupsRequest{})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, g := range r.Groups {
		names = append(names, g.GroupID)
	}
	return names, r.Error
}

func (c *client) Group(ctx context.Context, group string) (string, int, error) {
	r, err := c.api.DescribeGroups(ctx, &kafka.DescribeGroupsRequest{GroupIDs: []string{group}})
	if err != nil {
		return "", 0, err
	}
	g := r.Groups[0]
	return g.GroupState, len(g.Members), g.Error
}

// all lists the partitions of the walk's topic, which this library's requests name one by one.
func (c *client) all(ctx context.Context, topic string) ([]int, error) {
	n, err := c.Partitions(ctx, topic)
	var parts []int
	for p := range n {
		parts = append(parts, p)
	}
	return parts, err
}

func (c *client) Committed(ctx context.Context, group, topic string) (map[int32]int64, error) {
	parts, err := c.all(ctx, topic)
	if err != nil {
		return nil, err
	}
	r, err := c.api.OffsetFetch(ctx, &kafka.OffsetFetchRequest{GroupID: group, Topics: map[string][]int{topic: parts}})
	if err != nil {
		return nil, err
	}
	offsets := map[int32]int64{}
	for _, p := range r.Topics[topic] {
		if p.Error != nil {
			return nil, fmt.Errorf("partition %d: %w", p.Partition, p.Error)
		}
		offsets[int32(p.Partition)] = p.CommittedOffset
	}
	return offsets, r.Error
}

func (c *client) Ends(ctx context.Context, topic string) (map[int32]int64, error) {
	parts, err := c.all(ctx, topic)
	if err != nil {
		return nil, err
	}
	var asked []kafka.OffsetRequest
	for _, p := range parts {
		asked = append(asked, kafka.LastOffsetOf(p))
	}
	r, err := c.api.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{topic: asked}})
	if err != nil {
		return nil, err
	}
	offsets := map[int32]int64{}
	for _, p := range r.Topics[topic] {
		if p.Error != nil {
			return nil, fmt.Errorf("partition %d: %w", p.Partition, p.Error)
		}
		offsets[int32(p.Partition)] = p.LastOffset
	}
	return offsets, nil
}

func (c *client) DeleteGroup(ctx context.Context, group string) error {
	r, err := c.api.DeleteGroups(ctx, &kafka.DeleteGroupsRequest{GroupIDs: []string{group}})
	if err != nil {
		return err
	}
	return r.Errors[group]
}

func (c *client) DeleteTopic(ctx context.Context, topic string) error {
	r, err := c.api.DeleteTopics(ctx, &kafka.DeleteTopicsRequest{Topics: []string{topic}})
	if err != nil {
		return err
	}
	return r.Errors[topic]
}
