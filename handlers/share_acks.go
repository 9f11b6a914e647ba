package handlers

import (
	"doze/acls"
	"doze/journal"
	"doze/projections"
	"doze/shares"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// shareAck is what a request acknowledges in one partition, and what came of it. ShareFetch and ShareAcknowledge carry the
// same.
type shareAck struct {
	place   sharePlace
	batches []shares.Acks
	code    int16
	message *string
	settled bool // code says already what came of it
}

// sharedBytes is what a partition of a ShareFetch or a ShareAcknowledge is reckoned to take while its request is answered.
const sharedBytes = 256

// shareAcksOf are the acknowledgements of a ShareAcknowledge, one a partition: the last mention counts.
func shareAcksOf(req *kmsg.ShareAcknowledgeRequest) []*shareAck {
	var all shareAckList
	for _, t := range req.Topics {
		for _, p := range t.Partitions {
			ack := all.of(sharePlace{t.TopicID, p.Partition})
			for _, b := range p.AcknowledgementBatches {
				ack.batches = append(ack.batches, shares.Acks{First: b.FirstOffset, Last: b.LastOffset, Types: b.AcknowledgeTypes})
			}
		}
	}
	return all.list
}

// piggybacked are the acknowledgements of a ShareFetch; any says whether there are any.
func piggybacked(req *kmsg.ShareFetchRequest) (acks []*shareAck, any bool) {
	var all shareAckList
	for _, t := range req.Topics {
		for _, p := range t.Partitions {
			ack := all.of(sharePlace{t.TopicID, p.Partition})
			for _, b := range p.AcknowledgementBatches {
				ack.batches = append(ack.batches, shares.Acks{First: b.FirstOffset, Last: b.LastOffset, Types: b.AcknowledgeTypes})
			}
			any = any || len(p.AcknowledgementBatches) > 0
		}
	}
	return all.list, any
}

type shareAckList struct {
	list []*shareAck
	at   map[sharePlace]*shareAck
}

// of gives what is acknowledged in a partition, anew.
func (l *shareAckList) of(place sharePlace) *shareAck {
	if l.at == nil {
		l.at = map[sharePlace]*shareAck{}
	}
	ack := l.at[place]
	if ack == nil {
		ack = &shareAck{place: place}
		l.at[place] = ack
		l.list = append(l.list, ack)
	}
	ack.batches = nil
	return ack
}

// acknowledgeShares carries out acknowledgements, each partition for itself, and gives those that are answered. Partitions
// without any are answered when another one has some that are well formed, as in Kafka.
func (b *Broker) acknowledgeShares(may access, cause journal.Cause, key shareMemberKey, acks []*shareAck, renew shareRenewal) []*shareAck {
	state, _ := b.view()
	var answered, empty []*shareAck
	interested := false
	for _, ack := range acks {
		if ack.settled {
			interested = true
			answered = append(answered, ack)
			continue
		}
		ack.code = checkShareAck(state, may, ack, renew)
		switch {
		case ack.code == none && len(ack.batches) == 0:
			empty = append(empty, ack)
			continue
		case ack.code == none:
			interested = true
			b.acknowledgeShare(state, cause, key, ack)
		}
		answered = append(answered, ack)
	}
	if interested {
		answered = append(answered, empty...)
	}
	return answered
}

// refuseShares refuses what cannot be acknowledged as the records are now. A ShareFetch has it done before it acquires any: what it
// acquires is not what was acknowledged.
func (b *Broker) refuseShares(may access, cause journal.Cause, key shareMemberKey, acks []*shareAck, renew shareRenewal) {
	state, _ := b.view()
	for _, ack := range acks {
		if len(ack.batches) > 0 && checkShareAck(state, may, ack, renew) == none && !b.acknowledgeable(state, key, ack) {
			b.acknowledgeShare(state, cause, key, ack)
			ack.settled = true
		}
	}
}

// acknowledgeable tries acknowledgements on a copy of what is in flight.
func (b *Broker) acknowledgeable(state *projections.State, key shareMemberKey, ack *shareAck) bool {
	p := b.shares.known(sharePartitionKey{key.group, ack.place})
	if p == nil {
		return false
	}
	defer p.mu.Unlock()
	_, why := p.state.Clone().Acknowledge(key.member, ack.batches, b.steady.NowMillis(), b.shareLimits(state, key.group))
	return why == nil
}

// shareRenewal is whether a request says that it renews, and whether its version can.
type shareRenewal struct{ asked, may bool }

// checkShareAck says what is wrong with the acknowledgements of a partition.
func checkShareAck(state *projections.State, may access, ack *shareAck, renew shareRenewal) int16 {
	topic := state.Topics.WithID(ack.place.topic)
	if topic == nil {
		return unknownTopicID
	}
	most, end := shares.Drop, int64(-1)
	if renew.may {
		most = shares.Renew
	}
	for i := range ack.batches {
		a := &ack.batches[i]
		if a.First > a.Last || a.First < end || len(a.Types) == 0 || len(a.Types) > 1 && a.Last-a.First != int64(len(a.Types)-1) {
			return invalidRequest
		}
		for _, t := range a.Types {
			if t < shares.Gap || t > most || t == shares.Renew && !renew.asked {
				return invalidRequest
			}
		}
		end = a.Last
	}
	if !may.may(acls.Read, acls.Topic, topic.Name) {
		return topicAuthorizationFailed
	}
	if ack.place.partition < 0 || ack.place.partition >= topic.Partitions {
		return unknownTopicOrPartition
	}
	return none
}

func (b *Broker) acknowledgeShare(state *projections.State, cause journal.Cause, key shareMemberKey, ack *shareAck) {
	p := b.shares.known(sharePartitionKey{key.group, ack.place})
	if p == nil {
		ack.code, ack.message = unknownTopicOrPartition, text(unknownTopicText)
		return
	}
	defer p.mu.Unlock()
	limits := b.shareLimits(state, key.group)
	renewed := false
	for i := range ack.batches {
		for _, t := range ack.batches[i].Types {
			renewed = renewed || t == shares.Renew
		}
	}
	refused := b.shares.change(cause, p, func(next *shares.Partition) (shares.Write, *refusal) {
		write, why := next.Acknowledge(key.member, ack.batches, b.steady.NowMillis(), limits)
		if why != nil {
			p.state = next // what is kept by offsets now stays so, and what was renewed
			return write, refuseShareAck(why)
		}
		return write, nil
	})
	if refused != nil {
		ack.code, ack.message = refused.code, refused.message
	}
	if renewed && !p.gone {
		b.shares.watchLocks(p)
	}
}

func refuseShareAck(why *shares.Refusal) *refusal {
	if why.Request {
		return refuse(invalidRequest, why.Text)
	}
	return refuse(invalidRecordState, why.Text)
}
