package handlers

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/acls"
	"doze/configs"
	"doze/projections"
	"doze/segments"
	"doze/wire"
)

// Produce (key 0), v3-v13: appends one record batch to each partition.
//
//	v3  batches of magic 2      v5  log start      v7  zstd      v8  record errors and an error text
//	v10 the current leader in errors of leadership               v11 TRANSACTION_ABORTABLE
//	v12 a partition joins its transaction by its first batch (transactions v2, KIP-890)   v13 topics by id
//
// acks=-1 answers when the batches are on disk, acks=1 when they are written, acks=0 never: then an error closes the
// connection. Partitions succeed and fail one by one.
//
// As in Kafka: what cannot be read at all in one partition, or a transactional batch without a transactional id, fails the
// whole request; then the shape of every partition's batch is checked; then their transactions are asked about; then acks;
// then each batch is appended. Of a
// partition that stands twice in the request the last batch of good shape is appended, and a bad shape is answered.
//
//fuzz:parser class=payload FuzzProduce
func (b *Broker) produce(ctx context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.ProduceRequest)
	p := production{broker: b, req: req, may: b.access(r)}
	if len(req.Topics) != 1 || len(req.Topics[0].Partitions) != 1 { // one partition stands in nobody's way, and is most requests
		p.at, p.topics = map[fetchKey]*placed{}, map[fetchKey]int{}
	}
	refused := unreadable(req, p.may)
	if refused == nil {
		refused = p.place()
	}
	if refused == nil {
		refused = p.joinTransaction(ctx, causeOf(r))
	}
	if refused != nil {
		p.refuseAll(refused)
	} else {
		p.append()
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
	may      access
	answers  []kmsg.ProduceResponseTopic
	at       map[fetchKey]*placed // nil: the request has one partition
	topics   map[fetchKey]int     // where they are in the answers, by the key of partition 0; nil likewise
	order    []*placed
	unsynced []unsynced
	txn      *txnProduction // nil: no batch is of a transaction
}

// placed is a partition of the request, once, with its place in the answers.
type placed struct {
	topic, partition int
	known            *projections.Topic // nil: not there
	log              *segments.Partition
	records          []byte // to append; nil when no batch was of good shape
	misshapen        bool   // the answer is an error already
	internal         bool   // of a topic that is Kafka's own: nothing is appended
	open             bool   // the log has the transaction open already
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

// unreadable looks at the heads of all batches, as Kafka does before anything else.
func unreadable(req *kmsg.ProduceRequest, may access) *refusal {
	for _, t := range req.Topics {
		for _, p := range t.Partitions {
			transactional, err := segments.FirstBatch(p.Records)
			if err != nil {
				return checkRefusal(err)
			}
			if transactional {
				if req.TransactionID == nil || !may.may(acls.Write, acls.TransactionalID, *req.TransactionID) {
					return &refusal{code: transactionalIDAuthorizationFailed}
				}
				return nil
			}
		}
	}
	return nil
}

// slot finds or makes the partition's place in the answers.
func (p *production) slot(topic *kmsg.ProduceRequestTopic, number int32) (slot *placed, isNew bool) {
	key := fetchKey{topic.Topic, topic.TopicID, number}
	if slot = p.at[key]; slot != nil {
		return slot, false
	}
	key.number = 0
	i, known := p.topics[key]
	if !known {
		answer := kmsg.NewProduceResponseTopic()
		answer.Topic, answer.TopicID = topic.Topic, topic.TopicID
		i = len(p.answers)
		p.answers = append(p.answers, answer)
		if p.topics != nil {
			p.topics[key] = i
		}
	}
	slot = &placed{topic: i, partition: len(p.answers[i].Partitions)}
	if p.at != nil {
		key.number = number
		p.at[key] = slot
	}
	p.order = append(p.order, slot)
	p.answers[i].Partitions = append(p.answers[i].Partitions, notProduced(number, none))
	return slot, true
}

func (p *production) answer(slot *placed) *kmsg.ProduceResponseTopicPartition {
	return &p.answers[slot.topic].Partitions[slot.partition]
}

func (p *production) refuseAll(refused *refusal) {
	for i := range p.req.Topics {
		for _, asked := range p.req.Topics[i].Partitions {
			slot, _ := p.slot(&p.req.Topics[i], asked.Partition)
			answer := p.answer(slot)
			answer.ErrorCode, answer.ErrorMessage = refused.code, refused.message
		}
	}
}

// place finds the partitions and checks the shapes of their batches. A length that Kafka cannot compute with fails the
// whole request.
func (p *production) place() *refusal {
	state, _ := p.broker.view()
	for i := range p.req.Topics {
		asked := &p.req.Topics[i]
		topic, unknown := state.Topics.Named(asked.Topic), unknownTopicOrPartition
		switch {
		case p.req.Version >= 13:
			topic, unknown = state.Topics.WithID(asked.TopicID), unknownTopicID
		}
		inside := p.req.Version < 13 && internal(asked.Topic)
		hidden := p.hides(topic, asked)
		for _, partition := range asked.Partitions {
			slot, isNew := p.slot(asked, partition.Partition)
			if isNew {
				slot.known, slot.log = topic, p.broker.partition(state, topic, partition.Partition)
			}
			switch {
			case hidden:
				p.answer(slot).ErrorCode = topicAuthorizationFailed
			case inside && p.broker.hasInternal(asked.Topic, partition.Partition):
				slot.internal = true
				if refused := p.shape(slot, partition.Records); refused != nil {
					return refused
				}
			case topic == nil:
				p.answer(slot).ErrorCode = unknown
			case slot.log == nil:
				p.answer(slot).ErrorCode = unknownTopicOrPartition
			default:
				if refused := p.shape(slot, partition.Records); refused != nil {
					return refused
				}
			}
		}
	}
	return nil
}

// hides says whether the caller may not write to a topic. One that is named by an id that there is not is unknown.
func (p *production) hides(topic *projections.Topic, asked *kmsg.ProduceRequestTopic) bool {
	switch {
	case !p.may.guarded():
		return false
	case topic != nil:
		return !p.may.may(acls.Write, acls.Topic, topic.Name)
	}
	return p.req.Version < 13 && !p.may.may(acls.Write, acls.Topic, asked.Topic)
}

// shape checks that there is one batch of the right format; an error is the partition's answer, or fails the request.
func (p *production) shape(slot *placed, records []byte) *refusal {
	refused := checkRefusal(segments.CheckShape(records, p.req.Version < 7))
	switch {
	case refused == nil:
		slot.records = records
	case refused.code == unknownServerError:
		return refused
	default:
		p.answer(slot).ErrorCode, slot.misshapen = refused.code, true
	}
	return nil
}

// append appends what was placed.
func (p *production) append() {
	for _, slot := range p.order {
		if slot.records == nil {
			continue
		}
		number := p.answer(slot).Partition
		answer := notProduced(number, invalidRequiredAcks)
		stored := false
		switch {
		case p.req.Acks < -1 || p.req.Acks > 1:
		case slot.internal:
			answer = notProduced(number, invalidTopicException)
		default:
			answer, stored = p.appendTo(slot, number)
		}
		if stored {
			p.unsynced = append(p.unsynced, unsynced{slot.topic, slot.partition, slot.log, answer.BaseOffset + 1})
		}
		if !slot.misshapen {
			*p.answer(slot) = answer
		}
	}
}

func notProduced(partition int32, code int16) kmsg.ProduceResponseTopicPartition {
	p := kmsg.NewProduceResponseTopicPartition()
	p.Partition, p.ErrorCode = partition, code
	p.BaseOffset, p.LogAppendTime, p.LogStartOffset = -1, -1, -1
	return p
}

// appendTo appends one batch: first everything that needs no lock, then the append.
func (p *production) appendTo(slot *placed, number int32) (answer kmsg.ProduceResponseTopicPartition, stored bool) {
	b := p.broker
	state, seq := b.view()
	configs := b.settings(state).topic(state, slot.known.Name)
	now := b.clock.NowMillis()
	rules := produceRules(configs, p.req.Version, now)
	batch, err := segments.CheckBatch(slot.records, rules)
	if err != nil {
		return notStored(slot, number, rules, err), false
	}
	defer batch.Done()
	admission := segments.Admission{
		LeaderEpoch: slot.known.LeaderEpoch(number, state.Starts), JournalSeq: seq, Now: now,
		LogAppendTime: configs.LogAppendTime,
	}
	p.admitTransactional(slot, &batch.Header, &admission)
	appended, err := slot.log.Append(&batch, admission)
	if refused := (*txnRefusal)(nil); errors.As(err, &refused) {
		return p.txn.refusal(number, refused.code), false
	}
	if err != nil {
		return notAppended(slot.log, number, appendCode(err)), false
	}
	answer = notProduced(number, none)
	answer.BaseOffset, answer.LogAppendTime, answer.LogStartOffset = appended.BaseOffset, appended.AppendTime, appended.LogStart
	return answer, true
}

// produceRules is what a topic takes.
func produceRules(t *configs.Topic, version int16, now int64) *segments.Rules {
	return &segments.Rules{
		MaxBatchBytes: int(t.MaxMessageBytes), NoZstd: version < 7, LogAppendTime: t.LogAppendTime, NeedKey: t.Compact,
		Compression: storedCompression(t), CheckStamps: true, Now: now, BeforeMaxMs: t.TimestampBeforeMaxMs, AfterMaxMs: t.TimestampAfterMaxMs,
	}
}

// storedCompression is the topic's compression.type; nil for producer.
func storedCompression(t *configs.Topic) *segments.Compression {
	switch t.CompressionType {
	case "uncompressed":
		return &segments.Compression{Codec: segments.None}
	case "gzip":
		return &segments.Compression{Codec: segments.Gzip, Level: int(t.GzipLevel)}
	case "snappy":
		return &segments.Compression{Codec: segments.Snappy}
	case "lz4":
		return &segments.Compression{Codec: segments.LZ4, Level: int(t.LZ4Level)}
	case "zstd":
		return &segments.Compression{Codec: segments.Zstd, Level: int(t.ZstdLevel)}
	}
	return nil
}

// sync waits until everything that was appended is on disk, and that its partitions are part of their transaction; a
// partition whose fsync failed answers an error without offset.
func (p *production) sync(ctx context.Context) {
	joined := func(context.Context) error { return nil }
	if p.txn != nil && p.txn.joined > 0 {
		joined = p.broker.store.SyncTo(p.txn.joined)
	}
	errs := make([]error, len(p.unsynced))
	for i, u := range p.unsynced {
		errs[i] = u.log.SyncTo(ctx, u.end)
	}
	journaled := joined(ctx)
	for i, u := range p.unsynced {
		if err := cmp.Or(errs[i], journaled); err != nil {
			answer := &p.answers[u.topic].Partitions[u.partition]
			*answer = notProduced(answer.Partition, syncCode(err))
		}
	}
}

// syncCode is the code for a batch that was appended and is not known to be on disk.
func syncCode(err error) int16 {
	if code := appendCode(err); code != unknownServerError {
		return code
	}
	return kafkaStorageError // the journal's
}
