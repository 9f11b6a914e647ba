package projections

import "doze/journal"

// StreamsGroup is what a streams group (KIP-1071) holds beside what all groups have: an immutable value.
type StreamsGroup struct{}

func newStreamsGroup() *StreamsGroup { return &StreamsGroup{} }

func (s *StreamsGroup) bytes() int64         { return 0 }
func (s *StreamsGroup) size() int            { return 0 }
func (s *StreamsGroup) check(g *Group) error { return nil }

// applyOfStreamsGroup folds an event of streams groups; known is false when it is none.
func (s *State) applyOfStreamsGroup(seq uint64, at int64, event journal.Event) (known bool, err error) {
	return false, nil
}
