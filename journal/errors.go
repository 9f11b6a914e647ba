package journal

import "errors"

var (
	// ErrFull: the disk has no space. Nothing happened; the next Update may succeed.
	ErrFull = errors.New("journal: no space left on the device; free some space, then writes go on without a restart")
	// ErrWrite: the disk refused a write for another reason. Nothing happened; the next Update may succeed.
	ErrWrite = errors.New("journal: the disk refused a write; the change did not happen, later ones may")
	// ErrTooLarge: the Update's entry is larger than MaxBody. Nothing happened.
	ErrTooLarge = errors.New("journal: entry larger than 16 MiB")
	// ErrPoisoned: an fsync failed, or a failed write could not be taken back. Whether the Updates that got it are in the
	// file is not known before a restart; the journal takes no more of them until then.
	ErrPoisoned = errors.New("journal: the disk failed while syncing; no change is accepted until doze is restarted")
	// ErrDropped: the decision ended with Drop. Nothing happened.
	ErrDropped = errors.New("journal: dropped by its decision")
	// ErrClosed: the store is closed. Nothing happened.
	ErrClosed = errors.New("journal: closed")
)
