// Command groups walks groups of two to ten members in processes of their own, which join, leave, are killed and come back, while
// the broker is restarted and killed: every partition has one owner at a time, nothing is lost, and nothing is read twice that was
// committed. The members are a host's: a program that runs members of one client library (hosts.go says how the two talk). Without
// HOST the hosts are this program itself, whose members are franz-go's.
//
//	KINDS  the kinds of groups to walk, side by side: classic, consumer, share
//	HOST   the command line of a host
//	KEEPS  the kinds in which the library keeps the place of a static member that leaves in good order
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

const (
	partitions = 12
	// patience is for a rebalance, which may have to wait for a session of a killed member to end.
	patience = 90 * time.Second
)

func main() {
	if len(os.Args) > 2 && os.Args[1] == "--host" {
		serveHost(os.Args[2])
		return
	}
	kinds := strings.Fields(os.Getenv("KINDS"))
	crossing := &crossing{in: bufio.NewReader(os.Stdin), walkers: len(kinds)}
	crossing.all.L = &crossing.mu
	errs := make(chan error, len(kinds))
	for _, kind := range kinds {
		go func() { errs <- walk(kind, crossing) }()
	}
	for range kinds {
		if err := <-errs; err != nil {
			fmt.Println("FAIL", err)
			os.Exit(1)
		}
	}
}

func walk(kind string, c *crossing) (err error) {
	s, err := newStory(kind)
	if err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	defer s.close()
	steps := []func() error{
		s.two, s.ten,
		func() error { return s.interrupt(c, "restart") },
		s.killMembers, s.staticRestart, s.staticKilled,
		func() error { return s.interrupt(c, "kill") },
		s.leave, s.end,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
		if err := s.book.fault(); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	return nil
}

// crossing has the broker restarted or killed when all stories have come so far.
type crossing struct {
	in      *bufio.Reader
	walkers int

	mu      sync.Mutex
	all     sync.Cond
	waiting int
	turn    int
	err     error
}

func (c *crossing) cross(how string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting++
	if turn := c.turn; c.waiting < c.walkers {
		for c.turn == turn {
			c.all.Wait()
		}
		return c.err
	}
	fmt.Println("@" + how)
	if _, err := c.in.ReadString('\n'); err != nil {
		c.err = fmt.Errorf("wait for %s: %w", how, err)
	}
	c.waiting = 0
	c.turn++
	c.all.Broadcast()
	return c.err
}

// until polls a condition until it holds.
func until(what string, holds func(context.Context) (bool, string)) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		ok, seen := holds(ctx)
		if ok {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%s: not within %s: %s", what, patience, seen)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
