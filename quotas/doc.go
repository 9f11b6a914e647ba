// Package quotas measures what clients use and says how long one that uses too much is to wait: rates over windows, buckets
// of tokens, and which of the limits that are set is a client's. It knows nothing of sockets, the protocol or the journal; times
// are given to it, in milliseconds.
//
// Kafka's arithmetic is kept to the millisecond, since clients are told the result: docs/security.md says how it comes about,
// testdata holds transcripts, recordings of Kafka show the same numbers.
package quotas
