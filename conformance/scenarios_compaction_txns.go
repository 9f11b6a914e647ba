package conformance

func compactedTxnScenarios() []Scenario {
	unchecked := each("transaction.partition.verification.enable", "false")
	return []Scenario{
		{
			Name:  "compact-transactions",
			Claim: "Compaction takes the records of aborted transactions, and keeps a marker as long as a batch of its transaction, then until its delete horizon, and the last of a producer for ever.",
			Part:  2, Slow: true, Set: unchecked, Fresh: true,
			Run: runCompactTransactions,
		},
		{
			Name:  "compact-transactions-v2",
			Claim: "Where each marker raises the epoch, the last marker of a producer stays, and its transactions' batches go when they are aborted or superseded.",
			Part:  2, Slow: true, Set: unchecked,
			Run: runCompactTransactionsV2,
		},
		{
			Name:  "compact-open-transaction",
			Claim: "Segments from that of the last stable offset on are not compacted; once the transaction has ended they are.",
			Part:  2, Set: unchecked,
			Run: runCompactOpenTransaction,
		},
		{
			Name:  "compact-aborted-list",
			Claim: "An aborted transaction stays on the list of read_committed with its first offset as long as compaction meets a batch of it.",
			Part:  2, Slow: true, Set: unchecked,
			Run: runCompactAbortedList,
		},
	}
}

// inTxn is a transactional batch of pairs.
func inTxn(id int64, epoch int16, sequence int32, at int64, kv ...string) Batch {
	b := pairs(at, kv...)
	b.Idempotent, b.ProducerID, b.ProdEpoch, b.Sequence, b.Attributes = true, id, epoch, sequence, 0x10
	return b
}

// heldBack makes a topic that is not compacted before setTopic says so: what is written until then is compacted in one go.
func (n *Conn) heldBack(name string, configs ...string) topicRef {
	return n.NewTopic(name, 1, append([]string{"cleanup.policy", "delete", "retention.ms", "-1", "min.cleanable.dirty.ratio", "0.01",
		"segment.ms", "1800000", "message.timestamp.after.max.ms", anyTime, "delete.retention.ms", "1"}, configs...)...)
}

func runCompactTransactions(c *C) {
	a := c.Conn("a")
	t := a.heldBack("compact-transactions")
	a.StoreIn("601 commits", t, inTxn(601, 0, 0, 0, "a", "1", "b", "1"))
	a.Commit("commit 601", t, 601)
	a.StoreIn("602 aborts", t, inTxn(602, 0, 0, 1000, "a", "2", "c", "1"))
	a.StoreIn("602 aborts, on", t, inTxn(602, 0, 2, 1001, "d", "1"))
	a.StoreIn("603 commits", t, inTxn(603, 0, 0, 1002, "a", "3", "x", "1"))
	a.Abort("abort 602", t, 602)
	a.Commit("commit 603", t, 603)
	a.Abort("abort nothing of 604", t, 604)
	a.StoreIn("605 aborts a tombstone", t, inTxn(605, 0, 0, 1003, "b", "-"))
	a.Abort("abort 605", t, 605)
	a.StoreIn("605 commits a tombstone", t, inTxn(605, 0, 1, 1004, "x", "-"))
	a.Commit("commit 605", t, 605)
	a.StoreIn("602 commits", t, inTxn(602, 0, 3, 1005, "e", "1"))
	a.Commit("commit 602", t, 602)
	a.Store("later", t, later(0, "z", "1"))
	a.shape("before", t)
	a.setTopic(t, "cleanup.policy", "compact")
	a.cleaned("compact-transactions-1")
	seen := func(step string) {
		a.shape(step, t)
		a.committed(step+", committed", t)
		a.committedShape(step+", committed from 4", t, 4)
		a.lookUps(step, t)
		a.Do(step+", producers", 0, describeProducers(t.name))
	}
	seen("once")
	a.Store("later again, all superseded", t, later(1, "a", "9", "b", "9", "e", "9"))
	a.cleaned("compact-transactions-1b")
	a.Store("later again", t, later(2, "z", "2"))
	a.cleaned("compact-transactions-2")
	seen("twice")
	a.Store("later still", t, later(3, "z", "3"))
	a.cleaned("compact-transactions-3")
	seen("three times")
	for _, again := range []func(){c.Restart, c.Kill} {
		again()
		a = c.Conn("a")
		a.AwaitTopic(t.name, 1)
		a.shape("all", t)
		a.committed("committed", t)
		a.Do("producers", 0, describeProducers(t.name))
	}
	a.Do("601 again", 11, produceIn(t, inTxn(601, 0, 0, 0, "a", "1", "b", "1")))
	a.Do("601 goes on", 11, produceIn(t, inTxn(601, 0, 2, 0, "a", "1")))
	a.Do("602's last again", 11, produceIn(t, inTxn(602, 0, 3, 1005, "e", "1")))
	a.Do("603 in the middle", 11, produceIn(t, inTxn(603, 0, 7, 0, "a", "1")))
}

func runCompactTransactionsV2(c *C) {
	a := c.Conn("a")
	t := a.heldBack("compact-transactions-v2")
	end := func(step string, id int64, epoch int16, commit bool) {
		req := markerIn(t, id, epoch, commit)
		req.Markers[0].TransactionVersion = 2
		a.Do(step, 2, req)
	}
	a.StoreIn("611", t, inTxn(611, 0, 0, 0, "a", "1", "b", "1"))
	end("commit 611", 611, 1, true)
	a.StoreIn("611 again", t, inTxn(611, 1, 0, 1, "a", "2"))
	end("abort 611", 611, 2, false)
	a.StoreIn("612", t, inTxn(612, 0, 0, 2, "c", "1"))
	end("abort 612", 612, 1, false)
	a.StoreIn("611 once more", t, inTxn(611, 2, 0, 3, "b", "2"))
	end("commit 611 once more", 611, 3, true)
	a.Store("later", t, later(0, "z", "1"))
	a.setTopic(t, "cleanup.policy", "compact")
	for _, round := range []string{"1", "2", "3"} {
		a.cleaned("compact-transactions-v2-" + round)
		a.shape("after "+round, t)
		a.committed("after "+round+", committed", t)
		a.Store("later "+round, t, later(hourOf(round), "z", round, "b", "3"))
	}
	a.Do("producers", 0, describeProducers(t.name))
	a.Do("611's next", 11, produceIn(t, inTxn(611, 3, 0, 4, "a", "3")))
	a.Do("612's old epoch", 11, produceIn(t, inTxn(612, 0, 1, 4, "a", "3")))
}

func hourOf(round string) int64 { return int64(round[0] - '0') }

func runCompactOpenTransaction(c *C) {
	a := c.Conn("a")
	t := a.heldBack("compact-open-transaction")
	a.Store("a key twice", t, pairs(0, "a", "1", "a", "2"))
	a.Store("an hour later, twice", t, pairs(hour, "b", "1", "b", "2"))
	a.StoreIn("621 begins", t, inTxn(621, 0, 0, hour+1, "a", "3", "c", "1"))
	a.Store("two hours later, twice", t, pairs(2*hour, "d", "1", "d", "2"))
	a.Store("later", t, later(0, "z", "1"))
	a.setTopic(t, "cleanup.policy", "compact")
	a.cleaned("compact-open-transaction-1")
	a.shape("while it is open", t)
	a.committed("while it is open, committed", t)
	a.Abort("abort", t, 621)
	a.Store("later again", t, later(1, "z", "2"))
	a.cleaned("compact-open-transaction-1b")
	a.Store("later still", t, later(2, "z", "3"))
	a.cleaned("compact-open-transaction-2")
	a.shape("when it has ended", t)
	a.committed("when it has ended, committed", t)
	a.lookUps("when it has ended", t)
}

func runCompactAbortedList(c *C) {
	a := c.Conn("a")
	t := a.heldBack("compact-aborted-list")
	a.StoreIn("631", t, inTxn(631, 0, 0, 0, "a", "1"))
	a.StoreIn("631 goes on", t, inTxn(631, 0, 1, 1, "b", "1"))
	a.StoreIn("632", t, inTxn(632, 0, 0, 2, "c", "1"))
	a.StoreIn("631 and an hour later", t, inTxn(631, 0, 2, hour, "d", "1"))
	a.Abort("abort 631", t, 631)
	a.Abort("abort 632", t, 632)
	a.Store("no transaction", t, later(0, "e", "1"))
	a.setTopic(t, "cleanup.policy", "compact")
	for _, round := range []string{"1", "2", "3"} {
		a.cleaned("compact-aborted-list-" + round)
		a.shape("all "+round, t)
		for _, from := range []int64{0, 1, 2, 3, 4, 5} {
			a.committedShape("committed "+round+" from "+number(from), t, from)
		}
		a.Store("later "+round, t, later(hourOf(round), "z", round))
	}
}
