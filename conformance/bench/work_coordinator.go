//go:build linux

package main

import (
	"context"
	"fmt"

	"doze/conformance/bench/load"
)

// createTopics creates topics of ten partitions, one a request.
type createTopics struct {
	s    *subject
	conn *load.Conn
	made int
}

func newCreateTopics(s *subject) workload { return &createTopics{s: s} }

func (w *createTopics) prepare(context.Context) (err error) {
	w.conn, err = load.Dial(w.s.broker.Addr)
	return err
}

func (w *createTopics) measure(ctx context.Context) (sample, error) {
	n := w.s.size(10, 50)
	cpu, wall, err := w.s.cost(func() error {
		return repeat(ctx, n, func() error {
			w.made++
			_, err := load.CreateTopics(w.conn, []string{w.s.name(fmt.Sprint(w.made))}, 10, nil)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return sample{"cpu": perUnit(cpu, n), "wall": perUnit(wall, n)}, nil
}

func (w *createTopics) close() {
	if w.conn != nil {
		w.conn.Close()
	}
}

// offsetCommit commits the offset of one partition, as a group without members.
type offsetCommit struct {
	s    *subject
	conn *load.Conn
	ask  func() error
}

func newOffsetCommit(s *subject) workload { return &offsetCommit{s: s} }

func (w *offsetCommit) prepare(context.Context) error {
	topic, err := w.s.topic("data", 1, nil)
	if err != nil {
		return err
	}
	if w.conn, err = w.s.coordinator(w.s.name("group")); err != nil {
		return err
	}
	req := load.OffsetCommitRequest(w.s.name("group"), []load.Topic{topic}, 7)
	frame := load.Frame(req)
	w.ask = func() error {
		answer, err := w.conn.Exchange(frame)
		if err != nil {
			return err
		}
		return load.CheckOffsetCommit(req, answer)
	}
	return untilServed(w.ask)
}

// coordinator returns a connection on which the group's coordinator answers.
func (s *subject) coordinator(group string) (*load.Conn, error) {
	c, err := load.Dial(s.broker.Addr)
	if err != nil {
		return nil, err
	}
	if err := load.FindCoordinator(c, group); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (w *offsetCommit) measure(ctx context.Context) (sample, error) {
	n := w.s.size(5000, 20000)
	cpu, wall, err := w.s.cost(func() error { return repeat(ctx, n, w.ask) })
	if err != nil {
		return nil, err
	}
	return sample{"cpu": perUnit(cpu, n), "wall": perUnit(wall, n)}, nil
}

func (w *offsetCommit) close() {
	if w.conn != nil {
		w.conn.Close()
	}
}

// groupToStable brings new groups of one member to stable; what they leave behind is taken away unmeasured.
type groupToStable struct {
	s     *subject
	conn  *load.Conn
	group int
}

func newGroupToStable(s *subject) workload { return &groupToStable{s: s} }

func (w *groupToStable) prepare(context.Context) (err error) {
	w.conn, err = w.s.coordinator(w.s.name("0"))
	return err
}

func (w *groupToStable) measure(ctx context.Context) (sample, error) {
	n := w.s.size(500, 2000)
	var members []load.Member
	cpu, wall, err := w.s.cost(func() error {
		return repeat(ctx, n, func() error {
			w.group++
			return untilServed(func() error {
				m, err := load.JoinAlone(w.conn, w.s.name(fmt.Sprint(w.group)))
				members = append(members, m)
				return err
			})
		})
	})
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		if err := load.Leave(w.conn, m); err != nil {
			return nil, err
		}
	}
	return sample{"cpu": perUnit(cpu, n), "wall": perUnit(wall, n)}, nil
}

func (w *groupToStable) close() {
	if w.conn != nil {
		w.conn.Close()
	}
}
