package segments

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// made describes a batch for tests.
type made struct {
	records  int
	key      []byte
	value    []byte
	headers  int
	codec    Codec
	xerial   bool
	times    []int64 // of the records; default: base + i
	base     int64   // base timestamp
	producer int64   // 0: none
	epoch    int16
	sequence int32
	txn      bool
	control  bool
}

func appendRecord(b []byte, m *made, i int, ts int64) []byte {
	body := []byte{0}
	body = binary.AppendVarint(body, ts)
	body = binary.AppendVarint(body, int64(i))
	body = appendBytes(body, m.key)
	body = appendBytes(body, m.value)
	body = binary.AppendVarint(body, int64(m.headers))
	for range m.headers {
		body = appendBytes(body, []byte("header"))
		body = appendBytes(body, []byte("value"))
	}
	b = binary.AppendVarint(b, int64(len(body)))
	return append(b, body...)
}

func appendBytes(b, v []byte) []byte {
	if v == nil {
		return binary.AppendVarint(b, -1)
	}
	b = binary.AppendVarint(b, int64(len(v)))
	return append(b, v...)
}

func (m made) payload() (b []byte, most int64) {
	most = -1
	for i := range m.records {
		ts := m.base + int64(i)
		if m.times != nil {
			ts = m.times[i]
		}
		most = max(most, ts)
		b = appendRecord(b, &m, i, ts-m.base)
	}
	return b, most
}

// bytes builds the batch as a producer sends it.
func (m made) bytes() []byte {
	if m.records == 0 {
		m.records = 1
	}
	payload, most := m.payload()
	payload = compress(m.codec, m.xerial, payload)
	b := make([]byte, headerBytes, headerBytes+len(payload))
	b = append(b, payload...)
	binary.BigEndian.PutUint32(b[atLength:], uint32(len(b)-logOverhead))
	binary.BigEndian.PutUint32(b[atLeaderEpoch:], 0xffffffff)
	b[atMagic] = 2
	attributes := uint16(m.codec)
	if m.txn {
		attributes |= attrTransactional
	}
	if m.control {
		attributes |= attrControl
	}
	binary.BigEndian.PutUint16(b[atAttributes:], attributes)
	binary.BigEndian.PutUint32(b[atLastOffsetDelta:], uint32(m.records-1))
	binary.BigEndian.PutUint64(b[atBaseTimestamp:], uint64(m.base))
	binary.BigEndian.PutUint64(b[atMaxTimestamp:], uint64(most))
	producer, epoch, sequence := int64(-1), int16(-1), int32(-1)
	if m.producer > 0 {
		producer, epoch, sequence = m.producer, m.epoch, m.sequence
	}
	binary.BigEndian.PutUint64(b[atProducerID:], uint64(producer))
	binary.BigEndian.PutUint16(b[atProducerEpoch:], uint16(epoch))
	binary.BigEndian.PutUint32(b[atBaseSequence:], uint32(sequence))
	binary.BigEndian.PutUint32(b[atRecords:], uint32(m.records))
	return seal(b)
}

// seal puts the CRC right.
func seal(b []byte) []byte {
	binary.BigEndian.PutUint32(b[atCRC:], crc32.Checksum(b[atAttributes:], castagnoli))
	return b
}

func (m made) batch(t testing.TB) *Batch {
	t.Helper()
	b, err := CheckBatch(m.bytes(), &Rules{})
	if err != nil {
		t.Fatal(err)
	}
	return &b
}

func compress(codec Codec, xerial bool, b []byte) []byte {
	var out bytes.Buffer
	switch codec {
	case None:
		return b
	case Gzip:
		w := gzip.NewWriter(&out)
		w.Write(b)
		w.Close()
	case Snappy:
		if !xerial {
			return s2.EncodeSnappy(nil, b)
		}
		out.Write(xerialMagic)
		out.Write([]byte{0, 0, 0, 1, 0, 0, 0, 1})
		for len(b) > 0 {
			n := min(len(b), 32<<10)
			block := s2.EncodeSnappy(nil, b[:n])
			binary.Write(&out, binary.BigEndian, uint32(len(block)))
			out.Write(block)
			b = b[n:]
		}
	case LZ4:
		w := lz4.NewWriter(&out)
		w.Apply(lz4.BlockSizeOption(lz4.Block64Kb), lz4.BlockChecksumOption(true))
		w.Write(b)
		w.Close()
	case Zstd:
		w, _ := zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1))
		w.Write(b)
		w.Close()
	}
	return out.Bytes()
}
