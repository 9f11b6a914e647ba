package handlers

import (
	"context"

	"doze/wire"
)

// api is one row of the table: an API, the versions that are served, and the method that serves it.
type api struct {
	key      int16
	versions versions
	serve    func(*Broker, context.Context, *wire.Request) (wire.Reply, error)
}

// apis is the one list of what doze serves. What a client may send is a row's versions and the profile's at once: an API
// is advertised only if it is served.
var apis = []api{
	{0, versions{3, 13}, (*Broker).produce},
	{1, versions{4, 18}, (*Broker).fetch},
	{2, versions{1, 11}, (*Broker).listOffsets},
	{3, versions{0, 13}, (*Broker).metadata},
	{8, versions{2, 10}, (*Broker).offsetCommit},
	{9, versions{1, 10}, (*Broker).offsetFetch},
	{10, versions{0, 6}, (*Broker).findCoordinator},
	{11, versions{0, 9}, (*Broker).joinGroup},
	{12, versions{0, 4}, (*Broker).heartbeat},
	{13, versions{0, 5}, (*Broker).leaveGroup},
	{14, versions{0, 5}, (*Broker).syncGroup},
	{15, versions{0, 6}, (*Broker).describeGroups},
	{16, versions{0, 5}, (*Broker).listGroups},
	{17, versions{0, 1}, (*Broker).saslHandshake},
	{18, versions{0, 4}, (*Broker).apiVersions},
	{19, versions{2, 7}, (*Broker).createTopics},
	{20, versions{1, 6}, (*Broker).deleteTopics},
	{21, versions{0, 2}, (*Broker).deleteRecords},
	{22, versions{0, 5}, (*Broker).initProducerID},
	{23, versions{2, 4}, (*Broker).offsetForLeaderEpoch},
	{24, versions{0, 5}, (*Broker).addPartitionsToTxn},
	{25, versions{0, 4}, (*Broker).addOffsetsToTxn},
	{26, versions{0, 5}, (*Broker).endTxn},
	{27, versions{1, 2}, (*Broker).writeTxnMarkers},
	{28, versions{0, 5}, (*Broker).txnOffsetCommit},
	{29, versions{1, 3}, (*Broker).describeACLs},
	{30, versions{1, 3}, (*Broker).createACLs},
	{31, versions{1, 3}, (*Broker).deleteACLs},
	{32, versions{1, 4}, (*Broker).describeConfigs},
	{33, versions{0, 2}, (*Broker).alterConfigs},
	{34, versions{1, 2}, (*Broker).alterReplicaLogDirs},
	{35, versions{1, 5}, (*Broker).describeLogDirs},
	{36, versions{0, 2}, (*Broker).saslAuthenticate},
	{37, versions{0, 3}, (*Broker).createPartitions},
	{38, versions{1, 3}, (*Broker).createDelegationToken},
	{39, versions{1, 2}, (*Broker).renewDelegationToken},
	{40, versions{1, 2}, (*Broker).expireDelegationToken},
	{41, versions{1, 3}, (*Broker).describeDelegationToken},
	{42, versions{0, 2}, (*Broker).deleteGroups},
	{43, versions{0, 2}, (*Broker).electLeaders},
	{44, versions{0, 1}, (*Broker).incrementalAlterConfigs},
	{45, versions{0, 1}, (*Broker).alterPartitionReassignments},
	{46, versions{0, 0}, (*Broker).listPartitionReassignments},
	{47, versions{0, 0}, (*Broker).offsetDelete},
	{48, versions{0, 1}, (*Broker).describeClientQuotas},
	{49, versions{0, 1}, (*Broker).alterClientQuotas},
	{55, versions{0, 2}, (*Broker).describeQuorum},
	{50, versions{0, 0}, (*Broker).describeUserScramCredentials},
	{51, versions{0, 0}, (*Broker).alterUserScramCredentials},
	{57, versions{0, 2}, (*Broker).updateFeatures},
	{60, versions{0, 2}, (*Broker).describeCluster},
	{61, versions{0, 0}, (*Broker).describeProducers},
	{64, versions{0, 0}, (*Broker).unregisterBroker},
	{65, versions{0, 0}, (*Broker).describeTransactions},
	{66, versions{0, 2}, (*Broker).listTransactions},
	{68, versions{0, 1}, (*Broker).consumerGroupHeartbeat},
	{69, versions{0, 1}, (*Broker).consumerGroupDescribe},
	{71, versions{0, 0}, (*Broker).getTelemetrySubscriptions},
	{72, versions{0, 0}, (*Broker).pushTelemetry},
	{74, versions{0, 1}, (*Broker).listConfigResources},
	{75, versions{0, 0}, (*Broker).describeTopicPartitions},
	{76, versions{1, 1}, (*Broker).shareGroupHeartbeat},
	{77, versions{1, 1}, (*Broker).shareGroupDescribe},
	{78, versions{1, 2}, (*Broker).shareFetch},
	{79, versions{1, 2}, (*Broker).shareAcknowledge},
	{80, versions{0, 1}, (*Broker).addRaftVoter},
	{81, versions{0, 0}, (*Broker).removeRaftVoter},
	{88, versions{0, 0}, (*Broker).streamsGroupHeartbeat},
	{89, versions{0, 0}, (*Broker).streamsGroupDescribe},
	{90, versions{0, 1}, (*Broker).describeShareGroupOffsets},
	{91, versions{0, 0}, (*Broker).alterShareGroupOffsets},
	{92, versions{0, 0}, (*Broker).deleteShareGroupOffsets},
}

// served is a row as this broker serves it: at the versions that the profile has too, bound to the broker.
type served struct {
	versions versions
	handle   wire.Handle
}

// serve binds the rows that the broker's release has.
func (b *Broker) serve() map[int16]served {
	table := map[int16]served{}
	for _, row := range apis {
		of, has := b.profile.apis[row.key]
		if telemetryAPI(row.key) {
			of, has = versions{0, 0}, true // of 3.7 and later, and never in what a broker without a plugin advertises
		}
		both := versions{max(row.versions.low, of.low), min(row.versions.high, of.high)}
		if !has || both.low > both.high {
			continue
		}
		handle := func(ctx context.Context, r *wire.Request) (wire.Reply, error) { return row.serve(b, ctx, r) }
		table[row.key] = served{both, b.throttled(b.guard(row.key, handle))}
	}
	return table
}

// telemetryAPI says whether an API is one of KIP-714, which are served always and advertised when somebody wants telemetry.
func telemetryAPI(key int16) bool { return key == 71 || key == 72 }

// Lookup finds the handler of an API at a version (wire.APIs).
func (b *Broker) Lookup(key, version int16) (wire.Handle, bool) {
	row, known := b.table[key]
	if !known || version < row.versions.low || version > row.versions.high {
		return nil, false
	}
	return row.handle, true
}

// Versions is the advertised range of an API (wire.APIs). Produce is advertised from 0 as Kafka does since 4.0, for
// librdkafka's sake, though versions below 3 are not served (KAFKA-18659).
func (b *Broker) Versions(key int16) (low, high int16, known bool) {
	row, known := b.table[key]
	low = row.versions.low
	if key == 0 {
		low = b.profile.apis[0].low
	}
	return low, row.versions.high, known
}

// Range is an API with the versions of it that are served.
type Range struct{ Key, Low, High int16 }

// Ranges lists what doze serves when it answers as the release that it is held against, in the order of the keys.
func Ranges() []Range {
	list := make([]Range, len(apis))
	for i, row := range apis {
		list[i] = Range{row.key, row.versions.low, row.versions.high}
	}
	return list
}
