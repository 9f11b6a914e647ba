package handlers

import (
	"sync"

	"doze/configs"
	"doze/projections"
)

// settings is what the configs of one state come to: the broker's values laid over each other, and what a topic's log does,
// worked out once and kept until a config changes.
type settings struct {
	revision uint64
	*configs.Broker
	topics sync.Map // topic name -> configs.Topic
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
		state.Configs.Map(projections.BrokerResource, clusterDefaults),
		state.Configs.Map(projections.BrokerResource, b.nodeName),
	)}
	b.known.Store(made)
	return made
}

// topic gives a topic's settings at the state that s is of.
func (s *settings) topic(state *projections.State, name string) *configs.Topic {
	if known, found := s.topics.Load(name); found {
		return known.(*configs.Topic)
	}
	made := s.Topic(state.Configs.Map(projections.TopicResource, name))
	s.topics.Store(name, &made)
	return &made
}

// defaultPartitions is num.partitions: how many a topic gets that does not say.
func (b *Broker) defaultPartitions(state *projections.State) int32 {
	return int32(b.settings(state).Int("num.partitions"))
}
