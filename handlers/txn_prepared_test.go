package handlers

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/configs"
	"doze/conformance/recording"
	"doze/journal"
)

// preparedStep is the name of a step of the recordings: verdict, epoch of who asks, what he asks, version.
var preparedStep = regexp.MustCompile(`^(commit|abort), epoch (\d+): ([a-z ]+) v(\d+)$`)

// TestPreparedAsRecorded holds the coordinator to what Kafka answers while the markers of a verdict are not written. Kafka
// was brought there by a marker that a partition refuses, which doze passes over.
func TestPreparedAsRecorded(t *testing.T) {
	for _, of := range []struct {
		name    string
		version int
	}{{"txn-prepared", 4}, {"txn-prepared-v2", 5}} {
		rec, err := recording.Load("../conformance/recordings", of.name)
		if err != nil {
			t.Fatal(err)
		}
		benches := map[string]*txnBench{"commit": prepared(t, "commit", of.version), "abort": prepared(t, "abort", of.version)}
		compared := 0
		for _, step := range rec.Steps {
			m := preparedStep.FindStringSubmatch(step.Name)
			if m == nil {
				continue
			}
			epoch, _ := strconv.Atoi(m[2])
			version, _ := strconv.Atoi(m[4])
			code, asked := benches[m[1]].askPrepared(m[3], int16(epoch), version)
			if !asked {
				continue
			}
			compared++
			if want := lastCode(t, step); code != want {
				t.Errorf("%s: %s: Kafka %d, doze %d", of.name, step.Name, want, code)
			}
		}
		if compared < 200 {
			t.Errorf("%s: %d answers compared", of.name, compared)
		}
	}
}

// prepared is a transaction of t, of producer 0 and epoch 1, whose verdict is made and not carried out.
func prepared(t *testing.T, verdict string, version int) *txnBench {
	b := &txnBench{groupBench: newGroupBench(t), txns: txnSettingsOf(configs.NewBroker(nil, nil, nil))}
	b.txns.version, b.txns.verify = 2, true
	for _, line := range []string{"topic a 2", "a: init t", "a: init t", "a: add t 0/1 a/0 a/1", fmt.Sprintf("a: end t 0/1 %s v=%d", verdict, version)} {
		b.run(line)
	}
	return b
}

// askPrepared gives the code that a request of producer 0 is answered; false for what the partition's log refuses.
func (b *txnBench) askPrepared(what string, epoch int16, version int) (code int16, asked bool) {
	p, txn := producerIdentity{0, epoch}, b.state.Transactions.Get("t")
	old := version < 2
	b.decide(journal.Cause{}, func(d *txnDecision, _ *tx) {
		asked = true
		switch what {
		case "commit", "abort":
			_, code = d.endTxn(&endCommand{id: "t", producer: p, commit: what == "commit", version: int8(2 * (version / 5))})
		case "add":
			code = d.addPartitions("t", p, txn.Partitions, int8(2*(version/4)))
		case "add offsets":
			code = d.addGroup("t", p, "g", 0)
		case "verify":
			code = verifyPartition(txn, "t", p, txn.Partitions[0])
		case "init":
			_, code = d.initialize(&initCommand{id: "t", timeoutMs: 60_000, expected: &p})
			old = version < 4
		case "offset":
			c := &txnCommit{producer: p}
			c.req = preparedOffset(int16(version))
			code = c.checkTransaction(d, &journal.TxnOffsetsStaged{})
			old = false
		case "produce":
			code, asked = b.produceInPrepared(d, p, version)
			old = false
		}
	})
	if old {
		code = beforeFenced(code)
	}
	return code, asked
}

func preparedOffset(version int16) *kmsg.TxnOffsetCommitRequest {
	req := kmsg.NewPtrTxnOffsetCommitRequest()
	req.Version, req.TransactionalID, req.Group = version, "t", "g"
	return req
}

// produceInPrepared leaves out the epochs that the partition knows to be old.
func (b *txnBench) produceInPrepared(d *txnDecision, p producerIdentity, version int) (code int16, asked bool) {
	txn := d.state.Transactions.Get("t")
	if p.epoch < txn.Epoch {
		return 0, false
	}
	of := &txnProduction{joins: version >= 12, generic: version >= 11}
	if of.joins {
		code = d.addPartitions("t", p, txn.Partitions, 2)
	} else {
		code = verifyPartition(txn, "t", p, txn.Partitions[0])
	}
	return of.refusal(0, code).ErrorCode, true
}

var anyCode = regexp.MustCompile(`"ErrorCode": ?(-?[0-9]+)`)

// lastCode is the code of an answer's last partition, or of the answer.
func lastCode(t *testing.T, step recording.Step) int16 {
	text, err := step.Answer.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	all := anyCode.FindAllStringSubmatch(strings.TrimSpace(string(text)), -1)
	code, err := strconv.Atoi(all[len(all)-1][1])
	if err != nil {
		t.Fatal(err)
	}
	return int16(code)
}
