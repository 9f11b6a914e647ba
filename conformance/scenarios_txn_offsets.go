package conformance

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func txnOffsetScenarios() []Scenario {
	return inTxnPart([]Scenario{
		{
			Name:  "txn-offset-versions",
			Claim: "TxnOffsetCommit v0 to v5 commits offsets with the transaction: none before its end, the last one of each partition after a commit, none after an abort; v5 adds the group to the transaction.",
			Run:   runTxnOffsetVersions,
		},
		{
			Name:  "txn-offset-states",
			Claim: "TxnOffsetCommit from outside of the group, below v5: INVALID_TXN_STATE (v4: TRANSACTION_ABORTABLE) before AddOffsetsToTxn and after EndTxn, no error between them; INVALID_PRODUCER_ID_MAPPING for another producer id, INVALID_PRODUCER_EPOCH for another epoch; for an unknown transactional id INVALID_PRODUCER_ID_MAPPING, for an empty one INVALID_REQUEST.",
			Run:   runTxnOffsetStates,
		},
		{
			Name:  "txn-offset-unverified",
			Claim: "Once a producer holds an offset of the group in a transaction, TxnOffsetCommit does not look at the transactional id any more; producer id and epoch are looked at.",
			Run:   runTxnOffsetUnverified,
		},
		{
			Name:  "txn-offset-pending",
			Claim: "While a transaction holds an offset, OffsetFetch answers the one before it, and with require_stable UNSTABLE_OFFSET_COMMIT for that partition alone, at every version that has the flag.",
			Run:   runTxnOffsetPending,
		},
		{
			Name:  "txn-offset-two",
			Claim: "Two transactions may hold offsets of one partition: it is stable when both have ended, and the one that commits last counts, whenever it was told.",
			Run:   runTxnOffsetTwo,
		},
		{
			Name:  "txn-offset-beside",
			Claim: "A plain commit while a transaction holds an offset is seen at once; the transaction's own counts if it ends later.",
			Run:   runTxnOffsetBeside,
		},
		{
			Name:  "txn-offset-members",
			Claim: "With a member id and generation TxnOffsetCommit checks both as OffsetCommit does: UNKNOWN_MEMBER_ID, ILLEGAL_GENERATION; with -1 and no member id it is taken from outside though the group has members.",
			Run:   runTxnOffsetMembers,
		},
		{
			Name:  "txn-offset-instance",
			Claim: "A static member whose instance was taken over is FENCED_INSTANCE_ID to TxnOffsetCommit; an unknown instance is UNKNOWN_MEMBER_ID.",
			Run:   runTxnOffsetInstance,
		},
		{
			Name:  "txn-offset-unknown",
			Claim: "Unknown partitions are UNKNOWN_TOPIC_OR_PARTITION each and the others are taken; too long metadata is OFFSET_METADATA_TOO_LARGE; an empty group id is INVALID_GROUP_ID.",
			Run:   runTxnOffsetUnknown,
		},
		{
			Name:  "txn-offset-group",
			Claim: "A group that only a transaction knows is Empty; OffsetDelete takes a pending offset away; DeleteGroups takes a group with pending offsets away, and the end of the transaction brings nothing back.",
			Run:   runTxnOffsetGroup,
		},
		{
			Name:  "txn-offset-restart",
			Claim: "Pending offsets survive a restart: still unstable, committed by the end of their transaction.",
			Fresh: true,
			Run:   runTxnOffsetRestart,
		},
		{
			Name:  "txn-offset-topic-deleted",
			Claim: "A pending offset of a topic that is deleted is gone with it.",
			Run:   runTxnOffsetTopicDeleted,
		},
	})
}

func runTxnOffsetVersions(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("txn-offset-versions", 1)
	for v := int16(0); v <= offsetCommit; v++ {
		group := "txn-offset-versions-" + vn(v)
		a.AwaitGroupCoordinator(group)
		p := c.txnProducer("a", group)
		end := int16(endTxnV1)
		if v == offsetCommit {
			end = endTxnV2
		}
		for i, commit := range []bool{true, false, true} {
			if v < offsetCommit {
				p.Do(vn(v)+" add", 3, addOffsets(p, group))
			}
			p.Do(vn(v)+" first", v, txnOffset(p, group, t, int64(10*i+5)))
			req := txnOffset(p, group, t, int64(10*i+7))
			req.Topics[0].Partitions[0].LeaderEpoch = 3
			p.Do(vn(v)+" second", v, req)
			p.State(vn(v) + " described")
			p.Offset(vn(v)+" before the end", group, t)
			p.End(vn(v)+" "+verdict(commit), end, commit)
			p.Offset(vn(v)+" after it", group, t)
		}
	}
}

func runTxnOffsetStates(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("txn-offset-states", 1)
	for v := int16(0); v <= offsetCommit; v++ {
		group := "txn-offset-states-" + vn(v)
		a.AwaitGroupCoordinator(group)
		p := c.txnProducer("a", group)
		p.init("epoch 1", 60_000)
		ask := func(step string) { p.Do(vn(v)+" "+step, v, txnOffset(p, group, t, 5)) }
		if v < offsetCommit {
			ask("before")
			ask("before, again")
		}
		p.Add(vn(v)+" add a topic", t)
		if v < offsetCommit {
			ask("another added")
		}
		p.Do(vn(v)+" add", 3, addOffsets(p, group))
		askBadOffsets(p, "nothing held", v, group, t)
		ask("added")
		p.End(vn(v)+" commit", endTxnV1, true)
		p.Offset(vn(v)+" committed", group, t)
		if v < offsetCommit {
			ask("after the commit")
			p.Do(vn(v)+" add again", 3, addOffsets(p, group))
		}
		p.Do(vn(v)+" another offset", v, txnOffset(p, group, t, 6))
		p.End(vn(v)+" abort", endTxnV1, false)
		if v < offsetCommit {
			ask("after the abort")
		}
		p.Offset(vn(v)+" at last", group, t)
	}
}

func runTxnOffsetUnverified(c *C) {
	a := c.Conn("a")
	const group = "txn-offset-unverified"
	t := a.NewTopic(group, 1)
	a.AwaitGroupCoordinator(group)
	p := c.txnProducer("a", group)
	p.init("epoch 1", 60_000)
	p.Do("hold", offsetCommit, txnOffset(p, group, t, 5))
	askBadOffsets(p, "an offset held", offsetCommit, group, t)
	p.End("commit", endTxnV2, true)
	a.Offset("committed", group, t)
}

// askBadOffsets commits offsets with ids and epochs that are not the transaction's.
func askBadOffsets(p *txnProducer, when string, v int16, group string, t topicRef) {
	for _, bad := range []struct {
		step string
		edit func(*kmsg.TxnOffsetCommitRequest)
	}{
		{"unknown transactional id", func(r *kmsg.TxnOffsetCommitRequest) { r.TransactionalID = "nobody" }},
		{"empty transactional id", func(r *kmsg.TxnOffsetCommitRequest) { r.TransactionalID = "" }},
		{"another producer id", func(r *kmsg.TxnOffsetCommitRequest) { r.ProducerID += 100_000 }},
		{"an older epoch", func(r *kmsg.TxnOffsetCommitRequest) { r.ProducerEpoch-- }},
		{"a later epoch", func(r *kmsg.TxnOffsetCommitRequest) { r.ProducerEpoch++ }},
	} {
		req := txnOffset(p, group, t, 5)
		bad.edit(req)
		p.Do(fmt.Sprintf("%s %s, %s", vn(v), bad.step, when), v, req)
	}
}

func plainCommit(group string, t topicRef, offset int64) *kmsg.OffsetCommitRequest {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.Generation = group, -1
	topic := kmsg.NewOffsetCommitRequestTopic()
	topic.Topic = t.name
	part := kmsg.NewOffsetCommitRequestTopicPartition()
	part.Offset, part.Metadata = offset, kmsg.StringPtr("plain")
	topic.Partitions = append(topic.Partitions, part)
	req.Topics = append(req.Topics, topic)
	return req
}

func runTxnOffsetPending(c *C) {
	a := c.Conn("a")
	const group = "txn-offset-pending"
	t := a.NewTopic(group, 2)
	a.AwaitGroupCoordinator(group)
	a.Do("commit", 7, plainCommit(group, t, 1))
	p := c.txnProducer("a", group)
	p.Do("hold an offset", offsetCommit, txnOffset(p, group, t, 5))
	for v := int16(7); v <= 10; v++ {
		for _, stable := range []bool{false, true} {
			both := stableOffset(group, t, stable)
			both.Topics[0].Partitions = []int32{0, 1}
			of := kmsg.NewOffsetFetchRequestGroup()
			of.Group, of.MemberEpoch = group, -1
			topic := kmsg.NewOffsetFetchRequestGroupTopic()
			topic.Topic, topic.TopicID, topic.Partitions = t.name, t.id, []int32{0, 1}
			of.Topics = append(of.Topics, topic)
			both.Groups = append(both.Groups, of)
			a.Do(fmt.Sprint(vn(v), " stable ", stable), v, both)
			both.Topics, both.Groups[0].Topics = nil, nil
			a.Do(fmt.Sprint(vn(v), " all, stable ", stable), v, both)
		}
	}
	p.End("commit it", endTxnV2, true)
	a.Offset("afterwards", group, t)
}

func runTxnOffsetTwo(c *C) {
	a := c.Conn("a")
	const group = "txn-offset-two"
	t := a.NewTopic(group, 1)
	a.AwaitGroupCoordinator(group)
	for _, how := range []struct {
		name                string
		firstEnds, p, qVote bool
	}{{"both commit, the first first", true, true, true}, {"both commit, the first last", false, true, true},
		{"the first aborts", true, false, true}, {"the second aborts", true, true, false}, {"both abort", true, false, false}} {
		p, q := c.txnProducer("a", group+"-p"), c.txnProducer("a", group+"-q")
		p.Do(how.name+": first", offsetCommit, txnOffset(p, group, t, 10))
		q.Do(how.name+": second", offsetCommit, txnOffset(q, group, t, 20))
		a.Offset(how.name+": held", group, t)
		if how.firstEnds {
			p.End(how.name+": first ends", endTxnV2, how.p)
			a.Offset(how.name+": held by the second", group, t)
			q.End(how.name+": second ends", endTxnV2, how.qVote)
		} else {
			q.End(how.name+": second ends", endTxnV2, how.qVote)
			a.Offset(how.name+": held by the first", group, t)
			p.End(how.name+": first ends", endTxnV2, how.p)
		}
		a.Offset(how.name+": afterwards", group, t)
	}
}

func runTxnOffsetBeside(c *C) {
	a := c.Conn("a")
	const group = "txn-offset-beside"
	t := a.NewTopic(group, 1)
	a.AwaitGroupCoordinator(group)
	p := c.txnProducer("a", group)
	for _, commit := range []bool{true, false} {
		p.Do("hold", offsetCommit, txnOffset(p, group, t, 5))
		a.Do("plain commit", 7, plainCommit(group, t, 9))
		a.Offset("beside", group, t)
		p.End(verdict(commit), endTxnV2, commit)
		a.Offset("after the "+verdict(commit), group, t)
	}
}

func runTxnOffsetMembers(c *C) {
	a := c.Conn("a")
	const group = "txn-offset-members"
	t := a.NewTopic(group, 1)
	a.AwaitGroupCoordinator(group)
	p := c.txnProducer("a", group)
	ask := func(step, member string, generation int32) {
		for _, v := range []int16{3, 4, 5} {
			req := txnOffset(p, group, t, 5)
			req.MemberID, req.Generation = member, generation
			p.Do(step+", "+vn(v), v, req)
		}
	}
	p.Do("add", 3, addOffsets(p, group))
	ask("no group: a member", "somebody", 1)
	ask("no group: a generation", "", 0)
	ask("no group: neither", "", -1)
	m := c.groupMember("m", group, "range:m")
	m.joined(m.join("join"))
	m.sync("sync", m.id+":all").Await()
	ask("the member", m.id, m.generation)
	ask("another generation", m.id, m.generation+1)
	ask("generation -1", m.id, -1)
	ask("another member", "somebody", m.generation)
	ask("no member", "", m.generation)
	ask("neither", "", -1)
	p.End("commit", endTxnV1, true)
	a.Offset("afterwards", group, t)
}

func runTxnOffsetInstance(c *C) {
	a := c.Conn("a")
	const group = "txn-offset-instance"
	t := a.NewTopic(group, 1)
	a.AwaitGroupCoordinator(group)
	p := c.txnProducer("a", group)
	p.Do("add", 3, addOffsets(p, group))
	old := c.staticMember("m", group)
	old.joined(old.join("join"))
	old.sync("sync", old.id+":all").Await()
	gone := *old
	again := c.staticMember("n", group, old.protocols...)
	again.instance = old.instance
	again.joined(again.join("take over"))
	ask := func(step, member, instance string, generation int32) {
		for _, v := range []int16{3, 5} {
			req := txnOffset(p, group, t, 5)
			req.MemberID, req.Generation, req.InstanceID = member, generation, &instance
			p.Do(step+", "+vn(v), v, req)
		}
	}
	ask("the new one", again.id, *old.instance, again.generation)
	ask("the old one", gone.id, *old.instance, gone.generation)
	ask("another instance", again.id, "nobody", again.generation)
	ask("an empty instance", again.id, "", again.generation)
	p.End("commit", endTxnV1, true)
	a.Offset("afterwards", group, t)
}

func runTxnOffsetUnknown(c *C) {
	a := c.Conn("a")
	const group = "txn-offset-unknown"
	t := a.NewTopic(group, 1)
	a.AwaitGroupCoordinator(group)
	p := c.txnProducer("a", group)
	for _, v := range []int16{4, 5} {
		p.Do(vn(v)+" add", 3, addOffsets(p, group))
		req := txnOffset(p, group, t, 5)
		for _, number := range []int32{1, -1} {
			part := req.Topics[0].Partitions[0]
			part.Partition = number
			req.Topics[0].Partitions = append(req.Topics[0].Partitions, part)
		}
		req.Topics = append(req.Topics, txnOffset(p, group, topicRef{name: group + "-nowhere"}, 5).Topics...)
		p.Do(vn(v)+" good and unknown", v, req)
		req.Topics = req.Topics[1:]
		p.Do(vn(v)+" unknown only", v, req)
		req.Topics = nil
		p.Do(vn(v)+" no topics", v, req)
		long := txnOffset(p, group, t, 6)
		text := string(make([]byte, 5000))
		long.Topics[0].Partitions[0].Metadata = &text
		p.Do(vn(v)+" long metadata", v, long)
		long.Topics[0].Partitions[0].Metadata = nil
		p.Do(vn(v)+" null metadata", v, long)
		p.Do(vn(v)+" empty group", v, txnOffset(p, "", t, 7))
		negative := txnOffset(p, group, t, -5)
		p.Do(vn(v)+" negative", v, negative)
		p.End(vn(v)+" commit", endTxnV1, true)
		a.Offset(vn(v)+" afterwards", group, t)
		a.Offset(vn(v)+" of the empty group", "", t)
	}
}

func runTxnOffsetGroup(c *C) {
	a := c.Conn("a")
	const group = "txn-offset-group"
	t := a.NewTopic(group, 1)
	a.AwaitGroupCoordinator(group)
	p := c.txnProducer("a", group)
	for _, commit := range []bool{false, true} {
		p.Do("hold", offsetCommit, txnOffset(p, group, t, 5))
		a.Do("describe", 5, describeGroupsRequest(group))
		a.Do("delete the offset that is held", 0, deleteOffset(group, t))
		a.Offset("held", group, t)
		a.Do("plain commit", 7, plainCommit(group, t, 1))
		a.Do("delete the offset beside the one that is held", 0, deleteOffset(group, t))
		a.Offset("held, the other deleted", group, t)
		p.End(verdict(commit), endTxnV2, commit)
		a.Offset("after the "+verdict(commit), group, t)
		a.Do("describe after the "+verdict(commit), 5, describeGroupsRequest(group))
	}
	for _, commit := range []bool{false, true} {
		p.Do("hold again", offsetCommit, txnOffset(p, group, t, 8))
		a.Do("delete the group", 2, deleteGroupsRequest(group))
		a.Do("delete the group again", 2, deleteGroupsRequest(group))
		a.Offset("in no group", group, t)
		p.End(verdict(commit)+" for a deleted group", endTxnV2, commit)
		a.Offset("after the "+verdict(commit)+" for a deleted group", group, t)
		a.Do("describe the deleted group", 5, describeGroupsRequest(group))
	}
}

func deleteOffset(group string, t topicRef) *kmsg.OffsetDeleteRequest {
	req := kmsg.NewPtrOffsetDeleteRequest()
	req.Group = group
	topic := kmsg.NewOffsetDeleteRequestTopic()
	topic.Topic = t.name
	topic.Partitions = append(topic.Partitions, kmsg.NewOffsetDeleteRequestTopicPartition())
	req.Topics = append(req.Topics, topic)
	return req
}

func runTxnOffsetRestart(c *C) {
	a := c.Conn("a")
	const group = "txn-offset-restart"
	t := a.NewTopic(group, 1)
	a.AwaitGroupCoordinator(group)
	p := c.txnProducer("a", group)
	p.Do("hold", offsetCommit, txnOffset(p, group, t, 5))
	for i, again := range []func(){c.Restart, c.Kill} {
		again()
		p.reopened()
		p.AwaitTxnCoordinator()
		p.AwaitGroupCoordinator(group)
		p.State("described")
		p.Offset("held", group, t)
		p.End("commit", endTxnV2, true)
		p.Offset("committed", group, t)
		p.Do("hold again", offsetCommit, txnOffset(p, group, t, int64(6+i)))
	}
}

func runTxnOffsetTopicDeleted(c *C) {
	a := c.Conn("a")
	const group = "txn-offset-topic-deleted"
	t := a.NewTopic(group, 1)
	a.AwaitGroupCoordinator(group)
	p := c.txnProducer("a", group)
	p.Do("hold", offsetCommit, txnOffset(p, group, t, 5))
	a.Do("commit in another group", 7, plainCommit(group+"-other", t, 3))
	gone := kmsg.NewPtrDeleteTopicsRequest()
	gone.TopicNames, gone.TimeoutMillis = []string{t.name}, 10_000
	a.Do("delete", 5, gone)
	AskUntil(a, "until the other group's offset is gone", 7, stableOffset(group+"-other", t, false), func(r *kmsg.OffsetFetchResponse) bool {
		return r.Topics[0].Partitions[0].Offset < 0
	})
	a.Offset("before the end", group, t)
	p.End("commit", endTxnV2, true)
	a.Offset("afterwards", group, t)
	again := a.NewTopic(group, 1)
	a.Offset("in a new topic of the name", group, again)
}
