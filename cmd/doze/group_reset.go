package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
)

// groupResetCmd moves a group's offsets.
type groupResetCmd struct {
	clientFlags
	Group     string   `arg:"" help:"Name of the group. Of classic and consumer groups one that is not there yet will do."`
	To        string   `help:"Where to: beginning, end, current, OFFSET, -N before the end, a time, or 10m for ten minutes ago." placeholder:"POSITION" xor:"where"`
	Shift     *int64   `help:"By how many records: 5 forward, -5 back." placeholder:"N" xor:"where"`
	Topic     []string `help:"Topic to move in. May be repeated. Default: all that the group has offsets for." placeholder:"NAME"`
	Partition []int32  `help:"Partition to move in. May be repeated. Default: all." placeholder:"N"`
	Execute   bool     `help:"Do it. Without it nothing changes."`
	JSON      bool     `help:"Print a JSON object." name:"json"`
}

// Help is shown below the flags.
func (*groupResetCmd) Help() string {
	return `A group with members cannot be moved: stop them first.

Examples:
  doze group reset billing --to beginning
  doze group reset billing --to 2026-01-31T12:00:00Z --topic orders --execute
  doze group reset billing --shift=-10 --partition 0 --execute`
}

// move is what a reset does to one partition.
type move struct {
	topic     string
	partition int32
	from, to  int64
	end       int64
}

// Run shows the moves, and makes them if it is asked to.
func (c *groupResetCmd) Run(p *process) error {
	if c.To == "" && c.Shift == nil {
		return usageError{errors.New("reset has no target; add --to beginning, --to end, --to TIME or --shift N")}
	}
	var to position
	if c.To != "" {
		var err error
		if to, err = parsePosition(c.To, time.Now()); err != nil {
			return usageError{fmt.Errorf("--to: %w", err)}
		}
	}
	return c.admin(p, func(ctx context.Context, admin *administrator) error {
		g, err := c.lookOrNew(ctx, admin)
		if err != nil {
			return err
		}
		moves, err := c.plan(ctx, admin, g, to)
		if err != nil {
			return err
		}
		if len(moves) == 0 {
			return fmt.Errorf("group %s has no offsets to move; name a topic with --topic", c.Group)
		}
		if hindrance := g.hindrance(); hindrance != nil && c.Execute {
			return hindrance
		}
		if c.Execute {
			if err := commitMoves(ctx, admin, g, moves); err != nil {
				return err
			}
		}
		return c.tell(p, g, moves)
	})
}

// lookOrNew looks at the group; one that is not there is made by the first offset, when a topic says where.
func (c *groupResetCmd) lookOrNew(ctx context.Context, admin *administrator) (*lookedAtGroup, error) {
	g, err := lookAtGroup(ctx, admin, c.Group)
	if err != nil && len(c.Topic) > 0 {
		listed, listErr := admin.ListGroups(ctx)
		if _, there := listed[c.Group]; listErr == nil && !there {
			return &lookedAtGroup{name: c.Group, kind: "classic", state: "new"}, nil
		}
	}
	return g, err
}

// hindrance is why the group cannot be moved, or nil.
func (g *lookedAtGroup) hindrance() error {
	if len(g.members) == 0 {
		return nil
	}
	var who []string
	for _, m := range g.members {
		who = append(who, fmt.Sprintf("%s at %s", m.client, m.host))
	}
	return fmt.Errorf("group %s is %s and has members, whose offsets are theirs (%s); stop them first", g.name, strings.ToLower(g.state), strings.Join(who, ", "))
}

// plan works out the moves.
func (c *groupResetCmd) plan(ctx context.Context, admin *administrator, g *lookedAtGroup, to position) ([]move, error) {
	var now groupOffsets
	if g.state != "new" {
		var err error
		if now, err = g.offsets(ctx, admin); err != nil {
			return nil, err
		}
	}
	topics := c.Topic
	if len(topics) == 0 {
		for _, o := range now {
			topics = append(topics, o.topic)
		}
		slices.Sort(topics)
		topics = slices.Compact(topics)
	}
	if len(topics) == 0 {
		return nil, nil
	}
	target, err := to.offsets(ctx, admin, true, topics...)
	if err != nil {
		return nil, err
	}
	starts, err := position{kind: "beginning"}.offsets(ctx, admin, true, topics...)
	if err != nil {
		return nil, err
	}
	ends, err := position{kind: "end"}.offsets(ctx, admin, true, topics...)
	if err != nil {
		return nil, err
	}
	return c.moves(topics, now, target, starts, ends), nil
}

func (c *groupResetCmd) moves(topics []string, now groupOffsets, target, starts, ends map[string]map[int32]int64) []move {
	committed := map[string]map[int32]int64{}
	for _, o := range now {
		if committed[o.topic] == nil {
			committed[o.topic] = map[int32]int64{}
		}
		committed[o.topic][o.partition] = o.commit
	}
	var moves []move
	for _, topic := range topics {
		for partition := range int32(len(target[topic])) {
			if len(c.Partition) > 0 && !slices.Contains(c.Partition, partition) {
				continue
			}
			from, has := committed[topic][partition]
			if !has {
				from = -1
			}
			m := move{topic, partition, from, target[topic][partition], ends[topic][partition]}
			switch {
			case (c.Shift != nil || c.To == "current") && from < 0:
				continue // there is nothing to begin from
			case c.Shift != nil:
				m.to = min(max(from+*c.Shift, starts[topic][partition]), m.end)
			case c.To == "current":
				m.to = from
			}
			moves = append(moves, m)
		}
	}
	return moves
}

func commitMoves(ctx context.Context, admin *administrator, g *lookedAtGroup, moves []move) error {
	offsets := kadm.Offsets{}
	for _, m := range moves {
		offsets.AddOffset(m.topic, m.partition, m.to, -1)
	}
	var err error
	if g.kind == "share" {
		var answers kadm.AlterShareGroupOffsetsResponses
		if answers, err = admin.AlterShareGroupOffsets(ctx, g.name, offsets); err == nil {
			err = answers.Error()
		}
	} else {
		err = admin.CommitAllOffsets(ctx, g.name, offsets)
	}
	if errors.Is(err, kerr.UnknownMemberID) || errors.Is(err, kerr.NonEmptyGroup) {
		return fmt.Errorf("move group %s: somebody has joined it meanwhile; stop its members first", g.name)
	}
	if err != nil {
		return fmt.Errorf("move group %s: %w", g.name, err)
	}
	return nil
}

// tell prints the moves.
func (c *groupResetCmd) tell(p *process, g *lookedAtGroup, moves []move) error {
	var rows [][]field
	for _, m := range moves {
		rows = append(rows, []field{
			{Name: "topic", Value: m.topic}, {Name: "partition", Value: int64(m.partition)}, {Name: "from", Value: m.from},
			{Name: "to", Value: m.to}, {Name: "end", Value: m.end}, {Name: "lag", Value: m.end - m.to},
		})
	}
	about := []field{{Name: "group", Value: g.name}, {Name: "moved", Value: c.Execute}}
	note := ""
	if !c.Execute {
		note = "nothing has changed; add --execute"
		if hindrance := g.hindrance(); hindrance != nil {
			note = "nothing has changed, and could not: " + hindrance.Error()
		}
	}
	return printReport(p.stdout, c.JSON, &report{about: about, sections: []section{{name: "offsets", rows: rows, note: note}}})
}
