package handlers

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"doze/acls"
	"doze/configs"
	"doze/projections"
	"doze/wire"
)

// opKind is what is done to a value, as IncrementalAlterConfigs numbers it.
type opKind int8

const (
	opSet opKind = iota
	opDelete
	opAppend
	opSubtract
)

// String is the operation's name in Kafka's messages.
func (k opKind) String() string { return [...]string{"SET", "DELETE", "APPEND", "SUBTRACT"}[k] }

// configOp is what a request does to one value.
type configOp struct {
	name  string
	kind  opKind
	value *string
}

// alteredResource is what a request does to one resource. whole: the values set are all that it has afterwards.
type alteredResource struct {
	kind  int8
	name  string
	ops   []configOp
	whole bool
	lacks *refusal // what the caller is told who may not alter it
}

// alterResources changes each resource, or says why not; nil for those that were changed.
func (b *Broker) alterResources(ctx context.Context, r *wire.Request, validateOnly bool, resources []alteredResource) []*refusal {
	refusals, done := make([]*refusal, len(resources)), make([]bool, len(resources))
	twice, may := repeated(resources), b.access(r)
	for i, res := range resources {
		refusals[i] = b.checkAlterRequest(res, twice)
		done[i] = refusals[i] != nil
		if !done[i] {
			resources[i].lacks = may.configs(acls.AlterConfigs, res.kind, res.name)
		}
		if !done[i] && res.kind == projections.BrokerLoggerResource {
			refusals[i], done[i] = resources[i].lacks, true
			if refusals[i] != nil {
				refusals[i].message = nil // where others have a text
			} else {
				refusals[i] = b.loggers.alter(res, validateOnly)
			}
		}
	}
	if !slices.Contains(done, false) {
		return refusals
	}
	err := b.decide(ctx, r, validateOnly, func(tx *tx) {
		for i, res := range resources {
			if !done[i] {
				refusals[i] = b.decideAlter(tx, res)
			}
		}
	})
	if err != nil {
		for i := range resources {
			if !done[i] {
				refusals[i] = storageRefusal(err)
			}
		}
		return refusals
	}
	if !validateOnly {
		b.reconfigureLogs(resources)
	}
	return refusals
}

type resourceID struct {
	kind int8
	name string
}

// repeated are the resources that stand more than once in a request.
func repeated(resources []alteredResource) map[resourceID]bool {
	twice := map[resourceID]bool{}
	for _, res := range resources {
		id := resourceID{res.kind, res.name}
		_, seen := twice[id]
		twice[id] = seen
	}
	return twice
}

// checkAlterRequest refuses what no state could make right.
func (b *Broker) checkAlterRequest(res alteredResource, twice map[resourceID]bool) *refusal {
	if twice[resourceID{res.kind, res.name}] {
		return refuse(invalidRequest, "Each resource must appear at most once.")
	}
	names, nulls := map[string]bool{}, []string(nil)
	for _, op := range res.ops {
		if names[op.name] {
			return refuse(invalidRequest, "Error due to duplicate config keys")
		}
		names[op.name] = true
		if op.value == nil && op.kind != opDelete {
			nulls = append(nulls, op.name)
		}
	}
	if len(nulls) > 0 {
		return refuse(invalidRequest, "Null value not supported for : "+strings.Join(nulls, ", "))
	}
	switch res.kind {
	case projections.TopicResource, projections.ClientMetricsResource, projections.GroupResource:
		return nil
	case projections.BrokerResource:
		return b.alterableBroker(res.name)
	case projections.BrokerLoggerResource:
		if !res.whole {
			return nil
		}
	}
	return refuse(invalidRequest, "Unknown resource type "+strconv.Itoa(int(res.kind)))
}

// alterableBroker refuses a name that is neither empty nor this broker's number.
func (b *Broker) alterableBroker(name string) *refusal {
	if name == "" {
		return nil
	}
	id, err := strconv.ParseInt(name, 10, 32)
	switch {
	case err != nil:
		return refuse(invalidRequest, "Node id must be an integer, but it is: "+name)
	case int32(id) != b.nodeID:
		return refuse(invalidRequest, "Unexpected broker id, expected "+b.nodeName+", but received "+name)
	}
	return nil
}

// decideAlter changes the values of one resource, or says why they cannot be.
func (b *Broker) decideAlter(tx *tx, res alteredResource) *refusal {
	before := b.setValues(tx.State, res.kind, res.name)
	if res.kind == projections.BrokerResource {
		if no := b.checkBrokerChange(tx.State, res, before); no != nil {
			return no
		}
	}
	if res.lacks != nil {
		return res.lacks
	}
	after, no := res.apply(before)
	if no != nil {
		return no
	}
	change := changeOf(res, before, after)
	elr, own := res.kind == projections.BrokerResource && b.elr(tx.State), res.name != ""
	if err := configs.CheckChange(change.set, change.removed, elr, own); err != nil {
		return configRefusal(err)
	}
	if no := b.checkValues(tx.State, res, after); no != nil {
		return no
	}
	event := change.event(res)
	if event == nil {
		return nil
	}
	if no := checkConfigLimits(tx.State, res.kind, res.name, event.Set, event.Removed); no != nil {
		return no
	}
	tx.Emit(event)
	return nil
}

// checkBrokerChange is what Kafka's broker looks at before its controller does: whether the keys may change while it runs.
func (b *Broker) checkBrokerChange(state *projections.State, res alteredResource, before map[string]string) *refusal {
	after := map[string]string{}
	if !res.whole {
		maps.Copy(after, before)
	}
	for _, op := range res.ops {
		switch op.kind {
		case opSet:
			after[op.name] = *op.value
		case opDelete:
			delete(after, op.name)
		case opAppend, opSubtract:
			if no := alterableBrokerList(op); no != nil {
				return no
			}
			after[op.name] = op.listValue(after, configs.BrokerKeys)
		default:
			return refuse(invalidRequest, "Unknown operations type "+strconv.Itoa(int(op.kind)))
		}
	}
	if _, err := b.settings(state).CheckDynamic(after, res.name != ""); err != nil {
		return configRefusal(err)
	}
	return nil
}

func alterableBrokerList(op configOp) *refusal {
	d, known := configs.BrokerKeys.Lookup(op.name)
	switch {
	case !known:
		return refuse(invalidConfig, "Unknown config name: "+op.name)
	case d.Type != configs.List:
		return refuse(invalidConfig, "Config value "+strings.ToLower(op.kind.String())+" is not allowed for config key: "+op.name)
	}
	return nil
}

// apply gives the values that the resource has afterwards.
func (res alteredResource) apply(before map[string]string) (map[string]string, *refusal) {
	after := map[string]string{}
	if !res.whole {
		maps.Copy(after, before)
	}
	table := keysOf(res.kind)
	for _, op := range res.ops {
		switch op.kind {
		case opSet:
			after[op.name] = *op.value
		case opDelete:
			delete(after, op.name)
		case opAppend, opSubtract:
			if !res.splittable(op.name) {
				return nil, refuse(invalidConfig, "Can't "+op.kind.String()+" to key "+op.name+" because its type is not LIST.")
			}
			after[op.name] = op.listValue(before, table)
		default:
			return nil, &refusal{code: unknownServerError}
		}
	}
	return after, nil
}

// splittable says whether a key is a list that can be appended to and subtracted from. Kafka's controller knows the types of
// topics' and brokers' keys only.
func (res alteredResource) splittable(key string) bool {
	d, known := keysOf(res.kind).Lookup(key)
	return known && d.Type == configs.List && (res.kind == projections.TopicResource || res.kind == projections.BrokerResource)
}

func keysOf(kind int8) *configs.Table {
	switch kind {
	case projections.TopicResource:
		return configs.TopicKeys
	case projections.GroupResource:
		return configs.GroupKeys
	case projections.ClientMetricsResource:
		return configs.ClientMetricsKeys
	}
	return configs.BrokerKeys
}

// listValue appends to or subtracts from the value of a list, or of its default when it has none. Entries are compared as
// they are written: blanks count.
func (op configOp) listValue(before map[string]string, table *configs.Table) string {
	value, set := before[op.name]
	if !set {
		d, _ := table.Lookup(op.name)
		value = d.Default
	}
	entries := slices.DeleteFunc(strings.Split(value, ","), func(s string) bool { return s == "" })
	for _, s := range strings.Split(*op.value, ",") {
		i := slices.Index(entries, s)
		switch {
		case op.kind == opAppend && i < 0:
			entries = append(entries, s)
		case op.kind == opSubtract && i >= 0:
			entries = slices.Delete(entries, i, i+1)
		}
	}
	return strings.Join(entries, ",")
}
