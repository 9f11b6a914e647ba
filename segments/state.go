package segments

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"path"
	"slices"

	"doze/disk"
)

// What a partition knows that is a fold over its batches, as bytes: in the snapshots beside segments and in the clean
// checkpoint. The README draws it.

const (
	snapshotMagic    = "DOZESNP1"
	snapshotMost     = 256 << 20
	producerBytes    = 35 // without batches
	keptBatchBytes   = 32
	epochBytes       = 12
	snapshotOverhead = 20
)

func encodeState(l epochs, t producers) []byte {
	b := make([]byte, 0, 8+len(l)*epochBytes+len(t)*(producerBytes+keptBatchBytes*keptBatches))
	b = binary.BigEndian.AppendUint32(b, uint32(len(l)))
	for _, e := range l {
		b = binary.BigEndian.AppendUint32(b, uint32(e.epoch))
		b = binary.BigEndian.AppendUint64(b, uint64(e.start))
	}
	ids := make([]int64, 0, len(t))
	for id := range t {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	b = binary.BigEndian.AppendUint32(b, uint32(len(ids)))
	for _, id := range ids {
		b = appendProducer(b, id, t[id])
	}
	return b
}

func appendProducer(b []byte, id int64, p *producer) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(id))
	b = binary.BigEndian.AppendUint16(b, uint16(p.epoch))
	b = binary.BigEndian.AppendUint32(b, uint32(p.coordinatorEpoch))
	b = binary.BigEndian.AppendUint64(b, uint64(p.lastTimestamp))
	b = binary.BigEndian.AppendUint64(b, uint64(p.txnFirst))
	b = append(b, 0, 0, 0, 0, byte(p.count)) // four bytes are reserved
	for _, k := range p.batches[:p.count] {
		b = binary.BigEndian.AppendUint32(b, uint32(k.FirstSequence))
		b = binary.BigEndian.AppendUint32(b, uint32(k.LastSequence))
		b = binary.BigEndian.AppendUint64(b, uint64(k.FirstOffset))
		b = binary.BigEndian.AppendUint64(b, uint64(k.LastOffset))
		b = binary.BigEndian.AppendUint64(b, uint64(k.Timestamp))
	}
	return b
}

var errBadState = errors.New("partition state is damaged")

// decodeState is the inverse of encodeState and takes nothing else.
//
//fuzz:parser class=snapshot FuzzState
func decodeState(b []byte) (epochs, producers, error) {
	l, b, err := decodeEpochs(b)
	if err != nil || len(b) < 4 {
		return nil, nil, errBadState
	}
	n := binary.BigEndian.Uint32(b)
	b = b[4:]
	if uint64(n)*producerBytes > uint64(len(b)) {
		return nil, nil, errBadState
	}
	t := make(producers, n)
	last := int64(-1)
	for range n {
		id, p, rest, err := decodeProducer(b)
		if err != nil || id <= last {
			return nil, nil, errBadState
		}
		t[id], b, last = p, rest, id
	}
	if len(b) > 0 {
		return nil, nil, errBadState
	}
	return l, t, nil
}

//fuzz:parser class=snapshot FuzzState
func decodeEpochs(b []byte) (epochs, []byte, error) {
	if len(b) < 4 {
		return nil, nil, errBadState
	}
	n := binary.BigEndian.Uint32(b)
	b = b[4:]
	if uint64(n)*epochBytes > uint64(len(b)) {
		return nil, nil, errBadState
	}
	l := make(epochs, 0, n)
	for range n {
		e := epochStart{int32(binary.BigEndian.Uint32(b)), int64(binary.BigEndian.Uint64(b[4:]))}
		if i := len(l); i > 0 && (l[i-1].epoch >= e.epoch || l[i-1].start >= e.start) {
			return nil, nil, errBadState
		}
		l, b = append(l, e), b[epochBytes:]
	}
	return l, b, nil
}

//fuzz:parser class=snapshot FuzzState
func decodeProducer(b []byte) (int64, *producer, []byte, error) {
	if len(b) < producerBytes {
		return 0, nil, nil, errBadState
	}
	p := &producer{
		epoch:            int16(binary.BigEndian.Uint16(b[8:])),
		coordinatorEpoch: int32(binary.BigEndian.Uint32(b[10:])),
		lastTimestamp:    int64(binary.BigEndian.Uint64(b[14:])),
		txnFirst:         int64(binary.BigEndian.Uint64(b[22:])),
		count:            int8(b[34]),
	}
	id := int64(binary.BigEndian.Uint64(b))
	if binary.BigEndian.Uint32(b[30:]) != 0 || p.count < 0 || p.count > keptBatches ||
		len(b) < producerBytes+int(p.count)*keptBatchBytes {
		return 0, nil, nil, errBadState
	}
	b = b[producerBytes:]
	for i := range p.batches[:p.count] {
		p.batches[i] = ProducerBatch{
			FirstSequence: int32(binary.BigEndian.Uint32(b)), LastSequence: int32(binary.BigEndian.Uint32(b[4:])),
			FirstOffset: int64(binary.BigEndian.Uint64(b[8:])), LastOffset: int64(binary.BigEndian.Uint64(b[16:])),
			Timestamp: int64(binary.BigEndian.Uint64(b[24:]))}
		b = b[keptBatchBytes:]
	}
	return id, p, b, nil
}

// writeSnapshot writes the state at the beginning of the segment with that base.
func (p *Partition) writeSnapshot(base int64, state []byte) error {
	b := make([]byte, 0, snapshotOverhead+len(state))
	b = append(b, snapshotMagic...)
	b = binary.BigEndian.AppendUint64(b, uint64(base))
	b = append(b, state...)
	b = binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	return p.dir.files.withRoom(func() error {
		return disk.WriteFile(p.dir.fs, p.path, path.Join(p.path, segmentName(base, "snapshot")), b)
	})
}

// readSnapshot reads the state at the beginning of the segment with that base.
func (p *Partition) readSnapshot(base int64) (epochs, producers, error) {
	var b []byte
	err := p.dir.files.withRoom(func() (err error) {
		b, err = disk.ReadFile(p.dir.fs, path.Join(p.path, segmentName(base, "snapshot")), snapshotMost)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return decodeSnapshot(b, base)
}

//fuzz:parser class=snapshot FuzzState
func decodeSnapshot(b []byte, base int64) (epochs, producers, error) {
	if len(b) < snapshotOverhead || string(b[:8]) != snapshotMagic || int64(binary.BigEndian.Uint64(b[8:])) != base {
		return nil, nil, fmt.Errorf("snapshot at offset %d: %w", base, errBadState)
	}
	body := b[:len(b)-4]
	if crc32.Checksum(body, castagnoli) != binary.BigEndian.Uint32(b[len(b)-4:]) {
		return nil, nil, fmt.Errorf("snapshot at offset %d: %w", base, errBadState)
	}
	return decodeState(body[16:])
}
