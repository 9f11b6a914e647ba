// Package handlers answers the Kafka protocol: one file per API, named after it, headed by what the API does and at which
// versions. A handler reads a view of the projections or makes an Update of the journal (a decideX function decides and
// emits, nothing else), asks the partitions' logs, and answers. table.go is the one list of APIs.
//
// Files beside those of APIs, by how their names begin:
//
//	broker, table, profile     the handler of all requests, the list of APIs, and what a release of Kafka advertises
//	permissions, access, login_*, throttle, quotas, limits     what is asked before an API acts
//	classic_group_*, consumer_group_*, share_group_*, streams_*     what coordinators decide, a family of files for each kind of group;
//	group_*, deadlines, leader_epochs     what the kinds have in common: who coordinates, limits, expiry, sessions
//	share_*     share partitions: what is acquired, fetched, acknowledged, and the state that is journaled
//	txn_*, produce_txn     transactions: decisions, markers, what a start finishes
//	settings, altered_*, loggers     configs, and how changes of them act
//	retention, cleaner     what happens to logs by itself
//
// Kafka's error codes live here and nowhere below. An error returned by a handler closes the connection; whatever a client
// may see is in the response.
package handlers
