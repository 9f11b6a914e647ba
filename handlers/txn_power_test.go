package handlers

import (
	"bytes"
	"context"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/disk"
)

// txnClient is a transactional producer that speaks transactions v1 (Produce v11, EndTxn v4) or v2, to topic orders.
type txnClient struct {
	*testConn
	v1        bool
	p         producerIdentity
	sequences map[int32]int32
}

// txnProducer initializes "txn".
func (c *testConn) txnProducer(v1 bool) *txnClient {
	c.t.Helper()
	code := initTxn(c, "txn")
	for until := time.Now().Add(20 * time.Second); code == concurrentTransactions && time.Now().Before(until); {
		code = initTxn(c, "txn")
	}
	if code != none {
		c.t.Fatal(code)
	}
	return &txnClient{testConn: c, v1: v1, p: identityOf(c, "txn"), sequences: map[int32]int32{}}
}

// write writes a batch of n records, which is added to the transaction before when the producer speaks v1.
func (p *txnClient) write(n int, partition int32, acks int16) int16 {
	if p.v1 {
		if code := addToTxn(p.testConn, partition); code != none {
			return code
		}
	}
	code := p.produceTxn(n, partition, acks)
	if code == none {
		p.sequences[partition] += int32(n)
	}
	return code
}

func (p *txnClient) produceTxn(n int, partition int32, acks int16) int16 {
	req := produceRequest("orders", acks, txnBatch(n, p.p, p.sequences[partition]))
	req.Version, req.TransactionID = 12, text("txn")
	if p.v1 {
		req.Version = 11
	}
	req.Topics[0].Partitions[0].Partition = partition
	return ask[*kmsg.ProduceResponse](p.testConn, req).Topics[0].Partitions[0].ErrorCode
}

func (p *txnClient) end(commit bool) int16 {
	req := kmsg.NewPtrEndTxnRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Commit = "txn", p.p.id, p.p.epoch, commit
	if p.v1 {
		return request[*kmsg.EndTxnResponse](p.testConn, req, 4).ErrorCode
	}
	resp := request[*kmsg.EndTxnResponse](p.testConn, req, 5)
	if resp.ErrorCode == none {
		p.p, p.sequences = producerIdentity{resp.ProducerID, resp.ProducerEpoch}, map[int32]int32{}
	}
	return resp.ErrorCode
}

// stage stages an offset of group g for partition 0.
func (p *txnClient) stage(offset int64) int16 {
	req := kmsg.NewPtrTxnOffsetCommitRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Group, req.Generation = "txn", p.p.id, p.p.epoch, "g", -1
	req.Topics = []kmsg.TxnOffsetCommitRequestTopic{{Topic: "orders", Partitions: []kmsg.TxnOffsetCommitRequestTopicPartition{{Offset: offset}}}}
	version := int16(5)
	if p.v1 {
		if code := addGroupToTxn(p.testConn, "g"); code != none {
			return code
		}
		version = 3
	}
	return request[*kmsg.TxnOffsetCommitResponse](p.testConn, req, version).Topics[0].Partitions[0].ErrorCode
}

// must fails the test unless the codes are none.
func (p *txnClient) must(codes ...int16) {
	p.t.Helper()
	for i, code := range codes {
		if code != none {
			p.t.Fatalf("step %d: code %d", i, code)
		}
	}
}

// crashed gives the broker as it is found after a crash, not started.
func (b *testBroker) crashed(how disk.Loss) *testBroker {
	after := b.fs.Crash(how)
	b.abandon()
	again := &testBroker{t: b.t, fs: after, clock: b.clock, props: b.props, boot: b.boot}
	if how != disk.KillProcess() {
		again.boot += " again"
	}
	return again
}

// syncLog puts a partition of orders on disk, and nothing else.
func (b *testBroker) syncLog(partition int32) {
	b.t.Helper()
	state, _ := b.store.View()
	log := b.broker.partition(state, state.Topics.Named("orders"), partition)
	if err := b.broker.txns.syncAll(log); err != nil {
		b.t.Fatal(err)
	}
}

// newTxnBroker is a broker with topic orders that a test ends itself.
func newTxnBroker(t *testing.T) (*testBroker, *testConn) {
	b := &testBroker{t: t, fs: disk.NewMem(), clock: &manualClock{}, boot: "boot"}
	b.clock.now.Store(day)
	b.start()
	c := b.connect()
	c.createTopic("orders", 2)
	return b, c
}

func failing(what string, err error, ops ...disk.Op) *disk.Fault {
	return &disk.Fault{Err: err, Only: ops, Persistent: true, Match: func(name string) bool { return strings.Contains(name, what) }}
}

// wantSeen holds a partition to the transactions that are seen in it, by the numbers of their records.
func wantSeen(t *testing.T, c *testConn, partition int32, want map[int32]bool) {
	t.Helper()
	seen, err := committedIn(c, partition)
	if err != nil {
		t.Fatal(err)
	}
	for n, visible := range want {
		if seen[n] != visible {
			t.Errorf("transaction of %d records: seen %v, want %v", n, seen[n], visible)
		}
	}
}

// A power failure takes all that the journal had behind the verdict on a transaction: its end, and the whole next one of the
// same producer. What the log kept of the next one does not get the verdict of the one before.
func TestNextTransactionIsNotTheOneBefore(t *testing.T) {
	for name, v1 := range map[string]bool{"v1": true, "v2": false} {
		t.Run(name, func(t *testing.T) {
			b, c := newTxnBroker(t)
			p := c.txnProducer(v1)
			p.must(p.write(1, 0, -1), p.end(true))
			b.fs.Inject(failing("journal", disk.EIO, disk.OpSync))
			p.write(2, 0, 1) // refused or not
			b.syncLog(0)
			again := b.crashed(disk.PowerLoss())
			again.start()
			wantSeen(t, again.connect(), 0, map[int32]bool{1: true, 2: false})
			again.stop()
		})
	}
}

// Behind an end of transactions v1 the next transaction is on disk as soon as anybody sees it.
func TestNextTransactionOfV1BeginsOnDisk(t *testing.T) {
	for _, begin := range []func(*testConn) int16{
		func(c *testConn) int16 { return addToTxn(c, 0) },
		func(c *testConn) int16 { return addGroupToTxn(c, "g") },
	} {
		b, c := newTxnBroker(t)
		p := c.txnProducer(true)
		p.must(p.write(1, 0, -1), p.end(true), begin(c))
		again := b.crashed(disk.PowerLoss())
		again.start()
		state, _ := again.store.View()
		if x := state.Transactions.Get("txn"); x.State.String() != "Ongoing" {
			t.Errorf("after a power failure: %+v", x)
		}
		again.stop()
	}
}

// A producer that outlives a power failure commits the offsets that it was told are staged.
func TestStagedOffsetsSurviveAPowerFailure(t *testing.T) {
	for name, v1 := range map[string]bool{"v1": true, "v2": false} {
		t.Run(name, func(t *testing.T) {
			b, c := newTxnBroker(t)
			p := c.txnProducer(v1)
			p.must(p.write(1, 0, -1), p.stage(7))
			again := b.crashed(disk.PowerLoss())
			again.start()
			p.testConn = again.connect()
			p.must(p.end(true))
			wantSeen(t, p.testConn, 0, map[int32]bool{1: true})
			if !committedOffset(p.testConn) {
				t.Error("the transaction was committed without its offsets")
			}
			again.stop()
		})
	}
}

// A batch of transactions v2 that was aborted because a power failure took what the journal knew of it, and is sent again, is
// not taken for one that is there, whether the transaction before is over by the time it is aborted or not. The producer goes
// on when it has aborted.
func TestAbortedBatchIsNoDuplicate(t *testing.T) {
	for name, over := range map[string]bool{"over": true, "ending": false} {
		t.Run(name, func(t *testing.T) {
			b, c := newTxnBroker(t)
			p := c.txnProducer(false)
			p.must(p.write(1, 0, -1), p.write(1, 1, -1), p.end(true))
			b.fs.Inject(failing("journal", disk.EIO, disk.OpSync))
			p.must(p.produceTxn(2, 0, 1))
			b.syncLog(0)
			again := b.crashed(disk.PowerLoss())
			if !over {
				again.fs.Inject(failing("-1/00000000000000000000.log", disk.ENOSPC, disk.OpWrite)) // the marker in partition 1
			}
			again.start()
			p.testConn = again.connect()
			resend := func() int16 {
				code := p.produceTxn(2, 0, -1)
				for until := time.Now().Add(20 * time.Second); code == notEnoughReplicas && time.Now().Before(until); {
					code = p.produceTxn(2, 0, -1)
				}
				return code
			}
			if !over {
				resend() // the partition is decided on by now
				again.fs.Clear()
				again.broker.txns.finish("txn")
			}
			if code := resend(); code != invalidProducerEpoch {
				t.Fatalf("sent again: code %d", code)
			}
			p = p.txnProducer(false)
			p.must(p.write(3, 0, -1), p.end(true))
			wantSeen(t, p.testConn, 0, map[int32]bool{1: true, 2: false, 3: true})
			again.stop()
		})
	}
}

// losesMarker commits a transaction of one record whose marker a power failure takes, while the journal keeps that it is over.
func losesMarker(t *testing.T) *testBroker {
	b, c := newTxnBroker(t)
	p := c.txnProducer(false)
	p.must(p.write(1, 0, -1), p.end(true))
	_, seq := b.store.View()
	if err := b.store.SyncTo(seq)(context.Background()); err != nil {
		t.Fatal(err)
	}
	again := b.crashed(disk.PowerLoss())
	return again
}

// A marker that was lost cannot be written at the start: the disk is full. What others append before it can be does not hide that
// it was lost, and the verdict stands.
func TestLostMarkerOnAFullDisk(t *testing.T) {
	b := losesMarker(t)
	b.fs.Inject(failing("00000.log", disk.ENOSPC, disk.OpWrite))
	b.start()
	c := b.connect()
	if code := c.produce("orders", 1, batch(4, day, -1, -1, -1)).ErrorCode; code != kafkaStorageError {
		t.Fatalf("on a full disk: code %d", code)
	}
	b.fs.Clear()
	for range 3 {
		if p := c.produce("orders", -1, batch(4, day, -1, -1, -1)); p.ErrorCode != none {
			t.Fatalf("with space again: code %d", p.ErrorCode)
		}
	}
	wantSeen(t, c, 0, map[int32]bool{1: true})
	p := c.txnProducer(false)
	p.must(p.write(2, 0, -1), p.end(false))
	wantSeen(t, c, 0, map[int32]bool{1: true, 2: false})
	for until := time.Now().Add(20 * time.Second); ; {
		state, _ := b.store.View()
		if state.Markers.Len() == 0 {
			break
		}
		if time.Now().After(until) {
			t.Fatal("the markers are still kept")
		}
		time.Sleep(time.Millisecond) // leave the processor to what is waited for
	}
	b.stop()
}

// A broker starts, serves and stops when a partition is damaged that has markers which were not known to be on disk.
func TestMarkersInADamagedPartition(t *testing.T) {
	b, c := newTxnBroker(t)
	p := c.txnProducer(false)
	p.must(p.write(1, 0, -1), p.write(2, 0, -1), p.end(true))
	state, _ := b.store.View()
	name := "segments/" + b.broker.partition(state, state.Topics.Named("orders"), 0).ID().String() + "/00000000000000000000.log"
	again := b.crashed(disk.KillProcess())
	f, err := again.fs.OpenFile(name, os.O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(bytes.Repeat([]byte{0xff}, 8), 30); err != nil {
		t.Fatal(err)
	}
	again.start()
	c = again.connect()
	if code := c.produce("orders", -1, batch(1, day, -1, -1, -1)).ErrorCode; code != kafkaStorageError {
		t.Errorf("to the damaged partition: code %d", code)
	}
	p = c.txnProducer(false)
	p.must(p.write(1, 1, -1), p.end(true))
	wantSeen(t, c, 1, map[int32]bool{1: true})
	state, _ = again.store.View()
	if state.Markers.Len() == 0 {
		t.Error("the damaged partition's markers were forgotten")
	}
	again.stop()
}

// Whoever comes to carry out a verdict that is carried out already ends no transaction whose markers he did not write.
func TestNobodyEndsATransactionWithoutItsMarkers(t *testing.T) {
	b := startTestBroker(t, nil)
	c := b.connect()
	c.createTopic("orders", 2)
	p := c.txnProducer(true)
	var over atomic.Bool
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for !over.Load() {
				b.broker.txns.finish("txn")
			}
		})
	}
	again := func(f func() int16) {
		t.Helper()
		code := f()
		for code == concurrentTransactions || code == notEnoughReplicas {
			code = f()
		}
		p.must(code)
	}
	for range 100 {
		again(func() int16 { return p.write(1, 0, -1) })
		again(func() int16 { return p.end(true) })
	}
	over.Store(true)
	wg.Wait()
	again(func() int16 { return p.write(2, 0, -1) })
	again(func() int16 { return p.end(true) })
	req := fetchRequest("orders", 0, 0, 0)
	answer := ask[*kmsg.FetchResponse](c, req).Topics[0].Partitions[0]
	if answer.HighWatermark != 100+2+101 {
		t.Errorf("the log ends at %d: some of the 101 markers are not there, or there twice", answer.HighWatermark)
	}
	wantSeen(t, c, 0, map[int32]bool{1: true, 2: true})
}
