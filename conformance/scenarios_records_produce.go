package conformance

import (
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func produceScenarios() []Scenario {
	return []Scenario{
		{
			Name:  "produce-versions",
			Claim: "Produce stores a batch at every version from 3 to 13, by topic id at 13, and the same batch again behind it.",
			Run:   runProduceVersions,
		},
		{
			Name:  "produce-unknown",
			Claim: "Produce answers UNKNOWN_TOPIC_OR_PARTITION for a name or partition that is not there and UNKNOWN_TOPIC_ID for an id, and stores the rest of the request.",
			Run:   runProduceUnknown,
		},
		{
			Name:  "produce-acks",
			Claim: "acks 0, 1 and -1 store, 0 without an answer; any other answers INVALID_REQUIRED_ACKS for every partition, once there is the topic and one batch of a known format.",
			Run:   runProduceAcks,
		},
		{
			Name:  "produce-acks-0-errors",
			Claim: "A produce request with acks=0 of which any partition fails closes the connection; the partitions that could be are stored.",
			Run:   runProduceUnheardErrors,
		},
		{
			Name:  "produce-order",
			Claim: "Produce answers each partition once: of one that a request names twice the last batch of good shape is stored, and a bad shape is answered.",
			Run:   runProduceOrder,
		},
		{
			Name:  "produce-leader-epoch",
			Claim: "The leader epoch and nothing else of a batch's head is written by the broker; what the producer put there is not looked at.",
			Run:   runProduceLeaderEpoch,
		},
		{
			Name:  "produce-too-large",
			Claim: "A batch of max.message.bytes is stored, one byte more is MESSAGE_TOO_LARGE, and the topic's value counts from the moment it is changed.",
			Run:   runProduceTooLarge,
		},
	}
}

func runProduceVersions(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("produce-versions", 2)
	for v := int16(3); v <= 13; v++ {
		batch := Values("x")
		batch.Records[0].Key, batch.Records[0].NullKey = vn(v), false
		a.Do(vn(v), v, produceTo(t, -1, batch.Bytes(), Values(vn(v), "y").Bytes()))
		a.Do(vn(v)+" again", v, produceTo(t, 1, batch.Bytes()))
	}
	a.Do("fetch", 12, fetchFrom(t, 0, 20))
}

func runProduceUnknown(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("produce-unknown", 1)
	nowhere := topicRef{"produce-unknown-nowhere", [16]byte{15: 1}}
	for _, v := range []int16{3, 8, 9, 10, 12, 13} {
		both := produceTo(nowhere, -1, Values("x").Bytes())
		here := produceTo(t, -1, Values(vn(v)).Bytes(), Values("no such partition").Bytes())
		here.Topics[0].Partitions = append(here.Topics[0].Partitions, produced(-1, Values("minus").Bytes()))
		both.Topics = append(both.Topics, here.Topics...)
		a.Do(vn(v), v, both)
	}
	a.Do("zero id", 13, produceTo(topicRef{}, -1, Values("x").Bytes()))
	a.Do("empty name", 12, produceTo(topicRef{}, -1, Values("x").Bytes()))
	a.Do("bad name", 12, produceTo(topicRef{name: "a b"}, -1, Values("x").Bytes()))
	a.Do("fetch", 12, fetchFrom(t, 0))
}

func runProduceAcks(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("produce-acks", 1)
	a.Send("acks=0", 9, produceTo(t, 0, Values("zero").Bytes())).Unanswered()
	a.Do("acks=1", 9, produceTo(t, 1, Values("one").Bytes()))
	a.Do("acks=-1", 9, produceTo(t, -1, Values("all").Bytes()))
	for _, acks := range []int16{2, -2, 32767} {
		a.Do("other", 9, produceTo(t, acks, Values("x").Bytes()))
		a.Do("other, v3", 3, produceTo(t, acks, Values("x").Bytes()))
	}
	damaged := Values("x")
	damaged.Damage = func(b []byte) { b[len(b)-1]++ }
	a.Do("other, and corrupt", 9, produceTo(t, 2, damaged.Bytes()))
	a.Do("other, and two batches", 9, produceTo(t, 2, append(Values("x").Bytes(), Values("y").Bytes()...)))
	a.Do("other, and no such topic", 9, produceTo(topicRef{name: "produce-acks-nowhere"}, 2, Values("x").Bytes()))
	a.Do("other, and no such partition", 9, produceTo(t, 2, Values("x").Bytes(), Values("x").Bytes()))
	a.Send("acks=0 again", 9, produceTo(t, 0, Values("zero again").Bytes())).Unanswered()
	a.Do("fetch", 12, fetchFrom(t, 0))
}

func runProduceUnheardErrors(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("produce-acks-0-errors", 1)
	damaged := Values("x")
	damaged.Damage = func(b []byte) { b[len(b)-1]++ }
	unheard := func(step string, version int16, req *kmsg.ProduceRequest) {
		b := c.Conn("b")
		silent := b.Send(step, version, req)
		end := b.Send(step+", then the end", 5, listOffsets(t, latest))
		silent.Await()
		end.Await()
	}
	for range 2 {
		unheard("no such topic", 9, produceTo(topicRef{name: "produce-acks-0-nowhere"}, 0, Values("x").Bytes()))
		unheard("corrupt", 9, produceTo(t, 0, damaged.Bytes()))
		unheard("two batches", 9, produceTo(t, 0, append(Values("x").Bytes(), Values("y").Bytes()...)))
		unheard("one of two partitions", 9, produceTo(t, 0, Values("stored").Bytes(), Values("x").Bytes()))
		unheard("unknown id", 13, produceTo(topicRef{id: [16]byte{15: 1}}, 0, Values("x").Bytes()))
	}
	a.End("end", t)
	a.Do("fetch", 12, fetchFrom(t, 0))
}

func runProduceOrder(c *C) {
	a := c.Conn("a")
	x, y := a.NewTopic("produce-order-x", 3), a.NewTopic("produce-order-y", 1)
	req := produceTo(y, -1, Values("y0").Bytes())
	req.Topics = append(req.Topics, produceTo(x, -1).Topics...)
	for _, number := range []int32{2, 0, 1} {
		req.Topics[1].Partitions = append(req.Topics[1].Partitions, produced(number, Values("x").Bytes()))
	}
	a.Do("two topics", 9, req)
	twice := produceTo(x, -1, Values("first").Bytes())
	twice.Topics[0].Partitions = append(twice.Topics[0].Partitions, produced(0, Values("second").Bytes()))
	a.Do("a partition twice", 9, twice)
	apart := produceTo(x, -1, Values("first apart").Bytes())
	apart.Topics = append(apart.Topics, produceTo(y, -1, Values("y1").Bytes()).Topics...)
	apart.Topics = append(apart.Topics, produceTo(x, -1, Values("second apart").Bytes()).Topics...)
	a.Do("a topic twice", 9, apart)
	byID := produceTo(x, -1, Values("first by id").Bytes())
	byID.Topics = append(byID.Topics, produceTo(x, -1, Values("second by id").Bytes()).Topics...)
	a.Do("a topic twice by id", 13, byID)
	mixed := produceTo(x, -1, Values("good").Bytes())
	mixed.Topics[0].Partitions = append(mixed.Topics[0].Partitions, produced(0, []byte{}))
	a.Do("good, then empty", 9, mixed)
	a.Do("fetch", 12, fetchFrom(x, 0, 0, 0))
}

func runProduceLeaderEpoch(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("produce-leader-epoch", 1)
	for _, epoch := range []int32{-1, 0, 1, 77, -2} {
		b := Values("x")
		b.Epoch = epoch
		a.Store("epoch", t, b)
	}
	a.Do("fetch", 12, fetchFrom(t, 0))
	a.Do("latest", 4, listOffsets(t, latest))
	a.Do("metadata", 12, metadataFor(t.name))
}

func runProduceTooLarge(c *C) {
	a := c.Conn("a")
	const head = 61 + 9 // of the batch and of its record
	size := func(n int) Batch { return Values(strings.Repeat("x", n-head)) }
	t := a.NewTopic("produce-too-large", 1, "max.message.bytes", "150")
	for _, b := range []Batch{size(150), size(151)} {
		a.Do("store", 9, produceTo(t, -1, b.Bytes()))
		a.Do("store, v7", 7, produceTo(t, -1, b.Bytes()))
	}
	damaged := size(151)
	damaged.Damage = func(b []byte) { b[len(b)-1]++ }
	a.Do("too large and corrupt", 9, produceTo(t, -1, damaged.Bytes()))
	trailing := append(size(150).Bytes(), 0, 0, 0)
	a.Do("150 bytes, and three more", 9, produceTo(t, -1, trailing))
	alter := kmsg.NewPtrIncrementalAlterConfigsRequest()
	res := kmsg.NewIncrementalAlterConfigsRequestResource()
	res.ResourceType, res.ResourceName = 2, t.name
	cfg := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
	cfg.Name, cfg.Value = "max.message.bytes", kmsg.StringPtr("151")
	res.Configs = append(res.Configs, cfg)
	alter.Resources = append(alter.Resources, res)
	a.Do("raise", 1, alter)
	AskUntil(a, "store 151 now", 9, produceTo(t, -1, size(151).Bytes()), func(r *kmsg.ProduceResponse) bool {
		return r.Topics[0].Partitions[0].ErrorCode == 0
	})
	a.Do("store 152", 9, produceTo(t, -1, size(152).Bytes()))
	a.Do("fetch", 12, fetchFrom(t, 0))
}
