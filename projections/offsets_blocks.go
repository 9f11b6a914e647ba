package projections

import (
	"math"
	"slices"
)

// offsetKey is a partition of a topic of a group.
type offsetKey struct {
	slot      uint64
	partition int32
}

func (k offsetKey) block() offsetBlock {
	return offsetBlock{at: blockAt(k.slot, k.partition/blockPartitions)}
}

// blockPartitions is how many neighbouring partitions share a block. A commit copies one block; a start puts whole blocks
// into the tree.
const blockPartitions = 16

// offsetBlock holds the offsets of some neighbouring partitions: an immutable value.
type offsetBlock struct {
	at   uint64      // blockAt: one number, for a start compares tens of millions of times
	rows []offsetRow // by partition, never empty in the tree
}

// maxBlock is the number of the block that the last possible partition is in; a slot takes the bits above it.
const maxBlock = math.MaxInt32 / blockPartitions

// blockAt is where a block is: by slot, then by number. Its first partition is number * blockPartitions.
func blockAt(slot uint64, number int32) uint64 { return slot*(maxBlock+1) + uint64(number) }

func (b offsetBlock) number() int32 { return int32(b.at % (maxBlock + 1)) }

// offsetRow has no pointer: the garbage collector passes over a million of them.
type offsetRow struct {
	partition int32
	epoch     int32
	offset    int64
	commitAt  int64
}

// offsetExtra is what few commits have: metadata, or an expiry of its own.
type offsetExtra struct {
	offsetKey
	metadata string
	expireAt int64 // ms; -1: none
}

func (e offsetExtra) none() bool { return e.metadata == "" && e.expireAt == -1 }

func newOffsetBlocks() tree[offsetBlock] {
	return newTree(func(a, b offsetBlock) bool { return a.at < b.at })
}

func newOffsetExtras() tree[offsetExtra] {
	return newTree(func(a, b offsetExtra) bool {
		return a.slot < b.slot || a.slot == b.slot && a.partition < b.partition
	})
}

// find says where the partition's row is, or would be.
func (b offsetBlock) find(partition int32) (int, bool) {
	for i := range b.rows {
		if b.rows[i].partition >= partition {
			return i, b.rows[i].partition == partition
		}
	}
	return len(b.rows), false
}

// with is the block with the row put in, in place of the one of its partition.
func (b offsetBlock) with(row offsetRow) (with offsetBlock, replaced bool) {
	i, had := b.find(row.partition)
	rest := b.rows[i:]
	if had {
		rest = rest[1:]
	}
	rows := make([]offsetRow, 0, i+1+len(rest))
	b.rows = append(append(append(rows, b.rows[:i]...), row), rest...)
	return b, had
}

// row returns the row of a partition.
func (o Offsets) row(key offsetKey) (offsetRow, bool) {
	block, _ := o.blocks.Get(key.block())
	i, ok := block.find(key.partition)
	if !ok {
		return offsetRow{}, false
	}
	return block.rows[i], true
}

// put stores an offset in the place of the one before.
func (o *Offsets) put(t *OffsetsOfTopic, c CommittedOffset) {
	key := offsetKey{t.slot, c.Partition}
	block, found := o.blocks.Get(key.block())
	if !found {
		block = key.block()
	}
	block, replaced := block.with(offsetRow{partition: c.Partition, epoch: c.LeaderEpoch, offset: c.Offset, commitAt: c.CommitAt})
	o.blocks.ReplaceOrInsert(block)
	if replaced {
		o.forgetExtra(key)
	} else {
		o.count++
		o.bytes += offsetBytes
	}
	if extra := (offsetExtra{offsetKey: key, metadata: c.Metadata, expireAt: c.ExpireAt}); !extra.none() {
		o.putExtra(extra)
	}
}

func (o *Offsets) putExtra(extra offsetExtra) {
	o.extras.ReplaceOrInsert(extra)
	o.bytes += extra.bytes()
}

// remove takes an offset away; false when there is none.
func (o *Offsets) remove(key offsetKey) bool {
	block, _ := o.blocks.Get(key.block())
	i, ok := block.find(key.partition)
	if !ok {
		return false
	}
	if block.rows = slices.Concat(block.rows[:i], block.rows[i+1:]); len(block.rows) > 0 {
		o.blocks.ReplaceOrInsert(block)
	} else {
		o.blocks.Delete(block)
	}
	o.count--
	o.bytes -= offsetBytes
	o.forgetExtra(key)
	return true
}

// extra is what is kept of an offset beside its row.
func (o Offsets) extra(key offsetKey) offsetExtra {
	if o.extras.Len() > 0 {
		if e, ok := o.extras.Get(offsetExtra{offsetKey: key}); ok {
			return e
		}
	}
	return offsetExtra{expireAt: -1}
}

func (o *Offsets) forgetExtra(key offsetKey) {
	if o.extras.Len() == 0 {
		return
	}
	if gone, had := o.extras.Delete(offsetExtra{offsetKey: key}); had {
		o.bytes -= gone.bytes()
	}
}

// blocksOf calls yield with the topic's blocks, by partition, until it returns false.
func (o Offsets) blocksOf(t *OffsetsOfTopic, yield func(offsetBlock) bool) {
	o.blocks.AscendRange(offsetBlock{at: blockAt(t.slot, 0)}, offsetBlock{at: blockAt(t.slot+1, 0)}, yield)
}

func (o Offsets) committed(slot uint64, r offsetRow) CommittedOffset {
	extra := o.extra(offsetKey{slot, r.partition})
	return CommittedOffset{
		Partition: r.partition, Offset: r.offset, LeaderEpoch: r.epoch,
		Metadata: extra.metadata, CommitAt: r.commitAt, ExpireAt: extra.expireAt,
	}
}
