// Command bench compares doze with a real Kafka 4.3.1, with franz-go's kfake and with the floor (a server that does only
// what no broker can avoid), on one machine in one run:
//
//	go run ./conformance/bench --kafka-libs DIR
//
// The broker runs on one CPU, this process on another. Each row of the table is measured in turns, one broker after the
// other, the ones that wait frozen; the first turn warms up and does not count; the medians of the others are printed
// with their ratios, the target and whether it is met. docs/performance.md says what each row does.
//
// A row is a workload (workload.go): prepare once, measure again and again. The rows are listed in rows.go.
package main
