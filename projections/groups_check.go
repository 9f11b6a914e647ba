package projections

import (
	"fmt"
	"slices"
	"strings"
)

// checkTyped is Check for a group of a later type: it has nothing of a classic one.
func (g *Group) checkTyped(t typed) error {
	switch {
	case len(g.Members)+len(g.Pending)+len(g.Subscribed) > 0 || g.Settled != nil || g.held != 0:
		return fmt.Errorf("group %q: a %s group with what a classic one has", g.ID, TypeName(g.Type))
	case (g.State == Empty) != (t.size() == 0):
		return fmt.Errorf("group %q: %s with %d members", g.ID, g.State, t.size())
	case g.State == PreparingRebalance || g.State == CompletingRebalance:
		return fmt.Errorf("group %q: a %s group is %s", g.ID, TypeName(g.Type), g.State)
	}
	return t.check(g)
}

// Check says what is inconsistent in the group, if anything is.
func (g *Group) Check() error {
	if t := g.typed(); t != nil {
		return g.checkTyped(t)
	}
	waiting, counts := 0, &Group{}
	for _, m := range g.Members {
		if m.Rejoins {
			waiting++
		}
		counts.count(m.Protocols, 1)
	}
	if rebalances := g.State == PreparingRebalance || g.State == CompletingRebalance; rebalances != (g.Settled != nil) {
		return fmt.Errorf("group %q: %s, and what it was before a rebalance: %v", g.ID, g.State, g.Settled)
	}
	if g.Settled != nil {
		if err := g.Settled.Check(); err != nil {
			return fmt.Errorf("before the rebalance: %w", err)
		}
	}
	leads := g.Member(g.Leader) != nil
	switch {
	case g.held != g.heldAnew():
		return fmt.Errorf("group %q: %d bytes, %d counted", g.ID, g.heldAnew(), g.held)
	case waiting != g.Waiting:
		return fmt.Errorf("group %q: %d members wait, %d counted", g.ID, waiting, g.Waiting)
	case !slices.Equal(counts.Counts, g.Counts):
		return fmt.Errorf("group %q: protocols %v, counted %v", g.ID, counts.Counts, g.Counts)
	case leads != (len(g.Members) > 0) || !leads && g.Leader != "":
		return fmt.Errorf("group %q: leader %q of %d members", g.ID, g.Leader, len(g.Members))
	case g.State == Empty && len(g.Members) > 0:
		return fmt.Errorf("group %q: Empty with %d members", g.ID, len(g.Members))
	case (g.State == CompletingRebalance || g.State == Stable) && (waiting > 0 || len(g.Members) == 0):
		return fmt.Errorf("group %q: %s with %d members, %d of them in the join phase", g.ID, g.State, len(g.Members), waiting)
	case !slices.IsSortedFunc(g.Members, func(a, b *Member) int { return strings.Compare(a.ID, b.ID) }):
		return fmt.Errorf("group %q: members out of order", g.ID)
	}
	for _, p := range g.Pending {
		if g.Member(p.ID) != nil {
			return fmt.Errorf("group %q: %q is both a member and an id handed out", g.ID, p.ID)
		}
	}
	return nil
}
