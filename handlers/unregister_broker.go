package handlers

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/wire"
)

// UnregisterBroker (key 64), v0 (KIP-631): takes a broker that is gone out of the cluster.
//
// Kafka takes out also the one broker that there is, and has a cluster without brokers until the next start; doze refuses that
// (docs/differences.md). An authorizer asks for ALTER on the cluster.
func (b *Broker) unregisterBroker(_ context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.UnregisterBrokerRequest)
	resp := respond[*kmsg.UnregisterBrokerResponse](r)
	if req.BrokerID == b.nodeID {
		resp.ErrorCode = invalidRequest
		resp.ErrorMessage = text(fmt.Sprintf("Broker %d is the only one: without it nothing would answer until the next start. "+
			"Stop the process to take it away.", b.nodeID))
		return resp, nil
	}
	resp.ErrorCode = brokerIDNotRegistered
	resp.ErrorMessage = text(fmt.Sprintf("Broker ID %d is not currently registered", req.BrokerID))
	return resp, nil
}
