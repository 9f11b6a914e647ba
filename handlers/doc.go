// Package handlers answers the Kafka protocol: one file per API, named after it, headed by what the API does and at which
// versions. A handler reads a view of the projections or makes an Update of the journal (a decideX function decides and
// emits, nothing else), asks the partitions' logs, and answers. table.go is the one list of APIs.
//
// Kafka's error codes live here and nowhere below. An error returned by a handler closes the connection; whatever a client
// may see is in the response.
package handlers
