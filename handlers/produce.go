package handlers

import (
	"context"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/configs"
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
	p := production{broker: b, req: req}
	for _, asked := range req.Topics {
		p.answers = append(p.answers, p.topic(asked))
	}
	resp := respond[*kmsg.ProduceResponse](r)
	resp.Topics = p.answers
	switch {
	case req.Acks == 0 && p.refused():
		return nil, errProduceUnheard
	case req.Acks == 0:
		return nil, nil
	case req.Acks != -1 || len(p.unsynced) == 0:
		return resp, nil
	}
	return wire.Later(func(ctx context.Context) (wire.Reply, error) {
		p.sync(ctx)
		return resp, nil
	}), nil
}

// production is one request at work.
type production struct {
	broker   *Broker
	req      *kmsg.ProduceRequest
	answers  []kmsg.ProduceResponseTopic
	unsynced []unsynced
}

// unsynced is a partition whose batch must reach the disk before acks=-1 is answered: its place in the answers, and
// an offset that is only synced with the batch as a whole.
type unsynced struct {
	topic, partition int
	log              *segments.Partition
	end              int64
}

// refused tells whether any partition was.
func (p *production) refused() bool {
	return slices.ContainsFunc(p.answers, func(t kmsg.ProduceResponseTopic) bool {
		return slices.ContainsFunc(t.Partitions, func(p kmsg.ProduceResponseTopicPartition) bool { return p.ErrorCode != none })
	})
}

func (p *production) topic(asked kmsg.ProduceRequestTopic) kmsg.ProduceResponseTopic {
	state, _ := p.broker.view()
	answer := kmsg.NewProduceResponseTopic()
	answer.Topic, answer.TopicID = asked.Topic, asked.TopicID
	topic, unknown := state.Topics.Named(asked.Topic), unknownTopicOrPartition
	if p.req.Version >= 13 {
		topic, unknown = state.Topics.WithID(asked.TopicID), unknownTopicID
	}
	at := len(p.answers)
	for i, partition := range asked.Partitions {
		if topic == nil {
			answer.Partitions = append(answer.Partitions, notProduced(partition.Partition, unknown))
			continue
		}
		produced, log := p.partition(topic, partition)
		if log != nil {
			p.unsynced = append(p.unsynced, unsynced{at, i, log, produced.BaseOffset + 1})
		}
		answer.Partitions = append(answer.Partitions, produced)
	}
	return answer
}

func notProduced(partition int32, code int16) kmsg.ProduceResponseTopicPartition {
	p := kmsg.NewProduceResponseTopicPartition()
	p.Partition, p.ErrorCode = partition, code
	p.BaseOffset, p.LogAppendTime, p.LogStartOffset = -1, -1, -1
	return p
}

// partition appends one batch: first everything that needs no lock, then the append. log is nil when it was refused.
func (p *production) partition(topic *projections.Topic, asked kmsg.ProduceRequestTopicPartition) (answer kmsg.ProduceResponseTopicPartition, log *segments.Partition) {
	b := p.broker
	state, seq := b.view()
	log = b.partition(state, topic, asked.Partition)
	if log == nil {
		return notProduced(asked.Partition, unknownTopicOrPartition), nil
	}
	configs := b.settings(state).topic(state, topic.Name)
	now := b.clock.NowMillis()
	batch, err := segments.CheckBatch(asked.Records, produceRules(configs, p.req.Version, now))
	switch {
	case err != nil:
		return notStored(asked.Partition, err), nil
	case p.req.Acks < -1 || p.req.Acks > 1:
		return notProduced(asked.Partition, invalidRequiredAcks), nil
	case batch.Transactional():
		return notProduced(asked.Partition, invalidTxnState), nil
	}
	appended, err := log.Append(&batch, segments.Admission{
		LeaderEpoch: topic.LeaderEpoch(asked.Partition, state.Starts), JournalSeq: seq, Now: now,
		LogAppendTime: configs.LogAppendTime,
	})
	if err != nil {
		return notProduced(asked.Partition, appendCode(err)), nil
	}
	answer = kmsg.NewProduceResponseTopicPartition()
	answer.Partition, answer.BaseOffset = asked.Partition, appended.BaseOffset
	answer.LogAppendTime, answer.LogStartOffset = appended.AppendTime, appended.LogStart
	return answer, log
}

// produceRules is what a topic takes.
func produceRules(t *configs.Topic, version int16, now int64) *segments.Rules {
	return &segments.Rules{
		MaxBatchBytes: int(t.MaxMessageBytes), NoZstd: version < 7, LogAppendTime: t.LogAppendTime, NeedKey: t.Compact,
		CheckStamps: true, Now: now, BeforeMaxMs: t.TimestampBeforeMaxMs, AfterMaxMs: t.TimestampAfterMaxMs,
	}
}

// sync waits until everything that was appended is on disk; a partition whose fsync failed answers an error without offset.
func (p *production) sync(ctx context.Context) {
	for _, u := range p.unsynced {
		if err := u.log.SyncTo(ctx, u.end); err != nil {
			answer := &p.answers[u.topic].Partitions[u.partition]
			*answer = notProduced(answer.Partition, appendCode(err))
		}
	}
}
