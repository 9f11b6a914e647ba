package segments

import (
	"encoding/binary"
	"hash/crc32"
)

// Compression is a topic's compression.type with the level of its codec, in the terms of Kafka's compression.*.level.
// Levels tell how hard to work; the bytes that come of it are not those of Kafka's libraries.
type Compression struct {
	Codec Codec
	Level int
}

// checkAnew is the rest of CheckBatch for a batch that is to be stored with another codec: its records are checked and
// written again in one pass, as Kafka writes them.
func checkAnew(b *Batch, rules *Rules) (Batch, error) {
	w := newRewrite(b, *rules.Compression, rules.MaxBatchBytes)
	done, err := w.run(b, rules)
	if err != nil {
		w.out.done()
		return Batch{}, err
	}
	return done, nil
}

// rewrite writes the records of a batch again, in blocks, through another codec.
type rewrite struct {
	out   *output
	to    encoder
	block []byte // of records, up to its capacity
	same  bool   // all records have one time
	first int64  // the first record's timestamp delta
	any   bool
	err   error // of the encoder
}

func newRewrite(b *Batch, target Compression, most int) *rewrite {
	out := openOutput(most)
	out.skip(headerBytes)
	to := openEncoder(target, out)
	return &rewrite{out: out, to: to, block: make([]byte, 0, to.blockBytes()), same: b.LogAppendTime()}
}

func (w *rewrite) run(b *Batch, rules *Rules) (Batch, error) {
	defer w.out.leaveThorough()
	defer w.to.close()
	most, err := checkRecords(b, rules, w)
	if err == nil {
		err = storable(&b.Header)
	}
	if err != nil {
		return Batch{}, err
	}
	if err := w.end(); err != nil {
		return Batch{}, refuse(Unstorable, "write records anew: %v", err)
	}
	if w.out.over {
		return Batch{}, refuse(BatchTooLarge, "batch of more than the maximum of %d bytes, as the topic stores it", rules.MaxBatchBytes)
	}
	return w.batch(b, rules.Compression.Codec, most), nil
}

// storable tells what Kafka cannot write again although it reads it.
func storable(h *Header) error {
	switch {
	case h.Transactional() && h.ProducerID == -1:
		return refuse(Unstorable, "transactional records without a producer id cannot be written anew")
	case h.ProducerID != -1 && h.ProducerEpoch == -1:
		return refuse(Unstorable, "records of producer %d without an epoch cannot be written anew", h.ProducerID)
	case h.ProducerID != -1 && h.BaseSequence < 0:
		return refuse(Unstorable, "records of producer %d without a sequence cannot be written anew", h.ProducerID)
	}
	return nil
}

// head begins a record of which rest bytes follow behind its offset: attributes are none, and the time counts from the
// first record's.
func (w *rewrite) head(r *record, rest int64) {
	if !w.any {
		w.any, w.first = true, r.timestampDelta
	}
	stamp := r.timestampDelta - w.first
	if w.same {
		stamp = 0
	}
	var b [1 + 2*binary.MaxVarintLen64 + binary.MaxVarintLen32]byte
	body := binary.AppendVarint(append(b[:binary.MaxVarintLen64], 0), stamp)
	body = binary.AppendVarint(body, int64(r.offsetDelta))[binary.MaxVarintLen64:]
	w.write(binary.AppendVarint(b[:0:binary.MaxVarintLen64], int64(len(body))+rest))
	w.write(body)
}

// write takes bytes of records.
func (w *rewrite) write(p []byte) {
	for len(p) > 0 {
		if len(w.block) == cap(w.block) {
			w.flush()
		}
		n := min(len(p), cap(w.block)-len(w.block))
		w.block = append(w.block, p[:n]...)
		p = p[n:]
	}
}

// flush gives the block to the encoder; what would be too large is not compressed any more.
func (w *rewrite) flush() {
	if !w.out.over && w.err == nil {
		w.err = w.to.write(w.block)
	}
	w.block = w.block[:0]
}

func (w *rewrite) end() error {
	if len(w.block) > 0 {
		w.flush()
	}
	if w.out.over || w.err != nil {
		return w.err
	}
	return w.to.end()
}

// batch puts the head before the records.
func (w *rewrite) batch(b *Batch, codec Codec, most int64) Batch {
	raw := w.out.bytes
	copy(raw, b.raw[:headerBytes])
	binary.BigEndian.PutUint32(raw[atLength:], uint32(len(raw)-logOverhead))
	binary.BigEndian.PutUint16(raw[atAttributes:], uint16(codec)|uint16(b.Attributes)&attrTransactional)
	base := b.BaseTimestamp + w.first
	if w.same {
		base = b.MaxTimestamp
	}
	binary.BigEndian.PutUint64(raw[atBaseTimestamp:], uint64(base))
	binary.BigEndian.PutUint64(raw[atMaxTimestamp:], uint64(most))
	binary.BigEndian.PutUint32(raw[atCRC:], crc32.Checksum(raw[atAttributes:], castagnoli))
	return Batch{Header: parseHeader(raw), raw: raw, out: w.out}
}
