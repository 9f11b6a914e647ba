package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
)

// groupCmd has the commands that look at groups of all four kinds and change them.
type groupCmd struct {
	List     groupListCmd     `cmd:"" help:"List groups."`
	Describe groupDescribeCmd `cmd:"" help:"Show a group: its members, offsets and lag."`
	Reset    groupResetCmd    `cmd:"" help:"Move a group's offsets: shows what would change, and does it with --execute."`
	Delete   groupDeleteCmd   `cmd:"" help:"Delete groups without members."`
}

type groupListCmd struct {
	clientFlags
	JSON bool `help:"Print a JSON array." name:"json"`
}

func (c *groupListCmd) Run(p *process) error {
	return c.admin(p, func(ctx context.Context, admin *administrator) error {
		groups, err := admin.ListGroups(ctx)
		if err != nil {
			return fmt.Errorf("list groups: %w", err)
		}
		var rows [][]field
		for _, g := range groups.Sorted() {
			rows = append(rows, []field{
				{Name: "group", Value: g.Group}, {Name: "type", Value: strings.ToLower(g.GroupType)}, {Name: "state", Value: g.State},
				{Name: "protocol", Value: g.ProtocolType},
			})
		}
		return printList(p, c.JSON, rows, "no groups; one comes with its first member: doze consume TOPIC --group NAME")
	})
}

type groupDescribeCmd struct {
	clientFlags
	Group string `arg:"" help:"Name of the group."`
	JSON  bool   `help:"Print a JSON object." name:"json"`
}

func (c *groupDescribeCmd) Run(p *process) error {
	return c.admin(p, func(ctx context.Context, admin *administrator) error {
		g, err := lookAtGroup(ctx, admin, c.Group)
		if err != nil {
			return err
		}
		offsets, err := g.offsets(ctx, admin)
		if err != nil {
			return err
		}
		return printReport(p.stdout, c.JSON, &report{
			about: []field{{Name: "group", Value: g.name}, {Name: "type", Value: g.kind}, {Name: "state", Value: g.state}},
			sections: []section{
				{name: "members", rows: g.memberRows()},
				{name: "offsets", rows: offsets.rows()},
			},
		})
	})
}

// groupOffset is where a group stands in a partition. commit is -1 for nowhere, lag -1 for unknown.
type groupOffset struct {
	topic       string
	partition   int32
	commit, end int64
	lag         int64
}

type groupOffsets []groupOffset

// offsets are the group's, by topic and partition.
func (g *lookedAtGroup) offsets(ctx context.Context, admin *administrator) (groupOffsets, error) {
	var all groupOffsets
	var topics []string
	if g.kind == "share" {
		answers, err := admin.DescribeShareGroupOffsets(ctx, g.name)
		if err == nil {
			err = answers[g.name].Err
		}
		if err != nil {
			return nil, fmt.Errorf("fetch offsets of group %s: %w", g.name, err)
		}
		for topic, partitions := range answers[g.name].Offsets {
			topics = append(topics, topic)
			for _, o := range partitions {
				all = append(all, groupOffset{topic, o.Partition, o.StartOffset, -1, o.Lag})
			}
		}
	} else {
		answers, err := admin.FetchOffsets(ctx, g.name)
		if err != nil {
			return nil, fmt.Errorf("fetch offsets of group %s: %w", g.name, err)
		}
		topics = answers.Offsets().TopicsSet().Topics()
		answers.Each(func(o kadm.OffsetResponse) {
			all = append(all, groupOffset{o.Topic, o.Partition, o.At, -1, -1})
		})
	}
	return all.withEnds(ctx, admin, topics)
}

// withEnds adds the ends of the logs and, where it is not known, the lag: for a reader of committed records the last stable
// offset is the end.
func (all groupOffsets) withEnds(ctx context.Context, admin *administrator, topics []string) (groupOffsets, error) {
	slices.SortFunc(all, func(a, b groupOffset) int {
		if by := strings.Compare(a.topic, b.topic); by != 0 {
			return by
		}
		return int(a.partition) - int(b.partition)
	})
	if len(topics) == 0 {
		return all, nil
	}
	ends, err := admin.ListCommittedOffsets(ctx, topics...)
	if err != nil {
		return nil, fmt.Errorf("list ends of logs: %w", err)
	}
	for i := range all {
		o := &all[i]
		if end, ok := ends.Lookup(o.topic, o.partition); ok && end.Err == nil {
			o.end = end.Offset
			if o.lag < 0 && o.commit >= 0 {
				o.lag = max(o.end-o.commit, 0)
			}
		}
	}
	return all, nil
}

func (all groupOffsets) rows() [][]field {
	var rows [][]field
	for _, o := range all {
		rows = append(rows, []field{
			{Name: "topic", Value: o.topic}, {Name: "partition", Value: int64(o.partition)}, {Name: "committed", Value: o.commit},
			{Name: "end", Value: o.end}, {Name: "lag", Value: o.lag},
		})
	}
	return rows
}

type groupDeleteCmd struct {
	clientFlags
	Groups []string `arg:"" name:"group" help:"Names of groups."`
}

func (c *groupDeleteCmd) Run(p *process) error {
	return c.admin(p, func(ctx context.Context, admin *administrator) error {
		var errs []error
		for _, name := range c.Groups {
			_, err := admin.DeleteGroup(ctx, name)
			switch {
			case errors.Is(err, kerr.NonEmptyGroup):
				err = fmt.Errorf("delete group %s: it has members; stop them first, doze group describe %s names them", name, name)
			case errors.Is(err, kerr.GroupIDNotFound):
				err = noGroup(name)
			case err != nil:
				err = fmt.Errorf("delete group %s: %w", name, err)
			}
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	})
}

func noGroup(name string) error {
	return fmt.Errorf("there is no group %s; doze group list shows those there are", name)
}
