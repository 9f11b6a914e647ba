package disk

import (
	"fmt"
	"syscall"
)

// Op is a kind of operation, for faults and traces.
type Op string

const (
	OpOpen        Op = "open"
	OpCreate      Op = "create"
	OpMkdir       Op = "mkdir"
	OpRename      Op = "rename"
	OpRemove      Op = "remove"
	OpRead        Op = "read"
	OpWrite       Op = "write"
	OpTruncate    Op = "truncate"
	OpPreallocate Op = "preallocate"
	OpSync        Op = "sync"
	OpSyncDir     Op = "syncdir"
)

// The errors that disks give.
var (
	EIO    error = syscall.EIO
	ENOSPC error = syscall.ENOSPC
)

// Fault makes operations fail.
type Fault struct {
	// After lets this many matching operations pass first.
	After int
	// Err is what the operation answers.
	Err error
	// Only restricts the fault to these kinds; empty means all that change something (that is, not open and read).
	Only []Op
	// Match restricts the fault to names for which it returns true; nil means all.
	Match func(name string) bool
	// Grows restricts the fault to writes and reservations that make their file longer, and to what makes new names: a full
	// disk, on which what is there can be written over.
	Grows bool
	// Short lets a write store half of its bytes before it fails.
	Short bool
	// Persistent fails every matching operation from then on; otherwise only the one.
	Persistent bool

	seen  int
	fired int
}

// Inject adds a fault; it stays until it has fired (or for good when persistent) or Clear is called.
func (m *Mem) Inject(f *Fault) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.faults = append(m.faults, f)
}

// Clear removes all faults: the disk works again.
func (m *Mem) Clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.faults = nil
}

// Fired tells how many operations the fault made fail.
func (m *Mem) Fired(f *Fault) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return f.fired
}

// Ops counts the operations so far that change something: a test that fails each in turn needs to know how many.
func (m *Mem) Ops() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ops
}

// Trace starts recording the operations that change something (and opens), one line each: "write NAME BYTES",
// "sync NAME", ... TakeTrace returns and forgets them.
func (m *Mem) Trace() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.trace = new([]string)
}

// TakeTrace returns the lines since Trace or the last TakeTrace.
func (m *Mem) TakeTrace() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.trace == nil {
		return nil
	}
	lines := *m.trace
	*m.trace = nil
	return lines
}

// step is called before each operation with mu held. On a fault it returns the error and how many bytes of a write are
// stored nevertheless.
func (m *Mem) step(op Op, name string, size int) (int, error) {
	return m.stepIn(op, name, size, op == OpCreate || op == OpMkdir)
}

// stepIn is step for an operation that says whether it needs space.
func (m *Mem) stepIn(op Op, name string, size int, grows bool) (int, error) {
	if op != OpOpen && op != OpRead {
		m.ops++
	}
	for _, f := range m.faults {
		if f.Grows && !grows || !f.hits(op, name) {
			continue
		}
		f.fired++
		m.record(op, name, size, " failed")
		if f.Short && op == OpWrite {
			return size / 2, f.Err
		}
		return 0, f.Err
	}
	m.record(op, name, size, "")
	return 0, nil
}

func (f *Fault) hits(op Op, name string) bool {
	if f.fired > 0 && !f.Persistent || !f.concerns(op) || f.Match != nil && !f.Match(name) {
		return false
	}
	f.seen++
	return f.seen > f.After
}

func (f *Fault) concerns(op Op) bool {
	if len(f.Only) == 0 {
		return op != OpOpen && op != OpRead
	}
	for _, only := range f.Only {
		if only == op {
			return true
		}
	}
	return false
}

func (m *Mem) record(op Op, name string, size int, suffix string) {
	if m.trace == nil || op == OpRead {
		return
	}
	line := fmt.Sprintf("%s %s", op, name)
	if op == OpWrite || op == OpTruncate || op == OpPreallocate {
		line = fmt.Sprintf("%s %d", line, size)
	}
	*m.trace = append(*m.trace, line+suffix)
}
