package handlers

import (
	"context"
	"fmt"
	"math"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/wire"
)

// DescribeCluster (key 60), v0-v2 (KIP-700).
//
//	v1  endpoint type: 1 brokers, 2 controllers (KIP-919); a broker's listener knows only brokers
//	v2  fenced brokers: there are none
func (b *Broker) describeCluster(_ context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.DescribeClusterRequest)
	resp := respond[*kmsg.DescribeClusterResponse](r)
	resp.ClusterAuthorizedOperations = math.MinInt32
	switch {
	case req.Version >= 1 && req.EndpointType == 2:
		resp.ErrorCode = mismatchedEndpointType
		resp.ErrorMessage = text("The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER")
		resp.EndpointType = 1
		return resp, nil
	case req.Version >= 1 && req.EndpointType != 1:
		resp.ErrorCode = unsupportedEndpointType
		resp.ErrorMessage = text(fmt.Sprintf("Unsupported endpoint type %d", req.EndpointType))
		resp.EndpointType = 1
		return resp, nil
	}
	state, _ := b.view()
	host, port := r.Conn.Advertised()
	resp.ClusterID, resp.ControllerID, resp.EndpointType = state.ClusterID, b.nodeID, 1
	resp.Brokers = []kmsg.DescribeClusterResponseBroker{{NodeID: b.nodeID, Host: host, Port: port, Rack: b.rack()}}
	if req.IncludeClusterAuthorizedOperations {
		resp.ClusterAuthorizedOperations = b.access(r).clusterOperations()
	}
	return resp, nil
}

// rack is where the broker stands, as clients are told; nil when nobody said.
func (b *Broker) rack() *string {
	if rack, set := b.static.Get("broker.rack"); set {
		return &rack
	}
	return nil
}
