package handlers

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/acls"
	"doze/wire"
)

// permission is what an API asks of its caller, as KafkaApis of 4.3.1 does.
type permission struct {
	key int16
	// needs are what the caller must be allowed before the handler is called; nil: the handler asks, or nobody does.
	needs func(kmsg.Request) []need
	// refuse is the answer to a caller that lacks one of them.
	refuse refuser
	// inside is what the handler asks by itself, resource by resource: for people.
	inside string
}

// need is an operation on one resource.
type need struct {
	operation acls.Operation
	resource  acls.ResourceType
	name      string
	or        acls.Operation // another operation that does as well; 0: none
}

// permissions is the one list of what every API needs, in the order of apis. APIs that other tables do not have yet have
// their row already: an API is asked for what stands here from the moment that it is served. An API without a row is not
// served at all (a test says so at once).
var permissions = []permission{
	{key: 0, inside: "WRITE on TRANSACTIONAL_ID of a transactional batch, WRITE on TOPIC"},
	{key: 1, inside: "READ on TOPIC"},
	{key: 2, inside: "DESCRIBE on TOPIC"},
	{key: 3, inside: "DESCRIBE on TOPIC, to create one CREATE on CLUSTER or TOPIC; DESCRIBE on CLUSTER for its operations"},
	{key: 8, needs: ofGroup(acls.Read), refuse: refuseOffsetCommit, inside: "READ on TOPIC"},
	{key: 9, inside: "DESCRIBE on GROUP, DESCRIBE on TOPIC"},
	{key: 10, inside: "DESCRIBE on GROUP or TRANSACTIONAL_ID, CLUSTER_ACTION on CLUSTER for a share partition"},
	{key: 11, needs: ofGroup(acls.Read), refuse: refuseJoinGroup},
	{key: 12, needs: ofGroup(acls.Read), refuse: refuseWithCode},
	{key: 13, needs: ofGroup(acls.Read), refuse: refuseWithCode},
	{key: 14, needs: ofSyncGroup, refuse: refuseWithCode},
	{key: 15, inside: "DESCRIBE on GROUP"},
	{key: 16, inside: "DESCRIBE on CLUSTER, or those groups with DESCRIBE on GROUP"},
	{key: 17},
	{key: 18},
	{key: 19, inside: "CREATE on CLUSTER or TOPIC; DESCRIBE_CONFIGS on TOPIC to be told its configs"},
	{key: 20, inside: "DELETE on CLUSTER or TOPIC; DESCRIBE on TOPIC to be told of it"},
	{key: 21, inside: "DELETE on TOPIC"},
	{key: 22, inside: "WRITE on TRANSACTIONAL_ID; without one IDEMPOTENT_WRITE on CLUSTER, or WRITE on any TOPIC"},
	{key: 23, inside: "DESCRIBE on TOPIC"},
	{key: 24, needs: ofTxnPartitions, refuse: refuseTxnPartitions, inside: "WRITE on TOPIC before v4"},
	{key: 25, needs: ofTxnAndGroup, refuse: refuseWithCode},
	{key: 26, needs: ofTxn, refuse: refuseWithCode},
	{key: 27, needs: ofTxnMarkers, refuse: refuseTxnMarkers},
	{key: 28, needs: ofTxnAndGroup, refuse: refuseTxnOffsetCommit, inside: "READ on TOPIC"},
	{key: 29, needs: ofCluster(acls.Describe), refuse: refuseWithNeed},
	{key: 30, needs: ofCluster(acls.Alter), refuse: refuseCreateACLs},
	{key: 31, needs: ofCluster(acls.Alter), refuse: refuseDeleteACLs},
	{key: 32, inside: "DESCRIBE_CONFIGS on TOPIC, GROUP or CLUSTER"},
	{key: 33, inside: "ALTER_CONFIGS on TOPIC, GROUP or CLUSTER"},
	{key: 34, needs: ofCluster(acls.Alter), refuse: refuseAlterReplicaLogDirs},
	{key: 35, needs: ofCluster(acls.Describe), refuse: refuseWithCode},
	{key: 36},
	{key: 37, inside: "ALTER on TOPIC"},
	{key: 38, inside: "CREATE_TOKENS on USER of another owner"},
	{key: 39},
	{key: 40},
	{key: 41, inside: "DESCRIBE on DELEGATION_TOKEN, or DESCRIBE_TOKENS on USER"},
	{key: 42, inside: "DELETE on GROUP"},
	{key: 43, needs: ofCluster(acls.Alter), refuse: refuseElectLeaders},
	{key: 44, inside: "ALTER_CONFIGS on TOPIC, GROUP or CLUSTER"},
	{key: 45, needs: ofCluster(acls.Alter), refuse: refuseReassignments},
	{key: 46, needs: ofCluster(acls.Describe), refuse: refuseListReassignments},
	{key: 47, needs: ofGroup(acls.Delete), refuse: refuseWithCode, inside: "READ on TOPIC"},
	{key: 48, needs: ofCluster(acls.DescribeConfigs), refuse: refuseDescribeQuotas},
	{key: 49, needs: ofCluster(acls.AlterConfigs), refuse: refuseAlterQuotas},
	{key: 50, needs: ofCluster(acls.Describe), refuse: refuseDescribeScram},
	{key: 51, needs: ofCluster(acls.Alter), refuse: refuseAlterScram},
	{key: 55, needs: ofCluster(acls.Describe), refuse: refuseWithText},
	{key: 57, needs: ofCluster(acls.Alter), refuse: refuseWithNeed},
	{key: 60, inside: "DESCRIBE on CLUSTER for its operations"},
	{key: 61, inside: "READ on TOPIC"},
	{key: 64, needs: ofCluster(acls.Alter), refuse: refuseWithNeed},
	{key: 65, inside: "DESCRIBE on TRANSACTIONAL_ID, DESCRIBE on TOPIC"},
	{key: 66, inside: "DESCRIBE on TRANSACTIONAL_ID"},
	{key: 68, needs: ofGroup(acls.Read), refuse: refuseWithCode, inside: "DESCRIBE on TOPIC"},
	{key: 69, inside: "DESCRIBE on GROUP, DESCRIBE on TOPIC"},
	{key: 71},
	{key: 72},
	{key: 74, needs: ofCluster(acls.DescribeConfigs), refuse: refuseWithCode},
	{key: 75, inside: "DESCRIBE on TOPIC"},
	{key: 76, needs: ofGroup(acls.Read), refuse: refuseWithCode, inside: "DESCRIBE on TOPIC"},
	{key: 77, inside: "DESCRIBE on GROUP, DESCRIBE on TOPIC"},
	{key: 78, needs: ofNamedGroup(acls.Read), refuse: refuseWithCode, inside: "READ on TOPIC"},
	{key: 79, needs: ofNamedGroup(acls.Read), refuse: refuseWithCode, inside: "READ on TOPIC"},
	{key: 80, needs: ofCluster(acls.Alter), refuse: refuseWithText},
	{key: 81, needs: ofCluster(acls.Alter), refuse: refuseWithText},
	{key: 88, needs: ofGroup(acls.Read), refuse: refuseStreamsMember, inside: "DESCRIBE on TOPIC; CREATE on CLUSTER or TOPIC for its internal topics"},
	{key: 89, inside: "DESCRIBE on GROUP, DESCRIBE on TOPIC"},
	{key: 90, inside: "DESCRIBE on GROUP, DESCRIBE on TOPIC"},
	{key: 91, needs: ofGroup(acls.Read), refuse: refuseWithText, inside: "READ on TOPIC"},
	{key: 92, needs: ofGroup(acls.Delete), refuse: refuseWithText, inside: "READ on TOPIC"},
}

// permissionOf is an API's row.
func permissionOf(key int16) (permission, bool) {
	for _, p := range permissions {
		if p.key == key {
			return p, true
		}
	}
	return permission{}, false
}

// guard puts the question of a row before its handler. Without an authorizer it is the handler itself.
func (b *Broker) guard(key int16, handle wire.Handle) wire.Handle {
	row, _ := permissionOf(key)
	if b.authorizer == nil || row.needs == nil {
		return handle
	}
	return func(ctx context.Context, r *wire.Request) (wire.Reply, error) {
		if refused := b.access(r).first(row.needs(r.Body)); refused != nil {
			return row.refuse(r, *refused), nil
		}
		return handle(ctx, r)
	}
}

// first is the first need that the caller lacks.
func (a access) first(needs []need) *need {
	for i, n := range needs {
		if !a.may(n.operation, n.resource, n.name) && (n.or == 0 || !a.may(n.or, n.resource, n.name)) {
			return &needs[i]
		}
	}
	return nil
}

func ofCluster(o acls.Operation) func(kmsg.Request) []need {
	needs := []need{{operation: o, resource: acls.Cluster, name: acls.ClusterName}}
	return func(kmsg.Request) []need { return needs }
}

func ofTxnMarkers(kmsg.Request) []need {
	return []need{{operation: acls.Alter, or: acls.ClusterAction, resource: acls.Cluster, name: acls.ClusterName}}
}

// ofGroup is an operation on the group that the request names.
func ofGroup(o acls.Operation) func(kmsg.Request) []need {
	return func(body kmsg.Request) []need {
		return []need{{operation: o, resource: acls.Group, name: groupOf(body)}}
	}
}

// ofNamedGroup is ofGroup when the request names one: without, its handler refuses it.
func ofNamedGroup(o acls.Operation) func(kmsg.Request) []need {
	return func(body kmsg.Request) []need {
		if name := groupOf(body); name != "" {
			return []need{{operation: o, resource: acls.Group, name: name}}
		}
		return nil
	}
}

// ofSyncGroup needs nothing of a request of v5 without a protocol: its handler refuses that first.
func ofSyncGroup(body kmsg.Request) []need {
	if r := body.(*kmsg.SyncGroupRequest); r.Version >= 5 && (r.Protocol == nil || r.ProtocolType == nil) {
		return nil
	}
	return []need{{operation: acls.Read, resource: acls.Group, name: groupOf(body)}}
}

func groupOf(body kmsg.Request) string {
	switch r := body.(type) {
	case *kmsg.OffsetCommitRequest:
		return r.Group
	case *kmsg.JoinGroupRequest:
		return r.Group
	case *kmsg.HeartbeatRequest:
		return r.Group
	case *kmsg.LeaveGroupRequest:
		return r.Group
	case *kmsg.SyncGroupRequest:
		return r.Group
	case *kmsg.OffsetDeleteRequest:
		return r.Group
	case *kmsg.ConsumerGroupHeartbeatRequest:
		return r.Group
	case *kmsg.ShareGroupHeartbeatRequest:
		return r.GroupID
	case *kmsg.ShareFetchRequest:
		return deref(r.GroupID)
	case *kmsg.ShareAcknowledgeRequest:
		return deref(r.GroupID)
	case *kmsg.StreamsGroupHeartbeatRequest:
		return r.Group
	case *kmsg.AlterShareGroupOffsetsRequest:
		return r.GroupID
	case *kmsg.DeleteShareGroupOffsetsRequest:
		return r.GroupID
	}
	return ""
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func ofTxn(body kmsg.Request) []need {
	id, _ := txnOf(body)
	return []need{{operation: acls.Write, resource: acls.TransactionalID, name: id}}
}

// ofTxnPartitions: from v4 on it is a request of brokers.
func ofTxnPartitions(body kmsg.Request) []need {
	if body.GetVersion() >= 4 {
		return []need{{operation: acls.ClusterAction, resource: acls.Cluster, name: acls.ClusterName}}
	}
	return []need{{operation: acls.Write, resource: acls.TransactionalID, name: body.(*kmsg.AddPartitionsToTxnRequest).TransactionalID}}
}

func ofTxnAndGroup(body kmsg.Request) []need {
	_, group := txnOf(body)
	return append(ofTxn(body), need{operation: acls.Read, resource: acls.Group, name: group})
}

// txnOf is the transactional id of a request, and the group whose offsets it is about.
func txnOf(body kmsg.Request) (id, group string) {
	switch r := body.(type) {
	case *kmsg.AddOffsetsToTxnRequest:
		return r.TransactionalID, r.Group
	case *kmsg.TxnOffsetCommitRequest:
		return r.TransactionalID, r.Group
	case *kmsg.EndTxnRequest:
		return r.TransactionalID, ""
	}
	return "", ""
}
