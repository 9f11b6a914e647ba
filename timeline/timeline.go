package timeline

import (
	"context"
	"sync"

	"doze/console/inside"
	"doze/disk"
	"doze/journal"
	"doze/projections"
)

// Store is what of a journal.Store is asked.
type Store interface {
	View() (*projections.State, uint64)
	At() int64
}

// Options of a Timeline.
type Options struct {
	FS    disk.FS
	Dir   string // of the journal
	Store Store
	Begun uint64 // the first entry of this run
	// End is a partition's end as of an entry; known: it is exact; ok: there is such a partition.
	End func(topic [16]byte, partition int32, seq uint64) (end int64, known, ok bool)
}

// Timeline reads a journal that is being written.
type Timeline struct {
	opt    Options
	index  index
	states states
}

// New makes a timeline. It reads nothing before it is asked.
func New(opt Options) *Timeline {
	t := &Timeline{opt: opt}
	t.index.init()
	t.states.init()
	return t
}

// Close ends what runs in the background, and waits for it.
func (t *Timeline) Close() error {
	t.index.close()
	return nil
}

// Head says how far the journal reaches (inside.Journal).
func (t *Timeline) Head() inside.Head {
	_, last := t.opt.Store.View()
	first, read := t.index.span()
	return inside.Head{First: max(first, 1), Last: last, LastAt: t.opt.Store.At(), Read: read, Begun: t.opt.Begun}
}

// visit calls yield with entries in order, from the first above after on, up to the last published one, until yield returns
// false. The entry is valid during the call only.
func (t *Timeline) visit(ctx context.Context, after uint64, yield func(*journal.Entry, journal.Place) bool) error {
	_, head := t.opt.Store.View()
	r, err := t.readerBehind(after)
	if err != nil {
		return err
	}
	defer r.Close()
	for n := 0; r.Place().Seq < head; n++ {
		if n%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		e, err := r.Next()
		if err != nil {
			return ended(err)
		}
		if e.Seq > head {
			return nil
		}
		if e.Seq > after && !yield(e, r.Place()) {
			return nil
		}
	}
	return nil
}

// names are the names of topics by id, of deleted ones too.
type names struct {
	mu   sync.Mutex
	byID map[[16]byte]string
	text map[string]string // by the id's text
}

// maxNames bounds what is remembered of topics.
const maxNames = 1 << 17

func (n *names) learn(id [16]byte, name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, known := n.byID[id]; known || len(n.byID) >= maxNames {
		return
	}
	n.byID[id], n.text[journal.ID(id)] = name, name
}

func (n *names) of(id [16]byte) (string, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	name, known := n.byID[id]
	return name, known
}

func (n *names) ofText(id string) (string, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	name, known := n.text[id]
	return name, known
}

// TopicName is the name of a topic, of a deleted one too when an entry that is kept created it.
func (t *Timeline) TopicName(id [16]byte) (string, bool) {
	state, _ := t.opt.Store.View()
	if topic := state.Topics.WithID(id); topic != nil {
		return topic.Name, true
	}
	return t.index.names.of(id)
}
