package schedules

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	partitions   = 2
	producers    = 2
	transactions = 4   // of each producer
	ghostsOf10   = 4   // so many of ten requests have a ghost
	heldUpMax    = 9   // a ghost arrives after one to so many further requests
	mostSends    = 200 // a schedule that needs more does not end
)

// Outcome is what came of a schedule.
type Outcome struct {
	Seed   uint64
	Lines  []string // each request with its answer, then what is there in the end
	Faults []string // what the second protocol promises and was not held
}

// producer is a client that goes on with its transactions.
type producer struct {
	*conn
	name, txn string
	id        int64
	epoch     int16
	next      map[int32]int32 // sequences
	todo      []step          // of the open transaction; empty: none is open
	begun     int             // transactions
	open      []sent          // values acknowledged in the open transaction
	committed []sent
	offset    int64 // committed last, 0 when none was
	pending   int64
}

// sent is a value in a partition.
type sent struct {
	partition int32
	value     string
}

// step is what a producer does next in its transaction.
type step struct {
	kind      string // add, produce, add offsets, offset, commit, abort
	partition int32
}

func (p *producer) group() string { return p.txn }

// ghost is a copy of a request that arrives later.
type ghost struct {
	name    string
	version int16
	req     kmsg.Request
	txn     string
	in      int // arrives after so many further requests
}

// schedule is one run.
type schedule struct {
	protocol Protocol
	topic    string
	random   *rand.Rand
	late     *conn // where ghosts arrive
	clients  []*producer
	ghosts   []ghost
	out      Outcome
	sends    int
}

// Play plays the schedule of a seed against a broker.
func Play(addr string, protocol Protocol, seed uint64) (*Outcome, error) {
	// A broker may have played the seed before: the names of a run are its own, and nothing depends on them.
	topic := fmt.Sprintf("schedule-v%d-%d-%x", protocol, seed, time.Now().UnixNano())
	s := &schedule{protocol: protocol, topic: topic, random: rand.New(rand.NewPCG(seed, uint64(protocol)))}
	s.out.Seed = seed
	defer s.close()
	if err := s.prepare(addr); err != nil {
		return nil, fmt.Errorf("schedule %d: %w", seed, err)
	}
	if err := s.run(); err != nil {
		return nil, fmt.Errorf("schedule %d: after %q: %w", seed, s.out.Lines, err)
	}
	return &s.out, nil
}

func (s *schedule) close() {
	if s.late != nil {
		s.late.Close()
	}
	for _, p := range s.clients {
		p.Close()
	}
}

func (s *schedule) prepare(addr string) (err error) {
	if s.late, err = dial(addr); err != nil {
		return err
	}
	if err := s.makeTopic(); err != nil {
		return err
	}
	for i := range producers {
		c, err := dial(addr)
		if err != nil {
			return err
		}
		name := string(rune('A' + i))
		p := &producer{conn: c, name: name, txn: s.topic + "-" + name}
		s.clients = append(s.clients, p)
		if err := s.init(p); err != nil {
			return err
		}
	}
	return s.awaitGroups()
}

// run lets a producer do its next step, or a ghost arrive, until the producers are done and no ghost is left.
func (s *schedule) run() error {
	for {
		if s.sends++; s.sends > mostSends {
			return errors.New("it does not end")
		}
		if due := slices.IndexFunc(s.ghosts, func(g ghost) bool { return g.in <= 0 }); due >= 0 {
			if err := s.arrive(due); err != nil {
				return err
			}
			continue
		}
		busy := slices.DeleteFunc(slices.Clone(s.clients), func(p *producer) bool { return p.begun == transactions && len(p.todo) == 0 })
		if len(busy) == 0 && len(s.ghosts) == 0 {
			return s.conclude()
		}
		if len(busy) > 0 {
			if err := s.advance(busy[s.random.IntN(len(busy))]); err != nil {
				return err
			}
		}
		for i := range s.ghosts {
			s.ghosts[i].in--
		}
	}
}

// arrive delivers a ghost.
func (s *schedule) arrive(i int) error {
	g := s.ghosts[i]
	s.ghosts = slices.Delete(s.ghosts, i, i+1)
	resp, err := s.late.ask(g.version, g.req)
	if err != nil {
		return err
	}
	s.line("ghost %s: %s", g.name, told(resp))
	return s.settle(g.txn)
}

// advance does a producer's next step.
func (s *schedule) advance(p *producer) error {
	if len(p.todo) == 0 {
		p.todo = s.plan()
		p.begun++
		p.open, p.pending = nil, 0
	}
	next := p.todo[0]
	p.todo = p.todo[1:]
	return s.do(p, next)
}

// plan is the steps of a transaction.
func (s *schedule) plan() []step {
	var list []step
	added := map[int32]bool{}
	for range 1 + s.random.IntN(3) {
		partition := int32(s.random.IntN(partitions))
		if s.protocol == V1 && !added[partition] {
			list = append(list, step{"add", partition})
			added[partition] = true
		}
		list = append(list, step{"produce", partition})
	}
	if s.random.IntN(2) == 0 {
		if s.protocol == V1 {
			list = append(list, step{kind: "add offsets"})
		}
		list = append(list, step{kind: "offset"})
	}
	return append(list, step{kind: []string{"commit", "commit", "abort"}[s.random.IntN(3)]})
}

// do sends a step's request, perhaps leaves a ghost of it, and takes the answer.
func (s *schedule) do(p *producer, next step) error {
	name := fmt.Sprintf("%s%d %s", p.name, p.begun, next.kind)
	produce, offset, end := s.protocol.versions()
	g := ghost{name: name, txn: p.txn}
	var value string
	switch next.kind {
	case "add":
		g.version, g.req = 3, addRequest(p, s.topic, next.partition)
	case "produce":
		value = fmt.Sprintf("%s%d.%d", p.name, p.begun, len(p.open))
		g.version, g.req = produce, produceRequest(p, s.topic, next.partition, value)
		g.name += " " + value
	case "add offsets":
		g.version, g.req = 3, addOffsetsRequest(p)
	case "offset":
		g.version, g.req = offset, offsetRequest(p, s.topic, int64(p.begun))
	case "commit", "abort":
		g.version, g.req = end, endRequest(p, next.kind == "commit")
	}
	if next.kind == "add" || next.kind == "produce" {
		g.name += fmt.Sprint(" in ", next.partition)
	}
	if s.random.IntN(10) < ghostsOf10 {
		g.in = 1 + s.random.IntN(heldUpMax)
		s.ghosts = append(s.ghosts, g)
	}
	resp, err := p.ask(g.version, g.req)
	if err != nil {
		return err
	}
	s.line("%s: %s", g.name, told(resp))
	if err := s.settle(p.txn); err != nil {
		return err
	}
	return s.take(p, next, value, resp)
}

// take notes what an answer means to a producer. One that is refused gives its transaction up: it aborts, and begins anew
// with the next epoch.
func (s *schedule) take(p *producer, next step, value string, resp kmsg.Response) error {
	if code := codeOf(resp); code != 0 {
		s.fault("%s%d %s was refused with %d", p.name, p.begun, next.kind, code)
		return s.giveUp(p, next)
	}
	switch next.kind {
	case "produce":
		p.next[next.partition]++
		p.open = append(p.open, sent{next.partition, value})
	case "offset":
		p.pending = int64(p.begun)
	case "commit":
		p.committed = append(p.committed, p.open...)
		if p.pending > 0 {
			p.offset = p.pending
		}
	}
	if end, ok := resp.(*kmsg.EndTxnResponse); ok && s.protocol == V2 {
		p.id, p.epoch, p.next = end.ProducerID, end.ProducerEpoch, map[int32]int32{}
	}
	return nil
}

func (s *schedule) giveUp(p *producer, refused step) error {
	p.todo = nil
	if refused.kind != "commit" && refused.kind != "abort" {
		_, _, end := s.protocol.versions()
		resp, err := p.ask(end, endRequest(p, false))
		if err != nil {
			return err
		}
		s.line("%s%d gives up: %s", p.name, p.begun, told(resp))
		if err := s.settle(p.txn); err != nil {
			return err
		}
	}
	return s.init(p)
}

// init takes the next epoch, when what is open has been aborted.
func (s *schedule) init(p *producer) error {
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		resp, err := p.ask(4, initRequest(p))
		if err != nil {
			return err
		}
		r := resp.(*kmsg.InitProducerIDResponse)
		if r.ErrorCode == 0 {
			p.id, p.epoch, p.next = r.ProducerID, r.ProducerEpoch, map[int32]int32{}
			s.line("%s is of epoch %d", p.name, p.epoch)
			return nil
		}
		if !again(r.ErrorCode) || time.Now().After(deadline) {
			return fmt.Errorf("InitProducerId is refused with %d", r.ErrorCode)
		}
	}
}

// again tells codes by which a coordinator says: not now.
func again(code int16) bool { return slices.Contains([]int16{14, 15, 16, 51}, code) }

func (s *schedule) line(format string, args ...any) {
	s.out.Lines = append(s.out.Lines, fmt.Sprintf(format, args...))
}

// fault is for what the second protocol promises.
func (s *schedule) fault(format string, args ...any) {
	if s.protocol == V2 {
		s.out.Faults = append(s.out.Faults, fmt.Sprintf(format, args...))
	}
}
