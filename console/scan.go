package console

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// scan looks through partitions of a topic, towards newer offsets or older ones, for records that match, in the order of their
// timestamps as far as the order within each partition allows. It ends when it has as many as are wanted, when there is no more, or
// when its budget is spent; next says then where to go on, so that no record is shown twice and none is missed.
type scan struct {
	k         *kafka
	topic     string
	id        kadm.TopicID
	leaders   map[int32]int32
	down      bool // towards older offsets
	committed bool // only what read_committed consumers are handed
	limit     int
	match     func(*kgo.Record) bool
	budget    budget

	parts []*scanPart
	ends  string // where the partitions end, as a cursor
	// What was looked at.
	scanned int64
	bytes   int64
	began   time.Time
	spent   bool
}

// budget bounds one scan; a person goes on with another one.
type budget struct {
	Records int64
	Bytes   int64
	Time    time.Duration
}

var usualBudget = budget{Records: 100_000, Bytes: 64 << 20, Time: time.Second}

// scanPart is one partition of a scan: [low, high) is still to be looked at, found is what matched and was not taken yet.
type scanPart struct {
	partition int32
	low, high int64
	window    int64
	until     int64         // the end of the window that is read
	found     []*kgo.Record // in the scan's order
}

func (p *scanPart) finished() bool { return p.low >= p.high }

// maxWindow is the most offsets of a partition that are read at a time.
const maxWindow = 4000

// run scans.
func (s *scan) run(ctx context.Context) ([]*kgo.Record, error) {
	s.began = time.Now()
	first := int64(max(5, min(s.limit, 2*s.limit/max(1, len(s.parts)))))
	for _, p := range s.parts {
		p.window = first
	}
	var taken []*kgo.Record
	for len(taken) < s.limit {
		if err := s.fill(ctx); err != nil {
			return taken, err
		}
		p := s.nearest()
		if p == nil {
			break
		}
		taken = append(taken, p.found[0])
		p.found = p.found[1:]
	}
	return taken, nil
}

// fill reads on in the partitions that have nothing to offer, until each has or is finished, or the budget is spent.
func (s *scan) fill(ctx context.Context) error {
	for !s.spent {
		windows := map[*scanPart]span{}
		for _, p := range s.parts {
			if len(p.found) > 0 || p.finished() {
				continue
			}
			w := span{p.low, min(p.low+p.window, p.high)}
			if s.down {
				w = span{max(p.high-p.window, p.low), p.high}
			}
			windows[p] = w
			p.window = min(2*p.window, maxWindow)
		}
		if len(windows) == 0 {
			return nil
		}
		if err := s.read(ctx, windows); err != nil {
			return err
		}
		s.spent = s.scanned >= s.budget.Records || s.bytes >= s.budget.Bytes || time.Since(s.began) >= s.budget.Time
	}
	return nil
}

// nearest is the partition whose next record comes first.
func (s *scan) nearest() *scanPart {
	var best *scanPart
	for _, p := range s.parts {
		if len(p.found) == 0 {
			continue
		}
		if best == nil || s.before(p.found[0], best.found[0]) {
			best = p
		}
	}
	return best
}

func (s *scan) before(a, b *kgo.Record) bool {
	if s.down {
		return a.Timestamp.After(b.Timestamp)
	}
	return a.Timestamp.Before(b.Timestamp)
}

// next says where each partition's scan goes on: what is found and not taken is looked at again.
func (s *scan) next() (at map[int32]int64, more bool) {
	at = map[int32]int64{}
	for _, p := range s.parts {
		switch {
		case s.down && len(p.found) > 0:
			at[p.partition] = p.found[0].Offset + 1
		case s.down:
			at[p.partition] = p.high
		case len(p.found) > 0:
			at[p.partition] = p.found[0].Offset
		default:
			at[p.partition] = p.low
		}
		more = more || len(p.found) > 0 || !p.finished()
	}
	return at, more
}

// positions are where each partition's scan stands.
func (s *scan) positions() map[int32]int64 {
	at := map[int32]int64{}
	for _, p := range s.parts {
		if at[p.partition] = p.low; s.down {
			at[p.partition] = p.high
		}
	}
	return at
}

// span is offsets from low up to, but not including, high.
type span struct{ low, high int64 }

// read looks at one window of each partition. A partition that brings nothing while others do may have found no room in the answer
// (a broker gives a batch that is larger than was asked for only to the first), so it is asked again by itself.
func (s *scan) read(ctx context.Context, windows map[*scanPart]span) error {
	at, of, silent := map[int32]int64{}, map[int32]*scanPart{}, map[int32]bool{}
	for p, w := range windows {
		at[p.partition], of[p.partition], p.until = w.low, p, w.high
	}
	for len(at) > 0 {
		ask := askTogether(at, silent)
		got, err := s.k.fetchOnce(ctx, s, ask)
		if err != nil {
			return err
		}
		for partition, f := range got {
			p := of[partition]
			for _, r := range f.records {
				if r.Offset < p.until {
					s.look(p, r)
				}
			}
			switch {
			case f.next >= p.until || f.next <= at[partition] && len(ask) == 1:
				s.finish(p, windows[p])
				delete(at, partition)
			case f.next <= at[partition]:
				silent[partition] = true
			default:
				at[partition] = f.next
			}
		}
		if s.spentEarly() && !s.down {
			s.giveUp(at, of)
			return nil
		}
	}
	return nil
}

// askTogether are the partitions to ask together: all but the silent ones; when only those are left, one of them.
func askTogether(at map[int32]int64, silent map[int32]bool) map[int32]int64 {
	together := map[int32]int64{}
	for partition, from := range at {
		if !silent[partition] {
			together[partition] = from
		}
	}
	if len(together) == 0 {
		first := sortedInts(at)[0]
		together[first] = at[first]
	}
	return together
}

func (s *scan) look(p *scanPart, r *kgo.Record) {
	s.scanned++
	s.bytes += int64(len(r.Key) + len(r.Value))
	if s.match == nil || s.match(r) {
		p.found = append(p.found, r)
	}
}

func (s *scan) finish(p *scanPart, w span) {
	if s.down {
		slices.Reverse(p.found)
		p.high = w.low
	} else {
		p.low = w.high
	}
}

// spentEarly says that one window alone has used the budget up: its records are large.
func (s *scan) spentEarly() bool { return s.bytes >= 2*s.budget.Bytes }

// giveUp ends windows before their ends.
func (s *scan) giveUp(at map[int32]int64, of map[int32]*scanPart) {
	for partition, next := range at {
		of[partition].low = next
	}
}

// fetched is what one request brought of a partition.
type fetched struct {
	records []*kgo.Record
	next    int64
}

// Sizes of one request.
const (
	fetchBytes          = 8 << 20
	fetchPartitionBytes = 1 << 20
)

// fetchOnce asks every leader once for records from the offsets on. It waits for nothing.
func (k *kafka) fetchOnce(ctx context.Context, s *scan, at map[int32]int64) (map[int32]fetched, error) {
	byLeader := map[int32]*kmsg.FetchRequest{}
	for _, partition := range sortedInts(at) {
		leader := s.leaders[partition]
		req := byLeader[leader]
		if req == nil {
			req = newFetch(s)
			byLeader[leader] = req
		}
		p := kmsg.NewFetchRequestTopicPartition()
		p.Partition, p.FetchOffset, p.PartitionMaxBytes = partition, at[partition], fetchPartitionBytes
		req.Topics[0].Partitions = append(req.Topics[0].Partitions, p)
	}
	got := map[int32]fetched{}
	for leader, req := range byLeader {
		resp, err := k.client.Broker(int(leader)).RetriableRequest(ctx, req)
		if err != nil {
			return nil, err
		}
		answer, ok := resp.(*kmsg.FetchResponse)
		if !ok {
			return nil, errors.New("the broker answered a fetch with something else")
		}
		if err := kerr.ErrorForCode(answer.ErrorCode); err != nil {
			return nil, err
		}
		if err := s.unpack(answer, at, got); err != nil {
			return nil, err
		}
	}
	for partition, from := range at {
		if _, there := got[partition]; !there {
			got[partition] = fetched{next: from}
		}
	}
	return got, nil
}

// until is the end of the window that is read of a partition.
func (s *scan) until(partition int32) int64 {
	for _, p := range s.parts {
		if p.partition == partition {
			return p.until
		}
	}
	return math.MaxInt64
}

func newFetch(s *scan) *kmsg.FetchRequest {
	req := kmsg.NewPtrFetchRequest()
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes, req.SessionEpoch = 0, 0, fetchBytes, -1
	if s.committed {
		req.IsolationLevel = 1
	}
	t := kmsg.NewFetchRequestTopic()
	t.Topic, t.TopicID = s.topic, s.id
	req.Topics = []kmsg.FetchRequestTopic{t}
	return req
}

// unpack takes the records out of an answer, markers of transactions too.
func (s *scan) unpack(answer *kmsg.FetchResponse, at map[int32]int64, got map[int32]fetched) error {
	o := kgo.ProcessFetchPartitionOpts{KeepControlRecords: true, Topic: s.topic}
	if s.committed {
		o.IsolationLevel, o.KeepControlRecords = kgo.ReadCommitted(), false
	}
	for _, t := range answer.Topics {
		for i := range t.Partitions {
			p := &t.Partitions[i]
			o.Partition, o.Offset = p.Partition, at[p.Partition]
			until := s.until(p.Partition)
			batches, cut := batchesBefore(p.RecordBatches, until)
			p.RecordBatches = batches
			f, next := kgo.ProcessFetchPartition(o, p, kgo.DefaultDecompressor(), nil)
			switch {
			case errors.Is(f.Err, kerr.OffsetOutOfRange):
				got[p.Partition] = fetched{next: math.MaxInt64} // retention took it meanwhile
				continue
			case f.Err != nil:
				return f.Err
			}
			if cut {
				next = max(next, until) // what was cut off is behind the window
			}
			got[p.Partition] = fetched{f.Records, next}
		}
	}
	return nil
}

// batchesBefore cuts off the batches that begin at an offset or behind it: a few records are wanted of the megabyte that a broker
// sends. cut says that there were some.
//
//fuzz:parser class=payload FuzzBatches
func batchesBefore(b []byte, until int64) (kept []byte, cut bool) {
	for at := 0; len(b)-at >= batchHeaderBytes && b[at+batchMagicAt] == 2; {
		if int64(binary.BigEndian.Uint64(b[at:])) >= until {
			return b[:at], true
		}
		size := int64(binary.BigEndian.Uint32(b[at+batchLengthAt:])) + batchLengthAt + 4
		if size > int64(len(b)-at) {
			break
		}
		at += int(size)
	}
	return b, false
}

func sortedInts[V any](m map[int32]V) []int32 {
	keys := make([]int32, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
