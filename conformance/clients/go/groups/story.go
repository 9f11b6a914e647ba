package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// story is the walk of one group.
type story struct {
	kind, group, topic string
	kgo                *kgo.Client
	admin              *kadm.Client
	book               *ledger
	hosts              []*host
	at                 map[string]*host // by member
	stop               chan struct{}
	streamed           chan int
}

func newStory(kind string) (*story, error) {
	name := os.Getenv("CLIENT") + "-" + kind
	s := &story{kind: kind, group: "group-" + name, topic: "walk-" + name, book: newLedger(), at: map[string]*host{}, stop: make(chan struct{}), streamed: make(chan int, 1)}
	var err error
	if s.kgo, err = kgo.NewClient(kgo.SeedBrokers(os.Getenv("BOOTSTRAP")), kgo.DefaultProduceTopic(s.topic), kgo.RecordPartitioner(kgo.RoundRobinPartitioner())); err != nil {
		return nil, err
	}
	s.admin = kadm.NewClient(s.kgo)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := s.admin.CreateTopic(ctx, partitions, 1, nil, s.topic); err != nil {
		return nil, err
	}
	if kind == "share" {
		req := kmsg.NewPtrIncrementalAlterConfigsRequest()
		r := kmsg.NewIncrementalAlterConfigsRequestResource()
		r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeGroupConfig, s.group
		r.Configs = []kmsg.IncrementalAlterConfigsRequestResourceConfig{{Name: "share.auto.offset.reset", Value: kmsg.StringPtr("earliest")}}
		req.Resources = append(req.Resources, r)
		if _, err := req.RequestWith(ctx, s.kgo); err != nil {
			return nil, err
		}
	}
	go s.stream()
	return s, nil
}

// stream produces one record after the other, until it is stopped.
func (s *story) stream() {
	pace := time.NewTicker(10 * time.Millisecond)
	defer pace.Stop()
	for sent := 0; ; sent++ {
		select {
		case <-s.stop:
			s.streamed <- sent
			return
		case <-pace.C:
			s.kgo.ProduceSync(context.Background(), kgo.StringRecord(fmt.Sprint(sent)))
		}
	}
}

func (s *story) close() {
	for _, h := range s.hosts {
		h.close()
	}
	s.kgo.Close()
}

func (s *story) pass(format string, args ...any) {
	fmt.Println("PASS " + s.kind + ": " + fmt.Sprintf(format, args...))
}

func (s *story) host() (*host, error) {
	h, err := startHost(s.kind, s.group, s.topic, s.book)
	if err == nil {
		s.hosts = append(s.hosts, h)
	}
	return h, err
}

// join has members join; a name that begins with "s" is that of a static member, whose instance id it is.
func (s *story) join(h *host, names ...string) error {
	for _, name := range names {
		instance := "-"
		if strings.HasPrefix(name, "s") && s.kind != "share" {
			instance = name[:2]
		}
		h.names[name], s.at[name] = true, h
		if err := h.tell("join", name, instance); err != nil {
			return err
		}
	}
	return nil
}

func (s *story) members() []string { return slices.Sorted(maps.Keys(s.at)) }

// settled waits until the members have all partitions between them, as evenly as can be.
func (s *story) settled() error {
	members := s.members()
	return until(fmt.Sprintf("%d members to share %d partitions", len(members), partitions), func(ctx context.Context) (bool, string) {
		has, err := s.book.partitionsOf(members), error(nil)
		if s.kind == "share" {
			has, err = s.sharers(ctx)
		}
		if err != nil {
			return false, err.Error()
		}
		return s.even(has), fmt.Sprint(has)
	})
}

// even tells whether each has as many as another, but for one. In a share group two may have the same partition.
func (s *story) even(has map[string][]int) bool {
	least, most, all, sum := partitions, 0, map[int]bool{}, 0
	for _, list := range has {
		least, most, sum = min(least, len(list)), max(most, len(list)), sum+len(list)
		for _, p := range list {
			all[p] = true
		}
	}
	return len(has) == len(s.at) && len(all) == partitions && most-least <= 1 && (sum == partitions || s.kind == "share")
}

// sharers is what the broker says that the members of a share group have.
func (s *story) sharers(ctx context.Context) (map[string][]int, error) {
	req := kmsg.NewPtrShareGroupDescribeRequest()
	req.GroupIDs = []string{s.group}
	resp, err := req.RequestWith(ctx, s.kgo)
	if err != nil || len(resp.Groups) != 1 {
		return nil, fmt.Errorf("describe group: %w", err)
	}
	out := map[string][]int{}
	for _, m := range resp.Groups[0].Members {
		out[m.MemberID] = nil
		for _, t := range m.Assignment.TopicPartitions {
			for _, p := range t.Partitions {
				out[m.MemberID] = append(out[m.MemberID], int(p))
			}
		}
	}
	return out, nil
}

func (s *story) two() error {
	h, err := s.host()
	if err != nil {
		return err
	}
	if err := s.join(h, "m0", "m1"); err != nil {
		return err
	}
	return s.settled()
}

func (s *story) ten() error {
	parts := [][]string{{"s0", "m2", "m3"}, {"m4", "m5", "m6"}, {"s1", "m7"}}
	var more []*host
	for range parts {
		h, err := s.host()
		if err != nil {
			return err
		}
		more = append(more, h)
	}
	for i, names := range parts {
		if err := s.join(more[i], names...); err != nil {
			return err
		}
	}
	if err := s.settled(); err != nil {
		return err
	}
	s.pass("two members shared %d partitions, then ten in four processes", partitions)
	return nil
}

func (s *story) interrupt(c *crossing, how string) error {
	if err := c.cross(how); err != nil {
		return err
	}
	if err := s.caughtUp(); err != nil {
		return fmt.Errorf("after a %s: %w", how, err)
	}
	if err := s.settled(); err != nil {
		return fmt.Errorf("after a %s: %w", how, err)
	}
	s.pass("%d members went on across a %s of the broker", len(s.at), how)
	return nil
}

// caughtUp waits until what is in the topic now was read.
func (s *story) caughtUp() error {
	var ends map[int32]int64
	return until("what is in the topic to be read", func(ctx context.Context) (bool, string) {
		if ends == nil {
			listed, err := s.admin.ListEndOffsets(ctx, s.topic)
			if err != nil || listed.Error() != nil {
				return false, fmt.Sprint(err, listed.Error())
			}
			ends = map[int32]int64{}
			listed.Each(func(o kadm.ListedOffset) { ends[o.Partition] = o.Offset })
		}
		n := s.book.missing(ends)
		return n == 0, fmt.Sprintf("%d records are missing", n)
	})
}

// killHost kills the process that a member is in, and tells which members that were.
func (s *story) killHost(member string) (names []string) {
	h := s.at[member]
	h.kill(s.book)
	for name := range h.names {
		names = append(names, name)
		delete(s.at, name)
	}
	s.hosts = slices.DeleteFunc(s.hosts, func(other *host) bool { return other == h })
	return names
}

func (s *story) killMembers() error {
	names := s.killHost("m4")
	if err := s.settled(); err != nil {
		return fmt.Errorf("after a kill of %v: %w", names, err)
	}
	if err := s.caughtUp(); err != nil {
		return err
	}
	s.pass("a process with %d members was killed: the other %d have its partitions, nothing is lost", len(names), len(s.at))
	return nil
}

// leaves has a member go.
func (s *story) leaves(name string) error {
	h := s.at[name]
	delete(s.at, name)
	delete(h.names, name)
	if err := h.tell("leave", name); err != nil {
		return err
	}
	return until(name+" to leave", func(context.Context) (bool, string) { return s.book.left(name), "it is there" })
}

func (s *story) staticRestart() error {
	if s.kind == "share" {
		return nil
	}
	before := s.book.partitionsOf(s.members())
	h := s.at["s0"]
	if err := s.leaves("s0"); err != nil {
		return err
	}
	if err := s.join(h, "s0-again"); err != nil {
		return err
	}
	if !slices.Contains(strings.Fields(os.Getenv("KEEPS")), s.kind) {
		return s.settled()
	}
	before["s0-again"] = before["s0"]
	delete(before, "s0")
	err := until("a static member to have its partitions again", func(context.Context) (bool, string) {
		now := s.book.partitionsOf(s.members())
		return maps.EqualFunc(now, before, slices.Equal), fmt.Sprintf("%v, before %v", now, before)
	})
	if err == nil {
		s.pass("a static member went and came back to its partitions, the others kept theirs")
	}
	return err
}

// staticKilled kills the process of a static member, which comes back under its instance id in another.
func (s *story) staticKilled() error {
	s.killHost("s1")
	h, err := s.host()
	if err == nil {
		err = s.join(h, "s1-again", "m7-again")
	}
	if err == nil {
		err = s.settled()
	}
	if err == nil {
		err = s.caughtUp()
	}
	if err != nil {
		return fmt.Errorf("after a kill of a static member: %w", err)
	}
	s.pass("a process with a static member was killed and came back")
	return nil
}

func (s *story) leave() error {
	for _, name := range s.members() {
		if len(s.at) == 2 {
			break
		}
		if strings.HasPrefix(name, "s") {
			continue // its place would stay
		}
		if err := s.leaves(name); err != nil {
			return err
		}
	}
	return s.settled()
}

func (s *story) end() error {
	close(s.stop)
	sent := <-s.streamed
	if err := s.caughtUp(); err != nil {
		return err
	}
	done := s.committed
	if s.kind == "share" {
		done = s.accepted
	}
	if err := done(); err != nil {
		return err
	}
	for _, name := range s.members() {
		if err := s.leaves(name); err != nil {
			return err
		}
	}
	if err := s.book.fault(); err != nil {
		return err
	}
	s.pass("members left until there were two: of %d records none is lost, none came again after its commit; no partition had two owners", sent)
	return nil
}

// committed waits until the group's offsets are the ends of the partitions.
func (s *story) committed() error {
	return until("the group's offsets to be the ends", func(ctx context.Context) (bool, string) {
		ends, err := s.admin.ListEndOffsets(ctx, s.topic)
		if err != nil {
			return false, err.Error()
		}
		offsets, err := s.admin.FetchOffsets(ctx, s.group)
		if err != nil {
			return false, err.Error()
		}
		same := true
		ends.Each(func(o kadm.ListedOffset) {
			got, ok := offsets.Lookup(s.topic, o.Partition)
			same = same && (o.Offset == 0 || ok && got.At == o.Offset)
		})
		return same, fmt.Sprintf("%v, ends %v", offsets, ends)
	})
}

// accepted waits until the share group has nothing left to deliver or to wait for: what a member took that was killed came to
// another one, unless the broker had heard that it was accepted.
func (s *story) accepted() error {
	return until("the share group to be at the ends", func(ctx context.Context) (bool, string) {
		req := kmsg.NewPtrDescribeShareGroupOffsetsRequest()
		g := kmsg.NewDescribeShareGroupOffsetsRequestGroup()
		g.GroupID = s.group
		req.Groups = append(req.Groups, g)
		resp, err := req.RequestWith(ctx, s.kgo)
		if err != nil || len(resp.Groups) != 1 || len(resp.Groups[0].Topics) != 1 {
			return false, fmt.Sprintf("%+v %v", resp, err)
		}
		var lag int64
		for _, p := range resp.Groups[0].Topics[0].Partitions {
			lag += p.Lag
		}
		return lag == 0, fmt.Sprintf("%d records are left", lag)
	})
}
