// Package eos runs jobs that promise "exactly once" and kills the broker and the job under them.
//
// The copy job reads a topic as a group, transforms each record and writes it to another topic; records and the group's
// offsets are committed in one transaction. It is written with franz-go, with the Java clients and with librdkafka, each
// a process of its own. The counting job is a topology of Kafka Streams. While a job runs, broker and job are killed with
// SIGKILL at moments that a seed gives. A judge then compares what a read_committed reader gets with what went in.
//
// What it holds: of a copy, the output of each partition is its input, transformed, in order, each record once, and the
// group's offsets are the ends of the input; of the counts, each word is counted 1, 2, 3... to what it is there.
package eos
