package traffic

import (
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Got says in a few words what an answer gives, without what it refuses; name may be nil.
//
//fuzz:parser class=observer FuzzWords
func Got(resp kmsg.Response, name TopicNamer) string {
	w := &words{name: name}
	switch {
	case secretive(resp.Key()):
		w.secretiveAnswer(resp)
	case w.gotRecords(resp), w.gotOfTopics(resp), w.gotOfGroups(resp), w.gotOfLiveGroups(resp):
	default:
		w.plain(resp)
	}
	return w.String()
}

// secretiveAnswer describes an answer of an API that carries what lets people in.
func (w *words) secretiveAnswer(resp kmsg.Response) {
	switch resp := resp.(type) {
	case *kmsg.SASLHandshakeResponse:
		w.names("offers", resp.SupportedMechanisms)
	case *kmsg.SASLAuthenticateResponse:
		if resp.SessionLifetimeMillis > 0 {
			w.add("session=%dms", resp.SessionLifetimeMillis)
		}
	case *kmsg.CreateDelegationTokenResponse:
		if resp.PrincipalName != "" {
			w.add("owner=%s:%s", shown(resp.PrincipalType), shown(resp.PrincipalName))
		}
	case *kmsg.DescribeDelegationTokenResponse:
		w.add("%d tokens", len(resp.TokenDetails))
	case *kmsg.DescribeUserSCRAMCredentialsResponse:
		w.add("%d users", len(resp.Results))
	case *kmsg.AlterUserSCRAMCredentialsResponse:
		w.add("%d users", len(resp.Results))
	}
}

// gotRecords describes the answers that say where records are.
func (w *words) gotRecords(resp kmsg.Response) bool {
	switch resp := resp.(type) {
	case *kmsg.ProduceResponse:
		for _, t := range resp.Topics {
			name := shown(w.topicName(t.Topic, t.TopicID))
			for _, p := range t.Partitions {
				if p.ErrorCode == 0 {
					w.add("%s-%d@%d", name, p.Partition, p.BaseOffset)
				}
			}
		}
	case *kmsg.FetchResponse:
		if len(resp.Topics) == 0 {
			w.add("nothing new")
		}
		for _, t := range resp.Topics {
			name := shown(w.topicName(t.Topic, t.TopicID))
			for _, p := range t.Partitions {
				w.add("%s-%d up to %d", name, p.Partition, p.HighWatermark)
			}
		}
	case *kmsg.ShareFetchResponse:
		w.gotShares(resp)
	case *kmsg.ListOffsetsResponse:
		for _, t := range resp.Topics {
			for _, p := range t.Partitions {
				if p.ErrorCode == 0 {
					w.add("%s-%d@%d", shown(t.Topic), p.Partition, p.Offset)
				}
			}
		}
	case *kmsg.DeleteRecordsResponse:
		for _, t := range resp.Topics {
			for _, p := range t.Partitions {
				w.add("%s-%d from %d", shown(t.Topic), p.Partition, p.LowWatermark)
			}
		}
	default:
		return false
	}
	return true
}

func (w *words) gotShares(resp *kmsg.ShareFetchResponse) {
	if len(resp.Topics) == 0 {
		w.add("nothing new")
	}
	for _, t := range resp.Topics {
		name := shown(w.topicName("", t.TopicID))
		for _, p := range t.Partitions {
			for _, a := range p.AcquiredRecords {
				w.add("%s-%d %d to %d", name, p.Partition, a.FirstOffset, a.LastOffset)
			}
		}
	}
}

// gotOfTopics describes the answers about topics.
func (w *words) gotOfTopics(resp kmsg.Response) bool {
	switch resp := resp.(type) {
	case *kmsg.ApiVersionsResponse:
		w.add("%d APIs", len(resp.ApiKeys))
	case *kmsg.MetadataResponse:
		w.add("%d topics, %d brokers", len(resp.Topics), len(resp.Brokers))
	case *kmsg.CreateTopicsResponse:
		for _, t := range resp.Topics {
			if t.ErrorCode == 0 {
				w.add("created %s", shown(t.Topic))
			}
		}
	case *kmsg.DeleteTopicsResponse:
		for _, t := range resp.Topics {
			if t.ErrorCode == 0 {
				w.add("deleted %s", shown(w.topicName(value(t.Topic), t.TopicID)))
			}
		}
	case *kmsg.DescribeConfigsResponse:
		n := 0
		for _, r := range resp.Resources {
			n += len(r.Configs)
		}
		w.add("%d configs", n)
	default:
		return false
	}
	return true
}

// gotOfGroups describes the answers of groups of the classic protocol, and about offsets.
func (w *words) gotOfGroups(resp kmsg.Response) bool {
	switch resp := resp.(type) {
	case *kmsg.JoinGroupResponse:
		if resp.MemberID != "" {
			w.add("member=%s", shown(resp.MemberID))
		}
		if resp.ErrorCode == 0 {
			w.add("generation=%d protocol=%s", resp.Generation, shown(value(resp.Protocol)))
			if resp.LeaderID == resp.MemberID {
				w.add("leads %d members", len(resp.Members))
			}
		}
	case *kmsg.SyncGroupResponse:
		if resp.ErrorCode == 0 {
			w.add("assignment of %d B", len(resp.MemberAssignment))
		}
	case *kmsg.FindCoordinatorResponse:
		if resp.Host != "" {
			w.add("%s:%d", shown(resp.Host), resp.Port)
		}
		for _, c := range resp.Coordinators {
			if c.ErrorCode == 0 {
				w.add("%s at %s:%d", shown(c.Key), shown(c.Host), c.Port)
			}
		}
	case *kmsg.OffsetFetchResponse:
		w.gotOffsets(resp)
	case *kmsg.OffsetCommitResponse, *kmsg.TxnOffsetCommitResponse, *kmsg.HeartbeatResponse, *kmsg.LeaveGroupResponse, *kmsg.EndTxnResponse:
	case *kmsg.DescribeGroupsResponse:
		for _, g := range resp.Groups {
			w.add("%s is %s with %d members", shown(g.Group), shown(g.State), len(g.Members))
		}
	case *kmsg.ListGroupsResponse:
		w.add("%d groups", len(resp.Groups))
	case *kmsg.InitProducerIDResponse:
		if resp.ErrorCode == 0 {
			w.add("producer=%d/%d", resp.ProducerID, resp.ProducerEpoch)
		}
	default:
		return false
	}
	return true
}

func (w *words) gotOffsets(resp *kmsg.OffsetFetchResponse) {
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			w.add("%s-%d@%d", shown(t.Topic), p.Partition, p.Offset)
		}
	}
	for _, g := range resp.Groups {
		for _, t := range g.Topics {
			name := shown(w.topicName(t.Topic, t.TopicID))
			for _, p := range t.Partitions {
				w.add("%s-%d@%d", name, p.Partition, p.Offset)
			}
		}
	}
}

// gotOfLiveGroups describes the answers of groups that live in heartbeats.
func (w *words) gotOfLiveGroups(resp kmsg.Response) bool {
	switch resp := resp.(type) {
	case *kmsg.ConsumerGroupHeartbeatResponse:
		w.add("epoch=%d", resp.MemberEpoch)
		if resp.Assignment != nil {
			w.add("assigned")
			for _, t := range resp.Assignment.Topics {
				w.add("%s%d", shown(w.topicName("", t.TopicID)), t.Partitions)
			}
		}
	case *kmsg.ShareGroupHeartbeatResponse:
		w.add("epoch=%d", resp.MemberEpoch)
		if resp.Assignment != nil {
			w.add("assigned")
			for _, t := range resp.Assignment.TopicPartitions {
				w.add("%s%d", shown(w.topicName("", t.TopicID)), t.Partitions)
			}
		}
	case *kmsg.StreamsGroupHeartbeatResponse:
		w.add("epoch=%d", resp.MemberEpoch)
		for _, t := range resp.ActiveTasks {
			w.add("%s%d", shown(t.SubtopologyID), t.Partitions)
		}
	default:
		return false
	}
	return true
}
