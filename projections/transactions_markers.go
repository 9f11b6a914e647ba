package projections

import (
	"bytes"
	"cmp"
	"math"

	"doze/journal"
)

// UnsyncedMarker is a marker that was written into a partition and that a power failure may still take away again: what it
// says is kept until it is known to be on disk.
type UnsyncedMarker struct {
	Seq        uint64 // the entry that ended the transaction
	ProducerID int64
	Epoch      int16 // the marker's
	Commit     bool
	Version    int8
	Topic      ID
	Partition  int32
	Offset     int64 // of the marker
}

// UnsyncedMarkers are in the order in which their transactions ended.
type UnsyncedMarkers struct{ tree tree[UnsyncedMarker] }

func newUnsyncedMarkers() UnsyncedMarkers {
	return UnsyncedMarkers{newTree(func(a, b UnsyncedMarker) bool {
		return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.ProducerID, b.ProducerID),
			bytes.Compare(a.Topic[:], b.Topic[:]), cmp.Compare(a.Partition, b.Partition)) < 0
	})}
}

func (m *UnsyncedMarkers) clone() UnsyncedMarkers { return UnsyncedMarkers{m.tree.clone()} }

// Len counts markers.
func (m UnsyncedMarkers) Len() int { return m.tree.Len() }

// Each yields markers in order.
func (m UnsyncedMarkers) Each(yield func(UnsyncedMarker) bool) { m.tree.Ascend(yield) }

// removeIf removes the markers of entries up to upTo for which gone says so.
func (m *UnsyncedMarkers) removeIf(upTo uint64, gone func(*UnsyncedMarker) bool) {
	var all []UnsyncedMarker
	m.tree.Ascend(func(u UnsyncedMarker) bool {
		if u.Seq <= upTo && gone(&u) {
			all = append(all, u)
		}
		return u.Seq <= upTo
	})
	for _, u := range all {
		m.tree.Delete(u)
	}
}

// dropTopic forgets markers in a topic that is deleted.
func (m *UnsyncedMarkers) dropTopic(id ID) {
	m.removeIf(math.MaxUint64, func(u *UnsyncedMarker) bool { return u.Topic == id })
}

func (s *State) applyTxnMarkersSynced(e *journal.TxnMarkersSynced) error {
	failed := func(u *UnsyncedMarker) bool {
		for _, f := range e.Failed {
			if u.Topic == f.Topic && u.Partition == f.Partition {
				return true
			}
		}
		return false
	}
	s.Markers.removeIf(e.UpTo, func(u *UnsyncedMarker) bool { return !failed(u) })
	return nil
}
