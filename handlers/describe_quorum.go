package handlers

import (
	"context"
	"crypto/sha256"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/projections"
	"doze/wire"
)

// metadataTopic is the one partition that a quorum of Kafka keeps. doze has its journal in its place.
const metadataTopic = "__cluster_metadata"

const kraftVersion = "kraft.version"

// DescribeQuorum (key 55), v0-v2 (KIP-595): who votes on the cluster's metadata, and how far each voter is.
//
//	v1  the time of each voter's last fetch (KIP-836)      v2  directories of voters, their listeners, error texts (KIP-853)
//
// This broker leads and is the one voter; its log is the journal, its epoch the number of its starts. The voter's directory is
// told from kraft.version 1 on. Its listener is that of the controller by name, at the address of the client's own connection:
// there is no other port. An authorizer asks for DESCRIBE on the cluster.
func (b *Broker) describeQuorum(_ context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.DescribeQuorumRequest)
	room := answerRoom(maxAnswerBytes)
	for _, t := range req.Topics {
		if !room.takePartitions(t.Topic, len(t.Partitions)) {
			return nil, errAnswerTooLarge
		}
	}
	resp := respond[*kmsg.DescribeQuorumResponse](r)
	resp.ErrorMessage = text("") // where others send null
	if !asksForQuorum(req) {
		resp.Topics = noQuorums(req)
		return resp, nil
	}
	state, seq := b.view()
	now := b.store.Now()
	voter := kmsg.NewDescribeQuorumResponseTopicPartitionReplicaState()
	voter.ReplicaID, voter.LogEndOffset = b.nodeID, int64(seq)+1
	voter.LastFetchTimestamp, voter.LastCaughtUpTimestamp = now, now
	if b.profile.level(state, kraftVersion) > 0 {
		voter.ReplicaDirectoryID = voterDirectory(state)
	}
	p := kmsg.NewDescribeQuorumResponseTopicPartition()
	p.ErrorMessage, p.LeaderID, p.LeaderEpoch, p.HighWatermark = text(""), b.nodeID, state.Starts, int64(seq)+1
	p.CurrentVoters = []kmsg.DescribeQuorumResponseTopicPartitionReplicaState{voter}
	resp.Topics = []kmsg.DescribeQuorumResponseTopic{{Topic: metadataTopic, Partitions: []kmsg.DescribeQuorumResponseTopicPartition{p}}}
	resp.Nodes = []kmsg.DescribeQuorumResponseNode{b.controllerNode(r)}
	return resp, nil
}

func (b *Broker) controllerNode(r *wire.Request) kmsg.DescribeQuorumResponseNode {
	host, port := r.Conn.Advertised()
	listener := kmsg.NewDescribeQuorumResponseNodeListener()
	listener.Name, listener.Host, listener.Port = b.controllerListener(), host, uint16(port)
	return kmsg.DescribeQuorumResponseNode{NodeID: b.nodeID, Listeners: []kmsg.DescribeQuorumResponseNodeListener{listener}}
}

// controllerListener is the name of the listener that a controller of this cluster would have.
func (b *Broker) controllerListener() string {
	if names := b.static.Entries("controller.listener.names"); len(names) > 0 {
		return names[0]
	}
	return "CONTROLLER"
}

// voterDirectory identifies the directory of the one voter: the same for as long as there is the cluster.
func voterDirectory(state *projections.State) (id [16]byte) {
	sum := sha256.Sum256([]byte("directory of the voter of " + state.ClusterID))
	copy(id[:], sum[:])
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80 // a UUID of version 4, as Kafka's are
	return id
}

// asksForQuorum tells whether a request names the one partition there is, once, and nothing else.
func asksForQuorum(req *kmsg.DescribeQuorumRequest) bool {
	return len(req.Topics) == 1 && req.Topics[0].Topic == metadataTopic &&
		len(req.Topics[0].Partitions) == 1 && req.Topics[0].Partitions[0].Partition == 0
}

func noQuorums(req *kmsg.DescribeQuorumRequest) (topics []kmsg.DescribeQuorumResponseTopic) {
	for _, asked := range req.Topics {
		topic := kmsg.DescribeQuorumResponseTopic{Topic: asked.Topic}
		for _, partition := range asked.Partitions {
			p := kmsg.NewDescribeQuorumResponseTopicPartition()
			p.Partition, p.ErrorCode = partition.Partition, unknownTopicOrPartition
			p.ErrorMessage = text("This server does not host this topic-partition.")
			topic.Partitions = append(topic.Partitions, p)
		}
		topics = append(topics, topic)
	}
	return topics
}
