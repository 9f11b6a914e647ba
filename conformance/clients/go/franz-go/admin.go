package main

import (
	"context"
)

func (c *client) Topics(ctx context.Context) ([]string, error) {
	t, err := c.admin.ListTopics(ctx)
	return t.Names(), err
}

func (c *client) Partitions(ctx context.Context, topic string) (int, error) {
	t, err := c.admin.ListTopics(ctx, topic)
	if err != nil {
		return 0, err
	}
	return len(t[topic].Partitions), t[topic].Err
}

func (c *client) Groups(ctx context.Context) ([]string, error) {
	g, err := c.admin.ListGroups(ctx)
	return g.Groups(), err
}

func (c *client) Group(ctx context.Context, group string) (string, int, error) {
	if newProtocol() {
		d, err := c.admin.DescribeConsumerGroups(ctx, group)
		if err != nil {
			return "", 0, err
		}
		return d[group].State, len(d[group].Members), d[group].Err
	}
	g, err := c.admin.DescribeGroups(ctx, group)
	if err != nil {
		return "", 0, err
	}
	return g[group].State, len(g[group].Members), g[group].Err
}

func (c *client) Committed(ctx context.Context, group, topic string) (map[int32]int64, error) {
	o, err := c.admin.FetchOffsets(ctx, group)
	offsets := map[int32]int64{}
	for p, at := range o[topic] {
		offsets[p] = at.At
	}
	return offsets, err
}

func (c *client) Ends(ctx context.Context, topic string) (map[int32]int64, error) {
	l, err := c.admin.ListEndOffsets(ctx, topic)
	offsets := map[int32]int64{}
	for p, at := range l[topic] {
		offsets[p] = at.Offset
	}
	if err == nil {
		err = l.Error()
	}
	return offsets, err
}

func (c *client) DeleteGroup(ctx context.Context, group string) error {
	r, err := c.admin.DeleteGroup(ctx, group)
	if err != nil {
		return err
	}
	return r.Err
}

func (c *client) DeleteTopic(ctx context.Context, topic string) error {
	r, err := c.admin.DeleteTopic(ctx, topic)
	if err != nil {
		return err
	}
	return r.Err
}
