package walk

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Transactional is a Client that writes in transactions.
type Transactional interface {
	// Transactor opens a producer with a transactional id. It takes the id from the one that had it before.
	Transactor(id, topic string) (Transactor, error)
	// Values reads a topic of one partition from its start, as a reader of either isolation level: at least so many values.
	Values(ctx context.Context, topic string, committed bool, atLeast int) ([]string, error)
}

// Transactor writes values in transactions.
type Transactor interface {
	Begin() error
	Send(ctx context.Context, values ...string) error // until they are acknowledged
	End(ctx context.Context, commit bool) error
	Close()
}

// transactions commits and aborts, and takes a transactional id from the one that has it.
func (s *story) transactions() error {
	c, ok := s.client.(Transactional)
	if !ok {
		return nil
	}
	topic := s.topic + "-transactions"
	if _, err := call(func(ctx context.Context) (any, error) { return nil, s.client.CreateTopic(ctx, topic, 1) }); err != nil {
		return fmt.Errorf("create topic: %w", err)
	}
	first, err := c.Transactor(topic, topic)
	if err != nil {
		return fmt.Errorf("open transactional producer: %w", err)
	}
	defer first.Close()
	for _, t := range []struct {
		commit bool
		values []string
	}{{true, []string{"a1", "a2"}}, {false, []string{"b1", "b2"}}, {true, []string{"c1"}}} {
		if err := transact(first, t.commit, t.values...); err != nil {
			return fmt.Errorf("transaction of %v: %w", t.values, err)
		}
	}
	if err := see(c, topic, []string{"a1", "a2", "c1"}, []string{"a1", "a2", "b1", "b2", "c1"}); err != nil {
		return err
	}
	pass("transactions: committed records are read, aborted ones by a read_uncommitted reader only")
	return fence(c, topic, first)
}

func transact(t Transactor, commit bool, values ...string) error {
	if err := t.Begin(); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	_, err := call(func(ctx context.Context) (any, error) { return nil, t.Send(ctx, values...) })
	if err != nil {
		return fmt.Errorf("send: %w", err)
	}
	_, err = call(func(ctx context.Context) (any, error) { return nil, t.End(ctx, commit) })
	return err
}

func see(c Transactional, topic string, committed, all []string) error {
	for level, want := range map[bool][]string{true: committed, false: all} {
		got, err := call(func(ctx context.Context) ([]string, error) { return c.Values(ctx, topic, level, len(want)) })
		if err != nil || !slices.Equal(got, want) {
			return fmt.Errorf("read %s, committed %t: %v, due %v, %w", topic, level, got, want, err)
		}
	}
	return nil
}

// fence leaves a transaction open and takes its id.
func fence(c Transactional, topic string, first Transactor) error {
	if err := first.Begin(); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	if _, err := call(func(ctx context.Context) (any, error) { return nil, first.Send(ctx, "d1") }); err != nil {
		return fmt.Errorf("send: %w", err)
	}
	second, err := c.Transactor(topic, topic)
	if err != nil {
		return fmt.Errorf("take the transactional id: %w", err)
	}
	defer second.Close()
	if err := transact(second, true, "e1"); err != nil {
		return fmt.Errorf("transaction of the one that took the id: %w", err)
	}
	if _, err := call(func(ctx context.Context) (any, error) { return nil, first.End(ctx, true) }); err == nil {
		return errors.New("the producer whose transactional id was taken could commit")
	}
	if err := see(c, topic, []string{"a1", "a2", "c1", "e1"}, []string{"a1", "a2", "b1", "b2", "c1", "d1", "e1"}); err != nil {
		return err
	}
	pass("transactions: the producer whose id was taken cannot commit, and its records are not read")
	return nil
}
