package handlers

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Markers are not synced with their transaction, but soon: then the state lets go of what they say.
func TestMarkersAreSynced(t *testing.T) {
	b, c := onDisk(t)
	if code := endTxnOf(c); code != none {
		t.Fatal(code)
	}
	state, _ := b.store.View()
	if state.Markers.Len() != 1 {
		t.Fatalf("%d markers are kept", state.Markers.Len())
	}
	for until := time.Now().Add(20 * time.Second); state.Markers.Len() > 0; state, _ = b.store.View() {
		if time.Now().After(until) {
			t.Fatal("the markers are not synced")
		}
		time.Sleep(time.Millisecond)
	}
}

func TestTransactionsAreListed(t *testing.T) {
	b := startTestBroker(t, nil)
	c := b.connect()
	c.createTopic("orders", 2)
	for _, id := range []string{"txn", "txn-2", "other"} {
		if code := initTxn(c, id); code != none {
			t.Fatal(code)
		}
	}
	if code := addToTxn(c, 0); code != none {
		t.Fatal(code)
	}
	b.clock.now.Add(500)
	all := []string{"other", "txn", "txn-2"}
	long := strings.Repeat("a", maxPattern+1)
	for _, q := range []struct {
		states   []string
		pattern  string
		duration int64
		want     []string
		code     int16
		unknown  []string
	}{
		{nil, "", -1, all, none, nil},
		{[]string{"Ongoing"}, "", -1, []string{"txn"}, none, nil},
		{[]string{"ongoing", "ongoing"}, "", -1, nil, none, []string{"ongoing"}},
		{[]string{"Empty", "Nonsense"}, "", -1, []string{"other", "txn-2"}, none, []string{"Nonsense"}},
		{[]string{"Ongoing"}, "", 499, []string{"txn"}, none, nil},
		{[]string{"Ongoing"}, "", 500, nil, none, nil},
		{nil, "txn", -1, []string{"txn"}, none, nil},
		{nil, "txn.*", -1, []string{"txn", "txn-2"}, none, nil},
		{nil, "(", -1, nil, invalidRegularExpression, nil},
		{nil, "a)|(b", -1, nil, invalidRegularExpression, nil},
		{nil, long, -1, nil, invalidRegularExpression, nil},
		{nil, "((a{0,30}){0,30}){0,30}", -1, nil, invalidRegularExpression, nil},
	} {
		req := kmsg.NewPtrListTransactionsRequest()
		req.StateFilters, req.DurationFilterMillis, req.TransactionalIDPattern = q.states, q.duration, &q.pattern
		resp := request[*kmsg.ListTransactionsResponse](c, req, 2)
		var got []string
		for _, s := range resp.TransactionStates {
			got = append(got, s.TransactionalID)
		}
		if resp.ErrorCode != q.code || !slices.Equal(got, q.want) || !slices.Equal(resp.UnknownStateFilters, q.unknown) {
			t.Errorf("%v %q %d: %d %v %v", q.states, q.pattern, q.duration, resp.ErrorCode, got, resp.UnknownStateFilters)
		}
	}
}

// A batch that is late by one transaction is in no other one: the epoch tells (transactions v2).
func TestLateBatchIsInNoOtherTransaction(t *testing.T) {
	_, c := onDisk(t)
	p := identityOf(c, "txn")
	if code := endTxnOf(c); code != none {
		t.Fatal(code)
	}
	for _, version := range []int16{9, 11, 12} {
		req := produceRequest("orders", -1, txnBatch(1, p, 0))
		req.Version, req.TransactionID = version, text("txn")
		if code := ask[*kmsg.ProduceResponse](c, req).Topics[0].Partitions[0].ErrorCode; code != invalidProducerEpoch {
			t.Errorf("v%d: code %d", version, code)
		}
	}
}

// TestMatchingIsBounded: a pattern that takes long with one name is refused when there are many.
func TestMatchingIsBounded(t *testing.T) {
	b := startTestBroker(t, nil)
	c := b.connect()
	for i := range 60 {
		if code := initTxn(c, fmt.Sprint(i, strings.Repeat("a", 4000))); code != none {
			t.Fatal(code)
		}
	}
	// The last is refused for what it might take; what it does take is little, for no name begins with b.
	for pattern, want := range map[string]int16{".*b": none, "1a*": none, "b((a{0,30}){0,30})": invalidRegularExpression} {
		req := kmsg.NewPtrListTransactionsRequest()
		req.DurationFilterMillis, req.TransactionalIDPattern = -1, &pattern
		if resp := request[*kmsg.ListTransactionsResponse](c, req, 2); resp.ErrorCode != want {
			t.Errorf("%s: code %d", pattern, resp.ErrorCode)
		}
	}
}

// TestMarkerOfAStrangeCoordinator: a client writes a marker of a coordinator's epoch that is not there yet. The transactions that
// follow are ended all the same: the commit is seen, now and after a restart.
func TestMarkerOfAStrangeCoordinator(t *testing.T) {
	b := startTestBroker(t, nil)
	c := b.connect()
	c.createTopic("orders", 1)
	if code := initTxn(c, "txn"); code != none {
		t.Fatal(code)
	}
	p := identityOf(c, "txn")
	marker := kmsg.NewPtrWriteTxnMarkersRequest()
	marker.Markers = []kmsg.WriteTxnMarkersRequestMarker{{ProducerID: p.id, ProducerEpoch: p.epoch, CoordinatorEpoch: 1 << 30,
		Topics: []kmsg.WriteTxnMarkersRequestMarkerTopic{{Topic: "orders", Partitions: []int32{0}}}}}
	if code := request[*kmsg.WriteTxnMarkersResponse](c, marker, 1).Markers[0].Topics[0].Partitions[0].ErrorCode; code != none {
		t.Fatal(code)
	}
	req := produceRequest("orders", -1, txnBatch(1, p, 0))
	req.Version, req.TransactionID = 12, text("txn")
	if code := ask[*kmsg.ProduceResponse](c, req).Topics[0].Partitions[0].ErrorCode; code != none {
		t.Fatal(code)
	}
	if code := endTxnOf(c); code != none {
		t.Fatal(code)
	}
	for range 2 {
		if seen, err := committedIn(c, 0); err != nil || !seen[1] {
			t.Errorf("%v %v", seen, err)
		}
		b.restart()
		c = b.connect()
	}
}
