package traffic

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/console/inside"
	"doze/wire"
)

// answers is a table whose handlers answer what the test says.
type answers func(r *wire.Request) wire.Reply

func (answers) Versions(key int16) (int16, int16, bool) {
	return 0, kmsg.RequestForKey(key).MaxVersion(), true
}

func (a answers) Lookup(int16, int16) (wire.Handle, bool) {
	return func(_ context.Context, r *wire.Request) (wire.Reply, error) { return a(r), nil }, true
}

func plainAnswers(r *wire.Request) wire.Reply { return r.Body.ResponseKind() }

// exchanged makes a request and its answer as the server would tell of them, without a socket.
func exchanged(conn *wire.Conn, correlation int32, req kmsg.Request, resp kmsg.Response) (*wire.Request, wire.Answer) {
	now := time.Now()
	size := len(req.AppendTo(nil))
	a := wire.Answer{Response: resp, Size: 100, Handled: now, Written: now}
	return &wire.Request{Conn: conn, Key: req.Key(), Version: req.GetVersion(), Correlation: correlation, ClientID: "app", Body: req, Received: now, Size: size}, a
}

// testConn is a connection of a server that is there.
func testConn(t testing.TB) *wire.Conn {
	t.Helper()
	conns := make(chan *wire.Conn, 1)
	p := serveRing(t, New(nil, nil), answers(func(r *wire.Request) wire.Reply {
		select {
		case conns <- r.Conn:
		default:
		}
		return r.Body.ResponseKind()
	}))
	p.ask(1, kmsg.NewPtrHeartbeatRequest())
	return <-conns
}

func commit(group, topic string, offset int64) *kmsg.OffsetCommitRequest {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.MemberID = group, "m1"
	req.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: topic, Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Partition: 2, Offset: offset}}}}
	return req
}

func TestRingIsBounded(t *testing.T) {
	ring, conn := New(nil, nil), testConn(t)
	long := strings.Repeat("n", 3_000)
	for i := range 3000 {
		req := commit("g"+fmt.Sprint(i%1500)+long, long, int64(i))
		r, a := exchanged(conn, int32(i), req, req.ResponseKind())
		r.ClientID = long
		ring.Answer(r, a)
	}
	page := ring.Requests(inside.RequestFilter{})
	if page.Kept != MaxRequests || page.Newest != 3000 || page.Oldest != 1001 || page.Lost != 1000 || len(page.Requests) != 100 {
		t.Errorf("kept %d, from %d to %d, lost %d, %d on a page", page.Kept, page.Oldest, page.Newest, page.Lost, len(page.Requests))
	}
	if n := len(ring.groups.groups); n != maxGroups || ring.groups.order.Len() != n {
		t.Errorf("%d groups are kept", n)
	}
	if row := page.Requests[0]; len(row.Client) > maxKeptText+3 || len(row.Topics[0]) > maxKeptName+3 || len(row.Asked) > maxWords+4 {
		t.Errorf("long names are kept whole: %d, %d, %d", len(row.Client), len(row.Topics[0]), len(row.Asked))
	}
	if ring.bytes > MaxBytes {
		t.Errorf("%d bytes are kept", ring.bytes)
	}
}

func TestOldRequestsLoseTheirFieldsFirst(t *testing.T) {
	ring, conn := New(nil, nil), testConn(t)
	for i := range MaxRequests {
		req := kmsg.NewPtrMetadataRequest()
		for n := range 200 {
			name := fmt.Sprintf("topic-%d-%d", i, n)
			req.Topics = append(req.Topics, kmsg.MetadataRequestTopic{Topic: &name})
		}
		ring.Answer(exchanged(conn, int32(i), req, req.ResponseKind()))
	}
	if ring.bytes > MaxBytes {
		t.Errorf("%d bytes are kept", ring.bytes)
	}
	first, ok := ring.Open(1)
	if !ok || first.Note == "" || !strings.HasPrefix(first.Asked, "topic-0-0") || len(first.AskedFields) > 0 {
		t.Errorf("the oldest request reads %+v", first.Request)
	}
	if last, ok := ring.Open(MaxRequests); !ok || len(last.AskedFields) < 200 {
		t.Errorf("the newest request has %d fields", len(last.AskedFields))
	}
}

func TestGroupEventsAreBoundedAndCounted(t *testing.T) {
	ring, conn := New(nil, nil), testConn(t)
	for i := range 500 {
		join := kmsg.NewPtrJoinGroupRequest()
		join.Group, join.MemberID = "orders", fmt.Sprint("m", i)
		ring.Answer(exchanged(conn, int32(i), join, join.ResponseKind()))
	}
	for i := range 50 {
		beat := kmsg.NewPtrHeartbeatRequest()
		beat.Group, beat.MemberID = "orders", fmt.Sprint("m", i%2)
		ring.Answer(exchanged(conn, int32(i), beat, beat.ResponseKind()))
	}
	events := ring.GroupEvents("orders")
	if len(events) != MaxGroupEvents {
		t.Fatalf("%d events are kept", len(events))
	}
	last := events[len(events)-1]
	if last.API != "Heartbeat" || last.Times != 25 || last.Member != "m1" || events[len(events)-3].API != "JoinGroup" {
		t.Errorf("heartbeats are not counted: %+v", last)
	}
	if ring.GroupEvents("payments") != nil {
		t.Error("a group that nobody named has events")
	}
}

func TestRequestsAreFoundByWhatTheyName(t *testing.T) {
	id := [16]byte{7}
	ring, conn := New(func(asked [16]byte) (string, bool) { return "payments", asked == id }, nil), testConn(t)
	answer := func(req kmsg.Request, change func(kmsg.Response)) {
		resp := req.ResponseKind()
		change(resp)
		ring.Answer(exchanged(conn, int32(ring.last), req, resp))
	}
	answer(commit("g1", "orders", 5), func(kmsg.Response) {})
	answer(commit("g2", "orders", 6), func(r kmsg.Response) {
		r.(*kmsg.OffsetCommitResponse).Topics = []kmsg.OffsetCommitResponseTopic{{Topic: "orders", Partitions: []kmsg.OffsetCommitResponseTopicPartition{{ErrorCode: 25}, {ErrorCode: 25}}}}
	})
	fetch := kmsg.NewPtrFetchRequest()
	fetch.Version = 17
	fetch.Topics = []kmsg.FetchRequestTopic{{TopicID: id, Partitions: []kmsg.FetchRequestTopicPartition{{Partition: 1}}}}
	answer(fetch, func(kmsg.Response) {})
	for _, try := range []struct {
		filter inside.RequestFilter
		want   []uint64
	}{
		{inside.RequestFilter{}, []uint64{3, 2, 1}},
		{inside.RequestFilter{Topic: "orders"}, []uint64{2, 1}},
		{inside.RequestFilter{Topic: "payments"}, []uint64{3}},
		{inside.RequestFilter{Group: "g1"}, []uint64{1}},
		{inside.RequestFilter{API: "fetch"}, []uint64{3}},
		{inside.RequestFilter{Errors: true}, []uint64{2}},
		{inside.RequestFilter{Client: "ap", Before: 3, Limit: 1}, []uint64{2}},
		{inside.RequestFilter{Client: "other"}, nil},
		{inside.RequestFilter{Principal: "User:ANONYMOUS"}, []uint64{3, 2, 1}},
	} {
		var got []uint64
		for _, row := range ring.Requests(try.filter).Requests {
			got = append(got, row.ID)
		}
		if fmt.Sprint(got) != fmt.Sprint(try.want) {
			t.Errorf("%+v lets %v through, want %v", try.filter, got, try.want)
		}
	}
	if row := ring.Requests(inside.RequestFilter{Errors: true}).Requests[0]; row.Error != "UNKNOWN_MEMBER_ID (2 times)" || row.Asked != "group=g2 orders-2@6" {
		t.Errorf("%+v", row)
	}
	if id := ring.Find(conn.ID, 1, 8, time.Now().UnixMilli()); id != 2 {
		t.Errorf("found %d", id)
	}
	if id := ring.Find(conn.ID, 1, 8, time.Now().Add(time.Hour).UnixMilli()); id != 0 {
		t.Errorf("a request of another time was found: %d", id)
	}
}

func TestRecordsAreCountedAndNotKept(t *testing.T) {
	ring := New(nil, nil)
	p := serveRing(t, ring, answers(plainAnswers))
	req := kmsg.NewPtrProduceRequest()
	req.Version, req.Acks = 9, 1
	batch := make([]byte, 200)
	batch[batchLengthAt+3], batch[batchRecordsAt+3], batch[batchAttrsAt+1] = 200-12, 9, 4
	copy(batch[100:], planted)
	req.Topics = []kmsg.ProduceRequestTopic{{Topic: "orders", Partitions: []kmsg.ProduceRequestTopicPartition{{Partition: 3, Records: batch}}}}
	p.ask(5, req)
	waitFor(t, func() bool { return ring.Requests(inside.RequestFilter{}).Kept == 1 })
	opened, _ := ring.Open(1)
	if opened.Asked != "acks=1 orders[1] 9 records, 200 B" {
		t.Errorf("it asks %q", opened.Asked)
	}
	text := fmt.Sprint(opened.AskedFields)
	if refuseSecrets(t, text); !strings.Contains(text, "9 records in 1 batches, 200 B, zstd") {
		t.Errorf("its fields are %s", text)
	}
}

func TestRingIsReadWhileItIsWritten(t *testing.T) {
	ring := New(func([16]byte) (string, bool) { return "t", true }, nil)
	first := serveRing(t, ring, answers(plainAnswers))
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			p := dial(t, first.RemoteAddr().String())
			for i := range 300 {
				p.ask(int32(i), commit(fmt.Sprint("g", w), "orders", int64(i)))
			}
		})
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	for reading := true; reading; {
		select {
		case <-done:
			reading = false
		default:
		}
		for _, row := range ring.Requests(inside.RequestFilter{Limit: 50}).Requests {
			ring.Open(row.ID)
			ring.Find(row.Conn, row.Correlation, row.Key, row.At.UnixMilli())
		}
		ring.GroupEvents("g1")
	}
	waitFor(t, func() bool { return ring.Requests(inside.RequestFilter{}).Newest == 1200 })
}

// What the ring costs a request: beside the time that a loopback exchange takes, some hundred nanoseconds.
func BenchmarkAnswer(b *testing.B) {
	conn := testConn(b)
	produce := kmsg.NewPtrProduceRequest()
	produce.Topics = []kmsg.ProduceRequestTopic{{Topic: "orders", Partitions: []kmsg.ProduceRequestTopicPartition{{Records: make([]byte, 1000)}}}}
	fetch := kmsg.NewPtrFetchRequest()
	fetch.Topics = []kmsg.FetchRequestTopic{{Topic: "orders", Partitions: []kmsg.FetchRequestTopicPartition{{Partition: 1}}}}
	beat := kmsg.NewPtrHeartbeatRequest()
	beat.Group, beat.MemberID = "g", "m"
	for _, req := range []kmsg.Request{produce, fetch, commit("g", "orders", 7), beat} {
		b.Run(kmsg.NameForKey(req.Key()), func(b *testing.B) {
			ring := New(nil, nil)
			r, a := exchanged(conn, 1, req, req.ResponseKind())
			b.ReportAllocs()
			for b.Loop() {
				ring.Answer(r, a)
			}
		})
	}
}

func BenchmarkReadingAPage(b *testing.B) {
	ring, conn := New(nil, nil), testConn(b)
	for i := range MaxRequests {
		req := commit("g", "orders", int64(i))
		ring.Answer(exchanged(conn, int32(i), req, req.ResponseKind()))
	}
	for b.Loop() {
		ring.Requests(inside.RequestFilter{Errors: true})
	}
}

func TestWhatTheConsoleReadsIsNotKept(t *testing.T) {
	ring, conn := New(nil, func(*wire.Conn) bool { return true }), testConn(t)
	for _, req := range []kmsg.Request{kmsg.NewPtrMetadataRequest(), commit("g", "orders", 1)} {
		ring.Answer(exchanged(conn, 1, req, req.ResponseKind()))
	}
	if page := ring.Requests(inside.RequestFilter{}); page.Kept != 1 || page.Requests[0].API != "OffsetCommit" {
		t.Errorf("%+v", page)
	}
}

func TestWhatIsOpenedIsBounded(t *testing.T) {
	ring, conn := New(nil, nil), testConn(t)
	req := kmsg.NewPtrMetadataRequest()
	for range 1000 {
		name := strings.Repeat("n", 5000)
		req.Topics = append(req.Topics, kmsg.MetadataRequestTopic{Topic: &name})
	}
	ring.Answer(exchanged(conn, 1, req, req.ResponseKind()))
	opened, ok := ring.Open(1)
	if !ok || len(opened.AskedFields) > maxLines || opened.Note == "" {
		t.Errorf("%d fields, %q", len(opened.AskedFields), opened.Note)
	}
	for _, l := range opened.AskedFields {
		if len(l.Value) > maxLineBytes+3 {
			t.Errorf("a value of %d bytes", len(l.Value))
		}
	}
}
