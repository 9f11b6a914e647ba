// Package conformance holds what is known of Apache Kafka's answers and compares doze with it.
//
// A Scenario is a script of requests; Play runs it against a broker and gives a recording; Replay compares a run with
// the stored recording. Recordings come from a real Kafka (cmd/record), the tests of this package replay them against
// doze. README.md tells how to write, record and replay one.
package conformance
