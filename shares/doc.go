// Package shares is the state machine of one partition as one share group reads it (KIP-932): which offsets are in flight,
// who has acquired them and until when, how often each was delivered, and what was accepted, released or rejected.
//
// It is pure: no clock, goroutine, lock, log or journal. The caller gives the time and what the log holds; a [Partition]
// changes, and says what is to be written down ([Write]). What a [Write] holds is folded elsewhere and comes back through
// [Load] after a start. Acquisitions are not in it: as in Kafka, a start releases everything.
//
// # Shape
//
// Offsets in flight lie in batches, as they were first acquired. Most batches have one state. A batch whose offsets went
// different ways keeps a state for each: as runs of neighbours that are alike, so that its size is bounded by what
// clients did and not by how many offsets a record batch spans. Whether a batch is kept by offsets is remembered even
// when it is one run again: Kafka's refusals differ by it.
//
// # Invariants (see Check)
//
//   - Batches are disjoint and rise; a batch's runs cover it without a hole.
//   - Only an acquired run has a member and a lock.
//   - Batches end at or before the end offset.
package shares
