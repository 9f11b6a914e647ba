package handlers

import (
	"context"
	"encoding/binary"
	"math"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/wire"
)

// throttled lets a handler run and makes its client wait when it has used too much: the answer goes out at once and tells how
// long, the connection's next request waits so long. Without quotas this costs a look at the state.
func (b *Broker) throttled(handle wire.Handle) wire.Handle {
	return func(ctx context.Context, r *wire.Request) (wire.Reply, error) {
		reply, err := handle(ctx, r)
		if err != nil {
			return reply, err
		}
		state, _ := b.view()
		if !b.quotas.refresh(state) {
			return reply, nil
		}
		return b.throttle(r, reply), nil
	}
}

// Keys of APIs that are measured otherwise than the rest.
const (
	keyProduce         = 0
	keyFetch           = 1
	keyWriteTxnMarkers = 27
	keyShareFetch      = 78
)

// throttle measures a request that is answered by reply.
func (b *Broker) throttle(r *wire.Request, reply wire.Reply) wire.Reply {
	wait, user := int64(0), quotaUser(r)
	switch {
	case r.Key == keyFetch || r.Key == keyWriteTxnMarkers: // it measures itself; brokers send it
		return reply
	case r.Key == keyProduce:
		wait = b.quotas.produce.Record(user, r.ClientID, float64(r.Size), b.quotas.now())
		if r.Body.(*kmsg.ProduceRequest).Acks != 0 {
			wait = max(wait, b.requestWait(r, user))
		}
	case r.Key == keyShareFetch && !failedShareFetch(reply):
		return reply
	default:
		wait = b.requestWait(r, user)
	}
	wait = max(wait, toldAlready(reply))
	b.muteFor(r, wait)
	return tellWait(reply, wait)
}

// requestWait measures the time that was worked at the request.
func (b *Broker) requestWait(r *wire.Request, user string) int64 {
	if !b.quotas.requests.Enabled() {
		return 0
	}
	percent := float64(max(r.Conn.Worked(r.Received), 1)) * 100 / float64(time.Second)
	wait := b.quotas.requests.Record(user, r.ClientID, percent, b.quotas.now())
	return min(wait, b.quotas.windows.Size)
}

// muteFor makes the connection's next request wait.
func (b *Broker) muteFor(r *wire.Request, ms int64) {
	if ms > 0 {
		d := time.Duration(min(ms, math.MaxInt64/int64(time.Millisecond))) * time.Millisecond
		r.Conn.Mute(b.quotas.mute(r.Conn.Context(), d))
	}
}

// toldAlready is the wait that a handler has put into its answer.
func toldAlready(reply wire.Reply) int64 {
	if resp, ok := reply.(kmsg.ThrottleResponse); ok {
		told, _ := resp.Throttle()
		return int64(told)
	}
	return 0
}

// tellWait puts a wait into an answer that has a place for it.
func tellWait(reply wire.Reply, ms int64) wire.Reply {
	if ms == 0 {
		return reply
	}
	told := int32(min(ms, math.MaxInt32))
	switch reply := reply.(type) {
	case kmsg.SetThrottleResponse:
		reply.SetThrottle(told)
	case *wire.Chunked:
		binary.BigEndian.PutUint32(reply.Parts[0].Bytes, uint32(told)) // the first field of those that are encoded by hand
	case wire.Later:
		return wire.Later(func(ctx context.Context) (wire.Reply, error) {
			resolved, err := reply(ctx)
			if err != nil {
				return resolved, err
			}
			return tellWait(resolved, ms), nil
		})
	}
	return reply
}

// failedShareFetch says whether an answer is an error as a whole: of a caller without permission, or encoded by hand, when its
// second field is the code.
func failedShareFetch(reply wire.Reply) bool {
	if refused, ok := reply.(*kmsg.ShareFetchResponse); ok {
		return refused.ErrorCode != 0
	}
	c, ok := reply.(*wire.Chunked)
	return ok && binary.BigEndian.Uint16(c.Parts[0].Bytes[4:]) != 0
}

// mutationCharge takes tokens for partitions that a request makes or deletes, or refuses. It is called inside of decisions: what
// is decided depends on it as on what the client asked for.
type mutationCharge func(partitions int32) *refusal

// mutations measures the partitions that a request makes or deletes. A strict client is refused while its bucket is overdrawn,
// others may go on overdrawing it; wait is for how long in the end.
func (b *Broker) mutations(r *wire.Request, strict bool) (charge mutationCharge, wait func() int32) {
	q := b.quotas
	state, _ := b.view()
	q.refresh(state)
	if !q.mutations.Enabled() {
		return func(int32) *refusal { return nil }, func() int32 { return 0 }
	}
	user, last, at := quotaUser(r), int64(0), int64(0)
	charge = func(partitions int32) *refusal {
		now := q.now()
		if !strict {
			if w := q.mutations.Record(user, r.ClientID, float64(partitions), now); w > 0 {
				last, at = w, now
			}
			return nil
		}
		if w := q.mutations.TryTake(user, r.ClientID, float64(partitions), now); w > 0 {
			last, at = w, now
			return &refusal{code: throttlingQuotaExceeded}
		}
		return nil
	}
	return charge, func() int32 {
		if last == 0 {
			return 0
		}
		return int32(min(max(last-(q.now()-at), 0), math.MaxInt32))
	}
}
