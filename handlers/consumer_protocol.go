package handlers

import (
	"encoding/binary"
	"slices"

	"doze/journal"
	"doze/projections"
)

// consumerProtocolType is the protocol type of groups of consumers: the only one whose metadata the coordinator reads.
const consumerProtocolType = "consumer"

// What consumers say of themselves in a classic group, and what their leader gives them, is in an encoding of their own
// (ConsumerProtocolSubscription, ConsumerProtocolAssignment), of versions 0 to 3. Later ones are read as the last.
const lastConsumerProtocol = 3

// consumerSubscription is a consumer's metadata in a classic group.
type consumerSubscription struct {
	topics []string
	owned  []namedPartitions // from version 1 on
	rack   string            // from version 3 on; empty: none
}

// namedPartitions are partitions of a topic.
type namedPartitions struct {
	topic      string
	partitions []int32
}

// parseSubscription reads the topics of a consumer's metadata in a classic group. Every version begins as version 0 does:
// version int16, topics as an array of strings, user data as nullable bytes.
//
//fuzz:parser class=payload FuzzParseSubscription
func parseSubscription(b []byte) (topics []string, ok bool) {
	r := protocolReader{b: b}
	if r.int16() < 0 {
		return nil, false
	}
	topics = r.names()
	r.skipBytes()
	return topics, !r.short
}

// parseWholeSubscription reads all of a consumer's metadata.
//
//fuzz:parser class=payload FuzzParseWholeSubscription
func parseWholeSubscription(b []byte) (s consumerSubscription, ok bool) {
	r := protocolReader{b: b}
	version := r.int16()
	s.topics = r.names()
	r.skipBytes()
	if version >= 1 {
		s.owned = r.partitions()
	}
	if version >= 2 {
		r.int32() // the generation that what it owns is of
	}
	if version >= 3 {
		s.rack = r.nullable()
	}
	return s, version >= 0 && !r.short
}

// parseAssignment reads what a leader gave to a consumer, and whether there is user data of an assignor of its own.
//
//fuzz:parser class=payload FuzzParseAssignment
func parseAssignment(b []byte) (partitions []namedPartitions, userData, ok bool) {
	r := protocolReader{b: b}
	version := r.int16()
	partitions = r.partitions()
	userData = r.skipBytes() > 0
	return partitions, userData, version >= 0 && !r.short
}

// encodeAssignment is what parseAssignment reads, in the version of the consumer's metadata.
func encodeAssignment(metadata []byte, partitions []namedPartitions) []byte {
	version := uint16(0)
	if len(metadata) >= 2 {
		version = min(binary.BigEndian.Uint16(metadata), lastConsumerProtocol)
	}
	b := binary.BigEndian.AppendUint16(nil, version)
	b = binary.BigEndian.AppendUint32(b, uint32(len(partitions)))
	for _, p := range partitions {
		b = binary.BigEndian.AppendUint16(b, uint16(len(p.topic)))
		b = append(b, p.topic...)
		b = binary.BigEndian.AppendUint32(b, uint32(len(p.partitions)))
		for _, n := range p.partitions {
			b = binary.BigEndian.AppendUint32(b, uint32(n))
		}
	}
	return append(b, 0xff, 0xff, 0xff, 0xff) // no user data
}

// ownedByID are partitions by the ids of topics, in order, of those topics that exist. Of a topic that is named twice the last
// counts.
func ownedByID(state *projections.State, named []namedPartitions, epoch int32) (owned []journal.OwnedPartitions) {
	for _, n := range named {
		t := state.Topics.Named(n.topic)
		if t == nil {
			continue
		}
		p := journal.OwnedPartitions{TopicID: t.ID, Partitions: slices.Clone(n.partitions)}
		slices.Sort(p.Partitions)
		p.Partitions = slices.Compact(p.Partitions)
		p.Epochs = slices.Repeat([]int32{epoch}, len(p.Partitions))
		i, found := slices.BinarySearchFunc(owned, p.TopicID, compareOwned)
		if found {
			owned[i] = p
		} else {
			owned = slices.Insert(owned, i, p)
		}
	}
	return owned
}

// protocolReader takes fields off the front; short is set when there is less than a field needs.
type protocolReader struct {
	b     []byte
	short bool
}

func (r *protocolReader) take(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.short, r.b = true, nil
		return nil
	}
	taken := r.b[:n]
	r.b = r.b[n:]
	return taken
}

func (r *protocolReader) int16() int16 {
	if b := r.take(2); b != nil {
		return int16(binary.BigEndian.Uint16(b))
	}
	return -1
}

func (r *protocolReader) int32() int32 {
	if b := r.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return -1
}

// count reads how many elements follow, each of some bytes at least.
func (r *protocolReader) count(each int) int {
	n := int(r.int32())
	if n < 0 || n > len(r.b)/each {
		r.short, r.b = true, nil
		return 0
	}
	return n
}

func (r *protocolReader) name() string { return string(r.take(int(r.int16()))) }

func (r *protocolReader) nullable() string {
	n := r.int16()
	if n < 0 {
		return ""
	}
	return string(r.take(int(n)))
}

func (r *protocolReader) names() []string {
	names := make([]string, r.count(2))
	for i := range names {
		names[i] = r.name()
	}
	return names
}

// skipBytes passes over nullable bytes and says how many they are.
func (r *protocolReader) skipBytes() int {
	n := int(r.int32())
	if n > 0 {
		r.take(n)
	}
	return n
}

func (r *protocolReader) partitions() []namedPartitions {
	list := make([]namedPartitions, r.count(6))
	for i := range list {
		list[i].topic = r.name()
		list[i].partitions = make([]int32, r.count(4))
		for n := range list[i].partitions {
			list[i].partitions[n] = r.int32()
		}
	}
	return list
}
