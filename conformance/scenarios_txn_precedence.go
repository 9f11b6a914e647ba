package conformance

import (
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// txnOffsetEdgeScenarios show TxnOffsetCommit and WriteTxnMarkers where several things are wrong or named several times.
func txnOffsetEdgeScenarios() []Scenario {
	return inTxnPart([]Scenario{
		{
			Name:  "txn-offset-precedence",
			Claim: "TxnOffsetCommit looks at partitions first, then at the group id, the transaction, the member and last at the metadata; what it refuses for one leaves what v5 has added.",
			Run:   runTxnOffsetPrecedence,
		},
		{
			Name:  "txn-offset-old-epoch",
			Claim: "An epoch that is over is INVALID_PRODUCER_EPOCH to TxnOffsetCommit with any transactional id, when the group's partition of __consumer_offsets has seen a later epoch of the producer; until then the id is looked at first.",
			Run:   runTxnOffsetOldEpoch,
		},
		{
			Name:  "txn-offset-repeated",
			Claim: "Of a partition that a TxnOffsetCommit names several times the last offset counts; each mention is answered.",
			Run:   runTxnOffsetRepeated,
		},
		{
			Name:  "txn-offset-bounds",
			Claim: "Metadata of 4096 characters is taken, one more is OFFSET_METADATA_TOO_LARGE, counted in characters of UTF-16; offsets, leader epochs and generations of any number are taken.",
			Run:   runTxnOffsetBounds,
		},
		{
			Name:  "txn-offset-group-states",
			Claim: "TxnOffsetCommit while the group prepares or completes a rebalance, and after its members left.",
			Run:   runTxnOffsetGroupStates,
		},
		{
			Name:  "txn-offset-groups",
			Claim: "A transaction with offsets of several groups commits and aborts them together; a group that AddOffsetsToTxn named and that has no offsets is not there.",
			Run:   runTxnOffsetGroups,
		},
		{
			Name:  "txn-markers-mixed",
			Claim: "WriteTxnMarkers of several markers: partitions that are not there are UNKNOWN_TOPIC_OR_PARTITION beside good ones; a marker of producer epoch -1 fails the request, and what stands before it is written.",
			Run:   runTxnMarkersMixed,
		},
		{
			Name:  "txn-markers-repeated",
			Claim: "Two markers of one producer in a WriteTxnMarkers are both written, and answered once.",
			Run:   runTxnMarkersRepeated,
		},
		{
			Name:  "txn-markers-unanswered",
			Claim: "WriteTxnMarkers that names a partition twice in one marker, or whose last marker is for unknown partitions only, is never answered, though what can be is written.",
			Run:   runTxnMarkersUnanswered,
		},
		{
			Name:  "txn-markers-odd",
			Claim: "A marker of a producer epoch below -1 is INVALID_PRODUCER_EPOCH, one of producer or epoch -1 or of transaction version -1 UNKNOWN_SERVER_ERROR; other odd values are taken.",
			Run:   runTxnMarkersOdd,
		},
	})
}

func runTxnOffsetPrecedence(c *C) {
	a := c.Conn("a")
	const group = "txn-offset-precedence"
	t := a.NewTopic(group, 1)
	a.AwaitGroupCoordinator(group)
	edits := []struct {
		name string
		edit func(*kmsg.TxnOffsetCommitRequest)
	}{
		{"unknown partition", func(r *kmsg.TxnOffsetCommitRequest) { r.Topics[0].Partitions[0].Partition = 7 }},
		{"empty group", func(r *kmsg.TxnOffsetCommitRequest) { r.Group = "" }},
		{"empty transactional id", func(r *kmsg.TxnOffsetCommitRequest) { r.TransactionalID = "" }},
		{"unknown transactional id", func(r *kmsg.TxnOffsetCommitRequest) { r.TransactionalID = "nobody" }},
		{"another producer", func(r *kmsg.TxnOffsetCommitRequest) { r.ProducerID += 100_000 }},
		{"producer -1", func(r *kmsg.TxnOffsetCommitRequest) { r.ProducerID = -1 }},
		{"epoch -1", func(r *kmsg.TxnOffsetCommitRequest) { r.ProducerEpoch = -1 }},
		{"a later epoch", func(r *kmsg.TxnOffsetCommitRequest) { r.ProducerEpoch++ }},
		{"a member", func(r *kmsg.TxnOffsetCommitRequest) { r.MemberID, r.Generation = "somebody", 3 }},
		{"a generation", func(r *kmsg.TxnOffsetCommitRequest) { r.Generation = 3 }},
		{"an instance", func(r *kmsg.TxnOffsetCommitRequest) { r.InstanceID = kmsg.StringPtr("i") }},
		{"long metadata", func(r *kmsg.TxnOffsetCommitRequest) {
			r.Topics[0].Partitions[0].Metadata = kmsg.StringPtr(strings.Repeat("m", 5000))
		}},
	}
	for _, v := range []int16{3, 4, 5} {
		p := c.txnProducer("a", group+"-"+vn(v))
		p.Do(vn(v)+" nothing added", v, txnOffset(p, group+vn(v), t, 1))
		p.State(vn(v) + " described")
		p.Do(vn(v)+" add", 3, addOffsets(p, group+vn(v)))
		for i, one := range edits {
			alone := txnOffset(p, group+vn(v), t, 1)
			one.edit(alone)
			p.Do(vn(v)+" "+one.name, v, alone)
			for _, two := range edits[i+1:] {
				req := txnOffset(p, group+vn(v), t, 1)
				one.edit(req)
				two.edit(req)
				p.Do(fmt.Sprintf("%s %s, %s", vn(v), one.name, two.name), v, req)
			}
		}
		p.State(vn(v) + " described again")
		p.Do(vn(v)+" end", endTxnV1, endTxn(p, true))
		p.Settled(vn(v) + " settled")
		a.Offset(vn(v)+" offset", group+vn(v), t)
		a.Do(vn(v)+" group", 5, describeGroupsRequest(group+vn(v)))
	}
}

func runTxnOffsetOldEpoch(c *C) {
	a := c.Conn("a")
	const group = "txn-offset-old-epoch"
	t := a.NewTopic(group, 1)
	a.AwaitGroupCoordinator(group)
	for v := int16(0); v <= offsetCommit; v++ {
		p := c.txnProducer("a", group+"-"+vn(v))
		old := *p
		ask := func(when string) {
			for _, txn := range []string{p.txn, "nobody", ""} {
				req := txnOffset(&old, group, t, 5)
				req.TransactionalID = txn
				p.Do(fmt.Sprintf("%s %s, transactional id %q", vn(v), when, txn), v, req)
			}
		}
		p.init(vn(v)+" the next epoch", 60_000)
		ask("seen nowhere")
		p.Do(vn(v)+" add", 3, addOffsets(p, group))
		p.Do(vn(v)+" commit an offset", offsetCommitV1, txnOffset(p, group, t, 6))
		ask("seen by what is held")
		p.End(vn(v)+" end", endTxnV1, true)
		ask("seen by what has ended")
		a.Offset(vn(v)+" committed", group, t)
	}
}

func runTxnOffsetRepeated(c *C) {
	a := c.Conn("a")
	const group = "txn-offset-repeated"
	t := a.NewTopic(group, 2)
	a.AwaitGroupCoordinator(group)
	p := c.txnProducer("a", group)
	nowhere := topicRef{name: group + "-nowhere"}
	for _, v := range []int16{0, 3, 5} {
		p.Do(vn(v)+" add", 3, addOffsets(p, group))
		req := txnOffset(p, group, t, 10)
		req.Topics = append(req.Topics, txnOffset(p, group, nowhere, 1).Topics...)
		req.Topics = append(req.Topics, txnOffset(p, group, t, 12).Topics...)
		req.Topics = append(req.Topics, txnOffset(p, group, nowhere, 2).Topics...)
		again := req.Topics[0].Partitions[0]
		again.Offset = 11
		req.Topics[0].Partitions = append(req.Topics[0].Partitions, again)
		p.Do(vn(v)+" several times", v, req)
		req.Topics = req.Topics[:1]
		req.Topics[0].Partitions = nil
		p.Do(vn(v)+" a topic without partitions", v, req)
		req.Topics[0].Topic = nowhere.name
		p.Do(vn(v)+" an unknown topic without partitions", v, req)
		p.End(vn(v)+" commit", endTxnV1, true)
		a.Offset(vn(v)+" committed", group, t)
	}
}

func runTxnOffsetBounds(c *C) {
	a := c.Conn("a")
	const group = "txn-offset-bounds"
	t := a.NewTopic(group, 1)
	a.AwaitGroupCoordinator(group)
	p := c.txnProducer("a", group)
	commit := func(step string, edit func(*kmsg.TxnOffsetCommitRequest)) {
		req := txnOffset(p, group, t, 3)
		edit(req)
		p.Do(step, 5, req)
		p.End(step+": commit", endTxnV2, true)
		a.Offset(step+": committed", group, t)
	}
	for _, text := range []struct{ name, text string }{
		{"4096", strings.Repeat("m", 4096)}, {"4097", strings.Repeat("m", 4097)}, {"4096 of two bytes", strings.Repeat("é", 4096)},
		{"4097 of two bytes", strings.Repeat("é", 4097)}, {"2048 of two units", strings.Repeat("🔑", 2048)}, {"2049 of two units", strings.Repeat("🔑", 2049)}, {"empty", ""},
	} {
		commit("metadata "+text.name, func(r *kmsg.TxnOffsetCommitRequest) { r.Topics[0].Partitions[0].Metadata = &text.text })
	}
	for _, offset := range []int64{0, -1, -2, -9223372036854775808, 9223372036854775807} {
		commit(fmt.Sprint("offset ", offset), func(r *kmsg.TxnOffsetCommitRequest) { r.Topics[0].Partitions[0].Offset = offset })
	}
	for _, epoch := range []int32{-2, -2147483648, 2147483647} {
		commit(fmt.Sprint("leader epoch ", epoch), func(r *kmsg.TxnOffsetCommitRequest) { r.Topics[0].Partitions[0].LeaderEpoch = epoch })
	}
	for _, generation := range []int32{-2, -2147483648, 0} {
		commit(fmt.Sprint("generation ", generation), func(r *kmsg.TxnOffsetCommitRequest) { r.Generation = generation })
	}
}

func runTxnOffsetGroupStates(c *C) {
	a := c.Conn("a")
	const group = "txn-offset-group-states"
	t := a.NewTopic(group, 1)
	a.AwaitGroupCoordinator(group)
	p := c.txnProducer("a", group)
	p.Do("add", 3, addOffsets(p, group))
	ask := func(step, member string, generation int32) {
		for _, v := range []int16{2, 3, 5} {
			req := txnOffset(p, group, t, 5)
			req.MemberID, req.Generation = member, generation
			p.Do(step+", "+vn(v), v, req)
		}
	}
	m := c.groupMember("m", group, "range:m")
	m.joined(m.join("join"))
	ask("completing: the member", m.id, m.generation)
	ask("completing: another generation", m.id, m.generation-1)
	ask("completing: from outside", "", -1)
	m.sync("sync", m.id+":all").Await()
	ask("stable: the member", m.id, m.generation)
	ask("stable: generation -1", m.id, -1)
	ask("stable: no member", "", 0)
	n := c.groupMember("n", group, "range:n")
	second := n.join("join another")
	second.Parked()
	ask("preparing: the member", m.id, m.generation)
	ask("preparing: from outside", "", -1)
	ask("preparing: a generation more", m.id, m.generation+1)
	p.End("commit", endTxnV1, true)
	a.Offset("committed", group, t)
}

func runTxnOffsetGroups(c *C) {
	a := c.Conn("a")
	const group = "txn-offset-groups"
	t := a.NewTopic(group, 1)
	for _, g := range []string{"a", "b", "c", "d"} {
		a.AwaitGroupCoordinator(group + "-" + g)
	}
	p := c.txnProducer("a", group)
	for _, commit := range []bool{false, true} {
		for _, g := range []string{"a", "b", "c"} {
			p.Do(verdict(commit)+" add "+g, 3, addOffsets(p, group+"-"+g))
		}
		p.Do(verdict(commit)+" offset of a", 3, txnOffset(p, group+"-a", t, 1))
		p.Do(verdict(commit)+" offset of b", 5, txnOffset(p, group+"-b", t, 2))
		p.Do(verdict(commit)+" offset of d", 5, txnOffset(p, group+"-d", t, 4))
		p.State(verdict(commit) + " described")
		p.End(verdict(commit), endTxnV2, commit)
		for _, g := range []string{"a", "b", "c", "d"} {
			a.Offset(verdict(commit)+" "+g, group+"-"+g, t)
			a.Do(verdict(commit)+" group "+g, 5, describeGroupsRequest(group+"-"+g))
		}
	}
}

func runTxnMarkersMixed(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("txn-markers-mixed", 1)
	const nowhere = "txn-markers-mixed-nowhere"
	for _, v := range []int16{1, 2} {
		p, q := c.txnProducer("a", "txn-markers-mixed-p-"+vn(v)), c.txnProducer("a", "txn-markers-mixed-q-"+vn(v))
		good := func() kmsg.WriteTxnMarkersRequestMarker { return marker(p.id, p.epoch, 0, false, t.name) }
		bad := func() kmsg.WriteTxnMarkersRequestMarker { return marker(q.id, q.epoch, 0, false, nowhere) }
		tripping := func() kmsg.WriteTxnMarkersRequestMarker { return marker(q.id, -1, 0, false, t.name) }
		ask := func(step string, markers ...kmsg.WriteTxnMarkersRequestMarker) {
			a.Do(vn(v)+" "+step, v, writeMarkers(markers...))
			a.End(vn(v)+" "+step+": end", t)
		}
		ask("unknown, good", bad(), good())
		ask("two unknown", bad(), bad())
		ask("of epoch -1, good", tripping(), good())
		ask("good, of epoch -1", good(), tripping())
		both := good()
		both.Topics = append(both.Topics, bad().Topics...)
		ask("both in one", both)
		none := good()
		none.Topics[0].Partitions = nil
		ask("a topic without partitions", none)
		some := good()
		some.Topics[0].Partitions = []int32{0, 1, -1}
		ask("unknown by partition", some)
	}
}

func runTxnMarkersRepeated(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("txn-markers-repeated", 2)
	p := c.txnProducer("a", "txn-markers-repeated")
	m := marker(p.id, p.epoch, 0, false, t.name)
	other := marker(p.id, p.epoch, 0, true, t.name)
	other.Topics[0].Partitions = []int32{1}
	a.Do("two of one producer", 1, writeMarkers(m, other))
	a.Do("the same twice", 1, writeMarkers(m, m))
	tripping := marker(p.id, -1, 0, true, t.name)
	a.Do("good, then of epoch -1, of one producer and partition", 1, writeMarkers(m, tripping))
	a.Do("of epoch -1, then good", 1, writeMarkers(tripping, m))
	unknown := marker(p.id, p.epoch, 0, true, "txn-markers-repeated-nowhere")
	a.Do("unknown of the same producer", 1, writeMarkers(unknown, m))
	a.End("end", t)
	a.Do("read", 12, fetchFrom(t, 0, 0))
}

func runTxnMarkersUnanswered(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("txn-markers-unanswered", 1)
	p := c.txnProducer("a", "txn-markers-unanswered")
	m := marker(p.id, p.epoch, 0, false, t.name)
	c.Conn("b").Do("good, then unknown", 1, writeMarkers(m, marker(p.id+1, 0, 0, true, "txn-markers-unanswered-nowhere")))
	a.End("one is written", t)
	m.Topics[0].Partitions = []int32{0, 0}
	c.Conn("c").Do("a partition twice", 1, writeMarkers(m))
	a.End("one more is written", t)
}

func runTxnMarkersOdd(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("txn-markers-odd", 1)
	p := c.txnProducer("a", "txn-markers-odd")
	p.WriteV1("write", t, "a")
	ask := func(step string, edit func(*kmsg.WriteTxnMarkersRequestMarker)) {
		for _, v := range []int16{1, 2} {
			m := marker(p.id, p.epoch, 0, false, t.name)
			edit(&m)
			a.Do(step+" "+vn(v), v, writeMarkers(m))
			a.Do(step+" "+vn(v)+": producers", 0, describeProducers(t.name))
		}
	}
	ask("epoch -2", func(m *kmsg.WriteTxnMarkersRequestMarker) { m.ProducerEpoch = -2 })
	ask("epoch -2, unknown producer", func(m *kmsg.WriteTxnMarkersRequestMarker) { m.ProducerEpoch, m.ProducerID = -2, 7_000_001 })
	ask("producer -1", func(m *kmsg.WriteTxnMarkersRequestMarker) { m.ProducerID = -1 })
	ask("producer -1, epoch -1", func(m *kmsg.WriteTxnMarkersRequestMarker) { m.ProducerID, m.ProducerEpoch = -1, -1 })
	ask("coordinator epoch -1", func(m *kmsg.WriteTxnMarkersRequestMarker) { m.CoordinatorEpoch = -1 })
	ask("coordinator epoch -2", func(m *kmsg.WriteTxnMarkersRequestMarker) { m.CoordinatorEpoch = -2 })
	ask("transaction version 3", func(m *kmsg.WriteTxnMarkersRequestMarker) { m.TransactionVersion = 3 })
	ask("transaction version -1", func(m *kmsg.WriteTxnMarkersRequestMarker) { m.TransactionVersion = -1 })
	ask("transaction version -2", func(m *kmsg.WriteTxnMarkersRequestMarker) { m.TransactionVersion = -2 })
	ask("transaction version 127", func(m *kmsg.WriteTxnMarkersRequestMarker) { m.TransactionVersion, m.ProducerEpoch = 127, p.epoch+1 })
	ask("empty name", func(m *kmsg.WriteTxnMarkersRequestMarker) { m.Topics[0].Topic = "" })
	ask("bad name", func(m *kmsg.WriteTxnMarkersRequestMarker) { m.Topics[0].Topic = "a b/c" })
	ask("epoch 32767", func(m *kmsg.WriteTxnMarkersRequestMarker) { m.ProducerEpoch = 32767 })
	ask("epoch 32767 of v2", func(m *kmsg.WriteTxnMarkersRequestMarker) { m.ProducerEpoch, m.TransactionVersion = 32767, 2 })
	a.Read("read", t, 0)
	u := a.NewTopic("txn-markers-odd-producer", 1)
	a.Do("producer -2", 1, writeMarkers(marker(-2, 0, 0, false, u.name)))
}
