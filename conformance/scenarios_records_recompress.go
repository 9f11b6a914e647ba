package conformance

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func recompressScenarios() []Scenario {
	return []Scenario{
		{
			Name:  "recompress-codecs",
			Claim: "Whatever the codec of a batch and the topic's compression.type, the stored batch has the topic's codec and the same records.",
			Run:   runRecompressCodecs,
		},
		{
			Name:  "recompress-heads",
			Claim: "A batch that is stored anew begins at its first record's time, has the largest time of its records, keeps its producer and loses bits without meaning.",
			Run:   runRecompressHeads,
		},
		{
			Name:  "recompress-shapes",
			Claim: "Records that are written anew lose their attributes, and a null length is -1; lengths that do not add up are INVALID_RECORD.",
			Run:   runRecompressShapes,
		},
		{
			Name:  "recompress-errors",
			Claim: "Records are checked before they are written anew: keys, times and counts are refused as they are where batches stay as they were sent, and a time below -1 or a producer id without epoch is UNKNOWN_SERVER_ERROR.",
			Run:   runRecompressErrors,
		},
		{
			Name:  "recompress-too-large",
			Claim: "max.message.bytes holds for the batch as it was sent before anything else, and for the batch as it is stored after its records; a duplicate is measured too.",
			Run:   runRecompressTooLarge,
		},
		{
			Name:  "recompress-levels",
			Claim: "Every level of a codec stores the same records.",
			Run:   runRecompressLevels,
		},
		{
			Name:  "produce-kinds-of-topics",
			Claim: "Every version of Produce does the same to every kind of topic: compacted, LogAppendTime, with a compression.type.",
			Run:   runProduceKindsOfTopics,
		},
		{
			Name:  "produce-inflated-size",
			Claim: "Kafka stores a batch that inflates to 65 or 70 MiB, and takes zstd windows of 16 and 128 MiB; a window of 256 MiB is UNKNOWN_SERVER_ERROR.",
			Run:   runProduceInflatedSize,
		},
		{
			Name:  "produce-compressed-lengths",
			Claim: "In a compressed batch that is stored as it was sent Kafka does not always see that a record's length disagrees with its fields.",
			Run:   runProduceCompressedLengths,
		},
	}
}

// storedTypes are the values of compression.type that choose a codec.
var storedTypes = []string{"uncompressed", "gzip", "snappy", "lz4", "zstd"}

// several is a batch of records of all forms.
func several() Batch {
	return Batch{Records: []Record{
		{Key: "k", Value: "v", Time: 5},
		{NullKey: true, NullValue: true, Time: 3},
		{Key: "", Value: "", Time: 9},
		{Key: "h", Value: strings.Repeat("abc", 50), Headers: []kmsg.Header{{Key: "h", Value: nil}, {Key: "", Value: []byte{}}, {Key: "h", Value: []byte("twice")}}},
	}}
}

// packedWith is a batch with a codec of the list, none with -1.
func packedWith(b Batch, codec int) Batch {
	if codec >= 0 {
		b.Attributes |= codecs[codec].number
		b.Compress = codecs[codec].compress
	}
	return b
}

func codecName(codec int) string {
	if codec < 0 {
		return "none"
	}
	return codecs[codec].name
}

func fetchInflated(n *Conn, step string, t topicRef) {
	n.Send(step, 12, fetchFrom(t, 0)).Inflated().Await()
}

func runRecompressCodecs(c *C) {
	a := c.Conn("a")
	for _, kind := range storedTypes {
		t := a.NewTopic("recompress-codecs-"+kind, 1, "compression.type", kind)
		for codec := -1; codec < len(codecs); codec++ {
			a.Store(codecName(codec)+" to "+kind, t, packedWith(several(), codec))
		}
		fetchInflated(a, "fetch "+kind, t)
		a.Do("largest time "+kind, 7, listOffsets(t, largest))
		a.Do("by time "+kind, 7, listOffsets(t, DayOne+9))
	}
}

func runRecompressHeads(c *C) {
	a := c.Conn("a")
	for _, kind := range []string{"uncompressed", "gzip"} {
		for _, stamps := range []string{"CreateTime", "LogAppendTime"} {
			name := kind + "-" + stamps
			t := a.NewTopic("recompress-heads-"+name, 1, "compression.type", kind, "message.timestamp.type", stamps)
			codec := 4 - 5*map[string]int{"gzip": 1}[kind] // zstd to uncompressed, none to gzip
			heads(a, name, t, codec)
			fetchInflated(a, "fetch "+name, t)
		}
	}
}

func heads(a *Conn, name string, t topicRef, codec int) {
	put := func(step string, b Batch) { a.Do(step+" "+name, 9, produceTo(t, -1, packedWith(b, codec).Bytes())) }
	put("falling times", timed(9, 4, 20, -100))
	lie := timed(0, 5)
	lie.Edit = func(raw *kmsg.RecordBatch) { raw.MaxTimestamp = DayOne + 77 }
	put("a wrong largest time", lie)
	none := timed(0, 0)
	none.Edit = func(raw *kmsg.RecordBatch) { raw.FirstTimestamp, raw.MaxTimestamp = -1, -1 }
	put("no times", none)
	said := timed(1, 5)
	said.Attributes = 8
	put("said to be LogAppendTime", said)
	bits := timed(0, 5)
	bits.Attributes = 0x7fc0
	put("bits without meaning", bits)
	put("of a producer", sequenced(800, 0, 2))
	put("its duplicate", sequenced(800, 0, 2))
	put("the next", sequenced(800, 2, 1))
	led := timed(0)
	led.Epoch = 77
	put("a leader epoch", led)
}

func runRecompressShapes(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("recompress-shapes", 1, "compression.type", "uncompressed")
	same := a.NewTopic("recompress-shapes-gzip", 1, "compression.type", "gzip")
	for _, s := range recordShapes {
		b := Values("x")
		b.Attributes, b.Compress = 1, func([]byte) []byte { return gzipped(s.bytes) }
		a.Do(s.name+", inflated", 9, produceTo(t, -1, b.Bytes()))
		b.Attributes, b.Compress = 0, func([]byte) []byte { return s.bytes }
		a.Do(s.name+", compressed", 9, produceTo(same, -1, b.Bytes()))
	}
	fetchInflated(a, "fetch", t)
	fetchInflated(a, "fetch compressed", same)
}

// recordShapes are the bytes of one record, good and bad.
var recordShapes = []struct {
	name  string
	bytes []byte
}{
	{"whole", []byte{14, 0, 0, 0, 1, 2, 'x', 0}},
	{"attributes 255", []byte{14, 255, 0, 0, 1, 2, 'x', 0}},
	{"key of length -2", []byte{14, 0, 0, 0, 3, 2, 'x', 0}},
	{"value of length -2", []byte{12, 0, 0, 0, 1, 3, 0}},
	{"size one more", []byte{16, 0, 0, 0, 1, 2, 'x', 0}},
	{"size one less", []byte{12, 0, 0, 0, 1, 2, 'x', 0}},
	{"size -1", []byte{1, 0, 0, 0, 1, 2, 'x', 0}},
	{"size 0", []byte{0}},
	{"value beyond the record", []byte{14, 0, 0, 0, 1, 20, 'x', 0}},
	{"a byte behind", []byte{14, 0, 0, 0, 1, 2, 'x', 0, 7}},
	{"a byte inside behind the headers", []byte{16, 0, 0, 0, 1, 2, 'x', 0, 7}},
	{"header count -1", []byte{14, 0, 0, 0, 1, 2, 'x', 1}},
	{"header without key", []byte{18, 0, 0, 0, 1, 2, 'x', 2, 1, 0}},
	{"more headers than bytes", []byte{14, 0, 0, 0, 1, 2, 'x', 100}},
	{"no bytes", []byte{}},
}

func runRecompressErrors(c *C) {
	a := c.Conn("a")
	both := func(step string, b Batch, configs ...string) {
		for _, kind := range []string{"uncompressed", "lz4"} {
			name := "recompress-errors-" + strings.ReplaceAll(step, " ", "-") + "-" + kind
			t := a.NewTopic(name, 1, append(slices.Clone(configs), "compression.type", kind)...)
			for _, codec := range []int{-1, 0} {
				raw := packedWith(b, codec).Bytes()
				a.Do(step+", "+codecName(codec)+" to "+kind, 9, produceTo(t, -1, raw))
				a.Do(step+", "+codecName(codec)+" to "+kind+", v7", 7, produceTo(t, -1, raw))
			}
			a.End("end of "+name, t)
		}
	}
	keys := several()
	both("no key", keys, "cleanup.policy", "compact")
	old := timed(0, 1)
	half := []string{"message.timestamp.before.max.ms", "1800000", "message.timestamp.after.max.ms", "1800000"} // its bounds count as now
	both("too old", old, half...)
	mixed := timed(0, -1-DayOne, 2)
	mixed.Records[2].NullKey, mixed.Records[2].Key = false, "k"
	both("too old or no key", mixed, append(half, "cleanup.policy", "compact")...)
	said := timed(0, 0)
	said.Attributes = 8
	both("said to be LogAppendTime", said, "message.timestamp.type", "LogAppendTime")
	below := timed(-DayOne-7, 0)
	both("a time below -1", below)
	both("a time below -1 and LogAppendTime", below, "message.timestamp.type", "LogAppendTime")
	ageless := sequenced(801, 0, 1)
	ageless.ProdEpoch = -1
	both("no epoch", ageless)
	odd := sequenced(-2, -1, 1)
	both("producer -2", odd)
	more := Values("x", "y")
	more.Edit = func(raw *kmsg.RecordBatch) { raw.NumRecords, raw.LastOffsetDelta = 3, 2 }
	both("a record too few", more)
	fewer := Values("x", "y")
	fewer.Edit = func(raw *kmsg.RecordBatch) { raw.NumRecords, raw.LastOffsetDelta = 1, 0 }
	both("a record left over", fewer)
}

func runRecompressTooLarge(c *C) {
	a := c.Conn("a")
	big := timed(0)
	big.Records[0].Value = strings.Repeat("0123456789", 300)
	unpacked := a.NewTopic("recompress-too-large-uncompressed", 1, "compression.type", "uncompressed", "max.message.bytes", "1000")
	packed := a.NewTopic("recompress-too-large-gzip", 1, "compression.type", "gzip", "max.message.bytes", "1000")
	keyed := a.NewTopic("recompress-too-large-compact", 1, "compression.type", "uncompressed", "max.message.bytes", "1000", "cleanup.policy", "compact")
	for _, v := range []int16{7, 13} {
		a.Do("large once unpacked "+vn(v), v, produceTo(unpacked, -1, packedWith(big, 3).Bytes()))
		a.Do("large as sent "+vn(v), v, produceTo(packed, -1, big.Bytes()))
		a.Do("without key, and large once unpacked "+vn(v), v, produceTo(keyed, -1, packedWith(big, 3).Bytes()))
	}
	wide := a.NewTopic("recompress-too-large-narrowed", 1, "compression.type", "uncompressed")
	own := packedWith(big, 0)
	own.Idempotent, own.ProducerID = true, 802
	a.Do("of a producer", 9, produceTo(wide, -1, own.Bytes()))
	alter := kmsg.NewPtrIncrementalAlterConfigsRequest()
	resource := kmsg.NewIncrementalAlterConfigsRequestResource()
	resource.ResourceType, resource.ResourceName = kmsg.ConfigResourceTypeTopic, wide.name
	config := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
	config.Name, config.Value = "max.message.bytes", kmsg.StringPtr("1000")
	resource.Configs = append(resource.Configs, config)
	alter.Resources = append(alter.Resources, resource)
	a.Do("narrow", 1, alter)
	AskUntil(a, "its duplicate", 9, produceTo(wide, -1, own.Bytes()), func(r *kmsg.ProduceResponse) bool { return r.Topics[0].Partitions[0].ErrorCode != 0 })
	exact := a.NewTopic("recompress-too-large-exact", 1, "compression.type", "uncompressed", "max.message.bytes", number(int64(len(big.Bytes()))))
	a.Do("exactly as large as it may be", 9, produceTo(exact, -1, packedWith(big, 2).Bytes()))
	less := a.NewTopic("recompress-too-large-less", 1, "compression.type", "uncompressed", "max.message.bytes", number(int64(len(big.Bytes())-1)))
	a.Do("one byte more than it may be", 9, produceTo(less, -1, packedWith(big, 2).Bytes()))
}

func runRecompressLevels(c *C) {
	a := c.Conn("a")
	b := several()
	b.Records[0].Value = strings.Repeat("0123456789", 500)
	for _, l := range []struct{ kind, level string }{
		{"gzip", "-1"}, {"gzip", "1"}, {"gzip", "9"}, {"lz4", "1"}, {"lz4", "9"}, {"lz4", "17"},
		{"zstd", "-131072"}, {"zstd", "3"}, {"zstd", "12"}, {"zstd", "22"},
	} {
		t := a.NewTopic("recompress-levels-"+l.kind+l.level, 1, "compression.type", l.kind, "compression."+l.kind+".level", l.level)
		a.Store(l.kind+" "+l.level, t, b)
		fetchInflated(a, "fetch "+l.kind+" "+l.level, t)
	}
}

func runProduceKindsOfTopics(c *C) {
	a := c.Conn("a")
	for _, kind := range append([]string{"compact", "LogAppendTime"}, storedTypes...) {
		setting := map[string]string{"compact": "cleanup.policy", "LogAppendTime": "message.timestamp.type"}[kind]
		if setting == "" {
			setting = "compression.type"
		}
		t := a.NewTopic("produce-kinds-"+kind, 1, setting, kind)
		for v := int16(3); v <= 13; v++ {
			keyed := Batch{Records: []Record{{Key: "k", Value: "v"}, {Key: "k", Value: "w", Time: 3}}}
			a.Do(kind+", "+vn(v), v, produceTo(t, -1, keyed.Bytes()))
			a.Do(kind+", zstd "+vn(v), v, produceTo(t, -1, packedWith(keyed, 4).Bytes()))
			a.Do(kind+", without keys "+vn(v), v, produceTo(t, 1, packedWith(timed(0, 5), 0).Bytes()))
		}
		fetchInflated(a, "fetch "+kind, t)
	}
}

// zeros is a zstd frame with a window of 2^log bytes, of one record whose value is n zeros: a few bytes a block.
func zeros(log, n int) []byte {
	const mostInBlock = 128 << 10
	head := []byte{0, 0, 0, 1}
	head = binary.AppendVarint(head, int64(n))
	head = append(binary.AppendVarint(nil, int64(len(head)+n+1)), head...)
	out := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, byte((log - 10) << 3)}
	block := func(kind, size int, last int, body ...byte) {
		h := last | kind<<1 | size<<3
		out = append(append(out, byte(h), byte(h>>8), byte(h>>16)), body...)
	}
	const raw, repeated = 0, 1
	block(raw, len(head), 0, head...)
	for n > 0 {
		size := min(n, mostInBlock)
		block(repeated, size, 0, 0)
		n -= size
	}
	block(raw, 1, 1, 0)
	return out
}

func zeroBatch(log, n int) []byte {
	b := Values("x")
	b.Attributes, b.Compress = 4, func([]byte) []byte { return zeros(log, n) }
	return b.Bytes()
}

func runProduceInflatedSize(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("produce-inflated-size", 1)
	unpacked := a.NewTopic("produce-inflated-size-uncompressed", 1, "compression.type", "uncompressed")
	for _, s := range []struct {
		step   string
		log, n int
	}{
		{"63 MiB", 20, 63 << 20}, {"65 MiB", 20, 65 << 20}, {"70 MiB", 20, 70 << 20},
		{"window of 8 MiB", 23, 100}, {"window of 16 MiB", 24, 100}, {"window of 128 MiB", 27, 100}, {"window of 256 MiB", 28, 100},
	} {
		a.Do(s.step, 9, produceTo(t, -1, zeroBatch(s.log, s.n)))
		a.Do(s.step+", uncompressed", 9, produceTo(unpacked, -1, zeroBatch(s.log, s.n)))
	}
	a.End("end", t)
	a.End("end uncompressed", unpacked)
}

func runProduceCompressedLengths(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("produce-compressed-lengths", 1)
	for _, s := range recordShapes {
		b := Values("x")
		b.Attributes, b.Compress = 1, func([]byte) []byte { return gzipped(s.bytes) }
		a.Do(s.name, 9, produceTo(t, -1, b.Bytes()))
	}
	a.End("end", t)
}
