package kill

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// A good history has no fault, and every way of spoiling it is found: a checker that finds nothing proves nothing.
func TestTheJudgeFindsEverySpoiledHistory(t *testing.T) {
	good := func() (*history, map[int32][]stored) {
		h := newHistory()
		h.produced("a", place{0, 0}, nil)
		h.produced("b", place{0, 1}, nil)
		h.produced("c", place{1, 0}, nil)
		h.produced("lost or not", place{}, errors.New("timed out"))
		h.read("a", place{0, 0})
		h.commit(0, 1)
		return h, map[int32][]stored{0: {{0, "a"}, {1, "b"}, {2, "lost or not"}}, 1: {{0, "c"}}}
	}
	if h, log := good(); len(h.judge(log)) > 0 {
		t.Fatalf("a good history has faults: %q", h.faults)
	}
	spoil := map[string]func(h *history, log map[int32][]stored){
		"a lost record":                  func(_ *history, log map[int32][]stored) { log[0] = log[0][:1] },
		"a record at another offset":     func(_ *history, log map[int32][]stored) { log[0][1].offset = 5 },
		"a record in another partition":  func(_ *history, log map[int32][]stored) { log[1][0].value, log[0][1].value = "b", "c" },
		"a record twice":                 func(_ *history, log map[int32][]stored) { log[0] = append(log[0], stored{3, "a"}) },
		"an offset twice":                func(_ *history, log map[int32][]stored) { log[0][2].offset = 1 },
		"a record that nobody sent":      func(_ *history, log map[int32][]stored) { log[1] = append(log[1], stored{1, "x"}) },
		"reading below a commit":         func(h *history, _ map[int32][]stored) { h.read("a", place{0, 0}) },
		"an emptied partition":           func(_ *history, log map[int32][]stored) { log[1] = nil },
		"an acknowledged value replaced": func(_ *history, log map[int32][]stored) { log[1][0].value = "lost or not" },
	}
	for name, corrupt := range spoil {
		h, log := good()
		corrupt(h, log)
		if len(h.judge(log)) == 0 {
			t.Errorf("%s was not found", name)
		}
	}
}

// A record that the group was never given is a fault, in whichever order the acknowledgement and the record came.
func TestTheGroupIsToReadAllThatWasAcknowledged(t *testing.T) {
	h := newHistory()
	h.read("a", place{0, 0})
	h.produced("a", place{0, 0}, nil)
	h.produced("b", place{0, 1}, nil)
	h.read("b", place{0, 1})
	h.awaitGroup(context.Background(), time.Minute)
	if len(h.faults) > 0 {
		t.Fatalf("a group that read all: %q", h.faults)
	}
	h.produced("c", place{0, 2}, nil)
	h.awaitGroup(context.Background(), time.Millisecond)
	if len(h.faults) != 1 || !strings.Contains(h.faults[0], "1 of 3") {
		t.Fatalf("a group that missed one of three: %q", h.faults)
	}
}
