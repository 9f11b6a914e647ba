package handlers

import (
	"context"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/projections"
	"doze/wire"
)

// listedResources are the kinds that can be listed, in the order of the answer.
var listedResources = []int8{projections.GroupResource, projections.ClientMetricsResource, projections.BrokerLoggerResource,
	projections.BrokerResource, projections.TopicResource}

// ListConfigResources (key 74), v0-v1: the resources that have, or could be asked for, configs.
//
//	v0  client-metrics subscriptions alone (KIP-714, under the name ListClientMetricsResources)
//	v1  any kinds, all when none is named (KIP-1142)
//
// Groups and subscriptions are those with a value set; brokers and topics are all there are. Names of one kind come in
// name order.
func (b *Broker) listConfigResources(_ context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.ListConfigResourcesRequest)
	resp := respond[*kmsg.ListConfigResourcesResponse](r)
	resp.ConfigResources = []kmsg.ListConfigResourcesResponseConfigResource{}
	served := listedResources
	if r.Version == 0 {
		served = []int8{projections.ClientMetricsResource}
	}
	asked := served
	if len(req.ResourceTypes) > 0 {
		asked = req.ResourceTypes
	}
	for _, kind := range asked {
		if !slices.Contains(served, kind) {
			resp.ErrorCode = unsupportedVersion
			return resp, nil
		}
	}
	state, _ := b.view()
	for _, kind := range listedResources {
		if !slices.Contains(asked, kind) {
			continue
		}
		for name := range b.configResources(state, kind) {
			resource := kmsg.NewListConfigResourcesResponseConfigResource()
			resource.Name, resource.Type = name, kind
			resp.ConfigResources = append(resp.ConfigResources, resource)
		}
	}
	return resp, nil
}

// configResources yields the names of the resources of a kind, in name order.
func (b *Broker) configResources(state *projections.State, kind int8) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		switch kind {
		case projections.BrokerResource, projections.BrokerLoggerResource:
			yield(b.nodeName)
		case projections.TopicResource:
			state.Topics.Each("", func(t *projections.Topic) bool { return yield(t.Name) })
		default:
			state.Configs.Resources(kind, yield)
		}
	}
}
