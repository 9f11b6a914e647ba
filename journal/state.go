package journal

// State is what a journal folds into. S is the implementing type itself: type State struct; func (*State) Clone() *State.
type State[S any] interface {
	// Apply folds one event of the entry (seq, at). It is the only code that changes state. An event that does not
	// fit (an unknown topic, a second creation) is an error: the journal is foreign or doze is broken.
	// [StateHashed] is the journal's own and never reaches Apply.
	Apply(seq uint64, at int64, e Event) error
	// Clone is O(1): copy on write. Only the store's loop calls it: a View is read, never cloned.
	Clone() S
	// Rows calls yield with every row of the state in one fixed order: the snapshot's content and what the hash is over.
	// yield does not keep row.
	Rows(yield func(row []byte) error) error
	// LoadRow adds one row that Rows gave, in the order of Rows, to a fresh state. It does not keep row.
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
