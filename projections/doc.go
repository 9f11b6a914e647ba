// Package projections is what is true: tables of facts folded from the control journal's events.
//
// [State.Apply] is the only code that changes a state; decisions call it through journal.Tx.Emit, a start and a replay
// call it for every entry of the journal. The package has no goroutine, no clock, no disk, no network, no randomness, and
// never iterates a Go map: the same events give the same state on every machine (a test reads the sources and holds it).
//
// A table is a copy-on-write btree, so [State.Clone] costs nothing and a published state never changes. Rows are values:
// whoever changes a row stores a new one. Adding a table means one line in tables.go; snapshot, hash, dump and diff follow.
package projections
