package kill

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
)

// registryHistory is what a registry acknowledged.
type registryHistory struct {
	mu       sync.Mutex
	texts    map[int32]string // by id
	ids      map[string]int32 // by text
	versions map[subjectVersion]int32
	hidden   map[subjectVersion]bool
	order    []int32 // ids as they were first acknowledged
	checked  int
	faults   []string
}

type subjectVersion struct {
	subject string
	version int32
}

func newRegistryHistory() *registryHistory {
	return &registryHistory{texts: map[int32]string{}, ids: map[string]int32{}, versions: map[subjectVersion]int32{}, hidden: map[subjectVersion]bool{}}
}

// String is for progress.
func (h *registryHistory) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return fmt.Sprintf("%d ids and %d versions acknowledged, %d hidden, %d ids read back", len(h.texts), len(h.versions), len(h.hidden), h.checked)
}

func (h *registryHistory) fault(format string, args ...any) {
	h.faults = append(h.faults, fmt.Sprintf(format, args...))
}

// registered notes an acknowledged registration.
func (h *registryHistory) registered(subject string, version, id int32, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if was, known := h.texts[id]; known && was != text {
		h.fault("id %d was acknowledged for %s and for %s", id, was, text)
	}
	if was, known := h.ids[text]; known && was != id {
		h.fault("%s was acknowledged as id %d and as %d", text, was, id)
	}
	at := subjectVersion{subject, version}
	if was, known := h.versions[at]; known && was != id {
		h.fault("version %d of %s was acknowledged as id %d and as %d", version, subject, was, id)
	}
	if _, known := h.texts[id]; !known {
		h.order = append(h.order, id)
	}
	h.texts[id], h.ids[text], h.versions[at] = text, id, id
}

// hid notes an acknowledged deletion.
func (h *registryHistory) hid(subject string, version int32) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hidden[subjectVersion{subject, version}] = true
}

func (h *registryHistory) all() []int32 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.order)
}

// some are the ids that were acknowledged last, and as many others.
func (h *registryHistory) some(chance *rand.Rand, n int) []int32 {
	all := h.all()
	last := all[max(0, len(all)-n/2):]
	some := slices.Clone(last)
	for range min(n/2, len(all)) {
		some = append(some, all[chance.IntN(len(all))])
	}
	return some
}

// check reads the ids back.
func (h *registryHistory) check(ctx context.Context, c *registryClient, ids []int32) error {
	for _, id := range ids {
		status, text, err := c.do(ctx, http.MethodGet, fmt.Sprintf("/schemas/ids/%d/schema", id), nil)
		if err != nil {
			return err
		}
		h.judge(id, status, string(text))
	}
	return nil
}

func (h *registryHistory) judge(id int32, status int, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.checked++
	if status != http.StatusOK || text != h.texts[id] {
		h.fault("id %d was acknowledged for %s and is %d %s", id, h.texts[id], status, text)
	}
}

// checkVersions reads every acknowledged version back, with whether it is hidden.
func (h *registryHistory) checkVersions(ctx context.Context, c *registryClient) error {
	for _, at := range slices.Collect(maps.Keys(h.versions)) {
		var a answered
		path := fmt.Sprintf("/subjects/%s/versions/%d?deleted=true", at.subject, at.version)
		if err := c.good(ctx, http.MethodGet, path, nil, &a); err != nil {
			h.fault("%v", err)
			continue
		}
		h.judgeVersion(at, a)
	}
	return nil
}

func (h *registryHistory) judgeVersion(at subjectVersion, a answered) {
	if a.ID != h.versions[at] {
		h.fault("version %d of %s was acknowledged as id %d and is %d", at.version, at.subject, h.versions[at], a.ID)
	}
	if h.hidden[at] && !a.Deleted {
		h.fault("version %d of %s was hidden and is there again", at.version, at.subject)
	}
}
