package handlers

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/wire"
)

// ShareAcknowledge (key 79), v1-v2 (KIP-932): says of delivered records that they were accepted, are to be delivered again
// or to nobody.
//
//	v2  RENEW keeps records for longer (KIP-1222); the lock's duration is told
//
// It is the next request of the member's share session; epoch -1 ends the session and releases what the member still has.
func (b *Broker) shareAcknowledge(_ context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.ShareAcknowledgeRequest)
	resp := respond[*kmsg.ShareAcknowledgeResponse](r)
	room := answerRoom(maxAnswerBytes)
	for i := range req.Topics {
		if !room.take(sharedBytes * int64(len(req.Topics[i].Partitions))) {
			return nil, errAnswerTooLarge
		}
	}
	if resp.ErrorCode = b.checkShareRequest(req.GroupID, req.MemberID); resp.ErrorCode != none {
		return resp, nil
	}
	key := shareMemberKey{*req.GroupID, *req.MemberID}
	if resp.ErrorCode = b.shareSessions.acknowledge(key, req.ShareSessionEpoch); resp.ErrorCode != none {
		return resp, nil
	}
	answered := b.acknowledgeShares(b.access(r), causeOf(r), key, shareAcksOf(req), shareRenewal{req.IsRenewAck, req.Version >= 2})
	if req.ShareSessionEpoch == finalShareEpoch {
		b.endShareSession(key)
	}
	state, _ := b.view()
	resp.AcquisitionLockTimeoutMillis = int32(b.shareLimits(state, key.group).LockMs)
	topics := map[[16]byte]int{} // where they are in the answer
	for _, ack := range answered {
		p := kmsg.NewShareAcknowledgeResponseTopicPartition()
		p.Partition, p.ErrorCode, p.ErrorMessage = ack.place.partition, ack.code, ack.message
		if ack.code == notLeaderOrFollower {
			p.CurrentLeader.LeaderID = b.nodeID
			p.CurrentLeader.LeaderEpoch = shareLeaderEpoch(state, ack.place)
			resp.NodeEndpoints = []kmsg.ShareAcknowledgeResponseNodeEndpoint{{NodeID: b.nodeID}}
			resp.NodeEndpoints[0].Host, resp.NodeEndpoints[0].Port = r.Conn.Advertised()
		}
		i, known := topics[ack.place.topic]
		if !known {
			i = len(resp.Topics)
			topics[ack.place.topic] = i
			resp.Topics = append(resp.Topics, kmsg.ShareAcknowledgeResponseTopic{TopicID: ack.place.topic})
		}
		resp.Topics[i].Partitions = append(resp.Topics[i].Partitions, p)
	}
	return resp, nil
}

// checkShareRequest says what stands against a request of a share session: share groups are switched off, or it does not say
// whose it is.
func (b *Broker) checkShareRequest(group, member *string) int16 {
	const longestMember = 36 // UTF-16 units, as Kafka counts
	switch {
	case !b.shareGroupsOn():
		return unsupportedVersion
	case group == nil, len(*group) > maxName, member == nil, *member == "", utf16Len(*member) > longestMember:
		return invalidRequest
	}
	return none
}

// utf16Len is the length of a text as Java has it.
func utf16Len(s string) (n int) {
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

// shareVersion is the feature that share groups are switched on with.
const shareVersion = "share.version"

func (b *Broker) shareGroupsOn() bool {
	state, _ := b.view()
	return b.profile.level(state, shareVersion) >= 1
}

// endShareSession ends a member's session and releases what it holds.
func (b *Broker) endShareSession(key shareMemberKey) {
	if places, was := b.shareSessions.end(key); was {
		b.shares.release(key, places)
	}
}
