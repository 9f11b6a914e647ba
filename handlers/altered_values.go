package handlers

import (
	"maps"
	"slices"

	"doze/configs"
	"doze/journal"
	"doze/projections"
)

// checkValues is what Kafka's controller looks at: the name, the values, then whether the resource exists.
func (b *Broker) checkValues(state *projections.State, res alteredResource, after map[string]string) *refusal {
	switch res.kind {
	case projections.TopicResource:
		return b.checkTopicValues(state, res.name, after)
	case projections.GroupResource:
		switch {
		case res.name == "":
			return refuse(invalidRequest, "Default group resources are not allowed.")
		case len(res.name) > maxName:
			return refuse(invalidGroupID, "The group id is longer than 4096 bytes.")
		}
		return configRefusal(b.settings(state).CheckGroup(after))
	case projections.ClientMetricsResource:
		switch {
		case res.name == "":
			return refuse(invalidRequest, "Subscription name can't be empty")
		case len(res.name) > maxName:
			return refuse(invalidRequest, "The subscription's name is longer than 4096 bytes.")
		}
		if no := configRefusal(configs.CheckClientMetrics(after)); no != nil {
			return no
		}
		return checkSubscription(state, res.name, after)
	}
	return checkBrokerNames(after)
}

// checkSubscription bounds what subscriptions cost: their number, and their patterns.
func checkSubscription(state *projections.State, name string, after map[string]string) *refusal {
	for _, m := range configs.ReadSubscription(after).Match {
		if compiled, _, _ := compilePattern(m.Pattern); compiled == nil {
			return refuse(invalidConfig, "Illegal client matching pattern: "+m.Name+"="+m.Pattern)
		}
	}
	there, count := false, 0
	state.Configs.Resources(projections.ClientMetricsResource, func(other string) bool {
		there, count = there || other == name, count+1
		return true
	})
	if !there && count >= maxSubscriptions {
		return refuse(policyViolation, "This broker holds 1000 client-metrics subscriptions, the most it takes. Delete some first.")
	}
	return nil
}

func (b *Broker) checkTopicValues(state *projections.State, name string, after map[string]string) *refusal {
	if name == "" {
		return refuse(invalidRequest, "Default topic resources are not allowed.")
	}
	if why := invalidTopicName(name); why != "" {
		return refuse(invalidTopicException, why)
	}
	if no := configRefusal(b.settings(state).CheckTopic(after)); no != nil {
		return no
	}
	if state.Topics.Named(name) == nil {
		return refuse(unknownTopicOrPartition, "The topic '"+name+"' does not exist.")
	}
	return nil
}

// maxBrokerKeys bounds the keys of plug-ins and listeners that one broker keeps: Kafka takes any name.
const maxBrokerKeys = 1000

func checkBrokerNames(after map[string]string) *refusal {
	if len(after) > maxBrokerKeys {
		return refuse(invalidRequest, "A broker takes at most 1000 configs.")
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if len(name) > maxName {
			return refuse(invalidRequest, "The config's name is longer than 4096 bytes.")
		}
	}
	return nil
}

// configChange is the difference that a request makes.
type configChange struct {
	set     map[string]string
	removed []string
}

// changeOf is what is different afterwards. As in Kafka, what a request sets on a broker counts as a change even when the
// value is the same, so that it is held to the rules for changes.
func changeOf(res alteredResource, before, after map[string]string) configChange {
	change := configChange{set: map[string]string{}}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if old, had := before[name]; !had || old != after[name] {
			change.set[name] = after[name]
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if _, has := after[name]; !has {
			change.removed = append(change.removed, name)
		}
	}
	if res.kind == projections.BrokerResource {
		for _, op := range res.ops {
			if value, has := after[op.name]; has {
				change.set[op.name] = value
			} else {
				change.removed = append(change.removed, op.name)
			}
		}
	}
	slices.Sort(change.removed)
	change.removed = slices.Compact(change.removed)
	return change
}

// event is the change as the journal keeps it; nil when there is none.
func (c configChange) event(res alteredResource) *journal.ConfigsAltered {
	if len(c.set) == 0 && len(c.removed) == 0 {
		return nil
	}
	set := c.set
	if res.kind == projections.BrokerResource {
		set = maps.Clone(set)
		for _, name := range slices.Sorted(maps.Keys(set)) {
			if secret(name) {
				set[name] = hidden
			}
		}
	}
	return &journal.ConfigsAltered{ResourceType: res.kind, Resource: res.name, Set: pairsOf(set), Removed: c.removed}
}

// hidden stands in the journal for a value that is a secret: no journal holds one.
const hidden = "[hidden]"

// secret says whether a broker's key is never answered, as nobody knows what a key of a plug-in holds.
func secret(name string) bool {
	d, known := configs.BrokerKeys.Lookup(name)
	return !known || d.Sensitive()
}

func pairsOf(values map[string]string) []journal.ConfigPair {
	var pairs []journal.ConfigPair
	for _, name := range slices.Sorted(maps.Keys(values)) {
		pairs = append(pairs, journal.ConfigPair{Name: name, Value: values[name]})
	}
	return pairs
}
