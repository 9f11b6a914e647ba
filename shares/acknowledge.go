package shares

// Type is what a member says of a delivered record, by Kafka's numbers.
type Type = int8

// The types of acknowledgements.
const (
	Gap   Type = 0 // there is no record at the offset
	Take  Type = 1 // ACCEPT
	Give  Type = 2 // RELEASE: deliver it again
	Drop  Type = 3 // REJECT: deliver it to nobody
	Renew Type = 4 // keep it for longer
)

// Acks acknowledges a range of offsets: with one type for all, or one for each.
type Acks struct {
	First, Last int64
	Types       []Type
}

func (a *Acks) typeOf(offset int64) Type {
	if len(a.Types) > 1 {
		return a.Types[offset-a.First]
	}
	return a.Types[0]
}

// sameUntil is the last offset that has the type of the given one, at most last.
func (a *Acks) sameUntil(offset, last int64) int64 {
	if len(a.Types) == 1 {
		return last
	}
	of := a.typeOf(offset)
	for offset < last && a.typeOf(offset+1) == of {
		offset++
	}
	return offset
}

// Refusal is why acknowledgements are not taken, in Kafka's words.
type Refusal struct {
	Request bool // it is not asked for rightly; else the records are not in a state for it
	Text    string
}

func (r *Refusal) Error() string { return r.Text }

// The refusals.
var (
	ErrFirstPast     = &Refusal{true, "Batch record not found. The first offset in request is past acquired records."}
	ErrLastPast      = &Refusal{true, "Batch record not found. The last offset in request is past acquired records."}
	ErrNotFound      = &Refusal{false, "Batch record not found. The request batch offsets are not found in the cache."}
	ErrBatchState    = &Refusal{false, "The batch cannot be acknowledged. The batch is not in the acquired state."}
	ErrOffsetState   = &Refusal{false, "The offset cannot be acknowledged. The offset is not acquired."}
	ErrBatchOwner    = &Refusal{false, "Member is not the owner of batch record"}
	ErrOffsetOwner   = &Refusal{false, "Member is not the owner of offset"}
	ErrRenewDisabled = &Refusal{false, "Renewing acquisition locks is not enabled for the group."}
	ErrTooManyPieces = &Refusal{false, "The acknowledgement would divide what is in flight into too many pieces."}
)

// maxPieces bounds what one partition is divided into by acknowledgements of single offsets, and how many ranges one request
// acknowledges in it: the work is at most their product.
const maxPieces = 1 << 14

// acknowledging is one Acknowledge under way.
type acknowledging struct {
	*Partition
	member string
	now    int64
	limits Limits
	write  Write
	before map[int][]run // by place of a batch that changed: its runs as they were
	err    *Refusal
}

// Acknowledge does what the member says of what it has acquired, all of it or, with an error, nothing. The types are known
// ones and as many as they have to be; the ranges rise.
func (p *Partition) Acknowledge(member string, all []Acks, now int64, l Limits) (Write, *Refusal) {
	a := acknowledging{Partition: p, member: member, now: now, limits: l, before: map[int][]run{}}
	if len(all) > maxPieces {
		return Write{}, ErrTooManyPieces
	}
	complete := p.complete
	for i := range all {
		if all[i].Last < p.start {
			continue
		}
		if a.err = a.acks(&all[i]); a.err == nil && p.pieces() > maxPieces {
			a.err = ErrTooManyPieces
		}
		if a.err != nil {
			a.takeBack()
			p.complete = complete
			return Write{}, a.err
		}
	}
	for _, b := range a.write.Batches {
		p.findNext = p.findNext || b.State == Available
	}
	return p.written(a.write), nil
}

func (p *Partition) pieces() (n int) {
	for i := range p.batches {
		n += len(p.batches[i].runs)
	}
	return n
}

// acks goes through the batches that one range of acknowledgements is about.
func (a *acknowledging) acks(acks *Acks) *Refusal {
	at := a.floor(acks.First)
	if at < 0 && acks.First < a.start && acks.Last >= a.start {
		at = a.floor(a.start)
	}
	if at < 0 {
		return ErrNotFound
	}
	end := a.floor(acks.Last) + 1
	switch last := a.batches[end-1].last; {
	case last < acks.First:
		return ErrFirstPast
	case last < acks.Last:
		return ErrLastPast
	}
	for ; at < end; at++ {
		b := &a.batches[at]
		if b.last < a.start {
			continue
		}
		if _, touched := a.before[at]; !touched {
			a.before[at] = b.runs
		}
		if err := a.batch(b, acks); err != nil {
			return err
		}
	}
	return nil
}

func (a *acknowledging) batch(b *batch, acks *Acks) *Refusal {
	if !b.byOffset {
		switch owner := b.runs[0].member; owner {
		case a.member:
		case "":
			return ErrBatchState
		default:
			return ErrBatchOwner
		}
		if len(acks.Types) > 1 || !b.within(acks.First, acks.Last) || b.straddles(a.start) {
			b.byOffset = true
		}
	}
	b.each(max(acks.First, a.start), acks.Last, func(r *run) bool {
		r.last = acks.sameUntil(r.first, r.last)
		a.err = a.part(r, acks.typeOf(r.first))
		return a.err == nil
	})
	return a.err
}

// part acknowledges neighbours that are alike.
func (a *acknowledging) part(r *run, t Type) *Refusal {
	switch {
	case r.state != Acquired:
		return ErrOffsetState
	case r.member != a.member:
		return ErrOffsetOwner
	case t == Renew && !a.limits.Renew:
		return ErrRenewDisabled
	case t == Renew:
		r.until = a.now + a.limits.LockMs
		return nil
	}
	r.release(stateOf(t), a.limits)
	if r.state.done() {
		a.complete += int32(r.len())
	}
	a.write.Batches = append(a.write.Batches, r.written())
	return nil
}

func stateOf(t Type) State {
	switch t {
	case Take:
		return Acknowledged
	case Give:
		return Available
	}
	return Archived
}

// takeBack undoes what was done. What is kept by offsets stays so, as in Kafka.
func (a *acknowledging) takeBack() {
	for at, runs := range a.before {
		a.batches[at].runs = runs
	}
}
