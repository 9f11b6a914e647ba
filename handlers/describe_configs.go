package handlers

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/acls"
	"doze/configs"
	"doze/projections"
	"doze/wire"
)

// DescribeConfigs (key 32), v1-v4.
//
//	v1  synonyms on demand, and the source of each value
//	v3  documentation on demand, and the type of each value
//
// A resource may be asked for twice and is answered twice; names of keys pick among its keys, and one that it does not have
// is passed over. Groups and client-metrics subscriptions need not exist. Keys come in name order, where Kafka walks a hash
// map (docs/differences.md). An unknown kind of resource fails the whole request.
func (b *Broker) describeConfigs(_ context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.DescribeConfigsRequest)
	resp := respond[*kmsg.DescribeConfigsResponse](r)
	if slices.ContainsFunc(req.Resources, unknownConfigResource) {
		no := refuse(invalidRequest, malformedRequest)
		for _, asked := range req.Resources {
			resp.Resources = append(resp.Resources, configsNotDescribed(asked, no))
		}
		return resp, nil
	}
	state, _ := b.view()
	room, may := answerRoom(maxAnswerBytes), b.access(r)
	resources, hidden := req.Resources, []kmsg.DescribeConfigsRequestResource(nil)
	if may.guarded() {
		resources = nil
		for _, asked := range req.Resources {
			if may.configs(acls.DescribeConfigs, int8(asked.ResourceType), asked.ResourceName) == nil {
				resources = append(resources, asked)
			} else {
				hidden = append(hidden, asked)
			}
		}
	}
	for _, asked := range resources {
		entries, no := b.configEntries(state, int8(asked.ResourceType), asked.ResourceName)
		if no != nil {
			resp.Resources = append(resp.Resources, configsNotDescribed(asked, no))
			continue
		}
		described := describedConfigs(req, asked, entries)
		if !room.take(configsAnswerBytes(&described)) {
			return nil, errAnswerTooLarge
		}
		resp.Resources = append(resp.Resources, described)
	}
	for _, asked := range hidden {
		no := may.configs(acls.DescribeConfigs, int8(asked.ResourceType), asked.ResourceName)
		resp.Resources = append(resp.Resources, configsNotDescribed(asked, no))
	}
	return resp, nil
}

// configs says why the caller may not describe or alter the configs of a resource: those of brokers, their loggers and
// subscriptions of client metrics are the cluster's.
func (a access) configs(o acls.Operation, kind int8, name string) *refusal {
	t, of, message := acls.Cluster, acls.ClusterName, clusterRefusedText
	switch kind {
	case projections.TopicResource:
		t, of, message = acls.Topic, name, topicRefusedText
	case projections.GroupResource:
		t, of, message = acls.Group, name, groupRefusedText
	}
	if a.may(o, t, of) {
		return nil
	}
	return refuse(refusedCode(t), message)
}

// configsAnswerBytes is about what the configs of a resource take in an answer.
func configsAnswerBytes(r *kmsg.DescribeConfigsResponseResource) int64 {
	const each = 200
	n := each
	for i := range r.Configs {
		c := &r.Configs[i]
		n += each + each*len(c.ConfigSynonyms)
		if c.Value != nil {
			n += len(*c.Value) * (1 + len(c.ConfigSynonyms))
		}
		if c.Documentation != nil {
			n += len(*c.Documentation)
		}
	}
	return int64(n)
}

func unknownConfigResource(asked kmsg.DescribeConfigsRequestResource) bool {
	switch int8(asked.ResourceType) {
	case projections.TopicResource, projections.BrokerResource, projections.BrokerLoggerResource,
		projections.ClientMetricsResource, projections.GroupResource:
		return false
	}
	return true
}

func configsNotDescribed(asked kmsg.DescribeConfigsRequestResource, why *refusal) kmsg.DescribeConfigsResponseResource {
	resource := kmsg.NewDescribeConfigsResponseResource()
	resource.ResourceType, resource.ResourceName = asked.ResourceType, asked.ResourceName
	resource.ErrorCode, resource.ErrorMessage = why.code, why.message
	resource.Configs = []kmsg.DescribeConfigsResponseResourceConfig{}
	return resource
}

func describedConfigs(req *kmsg.DescribeConfigsRequest, asked kmsg.DescribeConfigsRequestResource, entries []configs.Entry) kmsg.DescribeConfigsResponseResource {
	resource := kmsg.NewDescribeConfigsResponseResource()
	resource.ResourceType, resource.ResourceName = asked.ResourceType, asked.ResourceName
	resource.ErrorMessage = text("") // where others send null
	resource.Configs = []kmsg.DescribeConfigsResponseResourceConfig{}
	for _, e := range entries {
		if len(asked.ConfigNames) == 0 || slices.Contains(asked.ConfigNames, e.Name) {
			resource.Configs = append(resource.Configs, describedConfig(req, e))
		}
	}
	return resource
}

func describedConfig(req *kmsg.DescribeConfigsRequest, e configs.Entry) kmsg.DescribeConfigsResponseResourceConfig {
	config := kmsg.NewDescribeConfigsResponseResourceConfig()
	config.Name, config.Value, config.ReadOnly, config.IsSensitive = e.Name, e.Value, e.ReadOnly, e.Sensitive
	config.Source, config.ConfigType = kmsg.ConfigSource(e.Source), kmsg.ConfigType(e.Type)
	switch {
	case e.Source == configs.DynamicBrokerLogger:
		config.Documentation = text("") // asked for or not, where others send null
	case req.IncludeDocumentation && e.Doc == "":
		config.Documentation = text(configs.DocOfOther(e.Name))
	case req.IncludeDocumentation:
		config.Documentation = &e.Doc
	}
	if !req.IncludeSynonyms {
		return config
	}
	for _, s := range e.Synonyms {
		synonym := kmsg.NewDescribeConfigsResponseResourceConfigConfigSynonym()
		synonym.Name, synonym.Value, synonym.Source = s.Name, s.Value, kmsg.ConfigSource(s.Source)
		config.ConfigSynonyms = append(config.ConfigSynonyms, synonym)
	}
	return config
}

// configEntries are the keys of a resource, or why it cannot be described.
func (b *Broker) configEntries(state *projections.State, resourceType int8, name string) ([]configs.Entry, *refusal) {
	switch resourceType {
	case projections.TopicResource:
		if why := invalidTopicName(name); why != "" {
			return nil, refuse(invalidTopicException, why)
		}
		if state.Topics.Named(name) == nil {
			return nil, refuse(unknownTopicOrPartition, "")
		}
		return b.settings(state).DescribeTopic(state.Configs.Map(resourceType, name)), nil
	case projections.BrokerResource:
		if name == "" {
			return b.settings(state).DescribeCluster(), nil
		}
		if no := b.describableBroker(name, "Unexpected broker id, expected %d or empty string, but received %s"); no != nil {
			return nil, no
		}
		return b.settings(state).DescribeBroker(), nil
	case projections.BrokerLoggerResource:
		if name == "" {
			return nil, refuse(invalidRequest, "Broker id must not be empty")
		}
		if no := b.describableBroker(name, "Unexpected broker id, expected %d but received %s"); no != nil {
			return nil, no
		}
		return b.loggers.entries(), nil
	case projections.ClientMetricsResource:
		if name == "" {
			return nil, refuse(invalidRequest, "Client metrics subscription name must not be empty")
		}
		return configs.DescribeClientMetrics(state.Configs.Map(resourceType, name)), nil
	}
	if name == "" {
		return nil, refuse(invalidRequest, "Group name must not be empty")
	}
	return b.settings(state).DescribeGroup(state.Configs.Map(resourceType, name)), nil
}

// describableBroker refuses a name that is not this broker's number; other is the text for another broker's.
func (b *Broker) describableBroker(name, other string) *refusal {
	id, err := strconv.ParseInt(name, 10, 32)
	switch {
	case err != nil:
		return refuse(invalidRequest, "Broker id must be an integer, but it is: "+name)
	case int32(id) != b.nodeID:
		return refuse(invalidRequest, fmt.Sprintf(other, b.nodeID, name))
	}
	return nil
}
