package segments

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"doze/disk"
)

// kafkaMarker is the marker with which Kafka 4.3.1 committed producer 0's transaction of epoch 5 at offset 2, as coordinator of
// epoch 7 (fetched; times and CRC aside, which are the test's).
const kafkaMarker = "0000000000000002" + "00000042" + "00000000" + "02" + "CRCCRCCR" + "0030" + "00000000" +
	"0000018bcfe56800" + "0000018bcfe56800" + "0000000000000000" + "0005" + "ffffffff" + "00000001" +
	"20" + "000000" + "08" + "00000001" + "0c" + "000000000007" + "00"

func TestMarkerBytes(t *testing.T) {
	m := Marker{ProducerEpoch: 5, CoordinatorEpoch: 7, Commit: true}
	b := m.batch(1_700_000_000_000)
	b.place(2, 0)
	want := strings.Replace(kafkaMarker, "CRCCRCCR", hex.EncodeToString(b.raw[atCRC:atCRC+4]), 1)
	if got := hex.EncodeToString(b.raw); got != want {
		t.Fatalf("\n%s, Kafka's is\n%s", got, want)
	}
	if sealed := seal(slices.Clone(b.raw)); !bytes.Equal(sealed, b.raw) {
		t.Fatal("wrong CRC")
	}
	if found, ok := parseMarker(b.raw[headerBytes:]); !ok || found != b.Marker {
		t.Fatalf("%+v %v", found, ok)
	}
}

// txnScript drives one partition with lines like Kafka's recordings have them, and says what came of each.
type txnScript struct {
	t *testing.T
	p *Partition
}

// batch appends a transactional batch of one record and gives its offset, "=" and the offset of the one it repeats, or the error.
func (s txnScript) batch(a Admission, txn bool, epoch int16, sequence int32) string {
	s.t.Helper()
	a.Now = 1_000_000
	b := made{producer: 9, epoch: epoch, sequence: sequence, txn: txn}.batch(s.t)
	done, err := s.p.Append(b, a)
	if err == nil && done.Duplicate {
		return fmt.Sprint("=", done.BaseOffset)
	}
	return s.outcome(done, err)
}

func (s txnScript) marker(m Marker) string {
	s.t.Helper()
	m.ProducerID = 9
	done, err := s.p.AppendMarker(m, Admission{Now: 1_000_000})
	return s.outcome(done, err)
}

func (s txnScript) outcome(done Appended, err error) string {
	if e := (*ProducerError)(nil); errors.As(err, &e) {
		return map[ProducerErrorKind]string{OutOfOrder: "out of order", InvalidEpoch: "invalid epoch",
			InvalidTxnState: "invalid state", CoordinatorFenced: "fenced"}[e.Kind]
	}
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(done.BaseOffset)
}

func (s txnScript) want(got, want string) {
	s.t.Helper()
	if got != want {
		s.t.Errorf("%s, expected %s", got, want)
	}
}

func newTxnScript(t *testing.T) txnScript {
	return txnScript{t, openTest(t, disk.NewMem()).Partition(ID{topicA, 0}, Config{})}
}

// TestAdmission: a batch that would begin a transaction here is asked about before it is compared with earlier ones, one of an
// open transaction after that, and neither a repeat of an open transaction nor one outside of transactions is asked about.
func TestAdmission(t *testing.T) {
	s := newTxnScript(t)
	asked, refusal := 0, error(nil)
	a := Admission{Admit: func() error { asked++; return refusal }}
	ask := func(want string, wantAsked int, txn bool, epoch int16, sequence int32) {
		t.Helper()
		asked = 0
		s.want(s.batch(a, txn, epoch, sequence), want)
		if asked != wantAsked {
			t.Errorf("asked %d times, expected %d", asked, wantAsked)
		}
	}
	refusal = errors.New("not now")
	ask("not now", 1, true, 0, 0)
	refusal = nil
	ask("0", 1, true, 0, 0)
	ask("=0", 0, true, 0, 0)
	ask("1", 1, true, 0, 1)
	ask("out of order", 0, true, 0, 5)
	refusal = errors.New("not open")
	ask("not open", 1, true, 0, 2)
	s.want(s.marker(Marker{Commit: true}), "2")
	ask("not open", 1, true, 0, 1) // a repeat, but its transaction is over
	ask("out of order", 0, false, 0, 2)
	refusal = nil
	ask("=1", 1, true, 0, 1)
	ask("out of order", 1, true, 0, 2) // as in Kafka, what was seen of the transaction bounds it until a batch is stored
	ask("invalid epoch", 0, true, -1, 0)
	if o, err := s.p.Offsets(); err != nil || o != (Offsets{0, 3, 3}) {
		t.Fatal(o, err)
	}
}

// TestVerification: of a transaction that has no batch yet the lowest sequence that was seen bounds the first one.
func TestVerification(t *testing.T) {
	s := newTxnScript(t)
	refusal := errors.New("try again")
	refused := Admission{Admit: func() error { return refusal }}
	taken := Admission{Admit: func() error { return nil }}
	s.want(s.batch(refused, true, 0, 3), "try again")
	s.want(s.batch(taken, true, 0, 5), "out of order")
	s.want(s.batch(refused, true, 0, 2), "try again")
	s.want(s.batch(taken, true, 0, 3), "out of order")
	s.want(s.batch(taken, true, 0, 2), "0")
	s.want(s.batch(taken, true, 0, 3), "1")
	s.want(s.marker(Marker{}), "2")
	s.want(s.batch(refused, true, 1, 0), "try again")
	s.want(s.batch(taken, true, 1, 0), "3")
}

// TestVerificationV2: under transactions v2 the first batch of a producer that has none here begins with sequence 0, and the
// marker of the transaction before does not make the next one's verification forgotten.
func TestVerificationV2(t *testing.T) {
	s := newTxnScript(t)
	taken := Admission{EpochBump: true, Admit: func() error { return nil }}
	refused := Admission{EpochBump: true, Admit: func() error { return errors.New("try again") }}
	s.want(s.batch(taken, true, 0, 4), "out of order")
	s.want(s.batch(taken, true, 0, 0), "0")
	s.want(s.batch(refused, true, 1, 0), "try again")
	s.want(s.marker(Marker{ProducerEpoch: 1, TxnVersion: 2, Commit: true}), "1")
	s.want(s.batch(taken, true, 1, 1), "out of order")
	s.want(s.batch(taken, true, 1, 0), "2")
	s.want(s.batch(taken, true, 0, 1), "invalid epoch")
}

func TestStartVerification(t *testing.T) {
	s := newTxnScript(t)
	start := func(epoch int16) string {
		t.Helper()
		open, err := s.p.StartVerification(made{producer: 9, epoch: epoch, txn: true}.batch(t), false)
		if err != nil {
			return s.outcome(Appended{}, err)
		}
		return fmt.Sprint(open)
	}
	s.want(start(2), "false")
	s.want(s.batch(Admission{}, true, 2, 0), "0")
	s.want(start(2), "true")
	s.want(start(3), "false")
	s.want(start(1), "invalid epoch")
	s.want(s.marker(Marker{ProducerEpoch: 2}), "1")
	s.want(start(2), "false")
}

func TestVerificationsAreBounded(t *testing.T) {
	var v verifications
	for id := range int64(verificationsMost + 100) {
		v.start(&Header{ProducerID: id}, false, id)
	}
	if len(v) != verificationsMost || v[0] != nil || v[verificationsMost] == nil {
		t.Fatal(len(v), v[0], v[verificationsMost])
	}
	v.expire(verificationsMost+50, verificationsMost/2)
	for _, one := range v {
		if one.since <= 50+verificationsMost/2 {
			t.Fatal(one)
		}
	}
}

// TestUnfinished: whoever opens a partition with open transactions, the owner is told before anything is appended to it.
func TestUnfinished(t *testing.T) {
	mem := disk.NewMem()
	p := openTest(t, mem).Partition(ID{topicA, 0}, Config{})
	mustAppend(t, p, made{producer: 4, txn: true, epoch: 3})
	mustAppend(t, p, made{producer: 5})
	mustAppend(t, p, made{producer: 6, txn: true})

	for _, first := range []string{"append", "read", "marker", "nobody"} {
		t.Run(first, func(t *testing.T) {
			var calls atomic.Int32
			var found []OpenTxn
			opt := testOptions()
			opt.Unfinished = func(p *Partition, open []OpenTxn) {
				calls.Add(1)
				found = open
				for _, o := range open {
					if _, err := p.AppendMarker(Marker{ProducerID: o.ProducerID, ProducerEpoch: o.ProducerEpoch}, Admission{}); err != nil {
						t.Error(err)
					}
				}
			}
			d, err := OpenDir(mem.Crash(disk.KillProcess()), "segments", opt)
			if err != nil {
				t.Fatal(err)
			}
			p := d.Partition(ID{topicA, 0}, Config{})
			switch first {
			case "append":
				if a := mustAppend(t, p, made{producer: 4, txn: true, epoch: 3, sequence: 1}); a.BaseOffset != 5 {
					t.Fatal("not behind the markers:", a)
				}
			case "read":
				if _, err := p.Offsets(); err != nil {
					t.Fatal(err)
				}
				<-p.settle
			case "marker":
				if _, err := p.AppendMarker(Marker{ProducerID: 6, Commit: true}, Admission{}); err != nil {
					t.Fatal(err)
				}
				mustAppend(t, p, made{producer: 5, sequence: 1})
			}
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
			want := map[string]int32{"append": 1, "read": 1, "marker": 1}[first]
			if n := calls.Load(); n != want {
				t.Fatalf("told %d times, expected %d", n, want)
			}
			if want > 0 && (found[0] != OpenTxn{ProducerID: 4, ProducerEpoch: 3, FirstOffset: 0, LastTimestamp: 0}) {
				t.Fatal(found)
			}
		})
	}
}
