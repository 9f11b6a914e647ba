package journal

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/btree"

	"doze/disk"
)

// ledger is the state of these tests: topics by id and committed offsets by group, topic and partition.
type ledger struct {
	rows *btree.BTreeG[row]
}

type row struct {
	key, value string
}

func newLedger() *ledger {
	return &ledger{rows: btree.NewG(32, func(a, b row) bool { return a.key < b.key })}
}

func (l *ledger) Clone() *ledger { return &ledger{rows: l.rows.Clone()} }

func (l *ledger) Apply(seq uint64, at int64, e Event) error {
	switch e := e.(type) {
	case *TopicCreated:
		key := "topic/" + string(e.ID[:])
		if l.rows.Has(row{key: key}) {
			return fmt.Errorf("topic %s exists", e.Name)
		}
		l.rows.ReplaceOrInsert(row{key, e.Name})
	case *TopicDeleted:
		if _, ok := l.rows.Delete(row{key: "topic/" + string(e.ID[:])}); !ok {
			return fmt.Errorf("no topic %x", e.ID)
		}
	case *OffsetsCommitted:
		for _, o := range e.Offsets {
			var part [4]byte
			binary.BigEndian.PutUint32(part[:], uint32(o.Partition))
			var b [24]byte
			binary.LittleEndian.PutUint64(b[:], uint64(o.Offset))
			binary.LittleEndian.PutUint64(b[8:], uint64(o.CommitAt))
			binary.LittleEndian.PutUint64(b[16:], seq)
			l.rows.ReplaceOrInsert(row{"offset/" + e.Group + "/" + o.Topic + "/" + string(part[:]), string(b[:])})
		}
	default:
		l.rows.ReplaceOrInsert(row{fmt.Sprintf("other/%020d", seq), e.Kind().Name()})
	}
	return nil
}

func (l *ledger) Rows(yield func([]byte) error) (err error) {
	var b []byte
	l.rows.Ascend(func(r row) bool {
		b = binary.AppendUvarint(b[:0], uint64(len(r.key)))
		b = append(append(b, r.key...), r.value...)
		err = yield(b)
		return err == nil
	})
	return err
}

func (l *ledger) LoadRow(b []byte) error {
	n, w := binary.Uvarint(b)
	if w <= 0 || n > uint64(len(b)-w) {
		return fmt.Errorf("bad row %x", b)
	}
	s := string(b[w:])
	l.rows.ReplaceOrInsert(row{s[:n], s[n:]})
	return nil
}

func (l *ledger) has(key string) bool { return l.rows.Has(row{key: key}) }

func (l *ledger) topics() (names []string) {
	l.rows.AscendGreaterOrEqual(row{key: "topic/"}, func(r row) bool {
		if !strings.HasPrefix(r.key, "topic/") {
			return false
		}
		names = append(names, r.value)
		return true
	})
	return names
}

func hashOf(t testing.TB, l *ledger) [32]byte {
	t.Helper()
	sum, err := HashOf(l.Rows)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// testClock gives a time that tests set.
type testClock struct{ ms atomic.Int64 }

func (c *testClock) NowMillis() int64 { return c.ms.Load() }

// testIDs counts.
type testIDs struct{ n atomic.Uint64 }

func (i *testIDs) NewUUID() (id [16]byte) {
	binary.BigEndian.PutUint64(id[8:], i.n.Add(1))
	binary.LittleEndian.PutUint32(id[:], 0x9e3779b9*uint32(i.n.Load()))
	return id
}

func testOptions() Options {
	clock := new(testClock)
	clock.ms.Store(1_764_444_798_000)
	return Options{Clock: clock, IDs: new(testIDs)}
}

func open(t testing.TB, fsys disk.FS, opt Options) (*Store[*ledger], Recovery) {
	t.Helper()
	s, rec, err := Open(fsys, opt, newLedger)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, rec
}

func topic(name string) *TopicCreated {
	e := &TopicCreated{Name: name, Partitions: 1}
	copy(e.ID[:], name)
	return e
}

func commit(group string, partition int32, offset int64) *OffsetsCommitted {
	return &OffsetsCommitted{Group: group, Offsets: []CommittedOffset{
		{Topic: "orders", Partition: partition, Offset: offset, LeaderEpoch: -1, CommitAt: 1_764_444_798_000, ExpireAt: -1},
	}}
}

func emit(t testing.TB, s *Store[*ledger], events ...Event) {
	t.Helper()
	if err := tryEmit(s, events...); err != nil {
		t.Fatalf("update: %v", err)
	}
}

func tryEmit(s *Store[*ledger], events ...Event) error {
	return s.Update(bg, Cause{API: 19, ClientID: "test"}, func(tx *Tx[*ledger]) {
		for _, e := range events {
			tx.Emit(e)
		}
	})
}

func mustEqualStates(t testing.TB, a, b *ledger) {
	t.Helper()
	if hashOf(t, a) == hashOf(t, b) {
		return
	}
	var left, right bytes.Buffer
	dump := func(to *bytes.Buffer) func([]byte) error {
		return func(row []byte) error { fmt.Fprintf(to, "%q\n", row); return nil }
	}
	_, _ = a.Rows(dump(&left)), b.Rows(dump(&right))
	t.Fatalf("states differ:\n%s\nand\n%s", left.String(), right.String())
}
