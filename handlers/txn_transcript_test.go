package handlers

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/configs"
	"doze/journal"
	"doze/projections"
)

// TestTxnTranscripts runs testdata/txn/*.txt as TestClassicTranscripts does; README.md beside the transcripts explains the
// commands.
func TestTxnTranscripts(t *testing.T) {
	runTranscripts(t, "testdata/txn", func(t *testing.T) transcribed {
		b := &txnBench{groupBench: newGroupBench(t), txns: txnSettingsOf(configs.NewBroker(nil, nil, nil))}
		b.txns.version, b.txns.verify = 2, true
		return transcribed{run: b.run, take: func() string { return b.named(b.take()) }, replay: b.replay}
	})
}

// named puts topics' names in place of their ids.
func (b *txnBench) named(out string) string {
	for _, e := range b.entries {
		for _, ev := range e.Events {
			if created, ok := ev.(*journal.TopicCreated); ok {
				out = strings.ReplaceAll(out, fmt.Sprint(created.ID), created.Name)
			}
		}
	}
	return out
}

// txnBench takes decisions of the transaction coordinator, and those of groups beside them. Markers are written by finish.
type txnBench struct {
	*groupBench
	txns txnSettings
	next int64 // offset of the next marker
}

// decide takes a decision in one entry.
func (b *txnBench) decide(cause journal.Cause, decide func(*txnDecision, *tx)) {
	b.t.Helper()
	e := journal.Entry{Cause: cause}
	err := b.store.Update(context.Background(), cause, func(tx *tx) {
		e.Seq, e.At = tx.Seq, tx.At
		d := &txnDecision{state: tx.State, at: tx.At, settings: &b.txns}
		d.emit = func(ev journal.Event) {
			tx.Emit(ev)
			e.Events = append(e.Events, ev)
		}
		d.durable = func() {
			tx.Durable()
			b.printf("  durable\n")
		}
		decide(d, tx)
	})
	if err != nil {
		b.t.Fatalf("%v\n%s", err, b.out.String())
	}
	b.published(e)
}

func (b *txnBench) published(e journal.Entry) {
	b.state, _ = b.store.View()
	if len(e.Events) > 0 {
		b.entries = append(b.entries, e)
		b.printEntry(&e)
		b.check()
	}
}

func (b *txnBench) run(line string) {
	words := strings.Fields(line)
	name := ""
	if strings.HasSuffix(words[0], ":") {
		name, words = strings.TrimSuffix(words[0], ":"), words[1:]
	}
	a := parseArgs(words[1:])
	switch words[0] {
	case "init":
		b.init(name, a)
	case "add":
		b.add(name, a)
	case "group":
		code := int16(0)
		b.decide(journal.Cause{API: 25}, func(d *txnDecision, _ *tx) {
			code = d.addGroup(a.words[0], identity(a.words[1]), a.words[2], int8(a.number("v", 0)))
		})
		b.printf("%s: group %s\n", name, txnCode(code))
	case "stage":
		b.stage(name, a)
	case "end":
		b.end(name, a)
	case "finish":
		b.finish(a.words[0])
	case "synced":
		upTo := b.entries[len(b.entries)-1].Seq
		b.decide(journal.Timed("transaction markers"), func(d *txnDecision, _ *tx) { d.emit(&journal.TxnMarkersSynced{UpTo: upTo}) })
	case "epoch": // what took tens of thousands of requests
		b.decide(journal.Cause{API: 22}, func(d *txnDecision, _ *tx) {
			t := d.state.Transactions.Get(a.words[0])
			d.initialized(&initCommand{id: t.ID, timeoutMs: t.TimeoutMs}, producerIdentity{t.ProducerID, int16(a.number("at", 0))}, -1)
		})
	case "timeouts":
		for _, id := range transactionsThat(b.state, func(*projections.Transaction) bool { return true }) {
			b.decide(journal.Timed("transaction timeout"), func(d *txnDecision, _ *tx) { d.abortTimedOut(id) })
		}
	case "expire-ids":
		for _, id := range transactionsThat(b.state, func(*projections.Transaction) bool { return true }) {
			b.decide(journal.Timed("transactional id expiration"), func(d *txnDecision, _ *tx) { d.expireID(id) })
		}
	case "version":
		b.txns.version = int16(a.number("transaction", 2))
	case "bounds":
		b.txns.limits.ids = int(a.number("ids", math.MaxInt32))
		b.txns.limits.bytes = int64(a.number("bytes", math.MaxInt32))
		b.txns.limits.stagedBytes = int64(a.number("staged", math.MaxInt32))
	case "show":
		b.show()
	default:
		b.groupBench.run(line)
	}
}

// identity reads ID/EPOCH.
func identity(word string) producerIdentity {
	id, epoch, _ := strings.Cut(word, "/")
	n, err1 := strconv.ParseInt(id, 10, 64)
	e, err2 := strconv.ParseInt(epoch, 10, 16)
	if err1 != nil || err2 != nil {
		panic(word)
	}
	return producerIdentity{n, int16(e)}
}

func (b *txnBench) init(name string, a benchArgs) {
	cmd := &initCommand{id: a.words[0], timeoutMs: a.number("timeout", 60_000)}
	if as, given := a.named["as"]; given {
		p := identity(as)
		cmd.expected = &p
	}
	var p producerIdentity
	var code int16
	b.decide(journal.Cause{API: 22}, func(d *txnDecision, _ *tx) { p, code = d.initialize(cmd) })
	b.printf("%s: init %s %d/%d\n", name, txnCode(code), p.id, p.epoch)
}

// partitions reads TOPIC/PARTITION words.
func (b *txnBench) partitions(words []string) (all []journal.TxnPartition) {
	for _, w := range words {
		topic, number, _ := strings.Cut(w, "/")
		n, _ := strconv.Atoi(number)
		all = append(all, journal.TxnPartition{Topic: b.state.Topics.Named(topic).ID, Partition: int32(n)})
	}
	return all
}

func (b *txnBench) add(name string, a benchArgs) {
	var code int16
	partitions := b.partitions(a.words[2:])
	b.decide(journal.Cause{API: 24}, func(d *txnDecision, _ *tx) {
		code = d.addPartitions(a.words[0], identity(a.words[1]), partitions, int8(a.number("v", 0)))
	})
	b.printf("%s: add %s\n", name, txnCode(code))
	state := b.state
	for i, p := range partitions {
		code := verifyPartition(state.Transactions.Get(a.words[0]), a.words[0], identity(a.words[1]), p)
		b.printf("%s: verify %s %s\n", name, a.words[2+i], txnCode(code))
	}
}

// stage ID PID/EPOCH GROUP TOPIC/PARTITION:OFFSET... [v=5] [member=m] [generation=g] [instance=i]
func (b *txnBench) stage(name string, a benchArgs) {
	req := kmsg.NewPtrTxnOffsetCommitRequest()
	p := identity(a.words[1])
	req.Version, req.TransactionalID, req.Group, req.ProducerID, req.ProducerEpoch = int16(a.number("v", 5)), a.words[0], a.words[2], p.id, p.epoch
	req.Generation, req.MemberID, req.InstanceID = a.number("generation", -1), longIDs(a.text("member", "")), a.optional("instance")
	for _, w := range a.words[3:] {
		place, offset, _ := strings.Cut(w, ":")
		topic, number, _ := strings.Cut(place, "/")
		n, _ := strconv.Atoi(number)
		o, _ := strconv.ParseInt(offset, 10, 64)
		t := kmsg.NewTxnOffsetCommitRequestTopic()
		t.Topic = topic
		part := kmsg.NewTxnOffsetCommitRequestTopicPartition()
		part.Partition, part.Offset, part.LeaderEpoch = int32(n), o, -1
		if metadata, given := a.named["metadata"]; given {
			n, _ := strconv.Atoi(metadata)
			part.Metadata = text(strings.Repeat("m", n))
		}
		t.Partitions = append(t.Partitions, part)
		req.Topics = append(req.Topics, t)
	}
	c := &txnCommit{req: req, producer: p}
	b.decide(journal.Cause{API: 28}, func(d *txnDecision, _ *tx) { c.decide(d, &b.set) })
	for _, t := range c.answers.topics() {
		for _, p := range t.Partitions {
			b.printf("%s: stage %s/%d %s\n", name, t.Topic, p.Partition, txnCode(p.ErrorCode))
		}
	}
}

// end ID PID/EPOCH commit|abort [v=5]
func (b *txnBench) end(name string, a benchArgs) {
	cmd := &endCommand{id: a.words[0], producer: identity(a.words[1]), commit: a.words[2] == "commit"}
	if a.number("v", 5) >= 5 {
		cmd.version = 2
	}
	var p producerIdentity
	var code int16
	b.decide(journal.Cause{API: 26}, func(d *txnDecision, _ *tx) { p, code = d.endTxn(cmd) })
	b.printf("%s: end %s %d/%d\n", name, txnCode(code), p.id, p.epoch)
}

// finish writes markers, one after another, and ends the transaction.
func (b *txnBench) finish(id string) {
	t := b.state.Transactions.Get(id)
	var markers []journal.TxnMarker
	for _, p := range t.Partitions {
		if b.state.Topics.WithID(p.Topic) != nil {
			markers = append(markers, journal.TxnMarker{Topic: p.Topic, Partition: p.Partition, Offset: b.next})
			b.next++
		}
	}
	e := journal.Entry{Cause: journal.Timed("transaction end")}
	err := b.store.Update(context.Background(), e.Cause, func(tx *tx) {
		e.Seq, e.At = tx.Seq, tx.At
		decideTxnEnded(tx, id, markers, func(ev journal.Event) {
			tx.Emit(ev)
			e.Events = append(e.Events, ev)
		})
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.published(e)
}

func (b *txnBench) show() {
	b.state.Transactions.Each(func(t *projections.Transaction) bool {
		b.printf("%s %s %d/%d previous=%d next=%d last=%d partitions=%d groups=%v", t.ID, t.State, t.ProducerID, t.Epoch,
			t.PrevProducerID, t.NextProducerID, t.LastEpoch, len(t.Partitions), t.Groups)
		if t.StartAt >= 0 {
			b.printf(" since=+%s", time.Duration(t.StartAt-benchStart)*time.Millisecond)
		}
		b.printf("\n")
		b.state.Staged.OfTxn(t.ID, func(o *projections.StagedOffset) bool {
			superseded := ""
			if o.Superseded {
				superseded = " superseded"
			}
			b.printf("  staged %s %s/%d %d%s\n", o.Group, o.Topic, o.Partition, o.Offset, superseded)
			return true
		})
		return true
	})
	b.state.Markers.Each(func(m projections.UnsyncedMarker) bool {
		b.printf("marker of entry %d at %d, producer %d/%d, commit %v\n", m.Seq, m.Offset, m.ProducerID, m.Epoch, m.Commit)
		return true
	})
}

func txnCode(code int16) string {
	names := map[int16]string{
		0: "NONE", -1: "UNKNOWN_SERVER_ERROR", 3: "UNKNOWN_TOPIC_OR_PARTITION", 12: "OFFSET_METADATA_TOO_LARGE", 22: "ILLEGAL_GENERATION",
		25: "UNKNOWN_MEMBER_ID", 28: "INVALID_COMMIT_OFFSET_SIZE", 35: "UNSUPPORTED_VERSION", 42: "INVALID_REQUEST", 44: "POLICY_VIOLATION",
		47: "INVALID_PRODUCER_EPOCH", 48: "INVALID_TXN_STATE", 49: "INVALID_PRODUCER_ID_MAPPING", 51: "CONCURRENT_TRANSACTIONS",
		90: "PRODUCER_FENCED", 120: "TRANSACTION_ABORTABLE",
	}
	if n, ok := names[code]; ok {
		return n
	}
	return fmt.Sprint(code)
}
