package handlers

import (
	"hash/fnv"
	"sync"

	"doze/configs"
	"doze/projections"
	"doze/segments"
)

// settings is what the configs of one state come to: the broker's values laid over each other, and what a topic's log does,
// worked out once and kept until a config changes.
type settings struct {
	revision *projections.Revision
	*configs.Broker
	topics sync.Map              // topic name -> *configs.Topic, of those that have values of their own
	plain  func() *configs.Topic // of all others
}

// clusterDefaults is the resource name of the values that hold for all brokers.
const clusterDefaults = ""

// settings gives the settings at a state.
func (b *Broker) settings(state *projections.State) *settings {
	revision := state.Configs.Revision()
	if known := b.known.Load(); known != nil && known.revision == revision {
		return known
	}
	made := &settings{revision: revision, Broker: b.static.WithDynamic(
		b.clusterValues(state),
		state.Configs.Map(projections.BrokerResource, b.nodeName),
	)}
	made.plain = sync.OnceValue(func() *configs.Topic { t := made.Topic(nil); return &t })
	b.known.Store(made)
	return made
}

const minInsyncReplicas = "min.insync.replicas"

// clusterValues are those set for all brokers. A cluster of Kafka begins its life with one of them: min.insync.replicas as it
// is at that moment, which can be changed from then on, and not removed while elrVersion is above 0 (KIP-966).
func (b *Broker) clusterValues(state *projections.State) map[string]string {
	values := state.Configs.Map(projections.BrokerResource, clusterDefaults)
	if _, set := values[minInsyncReplicas]; set || !b.elr(state) {
		return values
	}
	if values == nil {
		values = map[string]string{}
	}
	values[minInsyncReplicas], _ = b.static.Get(minInsyncReplicas)
	return values
}

// setValues are those set on a resource, with what a cluster begins its life with.
func (b *Broker) setValues(state *projections.State, resourceType int8, name string) map[string]string {
	if resourceType == projections.BrokerResource && name == clusterDefaults {
		return b.clusterValues(state)
	}
	return state.Configs.Map(resourceType, name)
}

// topic gives a topic's settings at the state that s is of. Only topics with values of their own are kept by name: when one
// of those is deleted its values go, and s with them. All others share one, so what is kept is bounded by the topics there are.
func (s *settings) topic(state *projections.State, name string) *configs.Topic {
	if known, found := s.topics.Load(name); found {
		return known.(*configs.Topic)
	}
	own := state.Configs.Map(projections.TopicResource, name)
	if own == nil {
		return s.plain()
	}
	made := s.Topic(own)
	s.topics.Store(name, &made)
	return &made
}

// reconfigureLogs tells the logs that are open what their configs are now: those of the topics that were altered, all when
// it was a broker.
func (b *Broker) reconfigureLogs(altered []alteredResource) {
	b.configuring.Lock()
	defer b.configuring.Unlock()
	state, _ := b.view()
	for _, res := range altered {
		switch res.kind {
		case projections.TopicResource:
			if topic := state.Topics.Named(res.name); topic != nil {
				b.reconfigureTopic(state, topic)
			}
		case projections.BrokerResource:
			if b.reconfigured != nil {
				b.reconfigured(b.settings(state).Broker)
			}
			state.Topics.Each("", func(topic *projections.Topic) bool {
				b.reconfigureTopic(state, topic)
				return true
			})
			return
		}
	}
}

func (b *Broker) reconfigureTopic(state *projections.State, topic *projections.Topic) {
	for number := range topic.Partitions {
		if log := b.logs.Known(segments.ID{Topic: topic.ID, Partition: number}); log != nil {
			log.Configure(b.logConfig(state, topic, number))
		}
	}
}

// openLog makes the handle of a partition with the configs of the newest state, which the caller's may be older than.
func (b *Broker) openLog(id segments.ID, state *projections.State, topic *projections.Topic) *segments.Partition {
	b.configuring.Lock()
	defer b.configuring.Unlock()
	newest, _ := b.view()
	if now := newest.Topics.WithID(topic.ID); now != nil {
		state, topic = newest, now
	}
	return b.logs.Partition(id, b.logConfig(state, topic, id.Partition))
}

// logConfig is what a partition's log is told.
func (b *Broker) logConfig(state *projections.State, topic *projections.Topic, number int32) segments.Config {
	configs := b.settings(state).topic(state, topic.Name)
	flushMessages := configs.FlushMessages
	if configs.FlushMs == 0 {
		flushMessages = 1
	}
	return segments.Config{
		SegmentBytes: int64(configs.SegmentBytes), SegmentMs: rollAfter(configs, topic.ID, number),
		FlushMessages: flushMessages, FlushMs: configs.FlushMs,
		LogStart:    state.LogStarts.Of(topic.ID, number),
		LeaderEpoch: topic.LeaderEpoch(number, state.Starts),
	}
}

// rollAfter is how old a segment may get before the next begins: segment.ms, for a compacted topic at most
// max.compaction.lag.ms, less a part of segment.jitter.ms that is another for each partition.
func rollAfter(t *configs.Topic, id projections.ID, number int32) int64 {
	most := t.SegmentMs
	if t.Compact && t.MaxCompactionLagMs > 0 {
		most = min(most, t.MaxCompactionLagMs)
	}
	if jitter := min(t.SegmentJitterMs, most); jitter > 0 {
		hash := fnv.New64a()
		hash.Write(id[:])
		hash.Write([]byte{byte(number), byte(number >> 8), byte(number >> 16), byte(number >> 24)})
		most -= int64(hash.Sum64()>>1) % jitter
	}
	return max(most, 1)
}

// defaultPartitions is num.partitions: how many a topic gets that does not say.
func (b *Broker) defaultPartitions(state *projections.State) int32 {
	return int32(b.settings(state).Int("num.partitions"))
}
