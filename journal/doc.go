// Package journal is the control journal of doze: everything the broker knows, record batches aside, is the fold of its
// entries. It defines the events, their encoding, the files they are kept in, and the only goroutine that changes state.
//
// Invariants:
//
//   - An entry is on disk before its Update returns nil; an entry with a durable event is fsynced before that.
//   - An Update that returns an error left no trace in state, and none in the file unless the error is [ErrPoisoned].
//   - decode(b) accepts only what encode gives: one state of the world, one sequence of bytes.
//   - A kind's number and meaning never change. An unknown kind refuses the journal; it is never skipped.
//   - Nothing that was acknowledged is dropped, altered or skipped at open: damage is named and refused ([DamageError]).
//
// README.md beside this file is the specification of the format. docs/checklists/event.md says how to add an event.
package journal
