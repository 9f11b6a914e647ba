// Package replay runs a control journal again, with nothing but its files: it prints what happened, cuts at an entry or a
// time, checks that the fold gives the state whose hash the broker wrote, dumps the state and compares two journals.
//
// It opens no network connection, reads no clock and writes nothing but what it prints. A journal may come from a stranger
// (a bug report): every length is checked before it is used, memory is bounded by the size of one entry and of the state,
// and a name cannot break out of the line that shows it. cmd/doze calls it; tests may.
package replay
