package segments

import (
	"hash/crc32"
	"math"
)

// attrDeleteHorizon: the base timestamp is the time from which on the batch's tombstones, or its marker, may go.
const attrDeleteHorizon = 0x40

// deleteHorizon is the time from which on the tombstones of a batch, or its marker, may go; ok is false as long as no
// cleaning has set it.
func (h *Header) deleteHorizon() (ms int64, ok bool) {
	return h.BaseTimestamp, h.Attributes&attrDeleteHorizon != 0
}

// filter decides what compaction keeps of each batch. Its rules are Kafka's (Cleaner of 4.3.1):
//
//   - a record stays when the map has no later one of its key, or does not know so far; one without key goes
//   - a tombstone stays until its batch's delete horizon, which the first cleaning that meets it sets
//   - the records of aborted transactions go; a marker stays as long as anything of its transaction does, and then until
//     its delete horizon
//   - a batch that nothing is left of goes, unless it is its producer's last or ends the segment: then its header stays,
//     so that sequences and the end of the log stay known
type filter struct {
	keys      *keyMap
	now       int64
	retention int64 // delete.retention.ms
	txns      cleanedTxns
	last      map[int64]lastOfProducer

	inflate inflater
	hashes  []batchKey // of the batch at hand, by record
	touched int64
	keep    []bool // of the batch at hand, by record
	out     []byte
	payload []byte
}

// lastOfProducer is what the log must keep of a producer.
type lastOfProducer struct {
	dataOffset int64 // last offset of its last batch; -1: none is known
	epoch      int16
}

// verdict is what is left of a batch, once its records were looked at.
type verdict struct {
	kept       int32
	tombstones bool
	firstStamp int64 // of the first record kept
	maxStamp   int64
}

// batch gives the bytes that stay of a batch: raw itself, others that are valid until the next call, or none. end is the
// offset behind the segment that is written.
func (f *filter) batch(h *Header, raw []byte, end int64) []byte {
	spent := f.txns.read(h)
	discard := spent
	if h.Control() {
		horizon, set := h.deleteHorizon()
		discard = spent && set && horizon <= f.now
	}
	keepHeader := h.LastOffset()+1 == end || f.isLast(h)
	if discard || f.isSuperseded(h) {
		return f.leftOf(h, keepHeader)
	}
	records, err := f.inflate.records(h, raw)
	if err != nil {
		return raw // what cannot be read is not ours to judge
	}
	v, ok := f.judge(h, records)
	if !ok {
		return raw
	}
	if v.kept == 0 {
		return f.leftOf(h, keepHeader)
	}
	_, set := h.deleteHorizon()
	setHorizon := !set && f.retention <= math.MaxInt64-f.now && (v.tombstones || spent && h.Control()) // else it has no end, as in Kafka
	if v.kept == h.Records && !setHorizon {
		return raw
	}
	return f.rewrite(h, raw, records, &v, setHorizon)
}

// isSuperseded tells whether the bits say of each record that a later one has its key. Then the records need not be looked at.
func (f *filter) isSuperseded(h *Header) bool {
	return h.Records > 0 && f.keys.hasBits(h.BaseOffset, h.LastOffset()) &&
		f.keys.countSuperseded(h.BaseOffset, h.LastOffset()) == int(h.Records)
}

// leftOf is what stays of a batch that loses all records.
func (f *filter) leftOf(h *Header, keepHeader bool) []byte {
	if !keepHeader {
		return nil
	}
	f.out = emptied(f.out[:0], h)
	return f.out
}

// isLast tells whether the batch is the last that the partition knows of its producer.
func (f *filter) isLast(h *Header) bool {
	last, known := f.last[h.ProducerID]
	switch {
	case !h.Idempotent() || !known:
		return false
	case last.dataOffset >= 0:
		return h.LastOffset() == last.dataOffset
	}
	return h.Control() && h.ProducerEpoch == last.epoch
}

// judge decides about each record; ok is false when they cannot be read.
func (f *filter) judge(h *Header, records []byte) (v verdict, ok bool) {
	f.keep = f.keep[:0]
	v.maxStamp = -1
	look := !h.Control() && h.BaseOffset <= f.keys.through && !f.keys.hasBits(h.BaseOffset, h.LastOffset())
	if look && !f.hashKeys(f.keys, records, h.Records) {
		return v, false
	}
	ok = eachKeyed(records, h.Records, func(r *keyedRecord) bool {
		keep := h.Control() || f.keeps(h, r, look)
		f.keep = append(f.keep, keep)
		if keep {
			stamp := h.BaseTimestamp + r.timestampDelta
			if v.kept == 0 {
				v.firstStamp = stamp
			}
			v.kept++
			v.maxStamp = max(v.maxStamp, stamp)
			v.tombstones = v.tombstones || r.tombstone
		}
		return true
	})
	return v, ok
}

// hashKeys hashes the keys of a batch; ok is false when its records cannot be read.
func (f *filter) hashKeys(m *keyMap, records []byte, count int32) (ok bool) {
	f.hashes = f.hashes[:0]
	ok = eachKeyed(records, count, func(r *keyedRecord) bool {
		f.hashes = append(f.hashes, batchKey{m.hash(r.key), r.offsetDelta, r.key != nil})
		return true
	})
	f.touched += m.touch(f.hashes)
	return ok
}

// keeps decides about the record behind those that are decided; with look the key is looked up, else there is a bit.
func (f *filter) keeps(h *Header, r *keyedRecord, look bool) bool {
	offset := h.BaseOffset + int64(r.offsetDelta)
	switch {
	case offset > f.keys.through:
		return true
	case r.key == nil, look && offset < f.keys.last(f.hashes[len(f.keep)].keyHash), !look && f.keys.isSuperseded(offset):
		return false
	}
	if !r.tombstone {
		return true
	}
	horizon, set := h.deleteHorizon()
	return !set || f.now < horizon
}

// rewrite writes a batch anew with the records that stay. Timestamps count from the delete horizon when the batch has one,
// else from the first record, as Kafka writes them.
func (f *filter) rewrite(h *Header, raw, records []byte, v *verdict, setHorizon bool) []byte {
	attributes := h.Attributes & (attrCodec | attrLogAppendTime | attrTransactional | attrControl)
	base, stamp, most := v.firstStamp, int64(math.MinInt64), v.maxStamp
	if h.LogAppendTime() {
		base, stamp, most = h.MaxTimestamp, h.MaxTimestamp, h.MaxTimestamp
	}
	if horizon, set := h.deleteHorizon(); set || setHorizon {
		attributes |= attrDeleteHorizon
		if base = horizon; setHorizon {
			base = f.now + f.retention
		}
	}
	f.payload = f.payload[:0]
	i := 0
	eachKeyed(records, h.Records, func(r *keyedRecord) bool {
		if f.keep[i] {
			at := stamp
			if at == math.MinInt64 {
				at = h.BaseTimestamp + r.timestampDelta
			}
			f.payload = r.appendAt(f.payload, at-base)
		}
		i++
		return true
	})
	f.out = append(f.out[:0], raw[:headerBytes]...)
	var err error
	if f.out, err = appendCompressed(f.out, h.Codec(), f.payload); err != nil {
		return raw
	}
	fillHeader(f.out, h, attributes, base, most, v.kept)
	return f.out
}

// whole tells whether a batch's checksum is right.
func whole(h *Header, raw []byte) bool {
	return crc32.Checksum(raw[atAttributes:], castagnoli) == h.CRC
}
