package handlers

import (
	"testing"
	"time"

	"doze/disk"
	"doze/journal"
	"doze/segments"
)

// A partition is opened with a transaction that must be aborted there, and its log cannot be written: the disk is full. It is
// tried again until there is space, without a restart and without anybody asking; the transaction before keeps its verdict.
func TestAbortOfAPartitionIsTriedAgain(t *testing.T) {
	b, c := newTxnBroker(t)
	p := c.txnProducer(false)
	p.must(p.write(1, 0, -1), p.write(1, 1, -1), p.end(true))
	b.fs.Inject(failing("journal", disk.EIO, disk.OpSync))
	p.must(p.produceTxn(2, 0, 1))
	b.syncLog(0)
	again := b.crashed(disk.PowerLoss())
	full := failing("00000.log", disk.ENOSPC, disk.OpWrite)
	again.fs.Inject(full)
	again.start()
	c = again.connect()
	log := again.log(0)
	if open, err := log.OpenTxns(); err != nil || len(open) != 1 {
		t.Fatal(open, err)
	}
	waitUntil(t, "the partition is not undecided on a full disk", func() bool { return again.broker.txns.isUnsettled(log) && again.fs.Fired(full) > 1 })
	if _, err := log.OpenTxnOf(p.p.id); err != nil {
		t.Fatal(err)
	}
	again.fs.Clear()
	waitUntil(t, "the transaction stays open", func() bool {
		open, err := log.OpenTxns()
		return err == nil && len(open) == 0 && !again.broker.txns.isUnsettled(log)
	})
	wantSeen(t, c, 0, map[int32]bool{1: true, 2: false})
	wantSeen(t, c, 1, map[int32]bool{1: true})
	p = c.txnProducer(false)
	p.must(p.write(3, 0, -1), p.end(true))
	wantSeen(t, c, 0, map[int32]bool{1: true, 2: false, 3: true})
	again.stop()
}

// log is the log of a partition of orders.
func (b *testBroker) log(partition int32) *segments.Partition {
	state, _ := b.store.View()
	return b.broker.partition(state, state.Topics.Named("orders"), partition)
}

func waitUntil(t *testing.T, otherwise string, is func() bool) {
	t.Helper()
	for until := time.Now().Add(20 * time.Second); !is(); time.Sleep(time.Millisecond) { // leave the processor to what is waited for
		if time.Now().After(until) {
			t.Fatal(otherwise)
		}
	}
}

// A transaction that ends between the look into the log and the decision is no reason to fence its producer.
func TestWhoSettlesFencesNobodyWhoEnded(t *testing.T) {
	b := startTestBroker(t, nil)
	c := b.connect()
	c.createTopic("orders", 2)
	p := c.txnProducer(true)
	p.must(p.write(1, 0, -1))
	state, _ := b.store.View()
	seen := state.Transactions.OfProducer(p.p.id)
	open, err := b.log(0).OpenTxnOf(p.p.id)
	if err != nil || open == nil {
		t.Fatal(open, err)
	}
	p.must(p.end(true))
	partition := journal.TxnPartition{Topic: b.log(0).ID().Topic, Partition: 0}
	changed, orphan, err := b.broker.txns.settleAsSeen(partition, &unsettledTxn{OpenTxn: *open}, seen)
	if err != nil || !changed || orphan {
		t.Errorf("changed %v, orphan %v, %v", changed, orphan, err)
	}
	p.must(p.write(2, 0, -1), p.end(true))
	wantSeen(t, c, 0, map[int32]bool{1: true, 2: true})
}
