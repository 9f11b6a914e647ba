package conformance

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// RandomLog is a scenario of batches, right ones and ones whose header lies, at any version and with any codec, to a topic
// whose configs change, with look-ups by time and deletions between them. What docs/differences.md names is left out of it.
func RandomLog(seed uint64, steps int) Scenario {
	s := Scenario{Claim: "A log takes, refuses and finds what Kafka's does.", Set: randomTxnSet()}
	return s.atRandom("random-log", seed, 10, func(r random) { (&randomLog{Conn: r.c.Conn("a"), rng: r.rng}).play(r.group, steps) })
}

type randomLog struct {
	*Conn
	rng       *rand.Rand
	topic     topicRef
	sequences [3]int32
	deleted   bool // the largest timestamp is then another, and a look-up by time may find none (docs/differences.md)
}

func (r *randomLog) play(topic string, steps int) {
	r.topic = r.NewTopic(topic, 1, "retention.ms", "-1", "message.timestamp.after.max.ms", "1000") // texts have that time
	for range steps {
		r.act()
	}
	r.look()
}

func (r *randomLog) act() {
	switch choice := r.rng.IntN(20); {
	case choice < 12:
		r.produce()
	case choice < 14:
		r.alter()
	case choice < 17:
		r.find()
	case choice < 18 && r.rng.IntN(3) == 0:
		r.deleted = true
		r.Do("delete records", 2, deleteBefore(r.topic, int64(r.rng.IntN(12)-1)))
	case choice < 19:
		r.Send("read from the middle", 12, fetchFrom(r.topic, int64(r.rng.IntN(20)-1))).Inflated().Await()
	default:
		r.look()
	}
}

// sizes are of values; odd ones lie about the blocks of codecs.
var sizes = []int{0, 1, 10, 63, 64, 1000, 4095, 32_768, 65_537}

func (r *randomLog) batch() (b Batch, id int) {
	id = -1
	for range 1 + r.rng.IntN(4) {
		rec := Record{NullKey: r.rng.IntN(4) == 0, Key: fmt.Sprint("k", r.rng.IntN(3)), Time: int64(r.rng.IntN(40) - 10)}
		if rec.NullValue = r.rng.IntN(6) == 0; !rec.NullValue {
			rec.Value = strings.Repeat(fmt.Sprint(r.rng.IntN(1000), "-"), sizes[r.rng.IntN(len(sizes))])
			rec.Value = rec.Value[:min(len(rec.Value), sizes[r.rng.IntN(len(sizes))])]
		}
		for i := range r.rng.IntN(3) {
			rec.Headers = append(rec.Headers, kmsg.Header{Key: fmt.Sprint("h", i), Value: []byte(strings.Repeat("x", r.rng.IntN(200)))})
		}
		b.Records = append(b.Records, rec)
	}
	b.Start = DayOne + int64(r.rng.IntN(200))
	if r.rng.IntN(3) == 0 {
		id = r.rng.IntN(len(r.sequences))
		b.Idempotent, b.ProducerID, b.Sequence = true, int64(900+id), r.sequences[id]
	}
	return packedWith(b, r.rng.IntN(len(codecs)+2)-2), id
}

func (r *randomLog) produce() {
	b, id := r.batch()
	next := b.Sequence + int32(len(b.Records))
	lie := r.lie(&b)
	raw := b.Bytes()
	a := Ask[*kmsg.ProduceResponse](r.Conn, "produce"+lie, int16(3+r.rng.IntN(11)), produceTo(r.topic, []int16{1, -1}[r.rng.IntN(2)], raw))
	if id >= 0 && a.Topics[0].Partitions[0].ErrorCode == 0 && lie == "" {
		r.sequences[id] = next
	}
}

// lie makes some batches say what is not so, and tells what.
func (r *randomLog) lie(b *Batch) string {
	n := int64(r.rng.IntN(5) - 2)
	switch r.rng.IntN(26) {
	case 0:
		b.BaseOffset = n * 1000
		return ", base offset"
	case 1:
		b.Epoch = int32(n)
		return ", leader epoch"
	case 2:
		b.Attributes |= 1 << (3 + r.rng.IntN(13))
		return ", attributes"
	case 3:
		b.Edit = func(raw *kmsg.RecordBatch) { raw.MaxTimestamp += n * 100 }
		return ", largest timestamp"
	case 4:
		b.Edit = func(raw *kmsg.RecordBatch) { raw.LastOffsetDelta += int32(n) }
		return ", last offset delta"
	case 5:
		b.Edit = func(raw *kmsg.RecordBatch) { raw.NumRecords += int32(n) }
		return ", number of records"
	case 6:
		b.Edit = func(raw *kmsg.RecordBatch) { raw.Magic = int8(n) + 1 }
		return ", magic"
	case 7:
		b.Damage = func(raw []byte) { raw[r.rng.IntN(len(raw))] ^= 1 << r.rng.IntN(8) }
		return ", a bit"
	case 8:
		b.Edit = func(raw *kmsg.RecordBatch) { raw.ProducerID, raw.ProducerEpoch = n, int16(r.rng.IntN(4)-2) }
		return ", producer"
	case 9:
		b.Sequence += int32(n)
		return ", sequence"
	}
	return ""
}

func (r *randomLog) alter() {
	values := map[string][]string{
		"compression.type":                {"producer", "uncompressed", "gzip", "snappy", "lz4", "zstd"},
		"message.timestamp.type":          {"CreateTime", "LogAppendTime"},
		"max.message.bytes":               {"1000", "70000", "1048588"},
		"message.timestamp.before.max.ms": {"9223372036854775807", "1000"},
		"cleanup.policy":                  {"delete", "compact,delete"},
	}
	keys := []string{"compression.type", "compression.type", "message.timestamp.type", "max.message.bytes", "message.timestamp.before.max.ms", "cleanup.policy"}
	key := keys[r.rng.IntN(len(keys))]
	value := values[key][r.rng.IntN(len(values[key]))]
	r.Do("alter "+key, 1, incremental(kmsg.ConfigResourceTypeTopic, r.topic.name, change{key: key, value: value}))
	r.awaitConfig(key, value)
}

// awaitConfig waits, and records nothing of it, until a topic's config is what it was set to.
func (r *randomLog) awaitConfig(key, value string) {
	before, mark := len(r.c.steps), r.c.scrub.mark()
	req := kmsg.NewPtrDescribeConfigsRequest()
	req.Resources = []kmsg.DescribeConfigsRequestResource{{ResourceType: kmsg.ConfigResourceTypeTopic, ResourceName: r.topic.name, ConfigNames: []string{key}}}
	AskUntil(r.Conn, "config", 4, req, func(a *kmsg.DescribeConfigsResponse) bool {
		return len(a.Resources) == 1 && len(a.Resources[0].Configs) == 1 && *a.Resources[0].Configs[0].Value == value
	})
	r.c.steps = r.c.steps[:before]
	r.c.scrub.reset(mark)
	time.Sleep(settled) // Kafka's logs hear of it behind those who describe it
}

func (r *randomLog) find() {
	at := DayOne + int64(r.rng.IntN(260)-20)
	if r.rng.IntN(4) == 0 {
		at = []int64{0, -6, -7, 1 << 62}[r.rng.IntN(4)]
	}
	if at >= 0 && r.deleted {
		at = latest
	}
	req := listOffsets(r.topic, at)
	version := int16(1 + r.rng.IntN(10))
	if version >= 4 && r.rng.IntN(4) == 0 {
		req.Topics[0].Partitions[0].CurrentLeaderEpoch = int32(r.rng.IntN(3) - 1)
	}
	r.Do("find", version, req)
}

func (r *randomLog) look() {
	r.Send("read", 12, fetchFrom(r.topic, 0)).Inflated().Await()
	for _, at := range []int64{latest, earliest, largest, DayOne + 100} {
		if at != largest && at < 0 || !r.deleted {
			r.Do("offset at "+number(at), 7, listOffsets(r.topic, at))
		}
	}
	r.Do("producers", 0, describeProducers(r.topic.name))
}
