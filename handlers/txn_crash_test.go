package handlers

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/disk"
)

var crashSeeds = flag.Int("crash-seeds", 1, "how many power failures that tear writes are tried at each operation")

// TestTransactionsSurviveACrashAnywhere stops the disk at every operation of three transactions (committed with offsets,
// aborted, committed), crashes, and starts again: what was told to be committed is there, what was not is there as a whole or
// not at all, nothing aborted is seen, and nothing is left open. Its long form is -crash-seeds 100.
func TestTransactionsSurviveACrashAnywhere(t *testing.T) {
	for name, v1 := range map[string]bool{"v1": true, "v2": false} {
		t.Run(name, func(t *testing.T) {
			runs := 0
			for n := 0; ; n++ {
				losses := []disk.Loss{disk.PowerLoss()}
				for seed := range *crashSeeds {
					losses = append(losses, disk.TornPowerLoss(uint64(n+1000*seed)))
				}
				if n%4 == 0 {
					losses = append(losses, disk.KillProcess())
				}
				for i, loss := range losses {
					if fired := crashTransactionsAt(t, v1, n, i, loss); !fired {
						if n < 20 {
							t.Fatalf("only %d operations", n)
						}
						t.Logf("%d crashes", runs)
						return
					}
					runs++
				}
			}
		})
	}
}

// crashTransactionsAt says whether the disk stopped before the end.
func crashTransactionsAt(t *testing.T, v1 bool, n, loss int, how disk.Loss) bool {
	b, c := newTxnBroker(t)
	p := c.txnProducer(v1)
	stop := &disk.Fault{After: n, Err: disk.EIO, Persistent: true}
	b.fs.Inject(stop)
	told := runTransactions(p)
	fired := b.fs.Fired(stop) > 0
	again := b.crashed(how)
	again.start()
	if err := told.hold(again.connect()); err != nil {
		t.Errorf("stopped at operation %d, loss %d: %v; told %+v", n, loss, err, told)
	}
	again.abandon()
	return fired
}

// abandon ends the broker whatever its disk says.
func (b *testBroker) abandon() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_ = b.server.Shutdown(ctx)
	b.broker.Stop()
	for _, closer := range []io.Closer{b.logs, b.store} {
		_ = closer.Close()
	}
}

// outcome is what a client was told: which of its commits were acknowledged.
type outcome struct{ first, third bool }

// runTransactions runs three transactions: of n records each in the partitions that they write to, n being their number.
func runTransactions(p *txnClient) (told outcome) {
	write := func(n int, partitions ...int32) bool {
		for _, partition := range partitions {
			if p.write(n, partition, -1) != none {
				return false
			}
		}
		return true
	}
	told.first = write(1, 0, 1) && p.stage(7) == none && p.end(true) == none
	if told.first && write(2, 0) && p.end(false) == none {
		told.third = write(3, 1) && p.end(true) == none
	}
	return told
}

// hold looks at what a restarted broker has.
func (told outcome) hold(c *testConn) error {
	deadline := time.Now().Add(time.Minute)
	for code := initTxn(c, "txn"); code != none; code = initTxn(c, "txn") { // an open transaction is aborted first
		if time.Now().After(deadline) {
			return fmt.Errorf("the transactional id cannot be had: %d", code)
		}
		time.Sleep(time.Millisecond) // leave the processor to what is waited for
	}
	var seen [2]map[int32]bool
	for partition := range seen {
		var err error
		if seen[partition], err = committedIn(c, int32(partition)); err != nil {
			return fmt.Errorf("partition %d: %w", partition, err)
		}
	}
	offset := committedOffset(c)
	first, third := seen[0][1], seen[1][3]
	switch {
	case seen[1][1] != first || offset != first:
		return fmt.Errorf("the first transaction is there in part: %v, offset %v", seen, offset)
	case told.first && !first, told.third && !third:
		return fmt.Errorf("an acknowledged commit is not there: %v", seen)
	case seen[0][2]:
		return fmt.Errorf("an aborted transaction is seen: %v", seen)
	}
	return nil
}

func committedOffset(c *testConn) bool {
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group, req.RequireStable = "g", true
	req.Topics = append(req.Topics, kmsg.OffsetFetchRequestTopic{Topic: "orders", Partitions: []int32{0}})
	return request[*kmsg.OffsetFetchResponse](c, req, 7).Topics[0].Partitions[0].Offset == 7
}

// committedIn reads a partition as read_committed does, by its markers, and says which transactions it has.
func committedIn(c *testConn, partition int32) (map[int32]bool, error) {
	req := fetchRequest("orders", 0, 0, 0)
	req.IsolationLevel = 1
	req.Topics[0].Partitions[0].Partition = partition
	p := ask[*kmsg.FetchResponse](c, req).Topics[0].Partitions[0]
	// What nobody knows is aborted when the log is opened, beside the first who asks.
	for until := time.Now().Add(time.Minute); p.LastStableOffset != p.HighWatermark && time.Now().Before(until); {
		p = ask[*kmsg.FetchResponse](c, req).Topics[0].Partitions[0]
	}
	if p.ErrorCode != none || p.LastStableOffset != p.HighWatermark {
		return nil, fmt.Errorf("code %d, stable to %d of %d", p.ErrorCode, p.LastStableOffset, p.HighWatermark)
	}
	seen, open := map[int32]bool{}, []int32{}
	for raw := p.RecordBatches; len(raw) > 0; {
		size := 12 + int(binary.BigEndian.Uint32(raw[8:]))
		var b kmsg.RecordBatch
		if err := b.ReadFrom(raw[:size]); err != nil {
			return nil, err
		}
		raw = raw[size:]
		if b.Attributes&0x20 == 0 {
			open = append(open, b.NumRecords)
			continue
		}
		var marker kmsg.Record
		if err := marker.ReadFrom(b.Records); err != nil {
			return nil, err
		}
		for _, n := range open {
			seen[n] = seen[n] || marker.Key[3] == 1
		}
		open = nil
	}
	return seen, nil
}

// txnBatch is a transactional batch of n records.
func txnBatch(n int, p producerIdentity, sequence int32) []byte {
	raw := batch(n, day, p.id, p.epoch, sequence)
	transactional(raw)
	return raw
}

// transactional makes a batch one of a transaction.
func transactional(raw []byte) {
	raw[22] |= 0x10
	binary.BigEndian.PutUint32(raw[17:], crc32.Checksum(raw[21:], crc32.MakeTable(crc32.Castagnoli)))
}

// A partition is opened with a transaction that a power failure took out of the journal, and the journal cannot be written:
// what the producer sends again is not taken for what is there. Once there is space the producer is fenced.
func TestUnknownTransactionOnAFullDisk(t *testing.T) {
	b := startTestBroker(t, nil)
	c := b.connect()
	c.createTopic("orders", 2)
	if code := initTxn(c, "txn"); code != none {
		t.Fatal(code)
	}
	p := identityOf(c, "txn")
	write := func(c *testConn, acks int16) int16 {
		req := produceRequest("orders", acks, txnBatch(1, p, 0))
		req.Version, req.TransactionID = 12, text("txn")
		return ask[*kmsg.ProduceResponse](c, req).Topics[0].Partitions[0].ErrorCode
	}
	if code := write(c, 1); code != none {
		t.Fatal(code)
	}
	state, _ := b.store.View()
	log := b.broker.partition(state, state.Topics.Named("orders"), 0)
	if err := log.SyncTo(context.Background(), 1); err != nil { // and not the journal
		t.Fatal(err)
	}
	after := b.fs.Crash(disk.PowerLoss())
	b.stop()
	b.fs = after
	b.start()
	full := &disk.Fault{Err: disk.ENOSPC, Only: []disk.Op{disk.OpWrite}, Persistent: true,
		Match: func(name string) bool { return strings.HasPrefix(name, "journal") }}
	b.fs.Inject(full)
	c = b.connect()
	if code := write(c, -1); code != notEnoughReplicas {
		t.Errorf("on a full disk: code %d", code)
	}
	b.fs.Clear()
	code := write(c, -1)
	for until := time.Now().Add(20 * time.Second); code == notEnoughReplicas && time.Now().Before(until); {
		code = write(c, -1)
	}
	if code != invalidProducerEpoch {
		t.Errorf("with space again: code %d", code)
	}
}

// A power failure takes markers whose verdict the journal has. The broker starts whatever it finds: a partition that was part
// of the transaction and never written to, one that is damaged, a disk that is full. With space again the verdict is written.
func TestLostMarkers(t *testing.T) {
	inLogs := func(name string) bool { return strings.HasPrefix(name, "segments/") && strings.HasSuffix(name, ".log") }
	for name, meanwhile := range map[string]func(*disk.Mem){
		"nothing": func(*disk.Mem) {},
		"damage":  func(fsys *disk.Mem) { removeFiles(t, fsys, inLogs) },
		"a full disk": func(fsys *disk.Mem) {
			fsys.Inject(&disk.Fault{Err: disk.ENOSPC, Only: []disk.Op{disk.OpWrite, disk.OpPreallocate}, Persistent: true, Match: inLogs})
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := &testBroker{t: t, fs: disk.NewMem(), clock: &manualClock{}, boot: "boot 1"}
			b.clock.now.Store(day)
			b.start()
			commitAndKeepTheVerdict(t, b)
			after := b.fs.Crash(disk.PowerLoss())
			b.abandon()
			meanwhile(after)
			again := &testBroker{t: t, fs: after, clock: b.clock, boot: "boot 2"}
			started := make(chan struct{})
			go func() { again.start(); close(started) }()
			select {
			case <-started:
			case <-time.After(20 * time.Second):
				t.Fatal("it does not start")
			}
			defer again.abandon()
			after.Clear()
			if name == "damage" {
				return
			}
			if seen, err := committedIn(again.connect(), 0); err != nil || !seen[1] {
				t.Errorf("%v %v", seen, err)
			}
		})
	}
}

// commitAndKeepTheVerdict commits a transaction of one record in partition 0, with partition 1 a part of it that has none. All
// of that is on disk but the markers.
func commitAndKeepTheVerdict(t *testing.T, b *testBroker) {
	c := b.connect()
	c.createTopic("orders", 2)
	for _, code := range []int16{initTxn(c, "txn"), addToTxn(c, 0), addToTxn(c, 1)} {
		if code != none {
			t.Fatal(code)
		}
	}
	req := produceRequest("orders", -1, txnBatch(1, identityOf(c, "txn"), 0))
	req.TransactionID = text("txn")
	if code := ask[*kmsg.ProduceResponse](c, req).Topics[0].Partitions[0].ErrorCode; code != none {
		t.Fatal(code)
	}
	if code := endTxnOf(c); code != none {
		t.Fatal(code)
	}
	_, seq := b.store.View()
	if err := b.store.SyncTo(seq)(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// removeFiles takes files of partitions away.
func removeFiles(t *testing.T, fsys *disk.Mem, which func(string) bool) {
	t.Helper()
	dirs, err := fsys.ReadDir("segments")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		if !dir.IsDir() {
			continue
		}
		files, err := fsys.ReadDir("segments/" + dir.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if name := "segments/" + dir.Name() + "/" + file.Name(); which(name) {
				if err := fsys.Remove(name); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
