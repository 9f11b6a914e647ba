package projections

import "doze/journal"

// ShareGroup is what a share group (KIP-932) holds beside what all groups have: an immutable value.
type ShareGroup struct{}

func newShareGroup() *ShareGroup { return &ShareGroup{} }

func (s *ShareGroup) bytes() int64         { return 0 }
func (s *ShareGroup) size() int            { return 0 }
func (s *ShareGroup) check(g *Group) error { return nil }

// applyOfShareGroup folds an event of share groups; known is false when it is none.
func (s *State) applyOfShareGroup(seq uint64, at int64, event journal.Event) (known bool, err error) {
	return false, nil
}
