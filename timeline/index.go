package timeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sort"
	"sync"

	"doze/console/inside"
	"doze/journal"
)

// Bounds of the index.
const (
	firstStride = 16
	maxMarks    = 1 << 16 // then every second one goes, and the stride doubles
)

// kindSet is a set of kinds of events.
type kindSet [3]uint64

func (s *kindSet) add(k journal.Kind) {
	if int(k) < 64*len(s) {
		s[k/64] |= 1 << (k % 64)
	}
}

func (s kindSet) meets(other kindSet) bool {
	return s[0]&other[0]|s[1]&other[1]|s[2]&other[2] != 0
}

// mark is an entry's place, and what the entries behind it, up to the next mark, hold.
type mark struct {
	place  journal.Place // of the entry; its Seq is 0 for the beginning
	last   uint64        // the last of the entries
	lastAt int64
	kinds  kindSet
	counts [areaCount]uint32
}

// index finds entries in the journal's files.
type index struct {
	mu     sync.Mutex
	marks  []mark
	stride uint64
	first  uint64        // the oldest entry that is kept
	read   uint64        // the last entry that is in the index
	tail   journal.Place // of that entry
	err    error         // why it reads no further
	names  names

	running bool
	done    chan struct{} // closed when the running one ends
	stop    context.Context
	cancel  context.CancelFunc
}

func (x *index) init() {
	x.stride = firstStride
	x.names = names{byID: map[[16]byte]string{}, text: map[string]string{}}
	x.stop, x.cancel = context.WithCancel(context.Background())
}

func (x *index) close() {
	x.cancel()
	x.mu.Lock()
	done := x.done
	running := x.running
	x.mu.Unlock()
	if running {
		<-done
	}
}

func (x *index) span() (first, read uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.first, x.read
}

// catchUp brings the index to the published end, or lets it go on in the background when ctx ends before: then what is read
// so far is shown.
func (t *Timeline) catchUp(ctx context.Context) error {
	_, head := t.opt.Store.View()
	for tries := 0; ; tries++ {
		done, before := t.following(head)
		if done == nil {
			break
		}
		select {
		case <-done:
		case <-ctx.Done():
			return nil
		}
		// It may have begun before the entry was there, or before the file that has it: then once more.
		if _, read := t.index.span(); read >= head || tries > maxTries || tries > 0 && read == before {
			break
		}
	}
	t.index.mu.Lock()
	defer t.index.mu.Unlock()
	return t.index.err
}

// maxTries bounds how often the end is looked for.
const maxTries = 10

// following has the index read on, unless it has read as far as that. It gives what is closed when that ends (nil: there is
// nothing to do), and how far it had read.
func (t *Timeline) following(head uint64) (done <-chan struct{}, read uint64) {
	x := &t.index
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.read >= head || x.stop.Err() != nil {
		return nil, x.read
	}
	if !x.running {
		x.running, x.done = true, make(chan struct{})
		go t.follow(x.done)
	}
	return x.done, x.read
}

// follow reads what the index does not have yet.
func (t *Timeline) follow(done chan struct{}) {
	err := t.readOn()
	x := &t.index
	x.mu.Lock()
	x.err, x.running = err, false
	x.mu.Unlock()
	close(done)
}

func (t *Timeline) readOn() error {
	x := &t.index
	_, head := t.opt.Store.View() // before the files are listed: it is in one of them
	r, err := journal.OpenReader(t.opt.FS, t.opt.Dir)
	if err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	defer r.Close()
	x.begin(r)
	if at, begun := x.end(); begun {
		if err := r.Resume(at); err != nil {
			return err
		}
	}
	for r.Place().Seq < head && x.stop.Err() == nil {
		e, err := r.Next()
		if err != nil {
			return ended(err)
		}
		if e.Seq > head {
			return nil
		}
		x.add(e, r.Place())
	}
	return nil
}

// begin drops the marks whose files are gone.
func (x *index) begin(r *journal.Reader) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.first = r.FirstSeq()
	gone := sort.Search(len(x.marks), func(i int) bool { return x.marks[i].last >= x.first })
	if gone == 0 {
		return
	}
	x.marks = append([]mark(nil), x.marks[gone:]...)
	if len(x.marks) > 0 && x.marks[0].place.Seq+1 < x.first {
		x.marks[0].place = journal.Place{} // the file of its entry is gone: those behind it begin their file
	}
}

// end is the place of the last entry that the index has.
func (x *index) end() (journal.Place, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.tail, x.tail.Seq > 0
}

func (x *index) add(e *journal.Entry, at journal.Place) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.marks) == 0 || e.Seq > x.marks[len(x.marks)-1].place.Seq+x.stride {
		x.marks = append(x.marks, mark{place: x.tail})
	}
	m := &x.marks[len(x.marks)-1]
	m.last, m.lastAt = e.Seq, e.At
	for _, event := range e.Events {
		m.kinds.add(event.Kind())
		m.counts[areaOf(event.Kind())]++
		if created, ok := event.(*journal.TopicCreated); ok {
			x.names.learn(created.ID, created.Name)
		}
	}
	x.read, x.tail = e.Seq, at
	if len(x.marks) > maxMarks {
		x.thin()
	}
}

// thin joins each mark with the one behind it.
func (x *index) thin() {
	thin := x.marks[:0]
	for i := 0; i < len(x.marks); i += 2 {
		m := x.marks[i]
		if i+1 < len(x.marks) {
			next := &x.marks[i+1]
			m.last, m.lastAt = next.last, next.lastAt
			for n := range m.kinds {
				m.kinds[n] |= next.kinds[n]
			}
			for n := range m.counts {
				m.counts[n] += next.counts[n]
			}
		}
		thin = append(thin, m)
	}
	x.marks, x.stride = thin, 2*x.stride
}

// between gives the marks whose entries are above after and below before, oldest first.
func (x *index) between(after, before uint64) []mark {
	x.mu.Lock()
	defer x.mu.Unlock()
	from := sort.Search(len(x.marks), func(i int) bool { return x.marks[i].last > after })
	to := sort.Search(len(x.marks), func(i int) bool { return x.marks[i].place.Seq+1 >= before })
	if from >= to {
		return nil
	}
	return append([]mark(nil), x.marks[from:to]...)
}

// readerBehind gives a reader whose next entries are those above after, and a few before them.
func (t *Timeline) readerBehind(after uint64) (*journal.Reader, error) {
	r, err := journal.OpenReader(t.opt.FS, t.opt.Dir)
	if err != nil {
		return nil, fmt.Errorf("read the journal: %w", err)
	}
	if at := t.index.placeBefore(after); at.Seq > 0 {
		err = r.Resume(at)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // the file has gone since: what is left is behind it
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// placeBefore is the nearest place at or before an entry.
func (x *index) placeBefore(seq uint64) journal.Place {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.tail.Seq > 0 && x.tail.Seq <= seq {
		return x.tail
	}
	i := sort.Search(len(x.marks), func(i int) bool { return x.marks[i].place.Seq > seq })
	if i == 0 {
		return journal.Place{}
	}
	return x.marks[i-1].place
}

// ended is nil at the end of what is written.
func ended(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// Strips counts events in columns (inside.Journal).
func (t *Timeline) Strips(ctx context.Context, from, to uint64, columns int) (inside.Strips, error) {
	if err := t.catchUp(ctx); err != nil {
		return inside.Strips{}, err
	}
	first, read := t.index.span()
	from, to = max(from, first, 1), min(to, read)
	if from > to || columns < 1 {
		return inside.Strips{From: from, To: to}, nil
	}
	columns = int(min(uint64(min(columns, maxColumns)), to-from+1))
	s := newStrips(from, to, columns)
	if to-from < countEach {
		return s.Strips, t.countEntries(ctx, s)
	}
	for _, m := range t.index.between(from-1, to+1) {
		s.add((m.place.Seq+1+m.last)/2, m.lastAt, func(counts []int) {
			for area, n := range m.counts {
				counts[area] += int(n)
			}
		})
	}
	return s.Strips, nil
}

const (
	maxColumns = 400
	countEach  = 2_000 // entries up to which each is looked at, so that its column is exact
)

type strips struct{ inside.Strips }

func newStrips(from, to uint64, columns int) *strips {
	s := &strips{inside.Strips{From: from, To: to, Columns: make([]inside.Column, columns)}}
	n := to - from + 1
	for i := range s.Columns {
		s.Columns[i] = inside.Column{First: from + n*uint64(i)/uint64(columns), Last: from + n*uint64(i+1)/uint64(columns) - 1, Counts: make([]int, areaCount)}
	}
	return s
}

func (s *strips) add(seq uint64, at int64, count func([]int)) {
	if s.FromAt == 0 {
		s.FromAt = at
	}
	s.ToAt = at
	seq = min(max(seq, s.From), s.To)
	i := sort.Search(len(s.Columns), func(i int) bool { return s.Columns[i].Last >= seq })
	count(s.Columns[i].Counts)
}

func (t *Timeline) countEntries(ctx context.Context, s *strips) error {
	return t.visit(ctx, s.From-1, func(e *journal.Entry, _ journal.Place) bool {
		if e.Seq > s.To {
			return false
		}
		s.add(e.Seq, e.At, func(counts []int) {
			for _, event := range e.Events {
				counts[areaOf(event.Kind())]++
			}
		})
		return true
	})
}
