package handlers

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/wire"
)

// IncrementalAlterConfigs (key 44), v0-v1: sets and deletes single values of a resource, and appends to and subtracts from
// those that are lists (KIP-339). It also sets the levels of loggers (KIP-412), which are not kept over a restart.
//
// Resources succeed and fail one by one, in the order of the request; those that succeed are one entry of the journal.
func (b *Broker) incrementalAlterConfigs(ctx context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.IncrementalAlterConfigsRequest)
	resources := make([]alteredResource, len(req.Resources))
	for i, asked := range req.Resources {
		resources[i] = alteredResource{kind: int8(asked.ResourceType), name: asked.ResourceName}
		for _, c := range asked.Configs {
			resources[i].ops = append(resources[i].ops, configOp{c.Name, opKind(c.Op), c.Value})
		}
	}
	resp := respond[*kmsg.IncrementalAlterConfigsResponse](r)
	for i, no := range b.alterResources(ctx, r, req.ValidateOnly, resources) {
		altered := kmsg.NewIncrementalAlterConfigsResponseResource()
		altered.ResourceType, altered.ResourceName = req.Resources[i].ResourceType, req.Resources[i].ResourceName
		if no != nil {
			altered.ErrorCode, altered.ErrorMessage = no.code, no.message
		}
		resp.Resources = append(resp.Resources, altered)
	}
	return resp, nil
}
