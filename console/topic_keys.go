package console

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// describeTopicKeys asks for a few config keys of many topics, which kadm cannot: it asks for all keys.
func (k *kafka) describeTopicKeys(ctx context.Context, topics []string, keys ...string) (map[string]map[string]string, error) {
	req := kmsg.NewPtrDescribeConfigsRequest()
	for _, t := range topics {
		resource := kmsg.NewDescribeConfigsRequestResource()
		resource.ResourceType, resource.ResourceName, resource.ConfigNames = kmsg.ConfigResourceTypeTopic, t, keys
		req.Resources = append(req.Resources, resource)
	}
	resp, err := req.RequestWith(ctx, k.client)
	if err != nil {
		return nil, err
	}
	all := map[string]map[string]string{}
	for _, r := range resp.Resources {
		values := map[string]string{}
		for _, c := range r.Configs {
			if c.Value != nil {
				values[c.Name] = *c.Value
			}
		}
		all[r.ResourceName] = values
	}
	return all, nil
}
