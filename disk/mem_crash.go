package disk

import "math/rand/v2"

const sectorBytes = 512

// Loss says what a crash takes with it.
type Loss struct {
	keep bool
	torn *rand.Rand
}

// KillProcess loses nothing: the page cache outlives the process.
func KillProcess() Loss { return Loss{keep: true} }

// PowerLoss loses everything that was not synced.
func PowerLoss() Loss { return Loss{} }

// TornPowerLoss loses what was not synced at random, sector by sector of 512 bytes and directory entry by directory
// entry, as a disk that was writing does. The seed decides.
func TornPowerLoss(seed uint64) Loss { return Loss{torn: rand.New(rand.NewPCG(seed, 0))} }

// Crash returns the file system that a restarted machine finds. This Mem stays as it is, so one history gives many
// crash states; faults and locks do not carry over.
func (m *Mem) Crash(loss Loss) *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	next := NewMem()
	next.space = m.space
	next.root = loss.survivor(m.root, map[*memNode]*memNode{})
	return next
}

// survivor copies a node as it is after the crash. A file that is reachable under two names (a rename of which only
// half was made durable) stays one file: done maps old nodes to new ones.
func (l Loss) survivor(n *memNode, done map[*memNode]*memNode) *memNode {
	if next := done[n]; next != nil {
		return next
	}
	if !n.isDir() {
		next := l.fileSurvivor(n)
		done[n] = next
		return next
	}
	next := newDir()
	done[n] = next
	for name, child := range l.entriesOf(n) {
		next.entries[name] = l.survivor(child, done)
		next.synced[name] = next.entries[name]
	}
	return next
}

func (l Loss) entriesOf(n *memNode) map[string]*memNode {
	if l.keep {
		return n.entries
	}
	if l.torn == nil {
		return n.synced
	}
	names := map[string]*memNode{}
	for name := range n.entries {
		names[name] = nil
	}
	for name := range n.synced {
		names[name] = nil
	}
	out := map[string]*memNode{}
	for _, name := range sortedNames(names) {
		child := n.entries[name]
		if child != n.synced[name] && l.torn.IntN(2) == 0 {
			child = n.synced[name]
		}
		if child != nil {
			out[name] = child
		}
	}
	return out
}

func (l Loss) fileSurvivor(n *memNode) *memNode {
	next := &memNode{}
	switch {
	case l.keep:
		next.data, next.size = append([]byte(nil), n.data...), n.size
	case l.torn == nil:
		next.data, next.size = append([]byte(nil), n.durable...), n.durableSize
	default:
		next.data, next.size = l.tear(n)
	}
	next.durable, next.durableSize = append([]byte(nil), next.data...), next.size
	return next
}

// tear takes each sector that changed since the last sync either from before or from after, and the size likewise.
func (l Loss) tear(n *memNode) ([]byte, int64) {
	size := n.durableSize
	if n.size != n.durableSize && l.torn.IntN(2) == 0 {
		size = n.size
	}
	data := make([]byte, min(size, int64(max(len(n.data), len(n.durable)))))
	for from := 0; from < len(data); from += sectorBytes {
		to := min(from+sectorBytes, len(data))
		src := n.durable
		if l.torn.IntN(2) == 0 {
			src = n.data
		}
		if from < len(src) {
			copy(data[from:to], src[from:])
		}
	}
	return data, size
}
