package handlers

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/acls"
	"doze/wire"
)

// refuser makes the answer to a caller who lacks what is needed, in the form that the API has for it.
type refuser func(r *wire.Request, lacks need) kmsg.Response

// code is what a refusal of a type of resource is called.
func (n need) code() int16 { return refusedCode(n.resource) }

func refusedCode(t acls.ResourceType) int16 {
	switch t {
	case acls.Topic:
		return topicAuthorizationFailed
	case acls.Group:
		return groupAuthorizationFailed
	case acls.TransactionalID:
		return transactionalIDAuthorizationFailed
	case acls.DelegationToken, acls.User:
		return delegationTokenAuthorizationFailed
	}
	return clusterAuthorizationFailed
}

// Kafka's own texts of refusals.
const (
	topicRefusedText   = "Topic authorization failed."
	groupRefusedText   = "Group authorization failed."
	clusterRefusedText = "Cluster authorization failed."
)

// text is Kafka's own text of the code.
func (n need) text() *string {
	if n.resource == acls.Group {
		return text(groupRefusedText)
	}
	return text(clusterRefusedText)
}

// says is the text that names what is missing. Kafka's has the whole request in it, with the addresses of the connection.
func (n need) says() *string { return text("Request needs " + n.operation.String() + " permission.") }

// refuseWithCode answers in the field of the error code alone.
func refuseWithCode(r *wire.Request, lacks need) kmsg.Response {
	return refuseTop(r, lacks.code(), nil)
}

// refuseWithText answers with Kafka's own text of the code.
func refuseWithText(r *wire.Request, lacks need) kmsg.Response {
	return refuseTop(r, lacks.code(), lacks.text())
}

// refuseWithNeed answers with a text that says what is missing.
func refuseWithNeed(r *wire.Request, lacks need) kmsg.Response {
	return refuseTop(r, lacks.code(), lacks.says())
}

// refuseTop fills the code, and the text where there is a place for one, of an answer that has them at its top.
func refuseTop(r *wire.Request, code int16, message *string) kmsg.Response {
	switch resp := r.Body.ResponseKind().(type) {
	case *kmsg.HeartbeatResponse:
		resp.ErrorCode = code
		return resp
	case *kmsg.LeaveGroupResponse:
		resp.ErrorCode = code
		return resp
	case *kmsg.SyncGroupResponse:
		resp.ErrorCode = code
		return resp
	case *kmsg.AddOffsetsToTxnResponse:
		resp.ErrorCode = code
		return resp
	case *kmsg.EndTxnResponse:
		resp.ErrorCode = code
		return resp
	case *kmsg.DescribeACLsResponse:
		resp.ErrorCode, resp.ErrorMessage = code, message
		return resp
	case *kmsg.DescribeLogDirsResponse:
		resp.ErrorCode = code
		return resp
	case *kmsg.OffsetDeleteResponse:
		resp.ErrorCode = code
		return resp
	case *kmsg.DescribeQuorumResponse:
		resp.ErrorCode, resp.ErrorMessage = code, message
		return resp
	case *kmsg.UpdateFeaturesResponse:
		resp.ErrorCode, resp.ErrorMessage = code, message
		return resp
	case *kmsg.UnregisterBrokerResponse:
		resp.ErrorCode, resp.ErrorMessage = code, message
		return resp
	case *kmsg.ListConfigResourcesResponse:
		resp.ErrorCode = code
		return resp
	case *kmsg.AddRaftVoterResponse:
		resp.ErrorCode, resp.ErrorMessage = code, message
		return resp
	case *kmsg.RemoveRaftVoterResponse:
		resp.ErrorCode, resp.ErrorMessage = code, message
		return resp
	}
	return refuseTopOfGroup(r, code, message)
}

// refuseTopOfGroup is refuseTop of the newer kinds of groups.
func refuseTopOfGroup(r *wire.Request, code int16, message *string) kmsg.Response {
	switch resp := r.Body.ResponseKind().(type) {
	case *kmsg.ConsumerGroupHeartbeatResponse:
		resp.ErrorCode = code
		return resp
	case *kmsg.ShareGroupHeartbeatResponse:
		resp.ErrorCode = code
		return resp
	case *kmsg.ShareFetchResponse:
		resp.ErrorCode = code
		return resp
	case *kmsg.ShareAcknowledgeResponse:
		resp.ErrorCode = code
		return resp
	case *kmsg.AlterShareGroupOffsetsResponse:
		resp.ErrorCode, resp.ErrorMessage = code, message
		return resp
	case *kmsg.DeleteShareGroupOffsetsResponse:
		resp.ErrorCode, resp.ErrorMessage = code, message
		return resp
	default:
		panic("no place for a refusal in the answer to API " + kmsg.NameForKey(r.Key))
	}
}

func refuseJoinGroup(r *wire.Request, lacks need) kmsg.Response {
	resp := refuseJoin("", lacks.code())
	resp.Version = r.Version
	if r.Version < 7 {
		resp.Protocol = new(string)
	}
	return resp
}

func refuseStreamsMember(r *wire.Request, lacks need) kmsg.Response {
	resp := refuseStreams(&refusal{code: lacks.code()})
	resp.Version = r.Version
	return resp
}

func refuseOffsetCommit(r *wire.Request, lacks need) kmsg.Response {
	resp := respond[*kmsg.OffsetCommitResponse](r)
	resp.Topics = commitRefused(r.Body.(*kmsg.OffsetCommitRequest).Topics, lacks.code())
	return resp
}

func refuseTxnOffsetCommit(r *wire.Request, lacks need) kmsg.Response {
	resp := respond[*kmsg.TxnOffsetCommitResponse](r)
	for _, t := range r.Body.(*kmsg.TxnOffsetCommitRequest).Topics {
		topic := kmsg.NewTxnOffsetCommitResponseTopic()
		topic.Topic = t.Topic
		for _, p := range t.Partitions {
			topic.Partitions = append(topic.Partitions, kmsg.TxnOffsetCommitResponseTopicPartition{Partition: p.Partition, ErrorCode: lacks.code()})
		}
		resp.Topics = append(resp.Topics, topic)
	}
	return resp
}

func refuseTxnPartitions(r *wire.Request, lacks need) kmsg.Response {
	resp := respond[*kmsg.AddPartitionsToTxnResponse](r)
	if r.Version >= 4 {
		resp.ErrorCode = lacks.code()
		return resp
	}
	for _, t := range r.Body.(*kmsg.AddPartitionsToTxnRequest).Topics {
		topic := kmsg.NewAddPartitionsToTxnResponseTopic()
		topic.Topic = t.Topic
		for _, p := range t.Partitions {
			topic.Partitions = append(topic.Partitions, kmsg.AddPartitionsToTxnResponseTopicPartition{Partition: p, ErrorCode: lacks.code()})
		}
		resp.Topics = append(resp.Topics, topic)
	}
	return resp
}

func refuseTxnMarkers(r *wire.Request, lacks need) kmsg.Response {
	resp := respond[*kmsg.WriteTxnMarkersResponse](r)
	for _, m := range r.Body.(*kmsg.WriteTxnMarkersRequest).Markers {
		marker := kmsg.NewWriteTxnMarkersResponseMarker()
		marker.ProducerID = m.ProducerID
		for _, t := range m.Topics {
			topic := kmsg.NewWriteTxnMarkersResponseMarkerTopic()
			topic.Topic = t.Topic
			for _, p := range t.Partitions {
				topic.Partitions = append(topic.Partitions, kmsg.WriteTxnMarkersResponseMarkerTopicPartition{Partition: p, ErrorCode: lacks.code()})
			}
			marker.Topics = append(marker.Topics, topic)
		}
		resp.Markers = append(resp.Markers, marker)
	}
	return resp
}

func refuseCreateACLs(r *wire.Request, lacks need) kmsg.Response {
	resp := respond[*kmsg.CreateACLsResponse](r)
	for range r.Body.(*kmsg.CreateACLsRequest).Creations {
		resp.Results = append(resp.Results, kmsg.CreateACLsResponseResult{ErrorCode: lacks.code(), ErrorMessage: lacks.says()})
	}
	return resp
}

func refuseDeleteACLs(r *wire.Request, lacks need) kmsg.Response {
	resp := respond[*kmsg.DeleteACLsResponse](r)
	for range r.Body.(*kmsg.DeleteACLsRequest).Filters {
		resp.Results = append(resp.Results, kmsg.DeleteACLsResponseResult{ErrorCode: lacks.code(), ErrorMessage: lacks.says()})
	}
	return resp
}

func refuseAlterReplicaLogDirs(r *wire.Request, lacks need) kmsg.Response {
	resp := respond[*kmsg.AlterReplicaLogDirsResponse](r)
	for _, dir := range r.Body.(*kmsg.AlterReplicaLogDirsRequest).Dirs {
		for _, t := range dir.Topics {
			topic := kmsg.NewAlterReplicaLogDirsResponseTopic()
			topic.Topic = t.Topic
			for _, p := range t.Partitions {
				topic.Partitions = append(topic.Partitions, kmsg.AlterReplicaLogDirsResponseTopicPartition{Partition: p, ErrorCode: lacks.code()})
			}
			resp.Topics = append(resp.Topics, topic)
		}
	}
	return resp
}

func refuseElectLeaders(r *wire.Request, lacks need) kmsg.Response {
	resp := respond[*kmsg.ElectLeadersResponse](r)
	resp.ErrorCode = lacks.code()
	for _, t := range r.Body.(*kmsg.ElectLeadersRequest).Topics {
		topic := kmsg.NewElectLeadersResponseTopic()
		topic.Topic = t.Topic
		for _, p := range t.Partitions {
			topic.Partitions = append(topic.Partitions, kmsg.ElectLeadersResponseTopicPartition{
				Partition: p, ErrorCode: lacks.code(), ErrorMessage: lacks.says(),
			})
		}
		resp.Topics = append(resp.Topics, topic)
	}
	return resp
}

func refuseReassignments(r *wire.Request, lacks need) kmsg.Response {
	resp := respond[*kmsg.AlterPartitionAssignmentsResponse](r)
	resp.ErrorCode, resp.ErrorMessage = lacks.code(), lacks.says()
	for _, t := range r.Body.(*kmsg.AlterPartitionAssignmentsRequest).Topics {
		topic := kmsg.NewAlterPartitionAssignmentsResponseTopic()
		topic.Topic = t.Topic
		for _, p := range t.Partitions {
			partition := kmsg.NewAlterPartitionAssignmentsResponseTopicPartition()
			partition.Partition, partition.ErrorCode, partition.ErrorMessage = p.Partition, lacks.code(), lacks.says()
			topic.Partitions = append(topic.Partitions, partition)
		}
		resp.Topics = append(resp.Topics, topic)
	}
	return resp
}

func refuseListReassignments(r *wire.Request, lacks need) kmsg.Response {
	resp := respond[*kmsg.ListPartitionReassignmentsResponse](r)
	resp.ErrorCode, resp.ErrorMessage = lacks.code(), lacks.says()
	for _, t := range r.Body.(*kmsg.ListPartitionReassignmentsRequest).Topics {
		topic := kmsg.NewListPartitionReassignmentsResponseTopic()
		topic.Topic = t.Topic
		for _, p := range t.Partitions {
			partition := kmsg.NewListPartitionReassignmentsResponseTopicPartition()
			partition.Partition = p
			topic.Partitions = append(topic.Partitions, partition)
		}
		resp.Topics = append(resp.Topics, topic)
	}
	return resp
}

func refuseDescribeQuotas(r *wire.Request, lacks need) kmsg.Response {
	resp := respond[*kmsg.DescribeClientQuotasResponse](r)
	resp.ErrorCode, resp.Entries = lacks.code(), nil
	return resp
}

func refuseAlterQuotas(r *wire.Request, lacks need) kmsg.Response {
	resp := respond[*kmsg.AlterClientQuotasResponse](r)
	for _, e := range r.Body.(*kmsg.AlterClientQuotasRequest).Entries {
		entry := kmsg.NewAlterClientQuotasResponseEntry()
		entry.ErrorCode, entry.ErrorMessage = lacks.code(), lacks.text()
		for _, of := range e.Entity {
			entry.Entity = append(entry.Entity, kmsg.AlterClientQuotasResponseEntryEntity{Type: of.Type, Name: of.Name})
		}
		resp.Entries = append(resp.Entries, entry)
	}
	return resp
}

// refuseDescribeScram has a result for each user asked for, without its name.
func refuseDescribeScram(r *wire.Request, lacks need) kmsg.Response {
	resp := respond[*kmsg.DescribeUserSCRAMCredentialsResponse](r)
	resp.ErrorCode = lacks.code()
	for range r.Body.(*kmsg.DescribeUserSCRAMCredentialsRequest).Users {
		result := kmsg.NewDescribeUserSCRAMCredentialsResponseResult()
		result.ErrorCode = lacks.code()
		resp.Results = append(resp.Results, result)
	}
	return resp
}

// refuseAlterScram names each user once, in order.
func refuseAlterScram(r *wire.Request, lacks need) kmsg.Response {
	resp := respond[*kmsg.AlterUserSCRAMCredentialsResponse](r)
	for _, name := range scramUsersOf(r.Body.(*kmsg.AlterUserSCRAMCredentialsRequest)) {
		result := kmsg.NewAlterUserSCRAMCredentialsResponseResult()
		result.User, result.ErrorCode, result.ErrorMessage = name, lacks.code(), lacks.says()
		resp.Results = append(resp.Results, result)
	}
	return resp
}

// scramUsersOf are the users that a request names, each once, in order.
func scramUsersOf(req *kmsg.AlterUserSCRAMCredentialsRequest) []string {
	var users []string
	for _, d := range req.Deletions {
		users = append(users, d.Name)
	}
	for _, u := range req.Upsertions {
		users = append(users, u.Name)
	}
	slices.Sort(users)
	return slices.Compact(users)
}
