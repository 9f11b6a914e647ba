// Package clientmetrics keeps what clients push about themselves (KIP-714): the last pushes of each client instance as small
// series, in memory and bounded. It is the sink that a broker with a console gives its handlers, and the inside.Telemetry that
// the console asks.
package clientmetrics
