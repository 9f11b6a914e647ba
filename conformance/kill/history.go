package kill

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// place is where a record is.
type place struct {
	partition int32
	offset    int64
}

// history is what the clients were told, and what they saw.
type history struct {
	mu        sync.Mutex
	acked     map[string]place // value -> where the broker said it is
	unknown   map[string]bool  // values whose produce failed: they may be there or not
	committed map[int32]int64  // partition -> highest acknowledged commit
	consumed  int              // how often the group was given a record
	unread    map[string]bool  // acknowledged, and not yet given to the group
	given     map[string]bool  // given to the group before the acknowledgement came
	faults    []string
}

func newHistory() *history {
	return &history{
		acked: map[string]place{}, unknown: map[string]bool{}, committed: map[int32]int64{},
		unread: map[string]bool{}, given: map[string]bool{},
	}
}

func (h *history) fault(format string, args ...any) {
	if len(h.faults) < 50 {
		h.faults = append(h.faults, fmt.Sprintf(format, args...))
	}
}

// produced notes a produce that was answered.
func (h *history) produced(value string, at place, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil {
		h.unknown[value] = true
		return
	}
	h.acked[value] = at
	if h.given[value] {
		delete(h.given, value)
	} else {
		h.unread[value] = true
	}
}

// awaitGroup waits until the group was given every record that was acknowledged. One that does not come is a fault.
func (h *history) awaitGroup(ctx context.Context, atMost time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, atMost)
	defer cancel()
	for {
		h.mu.Lock()
		left := len(h.unread)
		h.mu.Unlock()
		if left == 0 {
			return
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			h.mu.Lock()
			defer h.mu.Unlock()
			h.fault("the group was not given %d of %d acknowledged records", left, len(h.acked))
			return
		}
	}
}

// read notes a record that a group's member was given.
func (h *history) read(value string, at place) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.consumed++
	if h.unread[value] {
		delete(h.unread, value)
	} else if _, acked := h.acked[value]; !acked {
		h.given[value] = true
	}
	if below := h.committed[at.partition]; at.offset < below {
		h.fault("group read %s at %d/%d again, though a commit of %d was acknowledged", value, at.partition, at.offset, below)
	}
}

// commit notes a commit that was acknowledged.
func (h *history) commit(partition int32, offset int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.committed[partition] = max(h.committed[partition], offset)
}

// judge compares what was acknowledged with what is there: all records of the topic, in the order of their partitions.
func (h *history) judge(log map[int32][]stored) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	seen := map[string]place{}
	for partition, records := range log {
		last := int64(-1)
		for _, r := range records {
			at := place{partition, r.offset}
			if r.offset <= last {
				h.fault("offset %d follows %d in partition %d", r.offset, last, partition)
			}
			last = r.offset
			if twice, again := seen[r.value]; again {
				h.fault("%s is there twice: at %v and %v", r.value, twice, at)
			}
			seen[r.value] = at
			if _, acked := h.acked[r.value]; !acked && !h.unknown[r.value] {
				h.fault("%s at %v was never sent, or its answer was never heard", r.value, at)
			}
		}
	}
	for value, at := range h.acked {
		if found, there := seen[value]; !there {
			h.fault("%s was acknowledged at %v and is not there", value, at)
		} else if found != at {
			h.fault("%s was acknowledged at %v and is at %v", value, at, found)
		}
	}
	slices.Sort(h.faults)
	return h.faults
}

// stored is one record of the topic.
type stored struct {
	offset int64
	value  string
}
