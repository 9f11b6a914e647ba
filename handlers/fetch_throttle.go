package handlers

import (
	"math"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/wire"
)

// A Fetch is measured by the size of its answer, which must be known before it is sent: one that is too much is not sent at all,
// and not counted. What is sent instead is empty, and the session, if there is one, has not moved.

// fetchRoom is how many bytes a client may be sent at most: more than its quota lets pass in all windows would be throttled
// time and again.
func (b *Broker) fetchRoom(r *wire.Request, follower bool) int64 {
	state, _ := b.view()
	if follower || !b.quotas.refresh(state) {
		return math.MaxInt32
	}
	most := b.quotas.fetch.Most(quotaUser(r), r.ClientID)
	if math.IsNaN(most) { // Java reads it as 0, Go as what the processor likes
		return 0
	}
	return int64(min(most, math.MaxInt32))
}

// within lowers what is wanted to what there is room for.
func (w *fetchWants) within(room int64) {
	w.maxBytes = min(w.maxBytes, room)
	w.minBytes = min(w.minBytes, w.maxBytes)
}

// throttleFetch measures a Fetch and gives the empty answer to one that is too much; nil for one that is not.
func (b *Broker) throttleFetch(r *wire.Request, req *kmsg.FetchRequest, c fetchContext, results []fetchResult) wire.Reply {
	q := b.quotas
	state, _ := b.view()
	if !q.refresh(state) {
		return nil
	}
	user := quotaUser(r)
	wait := b.requestWait(r, user)
	if q.fetch.Enabled() {
		size := float64(fetchAnswerBytes(req.Version, b.sessions.wouldAnswer(c, results)))
		now := q.now()
		wait = max(wait, q.fetch.Record(user, r.ClientID, size, now))
		if wait > 0 {
			q.fetch.Unrecord(user, r.ClientID, size, now)
		}
	}
	if wait == 0 {
		return nil
	}
	for i := range results {
		results[i].release()
	}
	b.muteFor(r, wait)
	answer := fetchAnswer{wait: int32(min(wait, math.MaxInt32))}
	answer.session, answer.code = b.sessions.throttled(c, req.SessionEpoch)
	return encodeFetch(req.Version, answer)
}

// fetchAnswerBytes is the size of an answer with its length, as Kafka reckons it.
func fetchAnswerBytes(version int16, results []fetchResult) int64 {
	return 4 + encodeFetch(version, fetchAnswer{results: results}).Size()
}

// refuseFetch answers a request that is refused as a whole, which is measured by its time only.
func (b *Broker) refuseFetch(r *wire.Request, answer fetchAnswer) wire.Reply {
	state, _ := b.view()
	if b.quotas.refresh(state) {
		wait := b.requestWait(r, quotaUser(r))
		b.muteFor(r, wait)
		answer.wait = int32(wait)
	}
	return encodeFetch(r.Version, answer)
}
