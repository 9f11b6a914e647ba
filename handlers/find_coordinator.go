package handlers

import (
	"context"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/acls"
	"doze/wire"
)

// FindCoordinator (key 10), v0-v6: who coordinates a group (type 0), a transactional id (1) or a share group's partition
// (2, since v6; KIP-932): always this broker, for any name.
//
//	v1  the type, a text for the error     v4  several keys (KIP-699)
func (b *Broker) findCoordinator(_ context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.FindCoordinatorRequest)
	resp := respond[*kmsg.FindCoordinatorResponse](r)
	host, port := r.Conn.Advertised()
	node, may := coordinatorNode{b.nodeID, host, port}, b.access(r)
	if req.Version < 4 {
		code := may.findCoordinator(req.CoordinatorType, req.CoordinatorKey, req.Version)
		found := node.answer(req.CoordinatorKey, code)
		resp.ErrorCode, resp.ErrorMessage = code, text(coordinatorText(code))
		resp.NodeID, resp.Host, resp.Port = found.NodeID, found.Host, found.Port
		return resp, nil
	}
	room := answerRoom(maxAnswerBytes)
	if !room.take(int64(len(req.CoordinatorKeys)) * int64(foundBytes+len(host))) {
		return nil, errAnswerTooLarge
	}
	resp.Coordinators = make([]kmsg.FindCoordinatorResponseCoordinator, len(req.CoordinatorKeys))
	for i, key := range req.CoordinatorKeys {
		code := may.findCoordinator(req.CoordinatorType, key, req.Version)
		if code == clusterAuthorizationFailed {
			return noCoordinators(req, resp, code), nil
		}
		resp.Coordinators[i] = node.answer(key, code)
		if unknownCoordinatorType(req.CoordinatorType) {
			resp.Coordinators[i].ErrorMessage = text(coordinatorText(code))
		}
	}
	return resp, nil
}

// findCoordinator says why a key has no coordinator for the caller.
func (a access) findCoordinator(kind int8, key string, version int16) int16 {
	switch {
	case kind == 0 && !a.may(acls.Describe, acls.Group, key):
		return groupAuthorizationFailed
	case kind == 1 && !a.may(acls.Describe, acls.TransactionalID, key):
		return transactionalIDAuthorizationFailed
	case kind == 2 && version >= 6 && !a.mayCluster(acls.ClusterAction):
		return clusterAuthorizationFailed
	}
	return checkCoordinatorKey(kind, key, version)
}

// noCoordinators refuses a request as a whole, in each of its keys.
func noCoordinators(req *kmsg.FindCoordinatorRequest, resp *kmsg.FindCoordinatorResponse, code int16) *kmsg.FindCoordinatorResponse {
	for i, key := range req.CoordinatorKeys {
		resp.Coordinators[i] = coordinatorNode{}.answer(key, code)
		resp.Coordinators[i].ErrorMessage = text(coordinatorText(code))
	}
	return resp
}

// foundBytes is what a key is reckoned to take while its request is answered.
const foundBytes = 256

type coordinatorNode struct {
	id   int32
	host string
	port int32
}

func (n coordinatorNode) answer(key string, code int16) kmsg.FindCoordinatorResponseCoordinator {
	out := kmsg.NewFindCoordinatorResponseCoordinator()
	out.Key, out.ErrorCode, out.ErrorMessage = key, code, text("")
	out.NodeID, out.Host, out.Port = n.id, n.host, n.port
	if code != none {
		out.NodeID, out.Host, out.Port = -1, "", -1
	}
	return out
}

// coordinatorText is what Kafka says beside the code, before version 4 even when there is no error.
func coordinatorText(code int16) string {
	switch code {
	case none:
		return "NONE"
	case groupAuthorizationFailed:
		return groupRefusedText
	case transactionalIDAuthorizationFailed:
		return "Transactional Id authorization failed."
	case clusterAuthorizationFailed:
		return clusterRefusedText
	}
	return "This most likely occurs because of a request being malformed by the client library or the message was sent to " +
		"an incompatible broker. See the broker logs for more details."
}

func unknownCoordinatorType(kind int8) bool { return kind < 0 || kind > 2 }

func checkCoordinatorKey(kind int8, key string, version int16) int16 {
	switch {
	case unknownCoordinatorType(kind),
		kind == 2 && (version < 6 || !validShareKey(key)),
		kind == 1 && len(key) > maxName:
		return invalidRequest
	case kind == 0 && len(key) > maxName:
		return invalidGroupID
	}
	return none
}

// validShareKey says whether the key is a group, a topic id and a partition, with colons between; only the group may
// itself have colons.
func validShareKey(key string) bool {
	parts := strings.Split(key, ":")
	if len(parts) < 3 {
		return false
	}
	group := strings.Join(parts[:len(parts)-2], ":")
	if strings.TrimSpace(group) == "" || !validTopicID(parts[len(parts)-2]) {
		return false
	}
	_, err := strconv.ParseInt(parts[len(parts)-1], 10, 32)
	return err == nil
}

// validTopicID says whether Kafka would read the text as an id: URL-safe base64 of 16 bytes, with or without padding.
func validTopicID(s string) bool {
	s = strings.TrimRight(s, "=")
	if len(s) != 22 {
		return false
	}
	for _, c := range s {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}
