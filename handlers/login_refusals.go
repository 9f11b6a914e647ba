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

// hasOutOfPlaceAnswer: nobody waits for an answer to Produce without acks; a filter of ACLs whose kinds are not known and lists that
// are null where Kafka counts on them are not even read.
func hasOutOfPlaceAnswer(body kmsg.Request) bool {
	switch req := body.(type) {
	case *kmsg.ProduceRequest:
		return req.Acks != 0 && hasRecords(req)
	case *kmsg.DescribeUserSCRAMCredentialsRequest:
		return req.Users != nil
	case *kmsg.DescribeACLsRequest:
		return req.ResourceType != 0 && req.Operation != 0 && req.PermissionType != 0 && (req.Version == 0 || req.ResourcePatternType != 0)
	}
	return true
}

func hasRecords(req *kmsg.ProduceRequest) bool {
	for _, t := range req.Topics {
		for _, p := range t.Partitions {
			if p.Records == nil {
				return false
			}
		}
	}
	return true
}

const illegalStateText = "Request is not valid given the current SASL state."

// namedByKafka are the APIs whose error has a text that names the API, by Kafka's names.
var namedByKafka = map[int16]string{
	0: "PRODUCE", 19: "CREATE_TOPICS", 29: "DESCRIBE_ACLS", 30: "CREATE_ACLS", 31: "DELETE_ACLS", 33: "ALTER_CONFIGS", 37: "CREATE_PARTITIONS",
	43: "ELECT_LEADERS", 44: "INCREMENTAL_ALTER_CONFIGS", 45: "ALTER_PARTITION_REASSIGNMENTS", 46: "LIST_PARTITION_REASSIGNMENTS",
	48: "DESCRIBE_CLIENT_QUOTAS", 50: "DESCRIBE_USER_SCRAM_CREDENTIALS", 51: "ALTER_USER_SCRAM_CREDENTIALS", 57: "UPDATE_FEATURES",
	60: "DESCRIBE_CLUSTER", 64: "UNREGISTER_BROKER", 90: "DESCRIBE_SHARE_GROUP_OFFSETS",
}

// plainText are the APIs whose error has the text of the code.
var plainText = map[int16]bool{10: true, 32: true, 49: true, 55: true, 80: true, 81: true, 91: true, 92: true}

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
	outOfPlaceList(r, resp)
	outOfPlaceRest(r, resp)
	outOfPlaceRecords(resp)
	return resp
}

// outOfPlaceRest is what some answers have besides; records and offsets are in outOfPlaceRecords.
func outOfPlaceRest(r *wire.Request, answer kmsg.Response) {
	switch resp := answer.(type) {
	case *kmsg.MetadataResponse:
		resp.ControllerID = -1
	case *kmsg.CreateTopicsResponse:
		for i := range resp.Topics {
			resp.Topics[i].Configs = []kmsg.CreateTopicsResponseTopicConfig{}
		}
	case *kmsg.InitProducerIDResponse:
		resp.ProducerEpoch = -1
	case *kmsg.CreateDelegationTokenResponse:
		outOfPlaceToken(resp)
	case *kmsg.StreamsGroupHeartbeatResponse:
		resp.Status = []kmsg.StreamsGroupHeartbeatResponseStatus{}
	case *kmsg.FindCoordinatorResponse:
		outOfPlaceCoordinators(resp)
	case *kmsg.AlterReplicaLogDirsResponse:
		for _, dir := range r.Body.(*kmsg.AlterReplicaLogDirsRequest).Dirs {
			mirror(reflect.ValueOf(dir.Topics), reflect.ValueOf(resp).Elem().FieldByName("Topics"), nil, true)
		}
	case *kmsg.AlterUserSCRAMCredentialsResponse:
		for _, user := range scramUsersOf(r.Body.(*kmsg.AlterUserSCRAMCredentialsRequest)) {
			result := kmsg.NewAlterUserSCRAMCredentialsResponseResult()
			result.User, result.ErrorCode, result.ErrorMessage = user, illegalSASLState, outOfPlaceText(r.Key)
			resp.Results = append(resp.Results, result)
		}
	}
}

func outOfPlaceToken(resp *kmsg.CreateDelegationTokenResponse) {
	resp.PrincipalType, resp.PrincipalName = "User", "ANONYMOUS"
	resp.TokenRequesterPrincipalType, resp.TokenRequesterPrincipalName = "User", "ANONYMOUS"
	resp.IssueTimestamp, resp.ExpiryTimestamp, resp.MaxTimestamp = -1, -1, -1
}

// outOfPlaceCoordinators: who there is none of has the address of nobody, alone or in the list of newer versions.
func outOfPlaceCoordinators(resp *kmsg.FindCoordinatorResponse) {
	resp.NodeID, resp.Port = -1, -1
	for i := range resp.Coordinators {
		resp.Coordinators[i].NodeID, resp.Coordinators[i].Port = -1, -1
	}
}
