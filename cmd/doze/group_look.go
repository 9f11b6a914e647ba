package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// lookedAtGroup is what the four kinds of groups have in common.
type lookedAtGroup struct {
	name, kind, state string
	members           []groupMember
}

type groupMember struct {
	id, client, host string
	assigned         []string // "topic: 0 1"
}

// lookAtGroup asks with the request of the group's kind.
func lookAtGroup(ctx context.Context, admin *administrator, name string) (*lookedAtGroup, error) {
	listed, err := admin.ListGroups(ctx)
	if err != nil {
		return nil, fmt.Errorf("list groups: %w", err)
	}
	in, there := listed[name]
	if !there {
		return nil, noGroup(name)
	}
	g := &lookedAtGroup{name: name, kind: strings.ToLower(in.GroupType), state: in.State}
	look := map[string]func(context.Context, *administrator) error{"consumer": g.consumer, "share": g.share, "streams": g.streams}[g.kind]
	if look == nil {
		look = g.classic
	}
	if err := look(ctx, admin); err != nil {
		return nil, fmt.Errorf("describe group %s: %w", name, err)
	}
	return g, nil
}

func (g *lookedAtGroup) classic(ctx context.Context, admin *administrator) error {
	all, err := admin.DescribeGroups(ctx, g.name)
	if err != nil {
		return err
	}
	one := all[g.name]
	if g.state = one.State; one.Err != nil {
		return one.Err
	}
	for _, m := range one.Members {
		member := groupMember{id: m.MemberID, client: m.ClientID, host: m.ClientHost}
		if assigned, ok := m.Assigned.AsConsumer(); ok {
			for _, t := range assigned.Topics {
				member.assigned = append(member.assigned, partitionsOf(t.Topic, t.Partitions))
			}
		}
		g.members = append(g.members, member)
	}
	return nil
}

func (g *lookedAtGroup) consumer(ctx context.Context, admin *administrator) error {
	all, err := admin.DescribeConsumerGroups(ctx, g.name)
	if err != nil {
		return err
	}
	one := all[g.name]
	if g.state = one.State; one.Err != nil {
		return one.Err
	}
	for _, m := range one.Members {
		g.members = append(g.members, groupMember{m.MemberID, m.ClientID, m.ClientHost, assignedSet(m.Assignment)})
	}
	return nil
}

func (g *lookedAtGroup) share(ctx context.Context, admin *administrator) error {
	all, err := admin.DescribeShareGroups(ctx, g.name)
	if err != nil {
		return err
	}
	one := all[g.name]
	if g.state = one.GroupState; one.Err != nil {
		return one.Err
	}
	for _, m := range one.Members {
		g.members = append(g.members, groupMember{m.MemberID, m.ClientID, m.ClientHost, assignedSet(m.Assignment)})
	}
	return nil
}

// streams asks the coordinator by hand: kadm has no request of this kind, and kgo does not know where it belongs.
func (g *lookedAtGroup) streams(ctx context.Context, admin *administrator) error {
	req := kmsg.NewPtrStreamsGroupDescribeRequest()
	req.Groups = []string{g.name}
	coordinator := admin.FindGroupCoordinators(ctx, g.name)[g.name]
	if coordinator.Err != nil {
		return coordinator.Err
	}
	answer, err := admin.kafka.Broker(int(coordinator.NodeID)).RetriableRequest(ctx, req)
	if err != nil {
		return err
	}
	resp, ok := answer.(*kmsg.StreamsGroupDescribeResponse)
	if !ok {
		return fmt.Errorf("the coordinator answers with %T", answer)
	}
	for _, one := range resp.Groups {
		if err := codeError(one.ErrorCode, one.ErrorMessage); err != nil {
			return err
		}
		g.state = one.State
		for _, m := range one.Members {
			member := groupMember{id: m.MemberID, client: m.ClientID, host: m.ClientHost}
			for _, task := range m.Assignment.ActiveTasks {
				member.assigned = append(member.assigned, partitionsOf("subtopology "+task.SubtopologyID, task.Partitions))
			}
			g.members = append(g.members, member)
		}
	}
	return nil
}

func assignedSet(set kadm.TopicsSet) []string {
	var all []string
	for _, t := range set.Sorted() {
		all = append(all, partitionsOf(t.Topic, t.Partitions))
	}
	return all
}

func partitionsOf(topic string, partitions []int32) string {
	slices.Sort(partitions)
	var b strings.Builder
	b.WriteString(topic + ":")
	for _, p := range partitions {
		fmt.Fprintf(&b, " %d", p)
	}
	return b.String()
}

func (g *lookedAtGroup) memberRows() [][]field {
	var rows [][]field
	for _, m := range g.members {
		rows = append(rows, []field{
			{Name: "member", Value: m.id}, {Name: "client", Value: m.client}, {Name: "host", Value: m.host}, {Name: "assigned", Value: strings.Join(m.assigned, ", ")},
		})
	}
	return rows
}
