// Package inside is what a broker can tell its console and no Kafka client can see: the requests that came in (Traffic), the
// control journal (Timeline), and what clients say of themselves (Telemetry). It has the interfaces that the console asks and
// the plain values that they answer, and imports nothing of ours: the packages traffic, timeline and clientmetrics implement it, the
// console shows it, and neither side knows the other. A console of a foreign broker has none of them.
//
// Every answer is bounded, and every string in it may be hostile: whoever shows it escapes it.
package inside
