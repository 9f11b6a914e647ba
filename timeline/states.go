package timeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"doze/console/inside"
	"doze/journal"
	"doze/projections"
)

// Bounds of the states that are kept and made.
const (
	maxFolds     = 2         // under way at a time; the next waits
	maxStates    = 8         // kept, the one that was asked for longest ago goes
	maxStateKept = 256 << 20 // bytes that those are reckoned to take, each as if it shared nothing
)

// held is a state that is kept. It is cloned for who asks, and never changed or read itself: a clone of a tree marks the tree
// that it was made of.
type held struct {
	seq   uint64
	at    int64
	state *projections.State
	bytes int64
}

// states are those that are kept.
type states struct {
	folds chan struct{} // holds a token for each fold under way

	mu   sync.Mutex
	kept []*held // the one that was asked for last is last
}

func (s *states) init() { s.folds = make(chan struct{}, maxFolds) }

// at gives a state of its own as of an entry, if it is kept.
func (s *states) at(seq uint64) *held {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.kept, func(h *held) bool { return h.seq == seq })
	if i < 0 {
		return nil
	}
	h := s.kept[i]
	s.kept = append(slices.Delete(s.kept, i, i+1), h)
	return &held{h.seq, h.at, h.state.Clone(), h.bytes}
}

// before gives a state of its own as of the nearest entry at or before seq, if one above floor is kept.
func (s *states) before(seq, floor uint64) *held {
	s.mu.Lock()
	defer s.mu.Unlock()
	var best *held
	for _, h := range s.kept {
		if h.seq <= seq && h.seq > floor && (best == nil || h.seq > best.seq) {
			best = h
		}
	}
	if best == nil {
		return nil
	}
	return &held{best.seq, best.at, best.state.Clone(), best.bytes}
}

// keep keeps a state that nobody else has, and gives a clone of it.
func (s *states) keep(h *held) *held {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := &held{h.seq, h.at, h.state.Clone(), h.bytes}
	s.kept = slices.DeleteFunc(s.kept, func(k *held) bool { return k.seq == h.seq })
	s.kept = append(s.kept, h)
	total := int64(0)
	for i := len(s.kept) - 1; i >= 0; i-- {
		total += s.kept[i].bytes
		if i < len(s.kept)-1 && (total > maxStateKept || len(s.kept)-i > maxStates) {
			s.kept = slices.Delete(s.kept, 0, i+1)
			break
		}
	}
	return out
}

// UnknownStateError says that the state as of an entry cannot be known any more.
type UnknownStateError struct{ Seq, From uint64 }

func (e *UnknownStateError) Error() string {
	return fmt.Sprintf("the state as of entry %d is not known any more: the journal begins at entry %d and no snapshot from before is kept", e.Seq, e.From)
}

// NotThere tells it from other errors.
func (*UnknownStateError) NotThere() bool { return true }

// stateAt gives a state as of an entry, which nobody else changes.
func (t *Timeline) stateAt(ctx context.Context, seq uint64) (*held, error) {
	now, last := t.opt.Store.View()
	if seq == last && seq > 0 {
		return &held{seq, t.opt.Store.At(), now, weigh(now)}, nil
	}
	if first := t.Head().First; seq > last || seq+1 < first || seq == 0 && first > 1 {
		return nil, t.notThere(seq)
	}
	if h := t.states.at(seq); h != nil {
		return h, nil
	}
	select {
	case t.states.folds <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-t.states.folds }()
	h, err := t.fold(ctx, seq)
	if err != nil {
		return nil, err
	}
	return t.states.keep(h), nil
}

// fold makes the state as of an entry from the nearest that is known.
func (t *Timeline) fold(ctx context.Context, seq uint64) (*held, error) {
	base, err := t.base(seq)
	if err != nil {
		return nil, err
	}
	err = t.visit(ctx, base.seq, func(e *journal.Entry, _ journal.Place) bool {
		if e.Seq > seq {
			return false
		}
		if err = journal.ApplyEntry(base.state, e); err != nil {
			return false
		}
		base.seq, base.at = e.Seq, e.At
		return e.Seq < seq
	})
	return t.folded(base, seq, err)
}

func (t *Timeline) folded(h *held, seq uint64, err error) (*held, error) {
	switch {
	case err != nil:
		return nil, fmt.Errorf("fold the journal up to entry %d: %w", seq, err)
	case h.seq != seq:
		return nil, t.notThere(seq)
	}
	h.bytes = weigh(h.state)
	return h, nil
}

// base is the state to begin with: a kept one, the newest snapshot that is not behind, or nothing.
func (t *Timeline) base(seq uint64) (*held, error) {
	r, err := journal.OpenReader(t.opt.FS, t.opt.Dir)
	if err != nil {
		return nil, fmt.Errorf("read the journal: %w", err)
	}
	defer r.Close()
	snapshots := r.Snapshots()
	n, _ := slices.BinarySearch(snapshots, seq+1)
	snapshots = snapshots[:n]
	floor := uint64(0)
	if n > 0 {
		floor = snapshots[n-1] - 1
	}
	if h := t.states.before(seq, floor); h != nil {
		return h, nil
	}
	for _, at := range slices.Backward(snapshots) {
		if at+1 < r.FirstSeq() {
			break // what lies between is gone
		}
		state, s, err := journal.LoadSnapshot(r, at, projections.New)
		if err == nil && t.ours(s) {
			return &held{seq: s.Seq, at: s.At, state: state}, nil
		}
		if err != nil && errors.Is(err, fs.ErrNotExist) {
			continue
		}
	}
	if r.Before() > 0 {
		return nil, &UnknownStateError{seq, r.FirstSeq()}
	}
	return &held{state: projections.New()}, nil
}

// ours says whether a snapshot was taken from this journal: its chain is that of its entry.
func (t *Timeline) ours(s journal.Snapshot) bool {
	r, err := t.readerBehind(max(s.Seq, 1) - 1)
	if err != nil {
		return false
	}
	defer r.Close()
	for {
		if p := r.Place(); p.Seq == s.Seq {
			return p.Chain == s.Chain
		}
		e, err := r.Next()
		if err != nil {
			return false
		}
		if e.Seq > s.Seq {
			return r.Continues(s) // it is of the entry before the first that is kept
		}
	}
}

// weigh reckons what a state takes.
func weigh(s *projections.State) int64 {
	const topicBytes, base = 400, 64 << 10
	return base + s.Groups.Bytes() + s.Offsets.Bytes() + s.Configs.Bytes() + topicBytes*int64(s.Topics.Len())
}

// State is what was true after an entry (inside.Journal).
func (t *Timeline) State(ctx context.Context, seq uint64) (inside.State, error) {
	if err := t.catchUp(ctx); err != nil {
		return nil, err
	}
	h, err := t.stateAt(ctx, seq)
	if err != nil {
		return nil, err
	}
	t.learn(h.state)
	return &stateThen{t: t, held: h}, nil
}
