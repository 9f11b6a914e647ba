package handlers

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/projections"
	"doze/wire"
)

// AddRaftVoter (key 80), v0-v1 (KIP-853): another controller for the quorum.
//
//	v1  answered when it is committed, or at once
//
// Looked at in this order: the cluster's id, the voter, its listeners, kraft.version, whether the voter is there already. One
// that passes would have to be asked for its versions: doze is alone and asks nobody, so it answers what Kafka answers when
// nobody is at the address. An authorizer asks for ALTER on the cluster.
func (b *Broker) addRaftVoter(_ context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.AddRaftVoterRequest)
	resp := respond[*kmsg.AddRaftVoterResponse](r)
	no := b.voterNotAdded(req)
	resp.ErrorCode, resp.ErrorMessage = no.code, no.message
	return resp, nil
}

func (b *Broker) voterNotAdded(req *kmsg.AddRaftVoterRequest) *refusal {
	state, _ := b.view()
	voter := voterKey{req.VoterID, req.VoterDirectoryID}
	switch {
	case req.ClusterID != nil && *req.ClusterID != state.ClusterID:
		return otherCluster(*req.ClusterID, state)
	case !voter.valid():
		return refuse(invalidRequest, "Add voter request didn't include a valid voter")
	case !b.hasControllerListener(req):
		return refuse(invalidRequest, fmt.Sprintf("Add voter request didn't include the endpoint (Endpoints(endpoints={%s})) for the default listener ListenerName(%s)",
			endpoints(req), b.controllerListener()))
	case b.profile.level(state, kraftVersion) < 1:
		return refuse(unsupportedVersion, "Cluster doesn't support adding voter because the kraft.version feature is 0")
	case voter.id == b.nodeID:
		return refuse(duplicateVoter, fmt.Sprintf("The voter id for %s is already part of the set of voters [%s].", voter, b.voter(state)))
	}
	return refuse(requestTimedOut, "Aborted add voter operation for since API_VERSIONS returned an error BROKER_NOT_AVAILABLE")
}

// RemoveRaftVoter (key 81), v0 (KIP-853): a controller less in the quorum. The last one cannot go. What is looked at, as for
// AddRaftVoter, but for listeners.
func (b *Broker) removeRaftVoter(_ context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.RemoveRaftVoterRequest)
	resp := respond[*kmsg.RemoveRaftVoterResponse](r)
	no := b.voterNotRemoved(req)
	resp.ErrorCode, resp.ErrorMessage = no.code, no.message
	return resp, nil
}

func (b *Broker) voterNotRemoved(req *kmsg.RemoveRaftVoterRequest) *refusal {
	state, _ := b.view()
	voter := voterKey{req.VoterID, req.VoterDirectoryID}
	switch {
	case req.ClusterID != nil && *req.ClusterID != state.ClusterID:
		return otherCluster(*req.ClusterID, state)
	case !voter.valid():
		return refuse(invalidRequest, "Remove voter request didn't include a valid voter")
	case b.profile.level(state, kraftVersion) < 1:
		return refuse(unsupportedVersion, "Cluster doesn't support removing voter because the kraft.version feature is 0")
	}
	return refuse(voterNotFound, fmt.Sprintf("Cannot remove voter %s from the set of voters [%s]", voter, b.voter(state)))
}

// voterKey names a voter: a node, and the directory in which it keeps its log.
type voterKey struct {
	id        int32
	directory [16]byte
}

func (b *Broker) voter(state *projections.State) voterKey {
	return voterKey{b.nodeID, voterDirectory(state)}
}

func (k voterKey) valid() bool { return k.id >= 0 && k.directory != [16]byte{} }

// String is the key as Kafka prints it.
func (k voterKey) String() string {
	return fmt.Sprintf("ReplicaKey(id=%d, directoryId=%s)", k.id, base64.RawURLEncoding.EncodeToString(k.directory[:]))
}

func otherCluster(asked string, state *projections.State) *refusal {
	return refuse(inconsistentClusterID, "The given id \""+asked+"\" doesn't match the cluster id \""+state.ClusterID+"\"")
}

func (b *Broker) hasControllerListener(req *kmsg.AddRaftVoterRequest) bool {
	for _, l := range req.Listeners {
		if strings.EqualFold(l.Name, b.controllerListener()) {
			return true
		}
	}
	return false
}

// maxEndpoints is how many listeners of a request are printed.
const maxEndpoints = 10

// endpoints are the listeners of a request as Kafka prints them.
func endpoints(req *kmsg.AddRaftVoterRequest) string {
	var all []string
	for _, l := range req.Listeners[:min(len(req.Listeners), maxEndpoints)] {
		all = append(all, fmt.Sprintf("ListenerName(%s)=%s/<unresolved>:%d", strings.ToUpper(l.Name), l.Host, l.Port))
	}
	return strings.Join(all, ", ")
}
