package handlers

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// mutes stands for the time that connections are muted: nobody waits for it to pass.
type mutes struct {
	mu    sync.Mutex
	asked []time.Duration
	until chan struct{}
}

func muteByHand(b *testBroker) *mutes {
	m := &mutes{until: make(chan struct{})}
	b.broker.quotas.mute = func(_ context.Context, d time.Duration) <-chan struct{} {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.asked = append(m.asked, d)
		return m.until
	}
	return m
}

func (m *mutes) last() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.asked) == 0 {
		return 0
	}
	return m.asked[len(m.asked)-1]
}

// setQuota sets a quota of a client id ("": the default one).
func (c *testConn) setQuota(client, key string, limit float64) {
	c.t.Helper()
	req := kmsg.NewPtrAlterClientQuotasRequest()
	req.Version = 1
	part := kmsg.NewAlterClientQuotasRequestEntryEntity()
	part.Type = "client-id"
	if client != "" {
		part.Name = &client
	}
	entry := kmsg.NewAlterClientQuotasRequestEntry()
	entry.Entity = append(entry.Entity, part)
	entry.Ops = append(entry.Ops, kmsg.AlterClientQuotasRequestEntryOp{Key: key, Value: limit})
	req.Entries = append(req.Entries, entry)
	c.send(req)
	if resp := c.receive(req).(*kmsg.AlterClientQuotasResponse); resp.Entries[0].ErrorCode != none {
		c.t.Fatalf("set quota: error %d", resp.Entries[0].ErrorCode)
	}
}

func TestAProducerIsMuted(t *testing.T) {
	b := startTestBroker(t, nil)
	m := muteByHand(b)
	close(m.until)
	c := b.connect()
	c.createTopic("t", 1)
	c.setQuota("test", producerByteRate, 1)
	for i, acks := range []int16{1, -1, 0} {
		req := produceRequest("t", acks, batch(1, 0, -1, -1, -1))
		c.send(req)
		told := time.Duration(0)
		if acks != 0 {
			told = time.Duration(c.receive(req).(*kmsg.ProduceResponse).ThrottleMillis) * time.Millisecond
		}
		next := kmsg.NewPtrApiVersionsRequest()
		c.send(next)
		c.receive(next)
		m.mu.Lock()
		if len(m.asked) != i+1 || acks != 0 && m.asked[i] != told {
			t.Errorf("acks=%d: told %s, muted for %v", acks, told, m.asked)
		}
		m.mu.Unlock()
	}
}

// Kafka takes a quota that is no number, and gives such a client a batch at a time.
func TestAQuotaThatIsNoNumber(t *testing.T) {
	b := startTestBroker(t, nil)
	c := b.connect()
	c.createTopic("t", 1)
	produce := produceRequest("t", 1, batch(1, 0, -1, -1, -1))
	c.send(produce)
	c.receive(produce)
	c.setQuota("test", consumerByteRate, math.NaN())
	req := fetchRequest("t", 0, 1, 100)
	c.send(req)
	if p := c.receive(req).(*kmsg.FetchResponse).Topics[0].Partitions[0]; p.ErrorCode != none || len(p.RecordBatches) == 0 {
		t.Errorf("a fetch gives code %d and %d bytes", p.ErrorCode, len(p.RecordBatches))
	}
}

func TestAMutedConnectionIsReadLater(t *testing.T) {
	b := startTestBroker(t, nil)
	m := muteByHand(b)
	c := b.connect()
	c.setQuota("test", requestPercentage, 1e-9)
	req := kmsg.NewPtrApiVersionsRequest()
	c = b.connect()
	c.send(req)
	c.receive(req)
	c.conn.SetWriteDeadline(time.Now().Add(300 * time.Millisecond)) // a pipe: what nobody reads cannot be written
	if _, err := c.conn.Write([]byte{0}); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("a muted connection is read: %v", err)
	}
	c.conn.SetWriteDeadline(time.Time{})
	if m.last() != time.Second {
		t.Errorf("muted for %s, want the length of a window", m.last())
	}
	close(m.until)
	c.send(req)
	c.receive(req)
}

func TestAMutedConnectionEndsWithTheBroker(t *testing.T) {
	b := startTestBroker(t, nil)
	muteByHand(b)
	c := b.connect()
	c.setQuota("test", requestPercentage, 1e-9)
	c = b.connect()
	req := kmsg.NewPtrApiVersionsRequest()
	c.send(req)
	c.receive(req)
	began := time.Now()
	b.restart()
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("a muted connection holds a stop up for %s", took)
	}
	if _, err := c.conn.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("a muted connection after the stop: %v", err)
	}
}

func TestMutationsGoOnWithTime(t *testing.T) {
	b := startTestBroker(t, map[string]string{"controller.quota.window.num": "2"})
	muteByHand(b)
	c := b.connect()
	c.setQuota("", controllerMutationRate, 1)
	create := func(name string, version int16) (code int16, wait int32) {
		t.Helper()
		c := b.connect() // the one before is muted
		req := kmsg.NewPtrCreateTopicsRequest()
		req.Version, req.TimeoutMillis = version, 1000
		req.Topics = []kmsg.CreateTopicsRequestTopic{{Topic: name, NumPartitions: 4, ReplicationFactor: 1}}
		c.send(req)
		resp := c.receive(req).(*kmsg.CreateTopicsResponse)
		return resp.Topics[0].ErrorCode, resp.ThrottleMillis
	}
	for _, one := range []struct {
		name    string
		version int16
		after   int64
		code    int16
		wait    int32
	}{
		{"a", 7, 0, none, 0}, {"b", 7, 0, throttlingQuotaExceeded, 2000}, {"b", 6, 500, throttlingQuotaExceeded, 1500},
		{"b", 5, 0, none, 5500}, {"c", 7, 5499, throttlingQuotaExceeded, 1}, {"c", 7, 1, none, 0}, {"a", 7, 0, topicAlreadyExists, 0},
	} {
		b.clock.now.Add(one.after)
		if code, wait := create(one.name, one.version); code != one.code || wait != one.wait {
			t.Errorf("%+v: code %d, %d ms", one, code, wait)
		}
	}
}

func TestConnectionsOfAnAddressAreRefused(t *testing.T) {
	b := startTestBroker(t, map[string]string{"max.connection.creation.rate": "3"})
	c := b.connect()
	req := kmsg.NewPtrAlterClientQuotasRequest()
	address := "10.0.0.1"
	req.Entries = []kmsg.AlterClientQuotasRequestEntry{{
		Entity: []kmsg.AlterClientQuotasRequestEntryEntity{{Type: "ip", Name: &address}},
		Ops:    []kmsg.AlterClientQuotasRequestEntryOp{{Key: connectionCreationRate, Value: 1}},
	}}
	c.send(req)
	c.receive(req)
	for i := range 10 {
		if a := b.broker.Admit(netip.MustParseAddr(address)); a.Refuse != 0 || a.Wait != 0 {
			t.Fatalf("connection %d: %+v", i, a)
		}
	}
	if a := b.broker.Admit(netip.MustParseAddr(address)); a.Refuse != time.Second || a.Wait != 0 {
		t.Errorf("the eleventh: %+v", a)
	}
	for range 19 {
		b.broker.Admit(netip.MustParseAddr("10.0.0.2"))
	}
	if a := b.broker.Admit(netip.MustParseAddr("10.0.0.2")); a.Refuse != 0 || a.Wait == 0 {
		t.Errorf("the 31st of all waits: %+v", a)
	}
}

func TestQuotasAreBounded(t *testing.T) {
	b := startTestBroker(t, nil)
	c := b.connect()
	set := func(from, n int, name string) int16 {
		req := kmsg.NewPtrAlterClientQuotasRequest()
		for i := range n {
			user := fmt.Sprint(from+i, name)
			req.Entries = append(req.Entries, kmsg.AlterClientQuotasRequestEntry{
				Entity: []kmsg.AlterClientQuotasRequestEntryEntity{{Type: "user", Name: &user}},
				Ops:    []kmsg.AlterClientQuotasRequestEntryOp{{Key: producerByteRate, Value: 1e6}},
			})
		}
		c.send(req)
		return c.receive(req).(*kmsg.AlterClientQuotasResponse).Entries[n-1].ErrorCode
	}
	if code := set(0, 1, strings.Repeat("x", maxName)); code != invalidRequest {
		t.Errorf("a name of more than 4096 bytes: %d", code)
	}
	state, _ := b.broker.view()
	if code := set(0, maxQuotaChanges+1, ""); code != policyViolation {
		t.Errorf("a change too many: %d", code)
	}
	if after, _ := b.broker.view(); after.Quotas.Bytes() != state.Quotas.Bytes() {
		t.Error("the first 10,000 of a request that is refused are there")
	}
	long := strings.Repeat("x", 4000)
	for i := range 4 {
		if code := set(i*950, 950, long); code != none {
			t.Fatalf("request %d: %d", i, code)
		}
	}
	set(4000, 400, long)
	if code := set(5000, 1, "y"); code != policyViolation {
		t.Errorf("beyond 16 MiB: %d", code)
	}
	state, _ = b.broker.view()
	if most := int64(maxQuotaBytes + 1<<20); state.Quotas.Bytes() > most {
		t.Errorf("quotas take %d bytes", state.Quotas.Bytes())
	}
}

func TestQuotasSurviveARestart(t *testing.T) {
	b := startTestBroker(t, nil)
	b.connect().setQuota("test", producerByteRate, 1)
	b.restart()
	m := muteByHand(b)
	c := b.connect()
	req := produceRequest("none", 1, batch(1, 0, -1, -1, -1))
	c.send(req)
	if resp := c.receive(req).(*kmsg.ProduceResponse); resp.ThrottleMillis == 0 || m.last() == 0 {
		t.Errorf("after a restart the answer is %+v", resp)
	}
}

// BenchmarkProduceWithQuotas shows what 1,000 quotas cost a Produce of 100 records (14 KB), in percent of what it takes without any.
// The two take turns and their quicker halves are compared: the machine's moods are those of both.
func BenchmarkProduceWithQuotas(b *testing.B) {
	var sides [2]*testConn
	for i := range sides {
		sides[i] = startTestBroker(b, nil).connect()
		sides[i].createTopic("t", 1)
	}
	for i := range 500 {
		sides[1].setQuota(fmt.Sprint("c", i), producerByteRate, 1e15)
		sides[1].setQuota(fmt.Sprint("c", i), requestPercentage, 1e15)
	}
	values := make([]string, 100)
	for i := range values {
		values[i] = strings.Repeat("v", 128)
	}
	frame := kmsg.NewRequestFormatter(kmsg.FormatterClientID("c7")).AppendRequest(nil, produceRequest("t", 1, batchOf(values)), 1)
	answer := make([]byte, 64<<10)
	for _, c := range sides {
		c.conn.SetReadDeadline(time.Time{})
	}
	var took [2][]time.Duration
	for b.Loop() {
		for i, c := range sides {
			began := time.Now()
			for range 20 {
				if _, err := c.conn.Write(frame); err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadAtLeast(c.conn, answer, 8); err != nil {
					b.Fatal(err)
				}
			}
			took[i] = append(took[i], time.Since(began))
		}
	}
	var quick [2]float64
	for i := range took {
		slices.Sort(took[i])
		for _, d := range took[i][:(len(took[i])+1)/2] {
			quick[i] += float64(d)
		}
	}
	b.ReportMetric(quick[0]/float64((len(took[0])+1)/2)/20, "ns/produce")
	b.ReportMetric(100*(quick[1]-quick[0])/quick[0], "%more")
}

// batchOf is a batch with these values.
func batchOf(values []string) []byte {
	b := kmsg.RecordBatch{
		PartitionLeaderEpoch: -1, Magic: 2, LastOffsetDelta: int32(len(values) - 1), ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1,
		NumRecords: int32(len(values)),
	}
	for i, v := range values {
		r := kmsg.Record{OffsetDelta: int32(i), Value: []byte(v)}
		r.Length = int32(len(r.AppendTo(nil)) - 1)
		b.Records = r.AppendTo(b.Records)
	}
	b.Length = int32(49 + len(b.Records))
	raw := b.AppendTo(nil)
	b.CRC = int32(crc32.Checksum(raw[21:], crc32.MakeTable(crc32.Castagnoli)))
	return b.AppendTo(nil)
}
