package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// ledger holds what all members of a group told. Hosts write to it from goroutines of their own; times put what they tell in order.
type ledger struct {
	mu       sync.Mutex
	has      map[string]map[int]int64 // partitions by member, and since when
	owned    map[int][]spell
	seen     map[int]map[int64]bool  // offsets handed to somebody, by partition
	read     []reading               // since the last look for what came twice
	commits  map[int]map[int64]int64 // by partition and offset: when it was acknowledged first
	accepted map[int]map[int64]int64 // of a share group: when a record was
	gone     map[string]bool
	faults   []string
}

// A spell is the time for which one member had a partition.
type spell struct {
	member   string
	from, to int64
	lost     bool // the group took it: the member may have heard of it late
}

type reading struct {
	member    string
	partition int
	offset    int64
	at        int64
}

func newLedger() *ledger {
	return &ledger{has: map[string]map[int]int64{}, owned: map[int][]spell{}, seen: map[int]map[int64]bool{}, commits: map[int]map[int64]int64{},
		accepted: map[int]map[int64]int64{}, gone: map[string]bool{}}
}

// hear takes one line of a host.
func (l *ledger) hear(at int64, member, what string, words []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch what {
	case "assigned":
		if l.has[member] == nil {
			l.has[member] = map[int]int64{}
		}
		for _, p := range numbers(words) {
			l.has[member][int(p)] = at
		}
	case "revoked", "lost":
		for _, p := range numbers(words) {
			l.lose(member, int(p), at, what == "lost")
		}
	case "record":
		if n := numbers(words); len(n) == 2 {
			note(l.seen, int(n[0]), n[1], true)
			l.read = append(l.read, reading{member, int(n[0]), n[1], at})
		}
	case "committed":
		l.acknowledged(l.commits, words, at)
	case "accepted":
		l.acknowledged(l.accepted, words, at)
	case "left":
		l.end(member, at)
	default:
		l.faults = append(l.faults, fmt.Sprintf("%s: %s %s", member, what, strings.Join(words, " ")))
	}
}

func numbers(words []string) (list []int64) {
	for _, w := range words {
		if n, err := strconv.ParseInt(w, 10, 64); err == nil {
			list = append(list, n)
		}
	}
	return list
}

func note[V any](in map[int]map[int64]V, partition int, offset int64, v V) {
	if in[partition] == nil {
		in[partition] = map[int64]V{}
	}
	in[partition][offset] = v
}

func (l *ledger) acknowledged(in map[int]map[int64]int64, words []string, at int64) {
	for _, w := range words {
		p, n, _ := strings.Cut(w, ":")
		if both := numbers([]string{p, n}); len(both) == 2 {
			if first, known := in[int(both[0])][both[1]]; !known || at < first {
				note(in, int(both[0]), both[1], at)
			}
		}
	}
}

func (l *ledger) lose(member string, partition int, at int64, lost bool) {
	from, had := l.has[member][partition]
	if !had {
		return
	}
	delete(l.has[member], partition)
	l.owned[partition] = append(l.owned[partition], spell{member, from, at, lost})
}

func (l *ledger) end(member string, at int64) {
	for p := range maps.Clone(l.has[member]) {
		l.lose(member, p, at, false)
	}
	delete(l.has, member)
	l.gone[member] = true
}

// killed notes that a member's process is gone.
func (l *ledger) killed(at int64, member string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end(member, at)
}

func (l *ledger) left(member string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gone[member]
}

// partitionsOf is what each of the members has.
func (l *ledger) partitionsOf(members []string) map[string][]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := map[string][]int{}
	for _, m := range members {
		out[m] = slices.Sorted(maps.Keys(l.has[m]))
	}
	return out
}

// missing counts the offsets below the ends that nobody was handed.
func (l *ledger) missing(ends map[int32]int64) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for p, end := range ends {
		for o := range end {
			if !l.seen[int(p)][o] {
				n++
			}
		}
	}
	return n
}

// fault returns the first thing that was told and cannot be.
func (l *ledger) fault() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.twoOwners()
	l.twice()
	if len(l.faults) > 0 {
		return fmt.Errorf("%d faults, first: %s", len(l.faults), l.faults[0])
	}
	return nil
}

// twoOwners looks for a partition that a member was given before another had let go of it.
func (l *ledger) twoOwners() {
	for p, spells := range l.owned {
		all := slices.Clone(spells)
		for member, has := range l.has {
			if from, ok := has[p]; ok {
				all = append(all, spell{member: member, from: from, to: 1<<63 - 1})
			}
		}
		slices.SortFunc(all, func(a, b spell) int { return int(min(max(a.from-b.from, -1), 1)) })
		for i := 1; i < len(all); i++ {
			if before, next := all[i-1], all[i]; before.to > next.from && !before.lost {
				l.faults = append(l.faults, fmt.Sprintf("partition %d: %s was given it %d us before %s let go of it",
					p, next.member, (before.to-next.from)/1000, before.member))
			}
		}
	}
}

// twice looks for records that were handed out after their commit, or their acceptance, was acknowledged. What came before the
// last look is not looked at again.
func (l *ledger) twice() {
	for _, r := range l.read {
		for offset, at := range l.commits[r.partition] {
			if r.offset < offset && r.at > at {
				l.faults = append(l.faults, fmt.Sprintf("%s was handed %d/%d %d us after %d was committed", r.member, r.partition, r.offset, (r.at-at)/1000, offset))
				break
			}
		}
		if at, ok := l.accepted[r.partition][r.offset]; ok && r.at > at {
			l.faults = append(l.faults, fmt.Sprintf("%s was handed %d/%d %d us after it was accepted", r.member, r.partition, r.offset, (r.at-at)/1000))
		}
	}
	l.read = nil
	for p, all := range l.commits { // the highest is what counts from here on
		last := slices.Max(slices.Collect(maps.Keys(all)))
		l.commits[p] = map[int64]int64{last: all[last]}
	}
}
