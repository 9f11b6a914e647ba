package configs

import (
	"maps"
	"sync"
)

// The sentences of DescribeConfigs' documentation, doze's own.

// actless follows what a broker's key is about when nothing in doze depends on it.
const actless = " doze keeps and answers it; nothing here depends on it."

var topicDocs = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"cleanup.policy":                          "What happens to old records: delete drops whole segments by age and size, compact keeps the last record of each key, both do both, and an empty list keeps everything.",
		"compression.gzip.level":                  "How hard the broker works when it recompresses to gzip: 1 is fast, 9 is small, -1 leaves it to the library.",
		"compression.lz4.level":                   "How hard the broker works when it recompresses to lz4: higher is smaller and slower.",
		"compression.type":                        "The codec that batches are stored with. producer keeps each batch as it was sent.",
		"compression.zstd.level":                  "How hard the broker works when it recompresses to zstd: higher is smaller and slower.",
		"delete.retention.ms":                     "How long a compacted topic keeps a tombstone, so that a reader that started at the beginning still meets it.",
		"file.delete.delay.ms":                    "The pause between dropping a segment from the log and removing its file. Kept for clients; doze removes at once.",
		"flush.messages":                          "After how many records the log is synced to disk.",
		"flush.ms":                                "After how long an unsynced record is synced to disk.",
		"follower.replication.throttled.replicas": "Replicas whose copying is slowed on the follower's side. Kept for clients; one broker copies nothing.",
		"index.interval.bytes":                    "How much log lies between two entries of Kafka's offset index. Kept for clients; doze indexes every batch.",
		"internal.segment.bytes":                  "The segment size of tests, which segment.bytes would not allow.",
		"leader.replication.throttled.replicas":   "Replicas whose copying is slowed on the leader's side. Kept for clients; one broker copies nothing.",
		"local.retention.bytes":                   "The size that stays on local disk under tiered storage. Kept for clients; doze has no tiers.",
		"local.retention.ms":                      "The age that stays on local disk under tiered storage. Kept for clients; doze has no tiers.",
		"max.compaction.lag.ms":                   "The longest that a record may wait before it is compacted.",
		"max.message.bytes":                       "The largest record batch that is taken, in bytes as it arrives.",
		"message.timestamp.after.max.ms":          "How far ahead of the broker's clock a record's own timestamp may be.",
		"message.timestamp.before.max.ms":         "How far behind the broker's clock a record's own timestamp may be.",
		"message.timestamp.type":                  "Whose time a record carries: CreateTime the producer's, LogAppendTime the broker's.",
		"min.cleanable.dirty.ratio":               "The part of a log that must be uncompacted before compaction starts. 0 compacts whenever there is something to do.",
		"min.compaction.lag.ms":                   "The shortest time that a record stays uncompacted.",
		"min.insync.replicas":                     "How many replicas must have a write of acks=all. Kept for clients; a topic of doze has one replica and is never short of it.",
		"preallocate":                             "Whether a new segment's file takes its full size at once. Kept for clients and ignored: doze reserves the space of a segment ahead of its writes in any case.",
		"remote.log.copy.disable":                 "Whether copying to tiered storage stops. Kept for clients; doze has no tiers.",
		"remote.log.delete.on.disable":            "Whether turning tiered storage off removes what it held. Kept for clients; doze has no tiers.",
		"remote.storage.enable":                   "Whether old segments move to tiered storage. Refused when true: doze has no tiers.",
		"retention.bytes":                         "How large a partition may grow before its oldest segments are dropped; -1 sets no bound.",
		"retention.ms":                            "How old a segment may grow before it is dropped; -1 keeps it for ever.",
		"segment.bytes":                           "How large a segment file grows before the next one begins. Deletion and compaction work on whole segments.",
		"segment.index.bytes":                     "The size of Kafka's offset index of one segment. Kept for clients; doze sizes its index by itself.",
		"segment.jitter.ms":                       "A random time taken off segment.ms, so that many partitions do not roll at once.",
		"segment.ms":                              "How old a segment grows before the next one begins, full or not.",
		"unclean.leader.election.enable":          "Whether a replica that lags may lead. Kept for clients; the one replica of a topic never lags.",
	}
})

var groupDocs = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"consumer.assignment.interval.ms":    "The shortest time between two assignments of a consumer group.",
		"consumer.heartbeat.interval.ms":     "How often a member of a consumer group says that it is alive.",
		"consumer.session.timeout.ms":        "How long a member of a consumer group may be silent before it is taken out.",
		"share.assignment.interval.ms":       "The shortest time between two assignments of a share group.",
		"share.auto.offset.reset":            "Where a share group begins on a partition that it has not read: earliest, latest, or by_duration with an ISO 8601 duration before now.",
		"share.delivery.count.limit":         "How often a record is handed to a share group before it is given up.",
		"share.heartbeat.interval.ms":        "How often a member of a share group says that it is alive.",
		"share.isolation.level":              "Whether a share group is given records of aborted and open transactions.",
		"share.partition.max.record.locks":   "How many records of one partition may be in the hands of a share group's members at once.",
		"share.record.lock.duration.ms":      "How long a member of a share group may hold a record before another one is given it.",
		"share.renew.acknowledge.enable":     "Whether a member of a share group may prolong its hold of a record.",
		"share.session.timeout.ms":           "How long a member of a share group may be silent before it is taken out.",
		"streams.assignment.interval.ms":     "The shortest time between two assignments of a streams group.",
		"streams.heartbeat.interval.ms":      "How often a member of a streams group says that it is alive.",
		"streams.initial.rebalance.delay.ms": "How long a new streams group waits for more members before its first assignment.",
		"streams.num.standby.replicas":       "How many standby copies of each stateful task a streams group keeps.",
		"streams.session.timeout.ms":         "How long a member of a streams group may be silent before it is taken out.",
	}
})

var clientMetricsDocs = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"interval.ms": "How often the matching clients push their metrics.",
		"match":       "Which clients push: NAME=PATTERN for each of a client's properties; none means all clients.",
		"metrics":     "Which metrics are pushed, by the start of their names; none means that nothing is, * everything.",
	}
})

// brokerDocs are of all of a broker's keys.
var brokerDocs = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for _, part := range []func() map[string]string{actingDocs, clusterDocs, runtimeDocs, networkDocs, quotaDocs, coordinatorDocs, storageDocs, saslDocs, sslDocs} {
		maps.Copy(all, part())
	}
	return all
})

// actingDocs are of keys that do in doze what they do in Kafka.
var actingDocs = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"add.partitions.to.txn.retry.backoff.max.ms":                  "How long a batch waits at most for the transaction before its own to be over.",
		"add.partitions.to.txn.retry.backoff.ms":                      "How long a batch that waits for the transaction before its own waits before it looks again.",
		"advertised.listeners":                                        "The addresses that clients are told to connect to.",
		"auto.create.topics.enable":                                   "Whether asking for an unknown topic's metadata creates it.",
		"broker.id":                                                   "The broker's number; the same as node.id.",
		"broker.rack":                                                 "The rack that clients are told the broker stands in.",
		"compression.gzip.level":                                      "The default of a topic's compression.gzip.level.",
		"compression.lz4.level":                                       "The default of a topic's compression.lz4.level.",
		"compression.type":                                            "The default of a topic's compression.type.",
		"compression.zstd.level":                                      "The default of a topic's compression.zstd.level.",
		"connections.max.idle.ms":                                     "How long a connection may be silent before it is closed.",
		"default.replication.factor":                                  "The replication factor of a topic that asks for the broker's default. A topic has one replica whatever it is.",
		"delete.topic.enable":                                         "Whether topics can be deleted.",
		"fetch.max.bytes":                                             "The most that one fetch is answered with.",
		"group.consumer.assignment.interval.ms":                       "The shortest time between two assignments of a consumer group, unless the group says otherwise.",
		"group.consumer.assignors":                                    "The assignors that consumer groups may ask for, uniform and range. The first is taken when no member asks for one.",
		"group.consumer.heartbeat.interval.ms":                        "How often a member of a consumer group says that it is alive, unless the group says otherwise.",
		"group.consumer.max.assignment.interval.ms":                   "The longest assignment interval that a consumer group may be given.",
		"group.consumer.max.heartbeat.interval.ms":                    "The longest heartbeat interval that a consumer group may be given.",
		"group.consumer.max.session.timeout.ms":                       "The longest session that a consumer group may be given.",
		"group.consumer.max.size":                                     "How many members a consumer group may have.",
		"group.consumer.migration.policy":                             "Whether a group with members in it may go from the classic to the consumer protocol (upgrade), back (downgrade), both (bidirectional) or neither (disabled).",
		"group.consumer.min.assignment.interval.ms":                   "The shortest assignment interval that a consumer group may be given.",
		"group.consumer.min.heartbeat.interval.ms":                    "The shortest heartbeat interval that a consumer group may be given.",
		"group.consumer.min.session.timeout.ms":                       "The shortest session that a consumer group may be given.",
		"group.consumer.session.timeout.ms":                           "How long a member of a consumer group may be silent before it is taken out, unless the group says otherwise.",
		"group.coordinator.rebalance.protocols":                       "The types of groups that are served.",
		"group.initial.rebalance.delay.ms":                            "How long the first rebalance of an empty classic group waits for more members.",
		"group.max.session.timeout.ms":                                "The longest session timeout that a member of a classic group may ask for.",
		"group.max.size":                                              "How many members a classic group may have.",
		"group.min.session.timeout.ms":                                "The shortest session timeout that a member of a classic group may ask for.",
		"listeners":                                                   "The addresses that the broker accepts connections on.",
		"log.cleaner.backoff.ms":                                      "How long compaction waits, when it has nothing to do, before it looks again.",
		"log.cleaner.dedupe.buffer.size":                              "The most memory that the keys of one pass of compaction take; more keys take more passes.",
		"log.cleaner.delete.retention.ms":                             "The default of a topic's delete.retention.ms.",
		"log.cleaner.enable":                                          "Whether topics with cleanup.policy compact are compacted.",
		"log.cleaner.io.max.bytes.per.second":                         "How many bytes compaction reads and writes in a second at most.",
		"log.cleaner.max.compaction.lag.ms":                           "The default of a topic's max.compaction.lag.ms.",
		"log.cleaner.min.cleanable.ratio":                             "The default of a topic's min.cleanable.dirty.ratio.",
		"log.cleaner.min.compaction.lag.ms":                           "The default of a topic's min.compaction.lag.ms.",
		"log.cleanup.policy":                                          "The default of a topic's cleanup.policy.",
		"log.flush.interval.messages":                                 "The default of a topic's flush.messages.",
		"log.flush.interval.ms":                                       "The default of a topic's flush.ms.",
		"log.flush.scheduler.interval.ms":                             "The default of a topic's flush.ms, where log.flush.interval.ms is not set.",
		"log.initial.task.delay.ms":                                   "How long after the start retention is looked after for the first time.",
		"log.message.timestamp.after.max.ms":                          "The default of a topic's message.timestamp.after.max.ms.",
		"log.message.timestamp.before.max.ms":                         "The default of a topic's message.timestamp.before.max.ms.",
		"log.message.timestamp.type":                                  "The default of a topic's message.timestamp.type.",
		"log.retention.bytes":                                         "The default of a topic's retention.bytes.",
		"log.retention.check.interval.ms":                             "How often segments are looked through for those past their retention.",
		"log.retention.hours":                                         "The default of a topic's retention.ms, in hours; log.retention.ms and log.retention.minutes win over it.",
		"log.retention.minutes":                                       "The default of a topic's retention.ms, in minutes; log.retention.ms wins over it.",
		"log.retention.ms":                                            "The default of a topic's retention.ms.",
		"log.roll.hours":                                              "The default of a topic's segment.ms, in hours; log.roll.ms wins over it.",
		"log.roll.jitter.hours":                                       "The default of a topic's segment.jitter.ms, in hours; log.roll.jitter.ms wins over it.",
		"log.roll.jitter.ms":                                          "The default of a topic's segment.jitter.ms.",
		"log.roll.ms":                                                 "The default of a topic's segment.ms.",
		"log.segment.bytes":                                           "The default of a topic's segment.bytes.",
		"controller.quota.window.num":                                 "How many windows' worth of tokens a client of controller_mutation_rate may have saved up.",
		"controller.quota.window.size.seconds":                        "How long a window of controller_mutation_rate is.",
		"max.connection.creation.rate":                                "How many connections a second the broker takes; one too many waits to be taken.",
		"quota.window.num":                                            "Over how many windows the rates of quotas are measured, the one under way counted.",
		"quota.window.size.seconds":                                   "How long a window of a quota's rate is, and the longest wait for request_percentage and for connections.",
		"telemetry.max.bytes":                                         "How large a push of a client's metrics may be, and what it inflates to; at most 1 MiB counts.",
		"max.connections":                                             "How many connections the broker keeps at once.",
		"max.connections.per.ip":                                      "How many connections the broker keeps at once from one address.",
		"max.incremental.fetch.session.cache.slots":                   "How many fetch sessions the broker remembers.",
		"message.max.bytes":                                           "The default of a topic's max.message.bytes.",
		"node.id":                                                     "The broker's number in metadata.",
		"num.partitions":                                              "How many partitions a topic gets that does not ask for a number.",
		"offset.metadata.max.bytes":                                   "The longest metadata text of a committed offset.",
		"offsets.retention.check.interval.ms":                         "How often committed offsets are looked through for those past their retention.",
		"offsets.retention.minutes":                                   "How long the committed offsets of a group without members are kept.",
		"producer.id.expiration.ms":                                   "How long an idle producer's sequence is remembered.",
		"socket.request.max.bytes":                                    "The largest request that is read.",
		"transaction.abort.timed.out.transaction.cleanup.interval.ms": "How often transactions that took too long are looked for.",
		"transaction.max.timeout.ms":                                  "The longest transaction timeout that a producer may ask for.",
		"transaction.partition.verification.enable":                   "Whether a batch of transactions v1 is taken only into a partition that was added to the transaction.",
		"transaction.remove.expired.transaction.cleanup.interval.ms":  "How often transactional ids that nobody uses are looked for.",
		"transactional.id.expiration.ms":                              "How long an idle transactional id is remembered.",
	}
})
