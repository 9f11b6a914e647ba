package handlers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/acls"
	"doze/configs"
	"doze/journal"
	"doze/projections"
	"doze/wire"
)

// CreateTopics (key 19), v2-v7.
//
//	v5  answers the new topic's partition count, replication factor and configs (KIP-525)
//	v7  answers its id (KIP-516)
//
// A timeout that leaves no time times out before anything is looked at, and creates nothing. A name that stands twice in the
// request is refused once, last. The topics of one request are created by one entry of the
// journal, so with one fsync; their files come into being at their first use. Any replication factor of at least one is
// taken and gives one replica (docs/differences.md).
func (b *Broker) createTopics(ctx context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.CreateTopicsRequest)
	resp := respond[*kmsg.CreateTopicsResponse](r)
	once, twice := namedOnce(req.Topics, func(t kmsg.CreateTopicsRequestTopic) string { return t.Topic })
	once = slices.DeleteFunc(once, func(t kmsg.CreateTopicsRequestTopic) bool { return t.Topic == clusterMetadata })
	may := b.access(r)
	once, hidden := may.creatable(once)
	if len(once) > 0 && req.TimeoutMillis <= 0 {
		resp.Topics = noneCreated(req.Topics, &refusal{code: requestTimedOut})
		return resp, nil
	}
	if b.askedPartitions(once) > maxPartitionsPerRequest {
		resp.Topics = noneCreated(req.Topics, refuse(policyViolation, "Excessively large number of partitions per request."))
		return resp, nil
	}
	tooLarge := false
	charge, wait := b.mutations(r, req.Version >= 6)
	err := b.decide(ctx, r, req.ValidateOnly, func(tx *tx) {
		resp.Topics, tooLarge = b.createAll(tx, once, may.configsOf(once), charge)
		if tooLarge {
			tx.Drop()
		}
	})
	resp.ThrottleMillis = wait()
	switch {
	case tooLarge:
		resp.Topics = noneCreated(req.Topics, refuse(policyViolation, "Unable to perform excessively large batch operation."))
		return resp, nil
	case err != nil:
		resp.Topics = noneCreated(once, storageRefusal(err))
	}
	for _, name := range twice {
		resp.Topics = append(resp.Topics, topicNotCreated(name, refuse(invalidRequest, "Duplicate topic name.")))
	}
	resp.Topics = append(resp.Topics, noneCreated(hidden, refuse(topicAuthorizationFailed, "Authorization failed."))...)
	if slices.ContainsFunc(req.Topics, func(t kmsg.CreateTopicsRequestTopic) bool { return t.Topic == clusterMetadata }) && !slices.Contains(twice, clusterMetadata) {
		no := refuse(invalidRequest, "Creation of internal topic "+clusterMetadata+" is prohibited.")
		resp.Topics = append(resp.Topics, topicNotCreated(clusterMetadata, no))
	}
	return resp, nil
}

// creatable splits topics by whether the caller may create them.
func (a access) creatable(topics []kmsg.CreateTopicsRequestTopic) (may, not []kmsg.CreateTopicsRequestTopic) {
	if a.mayCluster(acls.Create) {
		return topics, nil
	}
	return permitted(a, acls.Create, acls.Topic, topics, func(t kmsg.CreateTopicsRequestTopic) string { return t.Topic })
}

// configsOf are the topics whose configs the caller may not be told.
func (a access) configsOf(topics []kmsg.CreateTopicsRequestTopic) (hidden map[string]bool) {
	return barred(a, acls.DescribeConfigs, acls.Topic, topics, func(t *kmsg.CreateTopicsRequestTopic) string { return t.Topic })
}

// createAll creates what can be created, and says whether that is more than one request may.
func (b *Broker) createAll(tx *tx, asked []kmsg.CreateTopicsRequestTopic, hidden map[string]bool, charge mutationCharge) (answers []kmsg.CreateTopicsResponseTopic, tooLarge bool) {
	// Names of one request may collide with each other, so they are held against the state before it.
	before, size := tx.State.Clone().Topics, 0
	for _, spec := range asked {
		created, no := b.decideCreateTopic(tx, before, spec, charge)
		if no != nil {
			answers = append(answers, topicNotCreated(spec.Topic, no))
			continue
		}
		size += 1 + len(created.Configs) + int(created.Partitions)
		tx.Emit(created)
		if hidden[created.Name] {
			answers = append(answers, topicCreatedHidden(created))
		} else {
			answers = append(answers, b.topicCreated(tx.State, created))
		}
	}
	return answers, size > maxRecordsPerRequest
}

// maxRecordsPerRequest is how many topics, configs and partitions one CreateTopics may make in all, as in Kafka, where each
// is a record of its metadata log.
const maxRecordsPerRequest = 10_000

func noneCreated(asked []kmsg.CreateTopicsRequestTopic, why *refusal) (answers []kmsg.CreateTopicsResponseTopic) {
	for _, t := range asked {
		answers = append(answers, topicNotCreated(t.Topic, why))
	}
	return answers
}

// maxPartitionsPerRequest is how many partitions one CreateTopics may make in all, as in Kafka.
const maxPartitionsPerRequest = 10_000

// askedPartitions is the number of partitions that the topics ask for in all.
func (b *Broker) askedPartitions(topics []kmsg.CreateTopicsRequestTopic) (total int64) {
	state, _ := b.view()
	for _, t := range topics {
		switch {
		case len(t.ReplicaAssignment) > 0:
			total += int64(len(t.ReplicaAssignment))
		case t.NumPartitions == -1:
			total += int64(b.defaultPartitions(state))
		case t.NumPartitions > 0:
			total += int64(t.NumPartitions)
		}
	}
	return total
}

// namedOnce splits items into those whose name stands once and the names that stand more than once, in order of appearance.
func namedOnce[T any](items []T, nameOf func(T) string) (once []T, twice []string) {
	count := map[string]int{}
	for _, item := range items {
		count[nameOf(item)]++
	}
	for _, item := range items {
		name := nameOf(item)
		switch n := count[name]; {
		case n == 1:
			once = append(once, item)
		case n > 1:
			twice, count[name] = append(twice, name), 0
		}
	}
	return once, twice
}

func topicNotCreated(name string, why *refusal) kmsg.CreateTopicsResponseTopic {
	topic := kmsg.NewCreateTopicsResponseTopic()
	topic.Topic, topic.ErrorCode, topic.ErrorMessage = name, why.code, why.message
	topic.NumPartitions, topic.ReplicationFactor = -1, -1
	topic.Configs = []kmsg.CreateTopicsResponseTopicConfig{}
	return topic
}

// topicCreatedHidden is the answer to who may create a topic and not be told how it is set up.
func topicCreatedHidden(created *journal.TopicCreated) kmsg.CreateTopicsResponseTopic {
	topic := topicNotCreated(created.Name, &refusal{})
	topic.TopicID, topic.ConfigErrorCode = created.ID, topicAuthorizationFailed
	return topic
}

// topicCreated describes a topic that the state has since a moment.
func (b *Broker) topicCreated(state *projections.State, created *journal.TopicCreated) kmsg.CreateTopicsResponseTopic {
	topic := kmsg.NewCreateTopicsResponseTopic()
	topic.Topic, topic.TopicID = created.Name, created.ID
	topic.NumPartitions, topic.ReplicationFactor = created.Partitions, 1
	overrides := state.Configs.Map(projections.TopicResource, created.Name)
	for _, entry := range b.settings(state).EffectiveTopic(overrides) {
		config := kmsg.NewCreateTopicsResponseTopicConfig()
		config.Name, config.Value = entry.Name, entry.Value
		config.ReadOnly, config.Source, config.IsSensitive = entry.ReadOnly, int8(entry.Source), entry.Sensitive
		topic.Configs = append(topic.Configs, config)
	}
	return topic
}

// decideCreateTopic gives the event that makes the topic, or why it cannot be: name, configs, then partitions, as Kafka's
// controller looks at them.
func (b *Broker) decideCreateTopic(tx *tx, before projections.Topics, asked kmsg.CreateTopicsRequestTopic, charge mutationCharge) (*journal.TopicCreated, *refusal) {
	if no := checkNewTopicName(before, tx.State.Topics, asked.Topic); no != nil {
		return nil, no
	}
	pairs, no := b.newTopicConfigs(tx.State, asked)
	if no != nil {
		return nil, no
	}
	partitions, no := b.newTopicPartitions(tx.State, asked)
	if no != nil {
		return nil, no
	}
	if no := b.checkPartitionLimits(tx.State, int64(partitions)); no != nil {
		return nil, no
	}
	if no := checkConfigLimits(tx.State, projections.TopicResource, asked.Topic, pairs, nil); no != nil {
		return nil, no
	}
	if no := charge(partitions); no != nil {
		return nil, no
	}
	return &journal.TopicCreated{ID: tx.NewUUID(), Name: asked.Topic, Partitions: partitions, Configs: pairs}, nil
}

// newTopicConfigs are the configs of a new topic in name order, or why they cannot be.
func (b *Broker) newTopicConfigs(state *projections.State, asked kmsg.CreateTopicsRequestTopic) ([]journal.ConfigPair, *refusal) {
	var nulls []string
	values := map[string]string{}
	for _, c := range asked.Configs {
		if c.Value == nil {
			nulls = append(nulls, c.Name)
			continue
		}
		values[c.Name] = *c.Value
	}
	if len(nulls) > 0 {
		return nil, refuse(invalidConfig, "Null value not supported for topic configs: "+strings.Join(nulls, ","))
	}
	if no := configRefusal(b.settings(state).CheckTopic(values)); no != nil {
		return nil, no
	}
	pairs := make([]journal.ConfigPair, 0, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		pairs = append(pairs, journal.ConfigPair{Name: name, Value: values[name]})
	}
	return pairs, nil
}

// configRefusal answers what a check of configs found; nil when it found nothing.
func configRefusal(err error) *refusal {
	var wrong *configs.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong) && wrong.Request:
		return refuse(invalidRequest, wrong.Message)
	}
	return refuse(invalidConfig, err.Error())
}

// newTopicPartitions is the number of partitions of a new topic, or why it cannot be.
func (b *Broker) newTopicPartitions(state *projections.State, asked kmsg.CreateTopicsRequestTopic) (int32, *refusal) {
	switch {
	case len(asked.ReplicaAssignment) > 0:
		return b.assignedPartitions(asked)
	case asked.ReplicationFactor < -1 || asked.ReplicationFactor == 0:
		return 0, refuse(invalidReplicationFactor, "Replication factor must be larger than 0, or -1 to use the default value.")
	case asked.NumPartitions < -1 || asked.NumPartitions == 0:
		return 0, refuse(invalidPartitions, "Number of partitions was set to an invalid non-positive value.")
	case asked.NumPartitions == -1:
		return b.defaultPartitions(state), nil
	}
	return asked.NumPartitions, nil
}

// assignedPartitions checks a manual assignment: every partition once from 0 on, each on brokers that exist.
func (b *Broker) assignedPartitions(asked kmsg.CreateTopicsRequestTopic) (int32, *refusal) {
	switch {
	case asked.ReplicationFactor != -1:
		return 0, refuse(invalidRequest, "A manual partition assignment was specified, but replication factor was not set to -1.")
	case asked.NumPartitions != -1:
		return 0, refuse(invalidRequest, "A manual partition assignment was specified, but numPartitions was not set to -1.")
	}
	seen := map[int32]bool{}
	factor := 0
	for _, a := range asked.ReplicaAssignment {
		if seen[a.Partition] {
			return 0, refuse(invalidReplicaAssignment, fmt.Sprintf("Found multiple manual partition assignments for partition %d", a.Partition))
		}
		if no := b.checkAssignment(a.Replicas, factor); no != nil {
			return 0, no
		}
		seen[a.Partition], factor = true, len(a.Replicas)
	}
	for i := range int32(len(seen)) {
		if !seen[i] {
			return 0, refuse(invalidReplicaAssignment, "partitions should be a consecutive 0-based integer sequence")
		}
	}
	return int32(len(seen)), nil
}

// checkAssignment refuses a list of brokers for one partition that is empty, names a broker twice or one that is not
// there, or is not as long as factor (0: no length is set yet).
func (b *Broker) checkAssignment(brokers []int32, factor int) *refusal {
	if len(brokers) == 0 {
		return refuse(invalidReplicaAssignment, "The manual partition assignment includes an empty replica list.")
	}
	sorted := slices.Sorted(slices.Values(brokers))
	for i, id := range sorted {
		if i > 0 && sorted[i-1] == id {
			return refuse(invalidReplicaAssignment, fmt.Sprintf("The manual partition assignment includes the broker %d more than once.", id))
		}
		if id != b.nodeID {
			return refuse(invalidReplicaAssignment, fmt.Sprintf("The manual partition assignment includes broker %d, but no such broker is registered.", id))
		}
	}
	if factor > 0 && factor != len(brokers) {
		return refuse(invalidReplicaAssignment, fmt.Sprintf(
			"The manual partition assignment includes a partition with %d replica(s), but this is not consistent with previous partitions, which have %d replica(s).",
			len(brokers), factor))
	}
	return nil
}
