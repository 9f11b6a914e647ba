package kill

import (
	"math/rand/v2"
	"net/http"
	"testing"
)

// A good history has no fault, and every way of spoiling it is found.
func TestTheJudgeFindsEverySpoiledRegistry(t *testing.T) {
	good := func() *registryHistory {
		h := newRegistryHistory()
		h.registered("s", 1, 1, "one")
		h.registered("s", 2, 2, "two")
		h.registered("t", 1, 1, "one")
		h.hid("s", 2)
		h.judge(1, http.StatusOK, "one")
		h.judgeVersion(subjectVersion{"s", 2}, answered{ID: 2, Deleted: true})
		return h
	}
	if h := good(); len(h.faults) > 0 || len(h.all()) != 2 || len(h.some(rand.New(rand.NewPCG(1, 2)), 4)) != 4 {
		t.Fatalf("a good history has faults: %q, ids %v", h.faults, h.all())
	}
	for name, spoil := range map[string]func(h *registryHistory){
		"an id that is gone":                func(h *registryHistory) { h.judge(2, http.StatusNotFound, "") },
		"an id of another schema":           func(h *registryHistory) { h.judge(2, http.StatusOK, "one") },
		"an id for two schemas":             func(h *registryHistory) { h.registered("t", 2, 2, "three") },
		"a schema with two ids":             func(h *registryHistory) { h.registered("t", 2, 3, "one") },
		"a version with two ids":            func(h *registryHistory) { h.registered("s", 1, 2, "two") },
		"a version of another id":           func(h *registryHistory) { h.judgeVersion(subjectVersion{"t", 1}, answered{ID: 2}) },
		"a hidden version that comes again": func(h *registryHistory) { h.judgeVersion(subjectVersion{"s", 2}, answered{ID: 2}) },
	} {
		h := good()
		spoil(h)
		if len(h.faults) == 0 {
			t.Errorf("%s was not found", name)
		}
	}
}
