package conformance

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func produceBatchScenarios() []Scenario {
	return []Scenario{
		{
			Name:  "produce-no-batch",
			Claim: "Empty and cut-off records, and more than one batch, are INVALID_RECORD with a text from v8 on; bytes behind the batch that are no whole batch are ignored.",
			Run:   runProduceNoBatch,
		},
		{
			Name:  "produce-null-records",
			Claim: "Null records are not answered, and neither is what follows on the connection; other connections do not notice.",
			Run:   runProduceNullRecords,
		},
		{
			Name:  "produce-corrupt",
			Claim: "A wrong CRC, length or magic is CORRUPT_MESSAGE or INVALID_RECORD, nothing is stored, and the connection goes on.",
			Run:   runProduceCorrupt,
		},
		{
			Name:  "produce-unreadable",
			Claim: "A first batch of impossible length or magic, and a transactional batch without a transactional id, fail the whole request with one code, and nothing of it is stored.",
			Run:   runProduceUnreadable,
		},
		{
			Name:  "produce-old-formats",
			Claim: "Batches of message formats 0 and 1 are INVALID_RECORD at every version.",
			Run:   runProduceOldFormats,
		},
		{
			Name:  "produce-counts",
			Claim: "A batch whose record count, last offset delta, base offset or records do not agree is INVALID_RECORD.",
			Run:   runProduceCounts,
		},
		{
			Name:  "produce-offset-deltas",
			Claim: "Offset deltas that do not count from 0 are stored as they are, but in a compressed batch they are UNKNOWN_SERVER_ERROR.",
			Run:   runProduceOffsetDeltas,
		},
		{
			Name:  "produce-control-bit",
			Claim: "A batch with the control bit is INVALID_RECORD, and again.",
			Run:   runProduceControlBit,
		},
		{
			Name:  "produce-codecs",
			Claim: "Batches of every codec are stored as they were sent; a codec that does not exist and bytes that do not decompress are UNKNOWN_SERVER_ERROR.",
			Run:   runProduceCodecs,
		},
		{
			Name:  "produce-unknown-codecs",
			Claim: "A compression type that there is not is UNKNOWN_SERVER_ERROR for its partition, and before version 7 for the whole request.",
			Run:   runProduceUnknownCodecs,
		},
		{
			Name:  "produce-zstd-versions",
			Claim: "zstd below Produce v7 is UNSUPPORTED_COMPRESSION_TYPE; the same batch is stored from v7 on.",
			Run:   runProduceZstdVersions,
		},
		{
			Name:  "produce-record-shapes",
			Claim: "Null and empty keys and values and headers are stored as sent; records whose lengths do not add up are INVALID_RECORD or CORRUPT_MESSAGE.",
			Run:   runProduceRecordShapes,
		},
		{
			Name:  "produce-compacted",
			Claim: "A record without key for a compacted topic fails its batch: INVALID_RECORD, and from v8 on each such record with its index.",
			Run:   runProduceCompacted,
		},
	}
}

// try produces bytes that may be refused, at v9 and again, and at v7, which has no texts.
func try(n *Conn, step string, t topicRef, raw []byte) {
	n.Do(step, 9, produceTo(t, -1, raw))
	n.Do(step+", again", 9, produceTo(t, -1, raw))
	n.Do(step+", v7", 7, produceTo(t, -1, raw))
}

func runProduceNoBatch(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("produce-no-batch", 1)
	one, two := Values("one").Bytes(), Values("two").Bytes()
	try(a, "empty", t, []byte{})
	try(a, "a byte", t, []byte{0})
	try(a, "half a batch", t, one[:40])
	try(a, "less a byte", t, one[:len(one)-1])
	try(a, "two batches", t, bytes.Join([][]byte{one, two}, nil))
	try(a, "a batch and a half", t, bytes.Join([][]byte{one, two[:40]}, nil))
	try(a, "a batch and eleven bytes", t, bytes.Join([][]byte{one, two[:11]}, nil))
	try(a, "a batch and zeros", t, bytes.Join([][]byte{one, make([]byte, 20)}, nil))
	a.Do("empty and good", 9, produceTo(a.NewTopic("produce-no-batch-2", 2), -1, []byte{}, one))
	a.Do("fetch", 12, fetchFrom(t, 0))
}

func runProduceNullRecords(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("produce-null-records", 1)
	for _, name := range []string{"b", "c"} {
		c.Conn(name).Do("null records", 9, produceTo(t, -1, nil))
	}
	a.End("end", t)
}

func runProduceCorrupt(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("produce-corrupt", 1)
	damaged := func(damage func([]byte)) []byte {
		b := Values("x", "y")
		b.Damage = damage
		return b.Bytes()
	}
	length := func(n int32) func([]byte) {
		return func(b []byte) { binary.BigEndian.PutUint32(b[8:], uint32(n)) }
	}
	try(a, "last byte", t, damaged(func(b []byte) { b[len(b)-1]++ }))
	try(a, "crc", t, damaged(func(b []byte) { b[17]++ }))
	try(a, "attributes", t, damaged(func(b []byte) { b[22] = 1 }))
	try(a, "magic 3", t, damaged(func(b []byte) { b[16] = 3 }))
	try(a, "magic -1", t, damaged(func(b []byte) { b[16] = 0xff }))
	try(a, "length 0", t, damaged(length(0)))
	try(a, "length -1", t, damaged(length(-1)))
	try(a, "length 13", t, damaged(length(13)))
	try(a, "length 14", t, damaged(length(14)))
	try(a, "length 48", t, damaged(length(48)))
	try(a, "length 49", t, damaged(length(49)))
	try(a, "length 2147483647", t, damaged(length(1<<31-1)))
	a.End("end", t)
}

func runProduceUnreadable(c *C) {
	a := c.Conn("a")
	t, u := a.NewTopic("produce-unreadable", 3), a.NewTopic("produce-unreadable-too", 1)
	length := func(n uint32) []byte {
		b := Values("x")
		b.Damage = func(raw []byte) { binary.BigEndian.PutUint32(raw[8:], n) }
		return b.Bytes()
	}
	good, magic := Values("good"), Values("x")
	magic.Damage = func(raw []byte) { raw[16] = 9 }
	txn := Values("x")
	txn.Attributes = 0x10
	for _, bad := range []struct {
		step string
		raw  []byte
	}{
		{"magic", magic.Bytes()},
		{"length", length(5)},
		{"huge length", length(1<<31 - 1)},
		{"the largest length", length(1<<31 - 13)},
		{"transactional", txn.Bytes()},
		{"magic behind a batch", append(good.Bytes(), magic.Bytes()...)},
		{"huge length behind a batch", append(good.Bytes(), length(1<<31-1)...)},
	} {
		req := produceTo(t, -1, good.Bytes(), bad.raw, good.Bytes())
		req.Topics = append(req.Topics, produceTo(u, -1, good.Bytes()).Topics...)
		a.Do(bad.step, 9, req)
		a.Do(bad.step+", v7", 7, req)
	}
	nowhere := topicRef{name: "produce-unreadable-nowhere"}
	a.Do("magic, and no such topic", 9, produceTo(nowhere, -1, magic.Bytes()))
	a.Do("magic, and acks=2", 9, produceTo(t, 2, magic.Bytes()))
	a.Do("fetch", 12, fetchFrom(t, 0, 0, 0))
}

// legacy is a message of format 0 or 1 with the value x.
func legacy(magic byte) []byte {
	set := kmsg.MessageV1{Offset: 0, Magic: int8(magic), Timestamp: DayOne, Value: []byte("x")}
	raw := set.AppendTo(nil)
	if magic == 0 {
		old := kmsg.MessageV0{Value: []byte("x")}
		raw = old.AppendTo(nil)
	}
	binary.BigEndian.PutUint32(raw[8:], uint32(len(raw)-12))
	binary.BigEndian.PutUint32(raw[12:], ieee(raw[16:]))
	return raw
}

func runProduceOldFormats(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("produce-old-formats", 1)
	for _, magic := range []byte{0, 1} {
		for _, v := range []int16{3, 7, 8, 13} {
			a.Do(fmt.Sprintf("format %d, v%d", magic, v), v, produceTo(t, -1, legacy(magic)))
		}
	}
	a.Do("format 1 behind a batch", 9, produceTo(t, -1, append(Values("x").Bytes(), legacy(1)...)))
	a.End("end", t)
}

func runProduceCounts(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("produce-counts", 1)
	edited := func(edit func(*kmsg.RecordBatch)) []byte {
		b := Values("x", "y")
		b.Edit = edit
		return b.Bytes()
	}
	for _, e := range []struct {
		step string
		edit func(*kmsg.RecordBatch)
	}{
		{"no records", func(b *kmsg.RecordBatch) { b.NumRecords, b.LastOffsetDelta, b.Records = 0, -1, nil }},
		{"count 0", func(b *kmsg.RecordBatch) { b.NumRecords = 0 }},
		{"count -1", func(b *kmsg.RecordBatch) { b.NumRecords = -1 }},
		{"count 1", func(b *kmsg.RecordBatch) { b.NumRecords = 1 }},
		{"count 3", func(b *kmsg.RecordBatch) { b.NumRecords = 3 }},
		{"last offset delta 0", func(b *kmsg.RecordBatch) { b.LastOffsetDelta = 0 }},
		{"last offset delta 2", func(b *kmsg.RecordBatch) { b.LastOffsetDelta = 2 }},
		{"last offset delta -1", func(b *kmsg.RecordBatch) { b.LastOffsetDelta = -1 }},
		{"count and delta one less", func(b *kmsg.RecordBatch) { b.NumRecords, b.LastOffsetDelta = 1, 0 }},
		{"count and delta one more", func(b *kmsg.RecordBatch) { b.NumRecords, b.LastOffsetDelta = 3, 2 }},
		{"base offset 1", func(b *kmsg.RecordBatch) { b.FirstOffset = 1 }},
		{"base offset -1", func(b *kmsg.RecordBatch) { b.FirstOffset = -1 }},
		{"sequence -1 of a producer", func(b *kmsg.RecordBatch) { b.ProducerID, b.ProducerEpoch = 50, 0 }},
		{"epoch -1 of a producer", func(b *kmsg.RecordBatch) { b.ProducerID, b.FirstSequence = 50, 0 }},
		{"epoch and sequence without a producer", func(b *kmsg.RecordBatch) { b.ProducerEpoch, b.FirstSequence = 3, 4 }},
		{"producer -2", func(b *kmsg.RecordBatch) { b.ProducerID, b.ProducerEpoch, b.FirstSequence = -2, 0, 0 }},
	} {
		a.Do(e.step, 9, produceTo(t, -1, edited(e.edit)))
		a.Do(e.step+", v7", 7, produceTo(t, -1, edited(e.edit)))
	}
	a.Do("fetch", 12, fetchFrom(t, 0))
}

func runProduceOffsetDeltas(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("produce-offset-deltas", 1)
	for _, deltas := range [][]int32{{0, 2}, {1, 2}, {1, 0}, {0, 0}} {
		b := Values("x", "y")
		payload := appendRecord(appendRecord(nil, deltas[0], Record{Value: "x"}), deltas[1], Record{Value: "y"})
		b.Edit = func(raw *kmsg.RecordBatch) { raw.Records = payload }
		step := fmt.Sprint("deltas ", deltas)
		a.Do(step, 9, produceTo(t, -1, b.Bytes()))
		b.Attributes = 1
		b.Edit = func(raw *kmsg.RecordBatch) { raw.Records = gzipped(payload) }
		a.Do(step+", compressed", 9, produceTo(t, -1, b.Bytes()))
		a.Do(step+", compressed, again", 9, produceTo(t, -1, b.Bytes()))
	}
}

func runProduceControlBit(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("produce-control-bit", 1)
	b := Values("x")
	b.Attributes = 0x20
	try(a, "control", t, b.Bytes())
	own := sequenced(60, 0, 1)
	own.Attributes = 0x20
	try(a, "control of a producer", t, own.Bytes())
	unused := Values("x")
	unused.Attributes = 0x40
	try(a, "delete horizon bit", t, unused.Bytes())
	beyond := Values("x")
	beyond.Attributes = 0x7f80
	try(a, "bits without meaning", t, beyond.Bytes())
	a.Do("fetch", 12, fetchFrom(t, 0))
}

// The codecs, as producers write them.
var codecs = []struct {
	name     string
	number   int16
	compress func([]byte) []byte
}{
	{"gzip", 1, gzipped},
	{"snappy", 2, func(b []byte) []byte { return snappy.Encode(nil, b) }},
	{"snappy in Xerial's frame", 2, xerial},
	{"lz4", 3, lz4ed},
	{"zstd", 4, zstded},
}

func gzipped(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

func xerial(b []byte) []byte {
	out := append([]byte("\x82SNAPPY\x00"), 0, 0, 0, 1, 0, 0, 0, 1)
	block := snappy.Encode(nil, b)
	out = binary.BigEndian.AppendUint32(out, uint32(len(block)))
	return append(out, block...)
}

func lz4ed(b []byte) []byte {
	var out bytes.Buffer
	w := lz4.NewWriter(&out)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

func zstded(b []byte) []byte {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		panic(err)
	}
	defer w.Close()
	return w.EncodeAll(b, nil)
}

func compressed(codec int16, compress func([]byte) []byte, values ...string) Batch {
	b := Values(values...)
	b.Attributes, b.Compress = codec, compress
	return b
}

func runProduceCodecs(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("produce-codecs", 1)
	same := func(b []byte) []byte { return b }
	for _, codec := range codecs {
		a.Store(codec.name, t, compressed(codec.number, codec.compress, "first", "first again"))
		a.Store(codec.name+" again", t, compressed(codec.number, codec.compress, "first", "first again"))
		a.Do(codec.name+" that is none", 9, produceTo(t, -1, compressed(codec.number, same, "x").Bytes()))
		cut := func(b []byte) []byte { b = codec.compress(b); return b[:len(b)-5] }
		a.Do(codec.name+" cut off", 9, produceTo(t, -1, compressed(codec.number, cut, "x", "y").Bytes()))
		a.Do(codec.name+" of nothing", 9, produceTo(t, -1, compressed(codec.number, func([]byte) []byte { return nil }, "x").Bytes()))
	}
	for _, number := range []int16{5, 6, 7} {
		try(a, fmt.Sprintf("codec %d", number), t, compressed(number, same, "x").Bytes())
	}
	a.Do("fetch", 12, fetchFrom(t, 0))
}

func runProduceZstdVersions(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("produce-zstd-versions", 1)
	raw := compressed(4, zstded, "x").Bytes()
	for _, v := range []int16{3, 6, 7, 8, 13} {
		a.Do(vn(v), v, produceTo(t, -1, raw))
	}
	damaged := compressed(4, zstded, "x")
	damaged.Damage = func(b []byte) { b[len(b)-1]++ }
	a.Do("corrupt at v6", 6, produceTo(t, -1, damaged.Bytes()))
	a.Do("v6 again", 6, produceTo(t, -1, raw))
	a.Do("fetch v4", 4, fetchFrom(t, 0))
}

func runProduceRecordShapes(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("produce-record-shapes", 1)
	a.Store("shapes", t, Batch{Records: []Record{
		{NullKey: true, NullValue: true},
		{Key: "", Value: ""},
		{Key: "k", NullValue: true},
		{NullKey: true, Value: "v", Headers: []kmsg.Header{{Key: "h", Value: nil}, {Key: "", Value: []byte{}}, {Key: "h", Value: []byte("twice")}}},
	}})
	shape := func(step string, records ...byte) {
		b := Values("x")
		b.Edit = func(raw *kmsg.RecordBatch) { raw.Records = records }
		try(a, step, t, b.Bytes())
	}
	shape("whole", 14, 0, 0, 0, 1, 2, 'x', 0)
	shape("attributes 255", 14, 255, 0, 0, 1, 2, 'x', 0)
	shape("key of length -2", 14, 0, 0, 0, 3, 2, 'x', 0)
	shape("value of length -2", 12, 0, 0, 0, 1, 3, 0)
	shape("size one more", 16, 0, 0, 0, 1, 2, 'x', 0)
	shape("size one less", 12, 0, 0, 0, 1, 2, 'x', 0)
	shape("size -1", 1, 0, 0, 0, 1, 2, 'x', 0)
	shape("size 0", 0)
	shape("value beyond the record", 14, 0, 0, 0, 1, 20, 'x', 0)
	shape("a byte behind", 14, 0, 0, 0, 1, 2, 'x', 0, 7)
	shape("header count -1", 14, 0, 0, 0, 1, 2, 'x', 1)
	shape("header without key", 18, 0, 0, 0, 1, 2, 'x', 2, 1, 0)
	shape("more headers than bytes", 14, 0, 0, 0, 1, 2, 'x', 100)
	shape("no bytes")
	a.Do("fetch", 12, fetchFrom(t, 0))
}

func runProduceCompacted(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("produce-compacted", 1, "cleanup.policy", "compact")
	keyed := func(keys ...string) Batch {
		var b Batch
		for _, k := range keys {
			b.Records = append(b.Records, Record{Key: k, NullKey: k == "-", Value: "v"})
		}
		return b
	}
	for _, v := range []int16{7, 8, 13} {
		a.Do("keys "+vn(v), v, produceTo(t, -1, keyed("a", "", "b").Bytes()))
		a.Do("two without key "+vn(v), v, produceTo(t, -1, keyed("a", "-", "b", "-").Bytes()))
		a.Do("all without key "+vn(v), v, produceTo(t, -1, keyed("-", "-").Bytes()))
	}
	packed := keyed("a", "-")
	packed.Attributes, packed.Compress = 1, gzipped
	a.Do("gzip, one without key", 9, produceTo(t, -1, packed.Bytes()))
	both := a.NewTopic("produce-compacted-deleted", 1, "cleanup.policy", "compact,delete")
	a.Do("compact,delete", 9, produceTo(both, -1, keyed("-").Bytes()))
	a.Do("fetch", 12, fetchFrom(t, 0))
}

func runProduceUnknownCodecs(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("produce-unknown-codecs", 2)
	for range 2 {
		for _, v := range []int16{3, 5, 6, 7, 8, 9} {
			for _, codec := range []int16{5, 7} {
				b := Values("x")
				b.Attributes = codec
				a.Do(vn(v)+", codec "+number(int64(codec)), v, produceTo(t, -1, b.Bytes(), Values("good").Bytes()))
			}
		}
	}
	a.Do("fetch", 12, fetchFrom(t, 0, 0))
}
