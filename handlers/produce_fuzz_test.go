package handlers

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// mendCRC makes the checksum of a first batch right, so that what lies behind it is looked at.
func mendCRC(raw []byte) {
	const lengthAt, crcAt, crcFrom = 8, 17, 21
	if len(raw) < 61 {
		return
	}
	if size := int64(binary.BigEndian.Uint32(raw[lengthAt:])) + 12; size >= 61 && size <= int64(len(raw)) {
		binary.BigEndian.PutUint32(raw[crcAt:], crc32.Checksum(raw[crcFrom:size], crc32.MakeTable(crc32.Castagnoli)))
	}
}

// FuzzProduce sends records of any kind through a whole broker: it answers or closes the connection, other connections do
// not notice, what was refused is not stored, and what was stored reads back.
func FuzzProduce(f *testing.F) {
	plain, owned := batch(3, day, -1, -1, -1), batch(2, day, 7, 0, 5)
	for version := range uint8(11) {
		f.Add(version, int8(-1), true, plain)
	}
	f.Add(uint8(6), int8(0), true, owned)
	f.Add(uint8(6), int8(1), true, owned)
	f.Add(uint8(6), int8(2), true, owned)
	f.Add(uint8(10), int8(1), false, plain[:40])
	f.Add(uint8(10), int8(0), true, append(bytes.Clone(plain), owned...))
	f.Add(uint8(10), int8(1), true, append(bytes.Clone(plain), 0, 0, 0))
	f.Add(uint8(10), int8(1), false, []byte{})
	f.Add(uint8(10), int8(1), false, bytes.Repeat([]byte{0xff}, 61))
	f.Fuzz(func(t *testing.T, version uint8, acks int8, mend bool, records []byte) {
		if len(records) > 1<<16 {
			return
		}
		records = bytes.Clone(records)
		if mend {
			mendCRC(records)
		}
		b := startTestBroker(t, nil)
		c := b.connect()
		id := c.createTopic("orders", 1)
		req := produceRequest("orders", int16(acks), records)
		req.Version = 3 + int16(version%11)
		req.Topics[0].TopicID = id
		checkProduced(t, b, req)
	})
}

// checkProduced produces twice and looks at the log after each.
func checkProduced(t *testing.T, b *testBroker, req *kmsg.ProduceRequest) {
	sent, end := req.Topics[0].Partitions[0].Records, int64(0)
	for range 2 {
		answer, answered := produceOnce(b, req)
		read := readAll(b.connect())
		grown := read.HighWatermark > end
		if answered && grown != (answer.ErrorCode == none && answer.BaseOffset == end) {
			t.Fatalf("the log went from %d to %d, the answer is %+v", end, read.HighWatermark, answer)
		}
		if answered && answer.ErrorCode != none && answer.BaseOffset != -1 {
			t.Fatalf("refused, with an offset: %+v", answer)
		}
		if grown && !endsWithPayload(read.RecordBatches, sent) {
			t.Fatalf("sent %x, read %x", sent, read.RecordBatches)
		}
		if !grown && end == 0 && len(read.RecordBatches) > 0 {
			t.Fatalf("nothing was stored, and %x is read", read.RecordBatches)
		}
		end = read.HighWatermark
	}
}

// produceOnce sends the request on a connection of its own; there is no answer when acks is 0.
func produceOnce(b *testBroker, req *kmsg.ProduceRequest) (kmsg.ProduceResponseTopicPartition, bool) {
	c := b.connect()
	c.send(req)
	if req.Acks == 0 {
		// The next answer on the connection, or its end, says that the request is done.
		next := kmsg.NewRequestFormatter().AppendRequest(nil, kmsg.NewPtrApiVersionsRequest(), 2)
		if _, err := c.conn.Write(next); err == nil {
			_, _ = c.frame()
		}
		return kmsg.ProduceResponseTopicPartition{}, false
	}
	return c.receive(req).(*kmsg.ProduceResponse).Topics[0].Partitions[0], true
}

func readAll(c *testConn) kmsg.FetchResponseTopicPartition {
	return ask[*kmsg.FetchResponse](c, fetchRequest("orders", 0, 0, 0)).Topics[0].Partitions[0]
}

// endsWithPayload tells whether the last stored batch has the records that were sent; its head may be put right.
func endsWithPayload(read, sent []byte) bool {
	const head = 61
	size := int(binary.BigEndian.Uint32(sent[8:])) + 12
	return len(read) >= size && bytes.Equal(read[len(read)-size+head:], sent[head:size])
}
