package segments

import (
	"hash/maphash"
	"math/bits"
)

// keyMap knows, for the keys of the dirty part of a log, the last offset that has the key. It keeps 128 bits of a hash
// in place of the key, so that its size is a matter of the number of keys alone. The hash is seeded anew for each map:
// nobody can choose two keys that meet, and by chance they do with a probability of n²/2^129, n being the number of keys.
//
// It also has a bit for each of the first offsets of the dirty part: whether a later record has the key. Who writes the dirty
// part anew looks there, and at no key. A lookup in a large map is mostly a miss of the cache, a bit is beside the one before.
type keyMap struct {
	slots   []keySlot
	n       int
	most    int // keys that it may have
	shift   int // 64 less the bits of an index
	seeds   [2]maphash.Seed
	through int64 // all records up to this offset are in it; -1: none

	from       int64 // the first offset of the dirty part
	superseded []uint64
	mostBits   int64
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

// newKeyMap gives a map of the keys from an offset on that takes up to that many bytes, an eighth of them for bits, and has room
// for at least one key.
func newKeyMap(bytes, from int64) *keyMap {
	slots := max((bytes-bytes/8)/keySlotBytes, 2)
	slots = 1 << (bits.Len64(uint64(slots)) - 1)
	m := &keyMap{
		most: loadOf(int(min(slots, 1<<31))), seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, through: -1,
		from: from, mostBits: bytes,
	}
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

// batchKey is the key of a record.
type batchKey struct {
	keyHash
	offsetDelta int32
	keyed       bool // else the record has none
}

func (m *keyMap) hash(key []byte) keyHash {
	return keyHash{maphash.Bytes(m.seeds[0], key), maphash.Bytes(m.seeds[1], key)}
}

// touch reads the places where keys belong, one after the other and none waiting for another, so that the cache has them when
// they are looked at: a large map is mostly not in it. What it returns means nothing.
func (m *keyMap) touch(keys []batchKey) (sum int64) {
	for i := range keys {
		sum += m.slots[keys[i].a>>m.shift].offset
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
	} else {
		m.supersede(s.offset - 1)
	}
	s.offset = max(s.offset, offset+1)
	return true
}

// supersede notes that a later record has the key of the one at an offset.
func (m *keyMap) supersede(offset int64) {
	i := offset - m.from
	if i < 0 || i >= m.mostBits {
		return
	}
	for int64(len(m.superseded)) <= i/64 {
		m.superseded = append(m.superseded, 0)
	}
	m.superseded[i/64] |= 1 << (i % 64)
}

// hasBits tells whether the bits say of all records from an offset on to another which of them is superseded.
func (m *keyMap) hasBits(first, last int64) bool {
	return first >= m.from && last-m.from < m.mostBits && last <= m.through
}

// isSuperseded is what the bit of an offset says.
func (m *keyMap) isSuperseded(offset int64) bool {
	i := offset - m.from
	return i >= 0 && i/64 < int64(len(m.superseded)) && m.superseded[i/64]&(1<<(i%64)) != 0
}

// last is the last offset that is known to have the key, -1 when the map does not have it.
func (m *keyMap) last(k keyHash) int64 { return m.find(k.a, k.b).offset - 1 }

// countSuperseded is how many bits say so from an offset on to another.
func (m *keyMap) countSuperseded(first, last int64) (n int) {
	from, end := first-m.from, min(last-m.from+1, 64*int64(len(m.superseded)))
	for i := from; i < end; {
		word, next := m.superseded[i/64]>>(i%64), i-i%64+64
		if next > end {
			word &= 1<<(end-i) - 1
		}
		n += bits.OnesCount64(word)
		i = next
	}
	return n
}
