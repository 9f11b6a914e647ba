package handlers

import (
	"unicode/utf16"

	"doze/configs"
	"doze/projections"
)

// txnSettings are the broker's settings for transactions. None but the last two changes while the broker runs.
type txnSettings struct {
	maxTimeoutMs      int32 // transaction.max.timeout.ms
	idExpirationMs    int64 // transactional.id.expiration.ms
	abortCheckMs      int64 // how often transactions that took too long are looked for
	expiryCheckMs     int64 // how often transactional ids that nobody uses are looked for
	offsetsPartitions int32 // offsets.topic.num.partitions: Kafka knows the groups of a transaction by these
	version           int16 // transaction.version of the cluster
	verify            bool  // transaction.partition.verification.enable
	limits            txnLimits
}

// txnLimits is what transactional ids take at most (docs/limits.md). Bytes are as the state reckons them.
type txnLimits struct {
	ids         int
	bytes       int64 // of all, with their partitions
	stagedBytes int64 // of the offsets that a transaction has staged: they are committed in one entry
}

var defaultTxnLimits = txnLimits{ids: 100_000, bytes: 256 << 20, stagedBytes: maxCommitBytes}

func txnSettingsOf(c *configs.Broker) txnSettings {
	return txnSettings{
		maxTimeoutMs:      int32(c.Int("transaction.max.timeout.ms")),
		idExpirationMs:    c.Int("transactional.id.expiration.ms"),
		abortCheckMs:      c.Int("transaction.abort.timed.out.transaction.cleanup.interval.ms"),
		expiryCheckMs:     c.Int("transaction.remove.expired.transaction.cleanup.interval.ms"),
		offsetsPartitions: int32(c.Int("offsets.topic.num.partitions")),
		limits:            defaultTxnLimits,
	}
}

// offsetsTopic is where Kafka keeps the offsets of groups. Here it does not exist; its name is seen where a transaction is
// described.
const offsetsTopic = "__consumer_offsets"

// offsetsPartition is the partition of that topic that a group belongs to: Java's hash of its name, over UTF-16 units.
func (s *txnSettings) offsetsPartition(group string) int32 {
	hash := int32(0)
	for _, unit := range utf16.Encode([]rune(group)) {
		hash = 31*hash + int32(unit)
	}
	if hash == -1<<31 {
		hash = 0
	}
	return max(hash, -hash) % s.offsetsPartitions
}

const transactionVersion = "transaction.version"

// txnVersion is the transaction.version of a state.
func (b *Broker) txnVersion(state *projections.State) int16 {
	return b.profile.level(state, transactionVersion)
}
