package shares

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// model is a share partition told the naive way: a record for each offset. It is held against a Partition after every step
// of a random run: nothing is delivered twice at once, nothing that was accepted is delivered again, counts are right, and
// in the end everything is done.
type model struct {
	t      *testing.T
	p      *Partition
	limits Limits
	now    int64
	log    []LogBatch
	end    int64 // of the log
	start  int64 // of the log

	records map[int64]*record
	written map[int64]StateBatch // by offset: what a restart finds
	from    int64                // the start offset that was written last
}

type record struct {
	state  State
	count  int16
	member string
	until  int64
}

func newModel(t *testing.T, limits Limits) *model {
	return &model{t: t, p: Load(0, nil), limits: limits, records: map[int64]*record{}, written: map[int64]StateBatch{}}
}

func (m *model) of(offset int64) *record {
	if m.records[offset] == nil {
		m.records[offset] = &record{}
	}
	return m.records[offset]
}

func (m *model) append(n int64) {
	m.log = append(m.log, LogBatch{m.end, m.end + n - 1})
	m.end += n
}

// fetch acquires what a fetch may, and holds it against the records.
func (m *model) fetch(member string, most, size int, exact bool) []Range {
	if !m.p.CanAcquire(m.limits) {
		return nil
	}
	from := m.p.NextFetchOffset()
	if from < m.start {
		m.p.MoveStart(m.start)
		m.check("move start")
		return nil
	}
	var batches []LogBatch
	for _, b := range m.log {
		if b.Last >= from {
			batches = append(batches, b)
		}
	}
	got := m.p.Acquire(Fetched{Member: member, From: from, Batches: batches, MaxRecords: most, BatchSize: size, Exact: exact, Now: m.now}, m.limits)
	total := int64(0)
	for _, r := range got {
		for offset := r.First; offset <= r.Last; offset++ {
			rec := m.of(offset)
			if rec.state != Available || rec.count+1 != r.DeliveryCount || int(r.DeliveryCount) > m.limits.MaxDeliveries {
				m.t.Fatalf("offset %d is delivered the %dth time: it is %+v", offset, r.DeliveryCount, *rec)
			}
			*rec = record{Acquired, r.DeliveryCount, member, m.now + m.limits.LockMs}
			total++
		}
	}
	if exact && total > int64(most) {
		m.t.Fatalf("%d records acquired, %d asked for", total, most)
	}
	m.check("fetch")
	return got
}

func (m *model) giveBack(fits func(*record) bool) {
	for offset, rec := range m.records {
		if rec.state == Acquired && fits(rec) {
			*rec = record{state: Available, count: rec.count}
			if int(rec.count) >= m.limits.MaxDeliveries || offset < m.p.Start() {
				rec.state = Archived
			}
		}
	}
}

func (m *model) write(w Write) {
	for _, b := range w.Batches {
		for offset := b.First; offset <= b.Last; offset++ {
			m.written[offset] = StateBatch{offset, offset, b.State, b.DeliveryCount}
			if rec := m.of(offset); rec.state != b.State || rec.count != b.DeliveryCount {
				m.t.Fatalf("offset %d is written down as %+v: it is %+v", offset, b, *rec)
			}
		}
	}
	if !w.Empty() {
		m.from = w.Start
	}
}

func (m *model) acknowledge(member string, all []Acks) {
	start := m.p.Start()
	w, refused := m.p.Acknowledge(member, all, m.now, m.limits)
	if refused != nil {
		m.check("refused: " + refused.Text)
		return
	}
	for _, a := range all {
		for offset := max(a.First, start); offset <= a.Last; offset++ {
			m.acknowledged(member, offset, a.typeOf(offset))
		}
	}
	m.write(w)
	m.check("acknowledge")
}

func (m *model) acknowledged(member string, offset int64, t Type) {
	rec := m.of(offset)
	if rec.state != Acquired || rec.member != member {
		m.t.Fatalf("offset %d: %s acknowledges what is %+v", offset, member, *rec)
	}
	if t == Renew {
		rec.until = m.now + m.limits.LockMs
		return
	}
	*rec = record{state: stateOf(t), count: rec.count}
	if t == Give && int(rec.count) >= m.limits.MaxDeliveries {
		rec.state = Archived
	}
}

// restart goes on with what was written down.
func (m *model) restart() {
	var batches []StateBatch
	for offset := m.from; offset < m.end; offset++ {
		if b, is := m.written[offset]; is {
			batches = append(batches, b)
		}
	}
	m.p = Load(m.from, batches)
	for offset, rec := range m.records {
		b, is := m.written[offset]
		switch {
		case is:
			*rec = record{state: b.State, count: b.DeliveryCount}
		case offset >= m.from:
			*rec = record{}
		}
	}
	m.check("restart")
}

func (m *model) check(after string) {
	if err := m.p.Check(); err != nil {
		m.t.Fatalf("after %s: %v\n%s", after, err, m.p)
	}
	for _, b := range m.p.batches {
		for _, r := range b.runs {
			for offset := r.first; offset <= r.last; offset++ {
				rec := m.of(offset)
				if r.state == Archived && rec.state == Available && offset < m.start {
					rec.state = Archived
				}
				if r.state != rec.state || r.count != rec.count || r.member != rec.member || r.until != rec.until {
					m.t.Fatalf("after %s: offset %d is %+v: should be %+v", after, offset, r, *rec)
				}
			}
		}
	}
}

// String shows the partition for a failing test.
func (p *Partition) String() string {
	return fmt.Sprintf("start %d end %d done %d findNext %t gap %+v: %+v", p.start, p.end, p.complete, p.findNext, p.gap, p.batches)
}

// randomAcks acknowledges parts of what was acquired, now and then what was not.
func randomAcks(r *rand.Rand, got []Range) (all []Acks) {
	for _, g := range got {
		a := Acks{First: g.First, Last: g.Last}
		if r.IntN(3) == 0 {
			a.First += r.Int64N(g.Last - g.First + 1)
		}
		if r.IntN(20) == 0 {
			a.Last++
		}
		n := 1
		if r.IntN(2) == 0 {
			n = int(a.Last - a.First + 1)
		}
		for range n {
			a.Types = append(a.Types, Type(r.IntN(5)))
		}
		all = append(all, a)
	}
	return all
}

func TestRandomRunsKeepWhatTheyPromise(t *testing.T) {
	for seed := range uint64(300) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			m := newModel(t, Limits{MaxDeliveries: 2 + r.IntN(6), MaxInFlight: 20 + r.IntN(100), LockMs: 10, Renew: true})
			held := map[string][]Range{}
			for range 200 {
				m.step(r, held)
			}
			m.drain()
		})
	}
}

func (m *model) step(r *rand.Rand, held map[string][]Range) {
	member := []string{"a", "b", "c"}[r.IntN(3)]
	switch r.IntN(12) {
	case 0, 1:
		m.append(1 + r.Int64N(9))
	case 2, 3, 4, 5:
		held[member] = append(held[member], m.fetch(member, 1+r.IntN(30), 1+r.IntN(10), r.IntN(3) == 0)...)
	case 6, 7, 8:
		m.acknowledge(member, randomAcks(r, held[member]))
		held[member] = nil
	case 9:
		m.now += r.Int64N(15)
		m.giveBack(func(rec *record) bool { return rec.until <= m.now })
		m.write(m.p.Expire(m.now, m.limits))
		m.check("expire")
	case 10:
		m.giveBack(func(rec *record) bool { return rec.member == member })
		m.write(m.p.Release(member, m.limits))
		m.check("release")
		held[member] = nil
	case 11:
		if r.IntN(5) == 0 {
			m.restart()
		} else if r.IntN(5) == 0 && m.end > m.start {
			m.start += r.Int64N(m.end - m.start)
		}
	}
}

// drain accepts everything that is left: nothing may stay behind.
func (m *model) drain() {
	m.now += 100
	m.giveBack(func(*record) bool { return true })
	m.write(m.p.Expire(m.now, m.limits))
	m.check("expire")
	for range 10_000 {
		got := m.fetch("z", 1000, 500, false)
		if len(got) == 0 && m.p.NextFetchOffset() >= m.end {
			break
		}
		var all []Acks
		for _, g := range got {
			all = append(all, Acks{First: g.First, Last: g.Last, Types: []Type{Take}})
		}
		if len(all) > 0 {
			m.acknowledge("z", all)
		}
	}
	for offset := m.start; offset < m.end; offset++ {
		if s := m.of(offset).state; !s.done() {
			m.t.Fatalf("offset %d of %d is left behind: %+v\n%s", offset, m.end, *m.of(offset), m.p)
		}
	}
}
