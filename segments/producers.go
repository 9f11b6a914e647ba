package segments

import (
	"cmp"
	"fmt"
	"slices"
)

// keptBatches is how many of a producer's last batches a duplicate is recognised among.
const keptBatches = 5

// ProducerErrorKind says why a producer's batch is refused.
type ProducerErrorKind uint8

const (
	// OutOfOrder: a sequence that does not follow. Kafka: OUT_OF_ORDER_SEQUENCE_NUMBER.
	OutOfOrder ProducerErrorKind = iota + 1
	// InvalidEpoch: an epoch below the last one seen. Kafka: INVALID_PRODUCER_EPOCH.
	InvalidEpoch
	// InvalidTxnState: a batch outside a transaction from a producer that has one open here. Kafka: INVALID_TXN_STATE.
	InvalidTxnState
	// CoordinatorFenced: a marker of a coordinator that another one followed. Kafka: TRANSACTION_COORDINATOR_FENCED.
	CoordinatorFenced
)

// ProducerError is why Append refuses a batch that has a producer id.
type ProducerError struct {
	Kind       ProducerErrorKind
	ProducerID int64
	Epoch      int16
	Sequence   int32
	Detail     string
}

func (e *ProducerError) Error() string { return "append: " + e.Detail }

// ProducerBatch is one of a producer's last batches.
type ProducerBatch struct {
	FirstSequence, LastSequence int32
	FirstOffset, LastOffset     int64
	Timestamp                   int64 // the batch's max timestamp
}

// Producer is what a partition remembers of a producer.
type Producer struct {
	ID               int64
	Epoch            int16
	CoordinatorEpoch int32 // of the last transaction marker; -1: none
	LastTimestamp    int64
	TxnFirstOffset   int64 // of the open transaction; -1: none
	Batches          []ProducerBatch
}

// LastSequence is -1 when no batch is remembered.
func (p *Producer) LastSequence() int32 {
	if len(p.Batches) == 0 {
		return -1
	}
	return p.Batches[len(p.Batches)-1].LastSequence
}

// producer is a Producer with its batches in place, oldest first.
type producer struct {
	epoch            int16
	count            int8
	coordinatorEpoch int32
	lastTimestamp    int64
	txnFirst         int64
	batches          [keptBatches]ProducerBatch
}

func (p *producer) lastSequence() int32 {
	if p.count == 0 {
		return -1
	}
	return p.batches[p.count-1].LastSequence
}

// duplicateOf finds a remembered batch of the same epoch with exactly the same sequences.
func (p *producer) duplicateOf(h *Header) *ProducerBatch {
	if p.epoch != h.ProducerEpoch {
		return nil
	}
	last := h.LastSequence()
	for i := range p.batches[:p.count] {
		if b := &p.batches[i]; b.FirstSequence == h.BaseSequence && b.LastSequence == last {
			return b
		}
	}
	return nil
}

// add remembers a batch that was written.
func (p *producer) add(epoch int16, b ProducerBatch) {
	if p.epoch != epoch {
		p.epoch, p.count = epoch, 0
	}
	if p.count == keptBatches {
		copy(p.batches[:], p.batches[1:])
		p.count--
	}
	p.batches[p.count] = b
	p.count++
	p.lastTimestamp = b.Timestamp
}

// producers is a partition's table. It is a fold over the headers of the partition's batches.
type producers map[int64]*producer

// noEpoch is the epoch of a producer before its first batch. What a client sends may be below it.
const noEpoch = -1

// admit decides whether a batch may be appended: the batch it repeats, or nil to append it, or a *ProducerError. v is the
// producer's verification, nil when none is under way.
//
// The rules are Kafka's: a producer that is not known (or forgotten) may begin with any sequence, but with 0 under
// transactions v2; one that is known goes on exactly where it stopped, sequences beginning again at 0 after 2^31-1; a new
// epoch begins at 0, also one that a marker began; an old epoch is refused; a transaction does not begin with a later
// sequence than the first that was seen of it.
func (t producers) admit(h *Header, v *verification) (*ProducerBatch, error) {
	p := t[h.ProducerID]
	switch {
	case p == nil && h.ProducerEpoch < noEpoch:
		return nil, producerError(InvalidEpoch, h, "epoch %d is below that of a producer that is not known", h.ProducerEpoch)
	case p == nil:
		return nil, v.admit(h, true)
	}
	if d := p.duplicateOf(h); d != nil {
		return d, nil
	}
	if h.ProducerEpoch < p.epoch {
		return nil, producerError(InvalidEpoch, h, "epoch %d is below the last seen epoch %d", h.ProducerEpoch, p.epoch)
	}
	if err := v.admit(h, p.count == 0); err != nil {
		return nil, err
	}
	if h.ProducerEpoch > p.epoch {
		if h.BaseSequence != 0 {
			return nil, producerError(OutOfOrder, h, "the new epoch %d (after %d) begins with sequence %d, not 0",
				h.ProducerEpoch, p.epoch, h.BaseSequence)
		}
	} else if last := p.lastSequence(); !inSequence(last, h.BaseSequence) {
		return nil, producerError(OutOfOrder, h, "sequence %d does not follow %d", h.BaseSequence, last)
	}
	if p.txnFirst >= 0 && !h.Transactional() {
		return nil, producerError(InvalidTxnState, h, "a batch outside the open transaction")
	}
	return nil, nil
}

// admit decides by what was seen of a transaction that has no batch here; fresh: no batch of the producer is remembered.
func (v *verification) admit(h *Header, fresh bool) error {
	switch {
	case v == nil:
	case v.epochBump && fresh && h.BaseSequence != 0:
		return producerError(OutOfOrder, h, "a transaction begins with sequence %d, not 0", h.BaseSequence)
	case h.BaseSequence > v.lowest:
		return producerError(OutOfOrder, h, "sequence %d overtakes %d", h.BaseSequence, v.lowest)
	}
	return nil
}

func inSequence(last, next int32) bool {
	return int64(next) == int64(last)+1 || next == 0 && last == 1<<31-1
}

func producerError(kind ProducerErrorKind, h *Header, format string, args ...any) error {
	return &ProducerError{Kind: kind, ProducerID: h.ProducerID, Epoch: h.ProducerEpoch, Sequence: h.BaseSequence,
		Detail: fmt.Sprintf("producer %d: ", h.ProducerID) + fmt.Sprintf(format, args...)}
}

// apply folds a batch that is in the log. A marker whose record compaction took says nothing any more. ended is the first
// offset of the transaction that the batch ends, -1 for none.
func (t producers) apply(e *entry, open *openTxns) (ended int64) {
	if e.producerID < 0 || e.control() && e.records == 0 {
		return -1
	}
	p := t[e.producerID]
	if p == nil {
		t.makeRoom()
		p = &producer{epoch: noEpoch, coordinatorEpoch: -1, lastTimestamp: -1, txnFirst: -1}
		t[e.producerID] = p
	}
	if e.control() {
		return p.endTxn(e, open)
	}
	h := Header{BaseSequence: e.sequence, LastOffsetDelta: e.delta}
	p.add(e.prodEpoch, ProducerBatch{FirstSequence: e.sequence, LastSequence: h.LastSequence(),
		FirstOffset: e.offset, LastOffset: e.last(), Timestamp: e.maxTime})
	if e.attributes&attrTransactional != 0 && p.txnFirst < 0 && e.records > 0 { // what compaction emptied was decided
		p.txnFirst = e.offset
		open.begin(e.offset, e.producerID)
	}
	return -1
}

// producersMost is how many producers a partition remembers. Kafka has no such bound: only time makes it forget.
const producersMost = 10_000

// makeRoom forgets, of a full table, the tenth that wrote longest ago; producers with a transaction open stay. What time a
// batch says it is from does not count: the client chose it.
func (t producers) makeRoom() {
	if len(t) < producersMost {
		return
	}
	type rest struct{ id, last int64 }
	var all []rest
	for id, p := range t {
		if p.txnFirst < 0 {
			all = append(all, rest{id, p.lastOffset()})
		}
	}
	slices.SortFunc(all, func(a, b rest) int { return cmp.Or(cmp.Compare(a.last, b.last), cmp.Compare(a.id, b.id)) })
	for _, r := range all[:min(len(all), producersMost/10)] {
		delete(t, r.id)
	}
}

// lastOffset is where the producer wrote last, -1 when that is not remembered.
func (p *producer) lastOffset() int64 {
	if p.count == 0 {
		return -1
	}
	return p.batches[p.count-1].LastOffset
}

// endTxn folds a transaction marker: the transaction is over, and a marker of a higher epoch starts sequences anew.
func (p *producer) endTxn(e *entry, open *openTxns) (ended int64) {
	ended = p.txnFirst
	open.end(ended)
	if p.epoch != e.prodEpoch {
		p.epoch, p.count = e.prodEpoch, 0
	}
	p.txnFirst = -1
	p.coordinatorEpoch = e.sequence
	p.lastTimestamp = e.maxTime
	return ended
}

// expire forgets producers that were silent for as long as that, unless they have a transaction open.
func (t producers) expire(now, afterMs int64) {
	for id, p := range t {
		if p.txnFirst < 0 && now-p.lastTimestamp >= afterMs {
			delete(t, id)
		}
	}
}

// list gives the table in the order of ids.
func (t producers) list() []Producer {
	out := make([]Producer, 0, len(t))
	for id, p := range t {
		out = append(out, Producer{ID: id, Epoch: p.epoch, CoordinatorEpoch: p.coordinatorEpoch,
			LastTimestamp: p.lastTimestamp, TxnFirstOffset: p.txnFirst, Batches: slices.Clone(p.batches[:p.count])})
	}
	slices.SortFunc(out, func(a, b Producer) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	return out
}
