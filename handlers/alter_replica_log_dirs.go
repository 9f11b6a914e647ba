package handlers

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/projections"
	"doze/wire"
)

// AlterReplicaLogDirs (key 34), v1-v2 (KIP-113): moves partitions to another of the broker's directories.
//
// There is one, as DescribeLogDirs names it, and every partition is in it. A partition that is named for several directories
// goes to the last. Answers come in the order of the request, where Kafka walks a hash map. An authorizer asks for ALTER on the cluster.
func (b *Broker) alterReplicaLogDirs(_ context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.AlterReplicaLogDirsRequest)
	room := answerRoom(maxAnswerBytes)
	for _, d := range req.Dirs {
		for _, t := range d.Topics {
			if !room.takePartitions(t.Topic, len(t.Partitions)) {
				return nil, errAnswerTooLarge
			}
		}
	}
	resp := respond[*kmsg.AlterReplicaLogDirsResponse](r)
	state, _ := b.view()
	dirs, order := directories(req)
	at := map[string]int{}
	for _, p := range order {
		i, known := at[p.topic]
		if !known {
			i, at[p.topic] = len(resp.Topics), len(resp.Topics)
			topic := kmsg.NewAlterReplicaLogDirsResponseTopic()
			topic.Topic = p.topic
			resp.Topics = append(resp.Topics, topic)
		}
		moved := kmsg.NewAlterReplicaLogDirsResponseTopicPartition()
		moved.Partition, moved.ErrorCode = p.partition, b.moveRefused(state, p, dirs[p])
		resp.Topics[i].Partitions = append(resp.Topics[i].Partitions, moved)
	}
	return resp, nil
}

// directories is where each partition is to go, and the partitions in the order of their first mention.
func directories(req *kmsg.AlterReplicaLogDirsRequest) (dirs map[topicPartition]string, order []topicPartition) {
	dirs = map[topicPartition]string{}
	for _, d := range req.Dirs {
		for _, t := range d.Topics {
			for _, number := range t.Partitions {
				p := topicPartition{t.Topic, number}
				if _, known := dirs[p]; !known {
					order = append(order, p)
				}
				dirs[p] = d.Dir
			}
		}
	}
	return dirs, order
}

func (b *Broker) moveRefused(state *projections.State, p topicPartition, dir string) int16 {
	t := state.Topics.Named(p.topic)
	switch {
	case dir != b.dir:
		return logDirNotFound
	case t == nil || p.partition < 0 || p.partition >= t.Partitions:
		return unknownTopicOrPartition
	}
	return none
}
