//go:build linux

package main

import "doze/conformance/bench/brokers"

// What the columns are, where a row has not all of them.
var (
	brokersOnly = []brokers.Kind{brokers.Doze, brokers.Kafka, brokers.Kfake}
	goOnly      = []brokers.Kind{brokers.Doze, brokers.Kfake}
	dozeOnly    = []brokers.Kind{brokers.Doze}
)

// rows is the table. The targets are those of the project; "CPU" is the broker's CPU time.
func rows() []row {
	var all []row
	for _, part := range [][]row{startRows(), idleRows(), produceRows(), clientRows(), fetchRows(), securityRows(), latencyRows(), coordinatorRows(), groupRows(), transactionRows(), registryRows(), storeRows()} {
		all = append(all, part...)
	}
	return all
}

func startRows() []row {
	return []row{
		{name: "start", title: "cold start on an empty directory to the first Metadata answer",
			metrics: []metric{
				{key: "wall", label: "time", unit: "ms", targets: []target{atMost(50), atMostOf(brokers.Kfake, 1.5)}},
				{key: "cpu", label: "CPU", unit: "ms"}},
			broker: none, make: newColdStart},
		{name: "restart-1k", title: "restart with 1,000 partitions and data until every partition answers a Fetch",
			metrics: []metric{
				{key: "clean", label: "after a clean stop", unit: "ms", targets: []target{atMostOf(brokers.Kafka, 0.05).said("1/20"), atMostOf(brokers.Kfake, 0.5)}},
				{key: "killed", label: "after kill -9", unit: "ms", targets: []target{atMostOf(brokers.Doze, 2).figure("clean")}},
				{key: "cpu", label: "CPU, clean", unit: "ms"}},
			columns: brokersOnly, broker: none, cold: true, runs: 3, make: newRestart},
		{name: "restart-10k", title: "restart with 10,000 partitions until every partition answers ListOffsets",
			metrics: []metric{
				{key: "clean", label: "after a clean stop", unit: "ms", targets: []target{atMost(500)}},
				{key: "killed", label: "after kill -9", unit: "ms"}},
			columns: goOnly, broker: none, cold: true, runs: 3, make: newRestartMany},
		{name: "restart-10k-offsets", title: "the same with a million committed offsets",
			metrics: []metric{
				{key: "clean", label: "after a clean stop", unit: "ms", targets: []target{atMost(1500)}},
				{key: "killed", label: "after kill -9", unit: "ms"}},
			columns: dozeOnly, broker: none, cold: true, runs: 3, make: newRestartOffsets},
	}
}

func idleRows() []row {
	return []row{
		{name: "idle", title: "a started broker that nobody asks anything",
			metrics: []metric{
				{key: "rss", label: "memory", unit: "MiB", targets: []target{atMost(30)}},
				{key: "cpu", label: "CPU", unit: "ms/s", targets: []target{atMost(1)}}},
			broker: own, make: newIdle},
		{name: "idle-all", title: "the same with registry and console",
			metrics: []metric{
				{key: "rss", label: "memory", unit: "MiB", targets: []target{atMost(45)}},
				{key: "cpu", label: "CPU", unit: "ms/s", targets: []target{atMost(1)}}},
			columns: dozeOnly, broker: own, setup: brokers.Setup{Registry: true, Console: true}, make: newIdle},
		{name: "connections", title: "connections that sent ApiVersions and then nothing",
			metrics: []metric{
				{key: "memory", label: "memory each", unit: "KiB", targets: []target{atMost(12)}},
				{key: "cpu", label: "CPU per connect", unit: "us", targets: []target{atMost(200)}}},
			broker: none, cold: true, make: newConnections},
	}
}

func produceRows() []row {
	return []row{
		{name: "produce-1m", title: "produce ready-made 1 MB batches, acks=1",
			metrics: []metric{
				{key: "cpu", label: "CPU", unit: "s/GB", targets: []target{atMostOf(brokers.Kafka, 0.65), atMostOf(brokers.Kfake, 1.15)}},
				{key: "rate", label: "throughput", unit: "MB/s"},
				{key: "rss", label: "memory after", unit: "MiB"}},
			make: newProduce1M},
		{name: "produce-16k", title: "produce ready-made 16 KiB batches, acks=1",
			metrics: []metric{
				{key: "cpu", label: "CPU", unit: "s/GB", targets: []target{atMostOf(brokers.Kafka, 0.45), atMostOf(brokers.Kfake, 1)}},
				{key: "rate", label: "throughput", unit: "MB/s"}},
			make: newProduce16K},
		{name: "produce-one", title: "produce one 100-byte record a request, acks=1",
			metrics: []metric{
				{key: "cpu", label: "CPU per request", unit: "us", targets: []target{atMostOf(brokers.Kafka, 0.4), atMostOf(brokers.Kfake, 1.1)}},
				{key: "wall", label: "time per request", unit: "us"}},
			make: newProduceOne},
	}
}

func clientRows() []row {
	return []row{
		{name: "produce-lz4", title: "produce lz4 through a client, acks=1, per GB of records",
			metrics: []metric{{key: "cpu", label: "CPU", unit: "s/GB", targets: []target{atMostOf(brokers.Kafka, 0.6)}}},
			columns: brokersOnly, make: newProduceLZ4},
		{name: "produce-zstd", title: "produce zstd through a client, acks=1, per GB of records",
			metrics: []metric{{key: "cpu", label: "CPU", unit: "s/GB", targets: []target{atMostOf(brokers.Kafka, 0.6)}}},
			columns: brokersOnly, make: newProduceZstd},
		{name: "produce-synced", title: "acks=all through a client: doze syncs, Kafka does not unless told (synced)",
			metrics: []metric{
				{key: "rate", label: "throughput", unit: "MB/s", targets: []target{
					atLeastOf(brokers.Kafka, 1), atLeastOf(brokers.Kafka, 5).figure("synced")}},
				{key: "synced", label: "with flush.messages=1", unit: "MB/s"}},
			columns: brokersOnly, make: newProduceSynced},
	}
}

func fetchRows() []row {
	targets := []target{atMostOf(brokers.Kafka, 1), atMostOf(brokers.Kfake, 0.8)}
	metrics := []metric{
		{key: "cpu", label: "CPU", unit: "s/GB", targets: targets},
		{key: "rate", label: "throughput", unit: "MB/s"}}
	return []row{
		{name: "fetch-1m", title: "fetch 1 MB batches, 1 MiB a request", metrics: metrics, make: newFetch1M},
		{name: "fetch-16k", title: "fetch 16 KiB batches, 1 MiB a request", metrics: metrics, make: newFetch16K},
		{name: "fetch-fanout", title: "eight consumers fetch the same 1 MB batches", metrics: metrics, make: newFetchFanOut},
	}
}

func securityRows() []row {
	atMostKafka := []metric{
		{key: "cpu", label: "CPU", unit: "s/GB", targets: []target{atMostOf(brokers.Kafka, 1)}},
		{key: "rate", label: "throughput", unit: "MB/s"}}
	withTLS := brokers.Setup{TLS: true}
	columns := []brokers.Kind{brokers.Doze, brokers.Kafka}
	return []row{
		{name: "produce-tls", title: "produce ready-made 1 MB batches over TLS 1.3, acks=1", metrics: atMostKafka, columns: columns, broker: own, setup: withTLS, make: newProduce1M},
		{name: "fetch-tls", title: "fetch 1 MB batches over TLS 1.3, 1 MiB a request", metrics: atMostKafka, columns: columns, broker: own, setup: withTLS, make: newFetch1M},
		{name: "produce-guarded", title: "produce one 100-byte record a request: with 1,000 ACLs and quotas for everybody, and without",
			metrics: []metric{
				{key: "with", label: "CPU per request, with", unit: "us", targets: []target{atMostOf(brokers.Doze, 1.03).figure("without")}},
				{key: "without", label: "CPU per request, without", unit: "us"}},
			columns: dozeOnly, broker: none, make: newGuarded},
	}
}

func transactionRows() []row {
	small := func(least ...target) []metric {
		return []metric{
			{key: "rate", label: "rate", unit: "/s", targets: append(least, atLeastOf(brokers.Kafka, 15))},
			{key: "cpu", label: "CPU each", unit: "us"}}
	}
	return []row{
		{name: "txn-one", title: "transactions of one record through a client, one producer; doze syncs each, Kafka none",
			metrics: small(atLeast(1000)), columns: brokersOnly, make: newTransactionsOfOne},
		{name: "txn-eight", title: "the same from eight producers at once", metrics: small(), columns: brokersOnly, make: newTransactionsOfEight},
		{name: "fetch-committed", title: "fetch transactions of 200 KB, one in ten aborted, 1 MiB a request",
			metrics: []metric{
				{key: "uncommitted", label: "CPU, read_uncommitted", unit: "s/GB"},
				{key: "committed", label: "CPU, read_committed", unit: "s/GB", targets: []target{atMostOf(brokers.Doze, 1.1).figure("uncommitted")}}},
			columns: brokersOnly, make: newFetchCommitted},
	}
}

func latencyRows() []row {
	cpu := metric{key: "cpu", label: "CPU per message", unit: "us"}
	return []row{
		{name: "latency", title: "end to end at 1,000 messages a second, acks=1",
			metrics: []metric{
				{key: "p50", label: "p50", unit: "ms", targets: []target{atMostOf(brokers.Kafka, 0.8)}},
				{key: "p99", label: "p99", unit: "ms", targets: []target{atMostOf(brokers.Kafka, 0.4)}},
				{key: "cpu", label: cpu.label, unit: cpu.unit, targets: []target{atMostOf(brokers.Kafka, 0.4)}}},
			make: newLatency},
		{name: "latency-synced", title: "the same at acks=all, which doze syncs and Kafka does not",
			metrics: []metric{
				{key: "p50", label: "p50", unit: "ms", targets: []target{atMostOf(brokers.Kafka, 1)}},
				{key: "p99", label: "p99", unit: "ms", targets: []target{atMostOf(brokers.Kafka, 1)}},
				cpu},
			columns: brokersOnly, make: newLatencySynced},
	}
}

func coordinatorRows() []row {
	lookup := func(ofKafka float64) []metric {
		return []metric{
			{key: "cpu", label: "CPU per request", unit: "us", targets: []target{atMostOf(brokers.Kafka, ofKafka), atMostOf(brokers.Kfake, 1)}},
			{key: "wall", label: "time per request", unit: "us"}}
	}
	return []row{
		{name: "create-topics", title: "create topics of 10 partitions, one a request",
			metrics: []metric{
				{key: "cpu", label: "CPU per topic", unit: "us", targets: []target{atMostOf(brokers.Kafka, 0.02).said("1/50")}},
				{key: "wall", label: "time per topic", unit: "us"}},
			columns: brokersOnly, broker: own, make: newCreateTopics},
		{name: "offset-commit", title: "OffsetCommit of one partition",
			metrics: []metric{
				{key: "cpu", label: "CPU per request", unit: "us", targets: []target{atMostOf(brokers.Kafka, 0.2).said("1/5"), atMostOf(brokers.Kfake, 1.3)}},
				{key: "wall", label: "time per request", unit: "us"}},
			columns: brokersOnly, make: newOffsetCommit},
		{name: "group", title: "a group of one member from nothing to stable: JoinGroup twice, SyncGroup",
			metrics: []metric{
				{key: "cpu", label: "CPU per group", unit: "us", targets: []target{atMostOf(brokers.Kafka, 0.25).said("1/4"), atMostOf(brokers.Kfake, 1.2)}},
				{key: "wall", label: "time per group", unit: "us"}},
			columns: brokersOnly, make: newGroupToStable},
		{name: "random-fetch", title: "Fetch of one 16 KiB batch at a random offset", metrics: lookup(0.7), columns: brokersOnly, make: newRandomFetch},
		{name: "list-offsets", title: "ListOffsets by a random time", metrics: lookup(0.4), columns: brokersOnly, make: newListOffsetsByTime},
	}
}

// groupRows are about whole groups, with what a broker waits by itself.
func groupRows() []row {
	columns := []brokers.Kind{brokers.Doze, brokers.Kafka}
	withDefaults := brokers.Setup{GroupDelay: true}
	rebalance := []metric{{key: "wall", label: "time", unit: "ms", targets: []target{atMost(2000)}}, {key: "cpu", label: "CPU", unit: "ms"}}
	return []row{
		{name: "group-first", title: "first assignment of a client alone in a new group, the slowest of ten and their median",
			metrics: []metric{
				{key: "classic", label: "classic, slowest", unit: "ms", targets: []target{atMost(250)}},
				{key: "classic-median", label: "classic", unit: "ms"},
				{key: "consumer", label: "consumer, slowest", unit: "ms", targets: []target{atMost(1000)}},
				{key: "consumer-median", label: "consumer", unit: "ms"}},
			columns: columns, broker: own, setup: withDefaults, make: newFirstAssignment},
		{name: "group-many", title: "2,000 groups of one member join at once, until all are stable",
			metrics: []metric{
				{key: "own", label: "time, without the 3 s that Kafka waits", unit: "ms", targets: []target{atMostOf(brokers.Kafka, 1)}},
				{key: "wall", label: "time", unit: "ms"},
				{key: "cpu", label: "CPU per group", unit: "us"}},
			columns: columns, broker: own, setup: withDefaults, make: newManyGroups},
		{name: "group-thousand", title: "the leader of 1,000 members of a classic group joins again, until all have synced",
			metrics: rebalance, columns: columns, broker: own, setup: withDefaults, make: newThousandClassic},
		{name: "group-thousand-848", title: "one more member joins a consumer group of 1,000 that heartbeat as they are told to",
			metrics: rebalance, columns: dozeOnly, broker: own, setup: withDefaults, make: newThousandConsumer},
	}
}
