package handlers

import (
	"errors"
	"reflect"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/wire"
)

// outOfPlace answers a request that came where a message of a login was due: an error in the request's own form, as far as
// it has a place for one, and the end of the connection. Some have no such answer.
func (s *login) outOfPlace(r *wire.Request) (wire.Reply, error) {
	why := errors.New(kmsg.NameForKey(r.Key) + " in the middle of a login")
	if r.Body == nil {
		r.Body = kmsg.NewPtrApiVersionsRequest()
		resp := kmsg.NewPtrApiVersionsResponse()
		resp.ErrorCode = illegalSASLState
		r.Version = 0
		return s.refuse(resp, why)
	}
	if !hasOutOfPlaceAnswer(r.Body) {
		return nil, why
	}
	return s.refuse(outOfPlaceAnswer(r), why)
}

// hasOutOfPlaceAnswer: a filter of ACLs whose kinds are not known is not even read.
func hasOutOfPlaceAnswer(body kmsg.Request) bool {
	switch req := body.(type) {
	case *kmsg.ProduceRequest, *kmsg.DescribeUserSCRAMCredentialsRequest:
		return false
	case *kmsg.DescribeACLsRequest:
		return req.ResourceType != 0 && req.Operation != 0 && req.PermissionType != 0 && (req.Version == 0 || req.ResourcePatternType != 0)
	}
	return true
}

const illegalStateText = "Request is not valid given the current SASL state."

// namedByKafka are the APIs whose error has a text that names the API, by Kafka's names.
var namedByKafka = map[int16]string{
	19: "CREATE_TOPICS", 29: "DESCRIBE_ACLS", 45: "ALTER_PARTITION_REASSIGNMENTS", 46: "LIST_PARTITION_REASSIGNMENTS", 48: "DESCRIBE_CLIENT_QUOTAS",
	57: "UPDATE_FEATURES", 60: "DESCRIBE_CLUSTER", 64: "UNREGISTER_BROKER",
}

// plainText are the APIs whose error has the text of the code.
var plainText = map[int16]bool{55: true, 80: true, 81: true, 91: true, 92: true}

func outOfPlaceText(key int16) *string {
	if name, named := namedByKafka[key]; named {
		return kmsg.StringPtr("Unexpected Kafka request of type " + name + " during SASL authentication.")
	}
	if plainText[key] {
		return kmsg.StringPtr(illegalStateText)
	}
	return nil
}

// outOfPlaceAnswer fills code and text of the answer as a whole, then of what was asked for where clients look there.
func outOfPlaceAnswer(r *wire.Request) kmsg.Response {
	resp := r.Body.ResponseKind()
	v := reflect.ValueOf(resp).Elem()
	if code := v.FieldByName("ErrorCode"); code.IsValid() {
		code.SetInt(int64(illegalSASLState))
	}
	if text := v.FieldByName("ErrorMessage"); text.IsValid() && text.Kind() == reflect.Pointer {
		text.Set(reflect.ValueOf(outOfPlaceText(r.Key)))
	}
	switch req := r.Body.(type) {
	case *kmsg.MetadataRequest:
		outOfPlaceMetadata(req, resp.(*kmsg.MetadataResponse))
	case *kmsg.CreateTopicsRequest:
		outOfPlaceTopics(req, resp.(*kmsg.CreateTopicsResponse))
	case *kmsg.ListOffsetsRequest:
		outOfPlaceOffsets(req, resp.(*kmsg.ListOffsetsResponse))
	case *kmsg.InitProducerIDRequest:
		resp.(*kmsg.InitProducerIDResponse).ProducerEpoch = -1
	case *kmsg.CreateDelegationTokenRequest:
		outOfPlaceToken(resp.(*kmsg.CreateDelegationTokenResponse))
	case *kmsg.StreamsGroupHeartbeatRequest:
		resp.(*kmsg.StreamsGroupHeartbeatResponse).Status = []kmsg.StreamsGroupHeartbeatResponseStatus{}
	case *kmsg.FindCoordinatorRequest:
		outOfPlaceCoordinators(req, resp.(*kmsg.FindCoordinatorResponse))
	}
	return resp
}

func outOfPlaceToken(resp *kmsg.CreateDelegationTokenResponse) {
	resp.PrincipalType, resp.PrincipalName = "User", "ANONYMOUS"
	resp.TokenRequesterPrincipalType, resp.TokenRequesterPrincipalName = "User", "ANONYMOUS"
	resp.IssueTimestamp, resp.ExpiryTimestamp, resp.MaxTimestamp = -1, -1, -1
}

func outOfPlaceMetadata(req *kmsg.MetadataRequest, resp *kmsg.MetadataResponse) {
	resp.ControllerID = -1
	for _, asked := range req.Topics {
		t := kmsg.NewMetadataResponseTopic()
		t.ErrorCode, t.Topic, t.TopicID = illegalSASLState, asked.Topic, asked.TopicID
		resp.Topics = append(resp.Topics, t)
	}
}

func outOfPlaceTopics(req *kmsg.CreateTopicsRequest, resp *kmsg.CreateTopicsResponse) {
	for _, asked := range req.Topics {
		t := kmsg.NewCreateTopicsResponseTopic()
		t.Topic, t.ErrorCode, t.ErrorMessage, t.Configs = asked.Topic, illegalSASLState, outOfPlaceText(req.Key()), []kmsg.CreateTopicsResponseTopicConfig{}
		resp.Topics = append(resp.Topics, t)
	}
}

func outOfPlaceOffsets(req *kmsg.ListOffsetsRequest, resp *kmsg.ListOffsetsResponse) {
	for _, asked := range req.Topics {
		t := kmsg.NewListOffsetsResponseTopic()
		t.Topic = asked.Topic
		for _, p := range asked.Partitions {
			of := kmsg.NewListOffsetsResponseTopicPartition()
			of.Partition, of.ErrorCode = p.Partition, illegalSASLState
			t.Partitions = append(t.Partitions, of)
		}
		resp.Topics = append(resp.Topics, t)
	}
}

func outOfPlaceCoordinators(req *kmsg.FindCoordinatorRequest, resp *kmsg.FindCoordinatorResponse) {
	for _, key := range req.CoordinatorKeys {
		c := kmsg.NewFindCoordinatorResponseCoordinator()
		c.Key, c.NodeID, c.Port, c.ErrorCode, c.ErrorMessage = key, -1, -1, illegalSASLState, kmsg.StringPtr(illegalStateText)
		resp.Coordinators = append(resp.Coordinators, c)
	}
}
