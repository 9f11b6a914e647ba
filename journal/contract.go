package journal

// Kind numbers a type of event. Numbers are never reused; a changed meaning is a new kind.
type Kind uint16

// Durability is a property of an event's kind: when may its Update be answered?
type Durability uint8

const (
	// Buffered: after write(2); fsynced within a second.
	Buffered Durability = iota
	// Durable: after fsync.
	Durable
)

// Event is one fact in the past tense. Events are pointers to structs of this package; they hold fixed-width integers,
// strings, bytes and slices of such: no map, no float, no int.
type Event interface {
	Kind() Kind
}

// Cause says who made an entry: a request (API >= 0) or a timer (API = -1).
type Cause struct {
	API         int16 // Kafka API key; -1 for a timer or the broker itself
	Conn        uint64
	Correlation int32
	ClientID    string
	Principal   string
	Timer       string // "session", "retention", "start", ...; empty for a request
}

// Entry is one Update as it is on disk: atomic, 1..n events.
type Entry struct {
	Seq    uint64 // 1, 2, 3, ...
	At     int64  // milliseconds since the Unix epoch, never going back
	Cause  Cause
	Events []Event
}

// State is what a journal folds into. S is the implementing type itself: type State struct; func (*State) Clone() *State.
type State[S any] interface {
	// Apply folds one event of the entry (seq, at). It is the only code that changes state. An event that does not
	// fit (an unknown topic, a second creation) is an error: the journal is foreign or doze is broken.
	Apply(seq uint64, at int64, e Event) error
	// Clone is O(1): copy on write.
	Clone() S
	// Rows calls yield with every row of the state in one fixed order: the snapshot's content and what the hash is over.
	Rows(yield func(row []byte) error) error
	// LoadRow adds one row that Rows gave, in the order of Rows, to a fresh state.
	LoadRow(row []byte) error
}

// Clock is the only source of time for the journal's loop.
type Clock interface {
	NowMillis() int64
}

// IDs is the only source of new identities.
type IDs interface {
	NewUUID() [16]byte
}

// Tx is one Update in progress; it is valid only inside the decision and used only by the store's loop.
//
//	store.Update(ctx, cause, func(tx *journal.Tx[*projections.State]) { ... tx.Emit(&journal.TopicCreated{...}) })
//
// Methods that the journal's writer provides:
//
//	tx.State  S        the working state; Emit applies to it at once
//	tx.At     int64    the entry's time, ms
//	tx.Seq    uint64   the entry's sequence
//	tx.Emit(e Event)
//	tx.Then(effect func())   run in order after the entry is acknowledged (and only then); must not block
//	tx.NewUUID() [16]byte
//
// Store:
//
//	Open[S State[S]](fs disk.FS, opt Options, fresh func() S) (*Store[S], Recovery, error)
//	(*Store[S]) Update(ctx context.Context, cause Cause, decide func(*Tx[S])) error
//	        nil: written (and fsynced when an event is Durable). An Update without Emit writes nothing and costs no fsync.
//	        ErrFull, ErrPoisoned, ErrClosed: nothing happened.
//	(*Store[S]) View() (S, uint64)       the last published state and its sequence; lock-free
//	(*Store[S]) Close() error            sync, StateHashed, snapshot, clean-stop marker
