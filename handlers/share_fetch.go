package handlers

import (
	"context"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/configs"
	"doze/projections"
	"doze/wire"
)

// ShareFetch (key 78), v1-v2 (KIP-932): delivers records to a member of a share group, which has acquired them until it
// acknowledges them or their lock ends; and carries acknowledgements. What these release is not delivered by the same request
// when there is something else.
//
//	v1  max_records and batch_size        v2  share_acquire_mode (KIP-1206), is_renew_ack (KIP-1222)
//
// The answer is sent at once when a log has min_bytes to deliver or an error, or when nothing is asked for; else after
// max_wait_ms, or when enough was appended, released or came back. A group's place in a partition is kept once its members
// have been assigned the partition: membership is not looked at.
func (b *Broker) shareFetch(ctx context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.ShareFetchRequest)
	asked, room := shareAsked(req), answerRoom(maxAnswerBytes)
	if !room.take(sharedBytes * int64(len(asked))) {
		return nil, errAnswerTooLarge
	}
	acks, acked := piggybacked(req)
	if code := b.checkShareFetch(req); code != none {
		return encodeShareFetch(req.Version, shareFetchAnswer{code: code}), nil
	}
	key := shareMemberKey{*req.GroupID, *req.MemberID}
	c := b.shareSessions.open(&shareRequest{
		key: key, epoch: req.ShareSessionEpoch, asked: asked, forgets: shareForgets(req), acks: acked,
		conn: r.Conn.ID, ended: r.Conn.Context(),
	})
	if c.code == shareSessionLimitReached {
		waitOut(ctx, req.MaxWaitMillis)
	}
	if c.code != none {
		return encodeShareFetch(req.Version, shareFetchAnswer{code: c.code}), nil
	}
	if b.unknownTopic(c.places) || b.unknownTopic(asked) { // where Kafka fails, with the session's turn taken
		return encodeShareFetch(req.Version, shareFetchAnswer{code: unknownServerError}), nil
	}
	f := shareFetching{broker: b, may: b.access(r), key: key, req: req, places: c.places, wait: withinSession(r.Conn, req.MaxWaitMillis)}
	renew := shareRenewal{req.IsRenewAck, req.Version >= 2}
	if acked {
		b.refuseShares(f.may, causeOf(r), key, acks, renew)
	}
	acknowledge := func() {
		if acked {
			acks = b.acknowledgeShares(f.may, causeOf(r), key, acks, renew)
		} else {
			acks = nil
		}
	}
	if f.run(ctx, acknowledge); f.refused != none {
		return encodeShareFetch(req.Version, shareFetchAnswer{code: f.refused}), nil
	}
	answer := shareFetchAnswer{leader: leader{id: b.nodeID}}
	var inTurn bool
	if answer.results, inTurn = b.shareSessions.answer(c, f.results); !inTurn {
		answer.code = invalidShareSessionEpoch
	}
	releaseUntold(f.results, answer.results)
	state, _ := b.view()
	answer.lockMs = int32(b.shareLimits(state, key.group).LockMs)
	answer.merge(acks)
	answer.noteLeaders(state, r.Conn)
	if req.ShareSessionEpoch == finalShareEpoch {
		b.endShareSession(key)
	}
	return encodeShareFetch(req.Version, answer), nil
}

// checkShareFetch refuses a request as a whole.
func (b *Broker) checkShareFetch(req *kmsg.ShareFetchRequest) int16 {
	code := b.checkShareRequest(req.GroupID, req.MemberID)
	if code == none && req.IsRenewAck && (req.MaxBytes != 0 || req.MinBytes != 0 || req.MaxRecords != 0 || req.MaxWaitMillis != 0) {
		return invalidRequest
	}
	return code
}

// unknownTopic says whether one of the places is of a topic that is not there.
func (b *Broker) unknownTopic(places []sharePlace) bool {
	state, _ := b.view()
	return slices.ContainsFunc(places, func(p sharePlace) bool { return state.Topics.WithID(p.topic) == nil })
}

// waitOut waits.
func waitOut(ctx context.Context, millis int32) {
	timer := time.NewTimer(time.Duration(max(millis, 0)) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func shareAsked(req *kmsg.ShareFetchRequest) (all []sharePlace) {
	for _, t := range req.Topics {
		for _, p := range t.Partitions {
			all = append(all, sharePlace{t.TopicID, p.Partition})
		}
	}
	return all
}

func shareForgets(req *kmsg.ShareFetchRequest) (all []sharePlace) {
	for _, t := range req.ForgottenTopicsData {
		for _, p := range t.Partitions {
			all = append(all, sharePlace{t.TopicID, p})
		}
	}
	return all
}

// releaseUntold lets go of records that are not sent after all. They stay acquired, as in Kafka, until their lock ends.
func releaseUntold(all, told []*shareResult) {
	stays := make(map[*shareResult]bool, len(told))
	for _, r := range told {
		stays[r] = true
	}
	for _, r := range all {
		if !stays[r] {
			r.release()
		}
	}
}

// shareLeaderEpoch is the leader epoch of a partition, -1 when it is not there.
func shareLeaderEpoch(state *projections.State, place sharePlace) int32 {
	topic := state.Topics.WithID(place.topic)
	if topic == nil || place.partition < 0 || place.partition >= topic.Partitions {
		return -1
	}
	return topic.LeaderEpoch(place.partition, state.Starts)
}

// rotated has another partition come first with each request of a session, so that none waits behind the others for ever.
func rotated(places []sharePlace, epoch int32) []sharePlace {
	if len(places) < 2 || epoch < 1 {
		return places
	}
	at := int(epoch) % len(places)
	return slices.Concat(places[at:], places[:at])
}

// onlyCommitted says whether the group is kept from records of aborted and open transactions.
func onlyCommitted(state *projections.State, group string) bool {
	return configs.GroupText("share.isolation.level", state.Configs.Map(projections.GroupResource, group)) == "read_committed"
}
