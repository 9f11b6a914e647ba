// Package kill is the campaign that ends a broker with SIGKILL at random moments, again and again, under an idempotent
// producer and a consuming group, and then looks for what was acknowledged.
//
// What it holds: every acknowledged record is there once, at the offset that was acknowledged; no record is there twice; a
// group never reads below an offset whose commit was acknowledged; the journal replays to the state that it says.
//
// RunRegistry is the same for the schema registry: clients register schemas and hide versions, and no acknowledged id is ever gone
// or another schema's.
package kill
