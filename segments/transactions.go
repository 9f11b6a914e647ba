package segments

import (
	"cmp"
	"slices"
)

// OpenTxn is a transaction that has batches in a partition and no marker.
type OpenTxn struct {
	ProducerID    int64
	ProducerEpoch int16 // of the last batch
	FirstOffset   int64
	LastTimestamp int64 // of the last batch
}

// OpenTxns lists the transactions that are open in the partition, the oldest first.
func (p *Partition) OpenTxns() ([]OpenTxn, error) {
	if err := p.ready(); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.openTxnsLocked(), p.usable()
}

func (p *Partition) openTxnsLocked() []OpenTxn {
	out := make([]OpenTxn, 0, len(p.open))
	for _, o := range p.open {
		if one := p.producers[o.producer]; one != nil {
			out = append(out, OpenTxn{ProducerID: o.producer, ProducerEpoch: one.epoch, FirstOffset: o.first, LastTimestamp: one.lastTimestamp})
		}
	}
	return out
}

// OpenTxnOf gives the transaction that a producer has open in the partition, nil when it has none.
func (p *Partition) OpenTxnOf(producer int64) (*OpenTxn, error) {
	if err := p.ready(); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.producers[producer]
	if one == nil || one.txnFirst < 0 {
		return nil, p.usable()
	}
	return &OpenTxn{ProducerID: producer, ProducerEpoch: one.epoch, FirstOffset: one.txnFirst, LastTimestamp: one.lastTimestamp}, p.usable()
}

// openTxn is an open transaction's place.
type openTxn struct {
	first    int64
	producer int64
}

// openTxns are a partition's open transactions by their first offsets: the first of them bounds what read_committed sees.
type openTxns []openTxn

// openTxns finds the open transactions in a table.
func (t producers) openTxns() openTxns {
	var l openTxns
	for id, p := range t {
		if p.txnFirst >= 0 {
			l = append(l, openTxn{p.txnFirst, id})
		}
	}
	slices.SortFunc(l, func(a, b openTxn) int { return cmp.Compare(a.first, b.first) })
	return l
}

// begin adds a transaction that begins behind all others.
func (l *openTxns) begin(first, producer int64) { *l = append(*l, openTxn{first, producer}) }

// end takes a transaction off.
func (l *openTxns) end(first int64) {
	i, found := slices.BinarySearchFunc(*l, first, func(o openTxn, first int64) int { return cmp.Compare(o.first, first) })
	if found {
		*l = slices.Delete(*l, i, i+1)
	}
}

// stable is the last stable offset of a log that ends at end.
func (l openTxns) stable(end int64) int64 {
	if len(l) == 0 {
		return end
	}
	return l[0].first
}

// StartVerification is asked before a transactional batch is appended: whether the partition has the producer's transaction
// open already. When not, whoever knows the transactions must say that it is; until then the partition holds the first
// sequence that it saw of the transaction, so that no later batch overtakes one whose verification has to be repeated.
// The error is a *[ProducerError] of kind InvalidEpoch, or as with Append.
func (p *Partition) StartVerification(b *Batch, epochBump bool) (open bool, err error) {
	if err := p.settled(); err != nil {
		return false, err
	}
	p.write.Lock()
	defer p.write.Unlock()
	if err := p.writable(); err != nil {
		return false, err
	}
	return p.startVerification(&b.Header, epochBump)
}

// startVerification is StartVerification for a caller that holds write.
func (p *Partition) startVerification(h *Header, epochBump bool) (open bool, err error) {
	one := p.producers[h.ProducerID]
	switch {
	case one != nil && h.ProducerEpoch < one.epoch:
		return false, producerError(InvalidEpoch, h, "epoch %d is below the last seen epoch %d", h.ProducerEpoch, one.epoch)
	case one != nil && one.txnFirst >= 0 && one.epoch == h.ProducerEpoch:
		return true, nil
	}
	p.verifying.start(h, epochBump, p.dir.opt.Now())
	return false, nil
}

// verification is a producer whose transaction has no batch here yet.
type verification struct {
	since     int64 // ms
	lowest    int32 // the lowest sequence seen
	epoch     int16
	epochBump bool // transactions v2: each transaction has an epoch of its own
}

// verifications are kept in memory only, as in Kafka.
type verifications map[int64]*verification

// verificationsMost bounds how many a partition keeps; beyond it the oldest goes.
const verificationsMost = 10_000

func (v *verifications) start(h *Header, epochBump bool, now int64) {
	if *v == nil {
		*v = verifications{}
	}
	one := (*v)[h.ProducerID]
	switch {
	case one == nil:
		v.makeRoom()
		(*v)[h.ProducerID] = &verification{since: now, lowest: h.BaseSequence, epoch: h.ProducerEpoch, epochBump: epochBump}
	case h.ProducerEpoch > one.epoch:
		one.epoch, one.lowest = h.ProducerEpoch, h.BaseSequence
	case h.ProducerEpoch == one.epoch:
		one.lowest = min(one.lowest, h.BaseSequence)
	}
}

func (v verifications) makeRoom() {
	if len(v) < verificationsMost {
		return
	}
	oldest := int64(-1)
	for id, one := range v {
		if oldest < 0 || cmp.Or(cmp.Compare(one.since, v[oldest].since), cmp.Compare(id, oldest)) < 0 {
			oldest = id
		}
	}
	delete(v, oldest)
}

// began forgets a producer whose transaction has a batch now.
func (v verifications) began(producer int64) { delete(v, producer) }

// ended forgets a producer whose transaction was ended by a marker, unless the marker is of the transaction before the one
// that is being verified.
func (v verifications) ended(producer int64, epoch int16) {
	if one := v[producer]; one != nil && !(one.epochBump && one.epoch == epoch) {
		delete(v, producer)
	}
}

// expire forgets what was never verified.
func (v verifications) expire(now, afterMs int64) {
	for id, one := range v {
		if now-one.since >= afterMs {
			delete(v, id)
		}
	}
}
