package segments

import (
	"hash/maphash"
	"math/bits"
)

// keyMap knows, for the keys of the dirty part of a log, the last offset that has the key. It keeps 128 bits of a hash
// in place of the key, so that its size is a matter of the number of keys alone. The hash is seeded anew for each map:
// nobody can choose two keys that meet, and by chance they do with a probability of n²/2^129, n being the number of keys.
type keyMap struct {
	slots   []keySlot
	n       int
	most    int // keys that it may have
	shift   int // 64 less the bits of an index
	seeds   [2]maphash.Seed
	through int64 // all records up to this offset are in it; -1: none
}

// keySlot is a key's place; free when offset is 0, so offsets are stored plus one.
type keySlot struct {
	a, b   uint64
	offset int64
}

const (
	keySlotBytes  = 24
	keySlotsFirst = 1 << 10
)

// newKeyMap gives a map that takes up to that many bytes, and room for at least one key.
func newKeyMap(bytes int64) *keyMap {
	slots := max(bytes/keySlotBytes, 2)
	slots = 1 << (bits.Len64(uint64(slots)) - 1)
	m := &keyMap{most: loadOf(int(min(slots, 1<<31))), seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, through: -1}
	m.resize(min(keySlotsFirst, int(slots)))
	return m
}

// loadOf is how many keys go into so many slots, of which some stay free: seven in eight, beyond which probing gets long.
func loadOf(slots int) int { return slots - max(slots/8, 1) }

func (m *keyMap) resize(slots int) {
	old := m.slots
	m.slots = make([]keySlot, slots)
	m.shift = 64 - bits.TrailingZeros(uint(slots))
	for _, s := range old {
		if s.offset != 0 {
			*m.find(s.a, s.b) = s
		}
	}
}

// find gives the slot of a key, or the free one where it belongs.
func (m *keyMap) find(a, b uint64) *keySlot {
	i := int(a >> m.shift)
	for {
		s := &m.slots[i]
		if s.offset == 0 || s.a == a && s.b == b {
			return s
		}
		if i++; i == len(m.slots) {
			i = 0
		}
	}
}

// keyHash stands for a key.
type keyHash struct{ a, b uint64 }

func (m *keyMap) hash(key []byte) keyHash {
	return keyHash{maphash.Bytes(m.seeds[0], key), maphash.Bytes(m.seeds[1], key)}
}

// touch reads the places where keys belong, one after the other and none waiting for another, so that the cache has them when
// they are looked at: a large map is mostly not in it. What it returns means nothing.
func (m *keyMap) touch(keys []keyHash) (sum int64) {
	for _, k := range keys {
		sum += m.slots[k.a>>m.shift].offset
	}
	return sum
}

// put notes that a record has the key, and says whether there was room. With force there is, whatever it takes.
func (m *keyMap) put(k keyHash, offset int64, force bool) bool {
	s := m.find(k.a, k.b)
	if s.offset == 0 {
		if m.n >= m.most && !force {
			return false
		}
		if m.n >= loadOf(len(m.slots)) {
			m.resize(2 * len(m.slots))
			s = m.find(k.a, k.b)
		}
		m.n++
		s.a, s.b = k.a, k.b
	}
	s.offset = max(s.offset, offset+1)
	return true
}

// last is the last offset that is known to have the key, -1 when the map does not have it.
func (m *keyMap) last(k keyHash) int64 { return m.find(k.a, k.b).offset - 1 }
