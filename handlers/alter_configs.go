package handlers

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/wire"
)

// AlterConfigs (key 33), v0-v2: makes the given values all that a resource has set; what is not given is removed. The older
// of two ways: a client that reads, changes and writes back loses what another wrote in between, and every sensitive value.
//
// Resources succeed and fail one by one, in the order of the request; those that succeed are one entry of the journal.
func (b *Broker) alterConfigs(ctx context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.AlterConfigsRequest)
	resources := make([]alteredResource, len(req.Resources))
	for i, asked := range req.Resources {
		resources[i] = alteredResource{kind: int8(asked.ResourceType), name: asked.ResourceName, whole: true}
		for _, c := range asked.Configs {
			resources[i].ops = append(resources[i].ops, configOp{c.Name, opSet, c.Value})
		}
	}
	resp := respond[*kmsg.AlterConfigsResponse](r)
	for i, no := range b.alterResources(ctx, r, req.ValidateOnly, resources) {
		altered := kmsg.NewAlterConfigsResponseResource()
		altered.ResourceType, altered.ResourceName = req.Resources[i].ResourceType, req.Resources[i].ResourceName
		if no != nil {
			altered.ErrorCode, altered.ErrorMessage = no.code, no.message
		}
		resp.Resources = append(resp.Resources, altered)
	}
	return resp, nil
}
