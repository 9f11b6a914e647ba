package conformance

import (
	"encoding/binary"
	"math"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// connectionScenarios are about what a connection carries: ids, order, silence, and when it ends.
func connectionScenarios() []Scenario {
	return []Scenario{
		{
			Name:  "wire-client-ids",
			Claim: "A client id may be null, empty or long, in the old header and in the flexible one.",
			Run:   runWireClientIDs,
		},
		{
			Name:  "wire-correlation-ids",
			Claim: "The correlation id comes back as it was, whatever it is and however often.",
			Run:   runWireCorrelationIDs,
		},
		{
			Name:  "wire-order",
			Claim: "Requests sent together are answered in their order: what follows a Fetch that waits is answered after it.",
			Run:   runWireOrder,
		},
		{
			Name:  "wire-order-join",
			Claim: "What follows a JoinGroup that waits is answered after it.",
			Set:   map[string]string{"group.initial.rebalance.delay.ms": "2000"},
			Run:   runWireOrderJoin,
		},
		{
			Name:  "wire-acks-zero",
			Claim: "Produce with acks=0 has no answer and takes no place in the order; one that fails closes the connection.",
			Run:   runWireAcksZero,
		},
		{
			Name:  "wire-max-frame",
			Claim: "A frame above socket.request.max.bytes closes the connection, one of just that size does not.",
			Set:   map[string]string{"socket.request.max.bytes": "1000"},
			Run:   runWireMaxFrame,
		},
		{
			Name:  "wire-idle",
			Claim: "A connection that is idle for connections.max.idle.ms is closed.",
			Set:   map[string]string{"connections.max.idle.ms": "2500"},
			Run:   runWireIdle,
		},
		{
			Name:  "wire-idle-waiting",
			Claim: "A connection whose request waits for longer than connections.max.idle.ms is closed, and the request has no answer.",
			Set:   map[string]string{"connections.max.idle.ms": "3000"},
			Run:   runWireIdleWaiting,
		},
		{
			Name:  "wire-connections-per-address",
			Claim: "A connection beyond max.connections.per.ip is closed before it is answered; when one ends there is room again.",
			Set:   map[string]string{"max.connections.per.ip": "2"},
			Run:   runWireConnectionsPerAddress,
		},
	}
}

// header is what a frame made by hand begins with; the client id is null when it is nil, tags are left out when nil.
type header struct {
	key, version int16
	correlation  int32
	clientID     *string
	tags         []byte
}

func (h header) frame(body []byte) []byte {
	b := binary.BigEndian.AppendUint16(nil, uint16(h.key))
	b = binary.BigEndian.AppendUint16(b, uint16(h.version))
	b = binary.BigEndian.AppendUint32(b, uint32(h.correlation))
	if h.clientID == nil {
		b = binary.BigEndian.AppendUint16(b, math.MaxUint16)
	} else {
		b = binary.BigEndian.AppendUint16(b, uint16(len(*h.clientID)))
		b = append(b, *h.clientID...)
	}
	b = append(b, h.tags...)
	return append(b, body...)
}

// noTopics is a Metadata request whose answer is short, at a version.
func noTopics(version int16) *kmsg.MetadataRequest {
	req := metadataFor()
	req.SetVersion(version)
	return req
}

const metadataKey = 3

func runWireClientIDs(c *C) {
	a := c.Conn("a")
	for _, id := range []*string{nil, kmsg.StringPtr(""), kmsg.StringPtr("x"), kmsg.StringPtr("k\u00e4fer \u2603"), kmsg.StringPtr("\xff\xfe"), kmsg.StringPtr(strings.Repeat("c", 32767))} {
		for _, v := range []int16{1, 9} {
			req := noTopics(v)
			h := header{key: metadataKey, version: v, correlation: 5, clientID: id}
			if v == 9 {
				h.tags = noTags
			}
			a.DoRaw("metadata", h.frame(req.AppendTo(nil)), req)
		}
	}
	c.Conn("a").Do("metadata", 9, noTopics(9))
}

func runWireCorrelationIDs(c *C) {
	a := c.Conn("a")
	req := noTopics(9)
	var sent []*Pending
	for _, id := range []int32{0, -1, math.MaxInt32, math.MinInt32, 7, 7, 6} {
		h := header{key: metadataKey, version: 9, correlation: id, clientID: kmsg.StringPtr("x"), tags: noTags}
		sent = append(sent, a.SendRaw("metadata", h.frame(req.AppendTo(nil)), req))
	}
	for _, p := range sent {
		p.Await()
	}
}

func fetchAt(topic string, offset int64, wait int32) *kmsg.FetchRequest {
	req := kmsg.NewPtrFetchRequest()
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes, req.SessionEpoch = wait, 1, 1<<20, -1
	t := kmsg.NewFetchRequestTopic()
	t.Topic = topic
	p := kmsg.NewFetchRequestTopicPartition()
	p.FetchOffset, p.PartitionMaxBytes = offset, 1<<20
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return req
}

func produceOne(topic string, partition int32, acks int16, batch []byte) *kmsg.ProduceRequest {
	req := kmsg.NewPtrProduceRequest()
	req.Acks, req.TimeoutMillis = acks, 10_000
	t := kmsg.NewProduceRequestTopic()
	t.Topic = topic
	p := kmsg.NewProduceRequestTopicPartition()
	p.Partition, p.Records = partition, batch
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return req
}

func runWireOrder(c *C) {
	a := c.Conn("a")
	a.MakeTopic("wire-order", 1)
	for range 2 {
		fetch := a.Send("fetch at the end", 12, fetchAt("wire-order", 0, 2000))
		metadata := a.Send("metadata after it", 9, metadataFor("wire-order"))
		list := a.Send("offsets after that", 5, endOffsets("wire-order", 1))
		fetch.Parked()
		fetch.Await()
		fetch.TookAtLeast(1900 * time.Millisecond)
		metadata.Await()
		metadata.TookAtLeast(time.Second)
		list.Await()
	}
	fetch := a.Send("fetch at the end", 12, fetchAt("wire-order", 0, 1000))
	produce := a.Send("produce on the same connection", 9, produceOne("wire-order", 0, -1, Values("a").Bytes()))
	fetch.Await()
	fetch.TookAtLeast(900 * time.Millisecond)
	produce.Await()
	fetch = a.Send("fetch what there is", 12, fetchAt("wire-order", 0, 15000))
	metadata := a.Send("metadata after it", 9, metadataFor("wire-order"))
	fetch.Await()
	fetch.TookAtLeast(14 * time.Second)
	metadata.Await()
}

func joinOf(group string) *kmsg.JoinGroupRequest {
	req := kmsg.NewPtrJoinGroupRequest()
	req.Group, req.SessionTimeoutMillis, req.RebalanceTimeoutMillis, req.ProtocolType = group, 10_000, 10_000, "consumer"
	p := kmsg.NewJoinGroupRequestProtocol()
	p.Name = "range"
	req.Protocols = append(req.Protocols, p)
	return req
}

func runWireOrderJoin(c *C) {
	a := c.Conn("a")
	a.MakeTopic("wire-order-join", 1)
	a.AwaitGroupCoordinator("wire-order-join")
	join := a.Send("join", 2, joinOf("wire-order-join"))
	silent := a.Send("produce with acks=0", 9, produceOne("wire-order-join", 0, 0, Values("a").Bytes()))
	metadata := a.Send("metadata after it", 9, metadataFor("wire-order-join"))
	join.Parked()
	join.Await()
	join.TookAtLeast(1900 * time.Millisecond)
	silent.Unanswered()
	metadata.Await()
	metadata.TookAtLeast(time.Second)
	a.Do("offsets after all", 5, endOffsets("wire-order-join", 1))
}

func runWireAcksZero(c *C) {
	a := c.Conn("a")
	a.MakeTopic("wire-acks-zero", 1)
	for range 2 {
		a.Send("acks=0", 9, produceOne("wire-acks-zero", 0, 0, Values("a").Bytes())).Unanswered()
		a.Do("metadata after it", 9, metadataFor("wire-acks-zero"))
	}
	a.Do("both records are there", 5, endOffsets("wire-acks-zero", 1))
	damaged := Values("a")
	damaged.Damage = func(b []byte) { b[len(b)-1] ^= 1 }
	empty := produceOne("wire-acks-zero", 0, 0, nil)
	empty.Topics = nil
	c.Conn("d").Send("no topics", 9, empty).Unanswered()
	c.Conn("d").Do("metadata after it", 9, metadataFor("wire-acks-zero"))
	for _, bad := range []struct {
		step string
		req  *kmsg.ProduceRequest
	}{
		{"a partition that is not there", produceOne("wire-acks-zero", 5, 0, Values("a").Bytes())},
		{"a topic that is not there", produceOne("wire-acks-zero-none", 0, 0, Values("a").Bytes())},
		{"a damaged batch", produceOne("wire-acks-zero", 0, 0, damaged.Bytes())},
	} {
		c.Conn("b").Do(bad.step, 9, bad.req)
		c.Conn("b").Do("metadata on a new connection", 9, metadataFor("wire-acks-zero"))
		c.Conn("b").Close()
	}
}

func runWireMaxFrame(c *C) {
	frame := func(size int) []byte {
		h := header{key: metadataKey, version: 1, correlation: 5, clientID: kmsg.StringPtr("")}
		fixed := len(h.frame(noTopics(1).AppendTo(nil)))
		h.clientID = kmsg.StringPtr(strings.Repeat("c", size-fixed))
		return h.frame(noTopics(1).AppendTo(nil))
	}
	like := noTopics(1)
	c.Conn("a").DoRaw("1,000 bytes", frame(1000), like)
	c.Conn("a").DoRaw("1,000 bytes again", frame(1000), like)
	c.Conn("a").DoRaw("1,001 bytes", frame(1001), nil)
	c.Conn("a").Do("metadata on a new connection", 9, noTopics(9))
}

func runWireIdle(c *C) {
	a := c.Conn("a")
	a.Do("metadata", 9, noTopics(9))
	a.Do("metadata again", 9, noTopics(9))
	idle := a.SendBytes("nothing more", nil)
	idle.Await()
	idle.TookAtLeast(time.Second)
}

func runWireIdleWaiting(c *C) {
	a := c.Conn("a")
	a.MakeTopic("wire-idle-waiting", 1)
	a.DoTimed("a fetch that waits longer", 12, fetchAt("wire-idle-waiting", 0, 6000), 5500*time.Millisecond)
}

func runWireConnectionsPerAddress(c *C) {
	c.Conn("a").Do("first", 9, noTopics(9))
	c.Conn("b").Do("second", 9, noTopics(9))
	c.Conn("c").Do("third", 9, noTopics(9))
	c.Conn("a").Do("the first goes on", 9, noTopics(9))
	c.Conn("b").Close()
	c.Conn("d").AskUntilOpen("when the second has ended", 9, noTopics(9))
}
