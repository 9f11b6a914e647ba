package handlers

import (
	"context"
	"slices"

	"doze/acls"
	"doze/journal"
	"doze/projections"
)

// A member may be subscribed to a regular expression, in RE2's syntax, which must match a topic's whole name. What topics it
// stands for is worked out outside the journal's loop, on a published state, a moment after the heartbeat that brought it
// and again when topics have been created; the outcome is an event.

// regexIntervalMs is how long a group's regular expressions are not held against the topics again.
const regexIntervalMs = 1_000

// maxGroupRegexes is how many different regular expressions of a group are held against the topics.
const maxGroupRegexes = 100

// resolve works out what topics the regular expressions of a group stand for.
func (c *coordinator) resolve(ctx context.Context, due *deadline) {
	group := due.key.group
	state := c.view()
	visible, isKnown := c.visibleTo(state, group)
	if !isKnown {
		c.fired(due, nil)
		return
	}
	resolved := resolveAll(state, regexesOf(state, group), visible)
	err := c.update(ctx, journal.Timed(due.key.kind.String()), func(d *groupDecision) { d.regexesResolved(group, resolved) })
	c.fired(due, err)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.current[group]
	known.created, known.resolvedAt = state.Topics.Created(), c.clock.NowMillis()
	c.current[group] = known
}

// visibleTo tells topics that the member may describe on whose account regular expressions are resolved, as in Kafka the one
// whose heartbeat came last. Nobody is known after a start: the next heartbeat has them resolved.
func (c *coordinator) visibleTo(state *projections.State, group string) (visible func(topic string) bool, known bool) {
	if c.guard == nil {
		return func(string) bool { return true }, true
	}
	c.mu.Lock()
	caller := c.current[group].caller
	c.mu.Unlock()
	caller.set = c.guard.set(state)
	return func(topic string) bool { return caller.may(acls.Describe, acls.Topic, topic) }, caller.guarded()
}

// regexesOf are the different regular expressions that members of the group are subscribed to, in order.
func regexesOf(state *projections.State, group string) (patterns []string) {
	g := state.Groups.Get(group)
	if g == nil || g.Consumer == nil {
		return nil
	}
	for _, m := range g.Consumer.Members {
		if m.Regex == "" || slices.Contains(patterns, m.Regex) {
			continue
		}
		if patterns = append(patterns, m.Regex); len(patterns) == maxGroupRegexes {
			break
		}
	}
	slices.Sort(patterns)
	return patterns
}

// resolveAll holds patterns against all topics, as many of them as take no more than maxPatternWork; the others stand for what
// they stood for before.
func resolveAll(state *projections.State, patterns []string, visible func(string) bool) (resolved []journal.ResolvedRegex) {
	bytes, work := int64(0), int64(0)
	state.Topics.Each("", func(t *projections.Topic) bool { bytes += int64(len(t.Name) + 1); return true })
	for _, pattern := range patterns {
		compiled, steps, _ := compilePattern(pattern)
		if compiled == nil { // it was good when a member brought it
			continue
		}
		if work += steps * bytes; work > maxPatternWork {
			break
		}
		r := journal.ResolvedRegex{Regex: pattern}
		state.Topics.Each("", func(t *projections.Topic) bool {
			if compiled.MatchString(t.Name) && visible(t.Name) {
				r.Topics = append(r.Topics, t.Name)
			}
			return true
		})
		resolved = append(resolved, r)
	}
	return resolved
}

// regexesResolved takes what regular expressions stand for; when that is other topics than before, the group's epoch rises.
func (d *groupDecision) regexesResolved(group string, resolved []journal.ResolvedRegex) {
	g := d.group(group)
	if g == nil || g.Consumer == nil {
		return
	}
	e := &journal.ConsumerRegexesResolved{Group: group}
	raise := false
	for _, r := range resolved {
		before, known := g.Consumer.Resolved(r.Regex)
		if g.Consumer.SubscribedTo(r.Regex) == 0 || known && slices.Equal(before, r.Topics) {
			continue
		}
		e.Regexes = append(e.Regexes, r)
		raise = raise || !slices.Equal(before, r.Topics)
	}
	if len(e.Regexes) > 0 {
		d.emit(e)
	}
	c := d.group(group).Consumer
	if hash := d.readHash(c); raise || hash != c.Hash {
		d.emit(&journal.ConsumerEpochRaised{Group: group, Epoch: c.Epoch + 1, Reason: journal.EpochRegexResolved, Hash: hash})
	}
}
