package configs

import "sync"

// clusterDocs are about brokers, controllers and replicas.
var clusterDocs = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"alter.config.policy.class.name":                  "A Java class that is asked whether a change of configs may be made.",
		"authorizer.class.name":                           "The class that says who may do what. Empty leaves everything to everybody.",
		"auto.leader.rebalance.enable":                    "Whether partitions go back by themselves to the leader that is preferred.",
		"broker.heartbeat.interval.ms":                    "How often a broker tells its controller that it is alive.",
		"broker.session.timeout.ms":                       "How long a broker may be silent before its controller takes its partitions away.",
		"config.providers":                                "Names of Java classes that values may be looked up from, such as files of secrets.",
		"controlled.shutdown.enable":                      "Whether a broker hands its partitions over before it stops.",
		"controller.listener.names":                       "The listeners that controllers talk on, by name; the first is the one they use among themselves. doze has no such port, and names it in DescribeQuorum.",
		"controller.performance.always.log.threshold.ms":  "A step of the controller that takes longer than this is always logged.",
		"controller.performance.sample.period.ms":         "How often the controller logs how its steps went.",
		"controller.quorum.append.linger.ms":              "How long the leader of the quorum gathers records before it writes them.",
		"controller.quorum.auto.join.enable":              "Whether a controller that starts adds itself to the voters.",
		"controller.quorum.bootstrap.servers":             "Where a controller that starts finds the quorum.",
		"controller.quorum.election.backoff.max.ms":       "The longest pause between two elections that came to nothing.",
		"controller.quorum.election.timeout.ms":           "How long a candidate waits for votes before it stands again.",
		"controller.quorum.fetch.max.bytes":               "The most that one fetch between controllers brings.",
		"controller.quorum.fetch.snapshot.max.bytes":      "The most that one fetch of a snapshot between controllers brings.",
		"controller.quorum.fetch.timeout.ms":              "How long voters do without news of the leader before they elect another.",
		"controller.quorum.request.timeout.ms":            "How long a controller waits for another's answer.",
		"controller.quorum.retry.backoff.ms":              "The pause before a controller asks another again.",
		"controller.quorum.voters":                        "The voters of a quorum that is written down by hand, as ID@HOST:PORT.",
		"controller.quota.window.num":                     "How many windows of time the quota of changes to topics is reckoned over.",
		"controller.quota.window.size.seconds":            "How long one of the windows is that the quota of changes to topics is reckoned over.",
		"controller.socket.timeout.ms":                    "How long a connection to the controller may take.",
		"cordoned.log.dirs":                               "Directories that get no new partitions; * for all of them.",
		"create.topic.policy.class.name":                  "A Java class that is asked whether a topic may be made.",
		"early.start.listeners":                           "Listeners that open before the broker is ready to serve.",
		"follower.fetch.last.tiered.offset.enable":        "Whether a follower that is new begins where tiered storage ends.",
		"follower.replication.throttled.rate":             "How many bytes a second followers copy, of the replicas that topics name in follower.replication.throttled.replicas. Only set while the broker runs.",
		"initial.broker.registration.timeout.ms":          "How long a broker tries to register at its first controller before it gives up.",
		"inter.broker.listener.name":                      "The listener that brokers talk to each other on.",
		"internal.metadata.delete.delay.millis":           "The pause before a file of the metadata log is removed.",
		"internal.metadata.log.segment.bytes":             "The size of a segment of the metadata log in tests.",
		"internal.metadata.max.batch.size.in.bytes":       "The largest batch of the metadata log.",
		"leader.imbalance.check.interval.seconds":         "How often it is looked at whether preferred leaders lead.",
		"leader.replication.throttled.rate":               "How many bytes a second leaders give to followers, of the replicas that topics name in leader.replication.throttled.replicas. Only set while the broker runs.",
		"metadata.log.dir":                                "The directory of the metadata log, when it is not among the others.",
		"metadata.log.max.record.bytes.between.snapshots": "A snapshot of the metadata is taken after as many bytes of records.",
		"metadata.log.max.snapshot.interval.ms":           "A snapshot of the metadata is taken after as much time at the latest; 0 leaves it to the bytes.",
		"metadata.log.segment.bytes":                      "How large a segment of the metadata log grows.",
		"metadata.log.segment.ms":                         "How old a segment of the metadata log grows.",
		"metadata.max.idle.interval.ms":                   "After so long without a change the controller writes a record that says nothing, so that others see it live; 0 for never.",
		"metadata.max.retention.bytes":                    "How large metadata log and snapshots grow before old ones are removed.",
		"metadata.max.retention.ms":                       "How old metadata log and snapshots grow before they are removed.",
		"min.insync.replicas":                             "The default of a topic's min.insync.replicas. A topic of doze is never short of its one replica.",
		"num.replica.alter.log.dirs.threads":              "How many threads copy partitions from one directory to another.",
		"num.replica.fetchers":                            "How many threads fetch from each other broker.",
		"process.roles":                                   "What the process is: broker, controller, or both.",
		"replica.alter.log.dirs.io.max.bytes.per.second":  "How many bytes a second a replica is copied with from one directory to another. Only set while the broker runs.",
		"replica.fetch.backoff.ms":                        "The pause after a fetch of a follower that failed.",
		"replica.fetch.max.bytes":                         "What a follower asks for of each partition in one fetch.",
		"replica.fetch.min.bytes":                         "A leader lets a follower's fetch wait until it has this much.",
		"replica.fetch.response.max.bytes":                "What a follower's fetch is answered with at most, all partitions together.",
		"replica.fetch.wait.max.ms":                       "How long a follower's fetch waits for records.",
		"replica.high.watermark.checkpoint.interval.ms":   "How often high watermarks are written to disk.",
		"replica.lag.time.max.ms":                         "A follower that has not caught up for so long is out of sync.",
		"replica.selector.class":                          "A Java class that chooses which replica a consumer reads from.",
		"replica.socket.receive.buffer.bytes":             "The receive buffer of connections between brokers.",
		"replica.socket.timeout.ms":                       "How long a request between brokers may take.",
		"request.timeout.ms":                              "How long a request of the broker's own clients waits for its answer.",
		"server.max.startup.time.ms":                      "How long a start may take before it is given up.",
		"unclean.leader.election.enable":                  "Whether a replica that lags may lead when no other is left, at the price of records.",
		"unclean.leader.election.interval.ms":             "How often it is looked at whether a replica that lags has to lead.",
		"unstable.api.versions.enable":                    "Whether versions of requests that are not finished are served.",
		"unstable.feature.versions.enable":                "Whether levels of features that are not finished can be set.",
	}
})

// runtimeDocs are about threads, queues and numbers.
var runtimeDocs = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"background.threads": "How many threads do what has no thread of its own.",
		"delete.records.purgatory.purge.interval.requests": "After how many requests the waiting DeleteRecords are swept.",
		"fetch.purgatory.purge.interval.requests":          "After how many requests the waiting fetches are swept.",
		"kafka.metrics.polling.interval.secs":              "How often Yammer's reporters are given numbers.",
		"kafka.metrics.reporters":                          "Java classes that Yammer's numbers are given to.",
		"metric.reporters":                                 "Java classes that Kafka's numbers are given to.",
		"metrics.num.samples":                              "How many samples one of Kafka's numbers is made of.",
		"metrics.recording.level":                          "Which of Kafka's numbers are kept: INFO, or all that DEBUG and TRACE add.",
		"metrics.sample.window.ms":                         "How long one sample of Kafka's numbers lasts.",
		"num.io.threads":                                   "How many threads handle requests.",
		"num.network.threads":                              "How many threads of each listener read requests and write answers.",
		"num.recovery.threads.per.data.dir":                "How many threads of each directory look through logs at a start and close them at a stop.",
		"producer.purgatory.purge.interval.requests":       "After how many requests the waiting produces are swept.",
		"queued.max.request.bytes":                         "How many bytes of requests may wait for a thread; -1 sets no bound. doze bounds them in any case.",
		"queued.max.requests":                              "How many requests may wait for a thread.",
		"share.fetch.purgatory.purge.interval.requests":    "After how many requests the waiting share fetches are swept.",
		"telemetry.max.bytes":                              "The largest push of a client's metrics.",
	}
})

// networkDocs are about connections.
var networkDocs = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"listener.security.protocol.map":         "Which protocol each listener speaks: NAME:PROTOCOL,...",
		"max.connection.creation.rate":           "How many connections may be made in a second.",
		"max.connections.per.ip.overrides":       "Other bounds than max.connections.per.ip for single addresses: ADDRESS:NUMBER,...",
		"max.request.partition.size.limit":       "How many partitions a page of DescribeTopicPartitions has at most.",
		"security.inter.broker.protocol":         "The protocol that brokers speak among themselves.",
		"socket.connection.setup.timeout.max.ms": "How long the broker waits at most for a connection that it makes, after several that failed.",
		"socket.connection.setup.timeout.ms":     "How long the broker waits for the first connection that it makes.",
		"socket.listen.backlog.size":             "How many connections may wait to be accepted.",
		"socket.receive.buffer.bytes":            "The receive buffer of connections; -1 leaves it to the system.",
		"socket.send.buffer.bytes":               "The send buffer of connections; -1 leaves it to the system.",
	}
})

// quotaDocs are about how quotas are reckoned.
var quotaDocs = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"alter.log.dirs.replication.quota.window.num":          "How many windows of time the quota of copies between directories is reckoned over.",
		"alter.log.dirs.replication.quota.window.size.seconds": "How long one of the windows is that the quota of copies between directories is reckoned over.",
		"client.quota.callback.class":                          "A Java class that says which quota a client has.",
		"quota.window.num":                                     "How many windows of time a client's quota is reckoned over.",
		"quota.window.size.seconds":                            "How long one of the windows is that a client's quota is reckoned over.",
		"replication.quota.window.num":                         "How many windows of time the quota of copies between brokers is reckoned over.",
		"replication.quota.window.size.seconds":                "How long one of the windows is that the quota of copies between brokers is reckoned over.",
	}
})
