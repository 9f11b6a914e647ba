package handlers

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/projections"
	"doze/segments"
	"doze/wire"
)

// Produce (key 0), v3-v13: appends one record batch to each partition.
//
//	v3  batches of magic 2      v5  log start      v7  zstd      v8  record errors and an error text
//	v10 the current leader in errors of leadership               v12 transactions v2      v13 topics by id
//
// acks=-1 answers when the batches are on disk, acks=1 when they are written, acks=0 never: then an error closes the
// connection. Partitions succeed and fail one by one.
func (b *Broker) produce(_ context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.ProduceRequest)
	resp := respond[*kmsg.ProduceResponse](r)
	p := production{broker: b, req: req, version: req.Version}
	for _, asked := range req.Topics {
		resp.Topics = append(resp.Topics, p.topic(asked))
	}
	switch {
	case req.Acks == 0 && p.failed:
		return nil, errProduceUnheard
	case req.Acks == 0:
		return nil, nil
	case req.Acks == 1 || len(p.unsynced) == 0:
		return resp, nil
	}
	return wire.Later(func(ctx context.Context) (wire.Reply, error) {
		p.sync(ctx, resp)
		return resp, nil
	}), nil
}

// production is one request at work.
type production struct {
	broker   *Broker
	req      *kmsg.ProduceRequest
	version  int16
	failed   bool
	unsynced []unsynced
}

// unsynced is a partition whose batch must reach the disk before acks=-1 is answered: its place in the response.
type unsynced struct {
	topic, partition int
	log              *segments.Partition
	end              int64
}

func (p *production) topic(asked kmsg.ProduceRequestTopic) kmsg.ProduceResponseTopic {
	state, seq := p.broker.view()
	topic := kmsg.NewProduceResponseTopic()
	topic.Topic, topic.TopicID = asked.Topic, asked.TopicID
	found := state.Topics.Named(asked.Topic)
	unknown := unknownTopicOrPartition
	if p.version >= 13 {
		found, unknown = state.Topics.WithID(asked.TopicID), unknownTopicID
	}
	for _, partition := range asked.Partitions {
		if found == nil {
			p.failed = true
			topic.Partitions = append(topic.Partitions, notProduced(partition.Partition, &refusal{code: unknown}))
			continue
		}
		topic.Partitions = append(topic.Partitions, p.partition(state, seq, found, partition))
	}
	return topic
}

func notProduced(partition int32, why *refusal) kmsg.ProduceResponseTopicPartition {
	p := kmsg.NewProduceResponseTopicPartition()
	p.Partition, p.ErrorCode, p.ErrorMessage = partition, why.code, why.message
	p.BaseOffset, p.LogAppendTime, p.LogStartOffset = -1, -1, -1
	return p
}

func (p *production) partition(state *projections.State, seq uint64, topic *projections.Topic, asked kmsg.ProduceRequestTopicPartition) kmsg.ProduceResponseTopicPartition {
	answer, no := p.append(state, seq, topic, asked)
	if no != nil {
		p.failed = true
		return notProduced(asked.Partition, no)
	}
	return answer
}

func (p *production) append(state *projections.State, seq uint64, topic *projections.Topic, asked kmsg.ProduceRequestTopicPartition) (answer kmsg.ProduceResponseTopicPartition, no *refusal) {
	b := p.broker
	log := b.partition(topic, asked.Partition)
	if log == nil {
		return answer, &refusal{code: unknownTopicOrPartition}
	}
	limits := b.produceLimits(state, topic, p.version)
	batch, err := segments.CheckBatch(asked.Records, limits)
	if err != nil {
		return answer, checkRefusal(err)
	}
	if p.req.Acks < -1 || p.req.Acks > 1 {
		return answer, &refusal{code: invalidRequiredAcks}
	}
	appended, err := log.Append(batch, segments.Admission{
		LeaderEpoch: topic.LeaderEpoch(asked.Partition, state.Starts), JournalSeq: seq, Now: b.clock.NowMillis(),
	})
	if err != nil {
		return answer, appendRefusal(err)
	}
	answer = kmsg.NewProduceResponseTopicPartition()
	answer.Partition, answer.BaseOffset = asked.Partition, appended.BaseOffset
	answer.LogAppendTime, answer.LogStartOffset = -1, appended.LogStart
	return answer, nil
}

// sync waits until everything that was appended is on disk; a partition whose fsync failed answers an error without offset.
func (p *production) sync(ctx context.Context, resp *kmsg.ProduceResponse) {
	for _, u := range p.unsynced {
		if err := u.log.SyncTo(ctx, u.end); err != nil {
			answer := &resp.Topics[u.topic].Partitions[u.partition]
			*answer = notProduced(answer.Partition, appendRefusal(err))
		}
	}
}
