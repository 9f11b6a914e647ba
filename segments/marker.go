package segments

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// Marker ends a producer's transaction in a partition.
type Marker struct {
	ProducerID       int64
	ProducerEpoch    int16
	CoordinatorEpoch int32
	Commit           bool
	// TxnVersion is the transaction.version that the coordinator ends the transaction with. From 2 on the marker's epoch
	// is above the one that the transaction's batches have (KIP-890).
	TxnVersion int16
	// Own: it is of the only coordinator that there is, so that no other one fences it, whatever epoch a client's marker had.
	Own bool
}

// Types of a control record.
const (
	controlAbort  = 0
	controlCommit = 1
)

const (
	markerKeyBytes   = 4 // version, type
	markerValueBytes = 6 // version, coordinator epoch
)

// AppendMarker writes a marker behind the log's end, whether the producer has a transaction open there or not, as Kafka
// does: whoever repeats one writes another. Only Admission's LeaderEpoch, JournalSeq, Now and LogAppendTime count.
//
// Errors: *[ProducerError] of the kinds InvalidEpoch and CoordinatorFenced, [ErrRemoved]; all others wrap [ErrStorage].
// After any of them the log is as before.
func (p *Partition) AppendMarker(m Marker, a Admission) (Appended, error) {
	if m.ProducerID < 0 || m.ProducerEpoch < 0 {
		return Appended{}, fmt.Errorf("append marker: producer %d of epoch %d is none", m.ProducerID, m.ProducerEpoch)
	}
	p.write.Lock()
	defer p.write.Unlock()
	if err := p.writable(); err != nil {
		return Appended{}, err
	}
	if known := p.producers[m.ProducerID]; m.Own && known != nil {
		m.CoordinatorEpoch = max(m.CoordinatorEpoch, known.coordinatorEpoch)
	}
	if err := p.producers.admitMarker(&m); err != nil {
		return Appended{}, err
	}
	b := m.batch(a.Now)
	if a.LogAppendTime {
		b.setTime(a.Now, true)
	}
	if err := p.store(&b, &a); err != nil {
		return Appended{}, err
	}
	p.verifying.ended(m.ProducerID, m.ProducerEpoch)
	return p.appended(&b, &a), nil
}

// admitMarker decides whether a marker may be appended. Under transactions v2 the epoch says whether it belongs to the
// open transaction or to an earlier one; one that comes again after its transaction ended is let through, as in Kafka.
func (t producers) admitMarker(m *Marker) error {
	p := t[m.ProducerID]
	if p == nil {
		return nil
	}
	h := Header{ProducerID: m.ProducerID, ProducerEpoch: m.ProducerEpoch, BaseSequence: -1}
	again := m.ProducerEpoch == p.epoch && (p.txnFirst < 0 || p.epoch == maxEpoch)
	switch {
	case m.ProducerEpoch < p.epoch:
		return producerError(InvalidEpoch, &h, "the marker's epoch %d is below the last seen epoch %d", m.ProducerEpoch, p.epoch)
	case m.TxnVersion >= 2 && m.ProducerEpoch == p.epoch && !again:
		return producerError(InvalidEpoch, &h, "the marker's epoch %d is not above the last seen epoch", m.ProducerEpoch)
	case m.CoordinatorEpoch < p.coordinatorEpoch:
		return producerError(CoordinatorFenced, &h, "the coordinator's epoch %d is below the last seen epoch %d",
			m.CoordinatorEpoch, p.coordinatorEpoch)
	}
	return nil
}

const maxEpoch = 1<<15 - 1

// batch is the marker as a control batch of one record.
func (m *Marker) batch(now int64) Batch {
	kind := uint16(controlAbort)
	if m.Commit {
		kind = controlCommit
	}
	record := []byte{0, 0, 0} // attributes, and no deltas of timestamp and offset
	record = binary.AppendVarint(record, markerKeyBytes)
	record = binary.BigEndian.AppendUint16(record, 0)
	record = binary.BigEndian.AppendUint16(record, kind)
	record = binary.AppendVarint(record, markerValueBytes)
	record = binary.BigEndian.AppendUint16(record, 0)
	record = binary.BigEndian.AppendUint32(record, uint32(m.CoordinatorEpoch))
	record = binary.AppendVarint(record, 0) // headers
	raw := make([]byte, headerBytes, headerBytes+1+len(record))
	raw = append(binary.AppendVarint(raw, int64(len(record))), record...)
	binary.BigEndian.PutUint32(raw[atLength:], uint32(len(raw)-logOverhead))
	raw[atMagic] = 2
	binary.BigEndian.PutUint16(raw[atAttributes:], attrTransactional|attrControl)
	binary.BigEndian.PutUint64(raw[atBaseTimestamp:], uint64(now))
	binary.BigEndian.PutUint64(raw[atMaxTimestamp:], uint64(now))
	binary.BigEndian.PutUint64(raw[atProducerID:], uint64(m.ProducerID))
	binary.BigEndian.PutUint16(raw[atProducerEpoch:], uint16(m.ProducerEpoch))
	binary.BigEndian.PutUint32(raw[atBaseSequence:], 0xffffffff)
	binary.BigEndian.PutUint32(raw[atRecords:], 1)
	binary.BigEndian.PutUint32(raw[atCRC:], crc32.Checksum(raw[atAttributes:], castagnoli))
	b := Batch{Header: parseHeader(raw), raw: raw}
	b.Marker = StoredMarker{Known: true, Commit: m.Commit, CoordinatorEpoch: m.CoordinatorEpoch}
	return b
}

// StoredMarker is what the record of a control batch says.
type StoredMarker struct {
	Known            bool // false: no control batch, or one whose record compaction took
	Commit           bool
	CoordinatorEpoch int32
}

// markerMost is as much of a control batch's record as parseMarker needs, whatever the widths of its numbers.
const markerMost = 64

// parseMarker reads the record of a control batch, from its length on. Only the first markerMost bytes are needed.
//
//fuzz:parser class=batch FuzzMarker
func parseMarker(b []byte) (StoredMarker, bool) {
	r := markerReader{b: b}
	r.varint() // length
	r.skip(1)  // attributes
	r.varint() // timestamp
	r.varint() // offset
	keyLength := r.varint()
	key := r.skip(keyLength)
	value := r.skip(r.varint())
	if r.bad || len(key) < markerKeyBytes || len(value) < markerValueBytes || key[0]&0x80 != 0 || value[0]&0x80 != 0 {
		return StoredMarker{}, false
	}
	kind := binary.BigEndian.Uint16(key[2:])
	return StoredMarker{Known: true, Commit: kind == controlCommit, CoordinatorEpoch: int32(binary.BigEndian.Uint32(value[2:]))},
		kind <= controlCommit
}

// markerReader takes bytes from the front until it is told to take more than there are.
type markerReader struct {
	b   []byte
	bad bool
}

//fuzz:parser class=batch FuzzMarker
func (r *markerReader) varint() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.b = r.b[n:]
	return v
}

//fuzz:parser class=batch FuzzMarker
func (r *markerReader) skip(n int64) []byte {
	if r.bad || n < 0 || n > int64(len(r.b)) {
		r.bad = true
		return nil
	}
	taken := r.b[:n]
	r.b = r.b[n:]
	return taken
}
