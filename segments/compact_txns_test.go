package segments

import (
	"fmt"
	"slices"
	"testing"

	"doze/disk"
)

// shapeOf shows the batches of a log, markers too.
func shapeOf(t testing.TB, p *Partition) (shape []string) {
	t.Helper()
	batches, err := stored(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range batches {
		h := parseHeader(b)
		kind := "batch"
		if h.Control() {
			kind = "marker"
		}
		_, horizon := h.deleteHorizon()
		shape = append(shape, fmt.Sprintf("%d-%d %s of %d, %d records, horizon %v", h.BaseOffset, h.LastOffset(), kind, h.ProducerID, h.Records, horizon))
	}
	return shape
}

func wantShape(t testing.TB, p *Partition, note string, want ...string) {
	t.Helper()
	if got := shapeOf(t, p); !slices.Equal(got, want) {
		t.Fatalf("%s:\n%q\nwant\n%q", note, got, want)
	}
}

func mustMark(t testing.TB, p *Partition, producer int64, commit bool) {
	t.Helper()
	if _, err := p.AppendMarker(Marker{ProducerID: producer, Commit: commit}, Admission{LeaderEpoch: 3, Now: 1000, JournalSeq: uint64(endOf(p) + 1)}); err != nil {
		t.Fatal(err)
	}
}

// TestCompactionOfTransactions: what was aborted goes at once, and does not supersede what was committed; markers stay until
// nothing of their transaction is left, and then for delete.retention.ms.
func TestCompactionOfTransactions(t *testing.T) {
	mem := disk.NewMem()
	d := openTest(t, mem)
	p := d.Partition(ID{topicA, 0}, Config{})
	in := func(producer int64, sequence int32, records ...string) {
		keyedBatch{made: made{base: 1000, producer: producer, sequence: sequence, txn: true}, records: records}.append(t, p)
	}
	in(1, 0, "a=committed", "b=committed") // 0, 1
	in(2, 0, "a=aborted", "c=aborted")     // 2, 3
	mustMark(t, p, 1, true)                // 4
	in(2, 2, "b=aborted")                  // 5
	mustMark(t, p, 2, false)               // 6
	in(3, 0, "d=open")                     // 7: in the segment, so that it is not compacted as long as this is open
	rolled(t, p)
	put(t, p, "e=1") // 8
	rules := CleanRules{DeleteRetentionMs: 100}
	if c, err := p.Cleanable(rules, 5000); err != nil || c.DirtyBytes != 0 {
		t.Fatalf("what is behind the last stable offset: %+v %v", c, err)
	}
	mustMark(t, p, 3, true) // 9
	clean(t, p, rules, 5000)
	wantShape(t, p, "compacted once", "0-1 batch of 1, 2 records, horizon false", "4-4 marker of 1, 1 records, horizon false", "5-5 batch of 2, 0 records, horizon false",
		"6-6 marker of 2, 1 records, horizon false", "7-7 batch of 3, 1 records, horizon false", "8-8 batch of -1, 1 records, horizon false", "9-9 marker of 3, 1 records, horizon false")
	wantRecords(t, p, "0:a=committed", "1:b=committed", "7:d=open", "8:e=1")
	in(2, 3, "f=1") // 10
	mustMark(t, p, 2, true)
	put(t, p, "a=2", "b=2") // 12, 13
	rolled(t, p)
	put(t, p, "g=1") // 14
	clean(t, p, rules, 5000)
	wantShape(t, p, "compacted twice", "0-1 batch of 1, 0 records, horizon false", "4-4 marker of 1, 1 records, horizon false", "6-6 marker of 2, 1 records, horizon false",
		"7-7 batch of 3, 1 records, horizon false", "8-8 batch of -1, 1 records, horizon false", "9-9 marker of 3, 1 records, horizon false",
		"10-10 batch of 2, 1 records, horizon false", "11-11 marker of 2, 1 records, horizon false", "12-13 batch of -1, 2 records, horizon false", "14-14 batch of -1, 1 records, horizon false")
	check := func(p *Partition, note string) {
		t.Helper()
		s, err := p.Read(Fetch{Offset: 0, MaxBytes: 1 << 20, ReadCommitted: true})
		if err != nil || s.LastStable != 15 {
			t.Fatalf("%s: %+v %v", note, s, err)
		}
		s.Release()
		if open, err := p.OpenTxns(); err != nil || len(open) != 0 {
			t.Fatalf("%s: open transactions %v %v", note, open, err)
		}
	}
	check(p, "live")
	verifyClean(t, mem, true)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	check(openTest(t, mem).Partition(ID{topicA, 0}, Config{}), "after a restart")
}

// TestAbortedBatchesStayHiddenWhileTheyAreThere: a transaction of which a part was not compacted yet is still on the list that
// read_committed is told.
func TestAbortedBatchesStayHiddenWhileTheyAreThere(t *testing.T) {
	p := openTest(t, disk.NewMem()).Partition(ID{topicA, 0}, Config{})
	in := func(sequence int32, records ...string) {
		keyedBatch{made: made{base: 1000, producer: 2, sequence: sequence, txn: true}, records: records}.append(t, p)
	}
	put(t, p, "a=1")
	in(0, "a=aborted")
	rolled(t, p)
	in(1, "b=aborted") // 2
	mustMark(t, p, 2, false)
	clean(t, p, CleanRules{}, 5000)
	wantShape(t, p, "compacted", "0-0 batch of -1, 1 records, horizon false", "1-1 batch of 2, 0 records, horizon false", "2-2 batch of 2, 1 records, horizon false",
		"3-3 marker of 2, 1 records, horizon false")
	for _, offset := range []int64{0, 2} {
		s, err := p.Read(Fetch{Offset: offset, MaxBytes: 1 << 20, ReadCommitted: true})
		if err != nil {
			t.Fatal(err)
		}
		if offset == 2 && (len(s.Aborted) != 1 || s.Aborted[0].ProducerID != 2) {
			t.Fatalf("from %d: aborted %+v", offset, s.Aborted)
		}
		s.Release()
	}
}

// TestAnEarlierAbortHidesNoKeys: a transaction that was aborted before the dirty part begins says nothing of the keys that its
// producer committed since, although the log still has the header of its last batch.
func TestAnEarlierAbortHidesNoKeys(t *testing.T) {
	p := openTest(t, disk.NewMem()).Partition(ID{topicA, 0}, Config{})
	in := func(sequence int32, records ...string) {
		keyedBatch{made: made{base: 1000, producer: 2, sequence: sequence, txn: true}, records: records}.append(t, p)
	}
	put(t, p, "a=1")
	in(0, "b=aborted")
	mustMark(t, p, 2, false)
	rolled(t, p)
	clean(t, p, CleanRules{}, 5000)
	wantRecords(t, p, "0:a=1")
	in(1, "a=2") // 3
	mustMark(t, p, 2, true)
	rolled(t, p)
	clean(t, p, CleanRules{}, 5000)
	wantRecords(t, p, "3:a=2")
}
