package walk

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

const (
	partitions = 4
	patience   = 60 * time.Second
)

// story is one walk under way.
type story struct {
	client       Client
	traits       Traits
	topic, group string
	book         *ledger
	producers    map[string]Producer
	a, b         Member
}

// Main walks a client against BOOTSTRAP and ends the process.
func Main(open func(bootstrap string) (Client, error)) {
	client, err := open(os.Getenv("BOOTSTRAP"))
	if err == nil {
		err = walk(client, os.Getenv("CLIENT"))
	}
	if err != nil {
		fmt.Printf("FAIL %v\n", err)
		os.Exit(1)
	}
}

func walk(client Client, name string) error {
	s := &story{client: client, traits: client.Traits(), topic: "walk-" + name, group: "group-" + name, producers: map[string]Producer{}}
	s.book = newLedger(s.traits)
	steps := []func() error{
		s.create, s.produce, s.join, s.read,
		func() error { return s.interrupt("restart") },
		func() error { return s.interrupt("kill") },
		s.leave, s.resume, s.transactions, s.describe, s.delete,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	client.Close()
	return nil
}

// call bounds one call to the client.
func call[T any](f func(ctx context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return f(ctx)
}

func (s *story) create() error {
	_, err := call(func(ctx context.Context) (any, error) { return nil, s.client.CreateTopic(ctx, s.topic, partitions) })
	if err != nil {
		return fmt.Errorf("create topic: %w", err)
	}
	err = until("topic to have its partitions", patience, func() (bool, string) {
		n, err := call(func(ctx context.Context) (int, error) { return s.client.Partitions(ctx, s.topic) })
		return n == partitions, fmt.Sprintf("%d partitions, %v", n, err)
	})
	if err == nil {
		pass("created topic %s with %d partitions", s.topic, partitions)
	}
	return err
}

// send produces records, noted first, with one compression's producer.
func (s *story) send(codec string, records []Record) error {
	s.book.send(records)
	_, err := call(func(ctx context.Context) (any, error) { return nil, s.producers[codec].Produce(ctx, records) })
	return err
}

func (s *story) produce() error {
	for _, codec := range s.traits.Codecs {
		p, err := s.client.Producer(codec, s.topic)
		if err != nil {
			return fmt.Errorf("open producer with %s: %w", codec, err)
		}
		s.producers[codec] = p
		if err := s.send(codec, s.records("first", codec)); err != nil {
			return fmt.Errorf("produce with %s: %w", codec, err)
		}
	}
	pass("produced %d records with each of %s: keys, headers, nulls", perCodec, strings.Join(s.traits.Codecs, ", "))
	return nil
}

func (s *story) records(phase, codec string) []Record {
	var rs []Record
	for i := range perCodec {
		rs = append(rs, NewRecord(phase, codec, i, s.traits))
	}
	return rs
}

func (s *story) join() (err error) {
	if s.a, err = s.client.Join(s.group, s.topic, s.book.arrive); err != nil {
		return fmt.Errorf("join first member: %w", err)
	}
	if err = s.share(s.a, partitions); err != nil {
		return err
	}
	pass("one member has all %d partitions", partitions)
	if s.b, err = s.client.Join(s.group, s.topic, s.book.arrive); err != nil {
		return fmt.Errorf("join second member: %w", err)
	}
	if err = s.shared(); err != nil {
		return err
	}
	pass("a second member joined: they have %d each", partitions/2)
	return nil
}

func (s *story) shared() error {
	return until("two members to share", patience, func() (bool, string) {
		a, b := s.a.Assigned(), s.b.Assigned()
		return a == partitions/2 && b == partitions/2, fmt.Sprintf("they have %d and %d", a, b)
	})
}

func (s *story) share(m Member, n int) error {
	return until(fmt.Sprintf("member to have %d partitions", n), patience, func() (bool, string) {
		return m.Assigned() == n, fmt.Sprintf("it has %d", m.Assigned())
	})
}

// arrivals waits until all that was sent has arrived, and looks for faults.
func (s *story) arrivals() error {
	err := until("records to arrive", patience, func() (bool, string) {
		n := s.book.missing()
		return n == 0, fmt.Sprintf("%d missing", n)
	})
	if fault := s.book.check(); fault != nil {
		return fault
	}
	return err
}

// commit has the members commit until the group's offsets are the ends of what arrived. Once may be too little: a member that was
// just given a partition is not there yet, and commits where it is; one in a rebalance is refused.
func (s *story) commit(members ...Member) error {
	return until("the group's offsets to be what arrived", patience, func() (bool, string) {
		for _, m := range members {
			if _, err := call(func(ctx context.Context) (any, error) { return nil, m.Commit(ctx) }); err != nil {
				return false, err.Error()
			}
		}
		offsets, err := s.committed()
		return err == nil && s.book.commit(offsets), fmt.Sprintf("%v, %v", offsets, err)
	})
}

func (s *story) committed() (map[int32]int64, error) {
	return call(func(ctx context.Context) (map[int32]int64, error) { return s.client.Committed(ctx, s.group, s.topic) })
}

func (s *story) read() error {
	if err := s.arrivals(); err != nil {
		return err
	}
	pass("all %d records arrived as they were sent", len(s.book.sent))
	if err := s.commit(s.a, s.b); err != nil {
		return err
	}
	pass("both members committed")
	return nil
}

// interrupt does something to the broker while a producer sends, and goes on.
func (s *story) interrupt(how string) error {
	stop, acked, ended := s.stream(how)
	more := func(n int64) error {
		return until("records to be acknowledged", patience, func() (bool, string) {
			return acked.Load() >= n, fmt.Sprintf("%d of %d", acked.Load(), n)
		})
	}
	err := more(5)
	if err == nil {
		err = signal(how)
	}
	if err == nil {
		err = more(acked.Load() + 5)
	}
	close(stop)
	failed := <-ended
	if err != nil {
		return fmt.Errorf("produce across %s: %w", how, err)
	}
	for _, codec := range s.traits.Codecs {
		if err := s.send(codec, s.records(how, codec)); err != nil {
			return fmt.Errorf("produce with %s after %s: %w", codec, how, err)
		}
	}
	if err := s.arrivals(); err != nil {
		return fmt.Errorf("after %s: %w", how, err)
	}
	pass("%s: %d records acknowledged across it and %d after it arrived, nothing committed came again (%d sends failed)",
		how, acked.Load(), perCodec*len(s.traits.Codecs), failed)
	if err := s.shared(); err != nil {
		return fmt.Errorf("after %s: %w", how, err)
	}
	if err := s.commit(s.a, s.b); err != nil {
		return fmt.Errorf("after %s: %w", how, err)
	}
	pass("%s: both members committed again", how)
	return nil
}

func (s *story) leave() error {
	s.b.Close()
	if err := s.share(s.a, partitions); err != nil {
		return err
	}
	pass("the second member left: the first has all %d partitions", partitions)
	if err := s.commit(s.a); err != nil {
		return err
	}
	s.a.Close()
	return nil
}

func (s *story) resume() (err error) {
	codec := s.traits.Codecs[0]
	if err = s.send(codec, s.records("last", codec)); err != nil {
		return fmt.Errorf("produce last records: %w", err)
	}
	if s.a, err = s.client.Join(s.group, s.topic, s.book.arrive); err != nil {
		return fmt.Errorf("join new member: %w", err)
	}
	if err = s.arrivals(); err != nil {
		return fmt.Errorf("new member: %w", err)
	}
	pass("a new member got the %d new records and nothing else", perCodec)
	return s.commit(s.a)
}

func (s *story) describe() error {
	topics, err := call(s.client.Topics)
	if err != nil || !slices.Contains(topics, s.topic) {
		return fmt.Errorf("list topics: %v, %w", topics, err)
	}
	ends, err := call(func(ctx context.Context) (map[int32]int64, error) { return s.client.Ends(ctx, s.topic) })
	if err != nil || len(ends) != partitions || sum(ends) != s.book.total() {
		return fmt.Errorf("ends of the topic: %v, %d records seen, %w", ends, s.book.total(), err)
	}
	pass("topic listed; its ends are the %d records seen", sum(ends))
	groups, err := call(s.client.Groups)
	if err != nil || !slices.Contains(groups, s.group) {
		return fmt.Errorf("list groups: %v, %w", groups, err)
	}
	if err := s.state("Stable", 1); err != nil {
		return err
	}
	committed, err := s.committed()
	if err != nil || !maps.Equal(committed, ends) {
		return fmt.Errorf("committed offsets %v, ends %v, %w", committed, ends, err)
	}
	s.a.Close()
	if err := s.state("Empty", 0); err != nil {
		return err
	}
	pass("group listed and described, Stable then Empty; its offsets are the ends")
	return nil
}

func (s *story) state(want string, members int) error {
	return until("group to be "+want, patience, func() (bool, string) {
		var n int
		state, err := call(func(ctx context.Context) (st string, err error) {
			st, n, err = s.client.Group(ctx, s.group)
			return st, err
		})
		return err == nil && state == want && n == members, fmt.Sprintf("%s with %d members, %v", state, n, err)
	})
}

func (s *story) delete() error {
	for _, p := range s.producers {
		p.Close()
	}
	if _, err := call(func(ctx context.Context) (any, error) { return nil, s.client.DeleteGroup(ctx, s.group) }); err != nil {
		return fmt.Errorf("delete group: %w", err)
	}
	if err := s.gone("group", s.group, s.client.Groups); err != nil {
		return err
	}
	if _, err := call(func(ctx context.Context) (any, error) { return nil, s.client.DeleteTopic(ctx, s.topic) }); err != nil {
		return fmt.Errorf("delete topic: %w", err)
	}
	return s.gone("topic", s.topic, s.client.Topics)
}

func (s *story) gone(what, name string, list func(context.Context) ([]string, error)) error {
	err := until(what+" to be gone", patience, func() (bool, string) {
		names, err := call(list)
		return err == nil && !slices.Contains(names, name), fmt.Sprintf("%v, %v", names, err)
	})
	if err == nil {
		pass("%s %s deleted and no longer listed", what, name)
	}
	return err
}

func sum(m map[int32]int64) int64 {
	var n int64
	for _, v := range m {
		n += v
	}
	return n
}
