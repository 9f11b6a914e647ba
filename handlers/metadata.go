package handlers

import (
	"context"
	"math"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/acls"
	"doze/journal"
	"doze/projections"
	"doze/wire"
)

// Metadata (key 3), v0-v13: brokers, controller and topics.
//
//	v0  an empty list means all topics      v1+ null means all, empty means none
//	v4  allow_auto_topic_creation           v8-v10 cluster authorised operations, v8+ topic authorised operations
//	v10 topic ids (KIP-516)                 v12 topics by id; a request with any id asks by id only
//	v13 a top-level error code
//
// A fetch of all topics never creates one. Topics answer in name order.
func (b *Broker) metadata(ctx context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.MetadataRequest)
	resp := respond[*kmsg.MetadataResponse](r)
	state, _ := b.view()
	may := b.access(r)
	if code := metadataNamesWrong(req); code != none {
		return metadataRefused(req, resp, code), nil
	}
	host, port := r.Conn.Advertised()
	resp.Brokers = []kmsg.MetadataResponseBroker{{NodeID: b.nodeID, Host: host, Port: port, Rack: b.rack()}}
	resp.ControllerID = b.nodeID
	resp.ClusterID = text(state.ClusterID)
	resp.AuthorizedOperations = math.MinInt32
	if req.IncludeClusterAuthorizedOperations && req.Version <= 10 {
		resp.AuthorizedOperations = may.clusterOperations()
	}
	topics, err := b.metadataTopics(ctx, r, req, may)
	if err != nil {
		return nil, err
	}
	resp.Topics = topics
	return resp, nil
}

// metadataNamesWrong refuses a request as a whole: before v12 every entry is a name and no entry an id; from then on an entry
// that is neither fails Kafka, unless another has an id and so names are not looked at.
func metadataNamesWrong(req *kmsg.MetadataRequest) int16 {
	unnamed := slices.ContainsFunc(req.Topics, func(t kmsg.MetadataRequestTopic) bool { return t.Topic == nil })
	switch ids := slices.ContainsFunc(req.Topics, hasTopicID); {
	case req.Version < 12 && (unnamed || ids):
		return invalidRequest
	case unnamed && !ids:
		return unknownServerError
	}
	return none
}

func hasTopicID(t kmsg.MetadataRequestTopic) bool { return t.TopicID != [16]byte{} }

func metadataRefused(req *kmsg.MetadataRequest, resp *kmsg.MetadataResponse, code int16) *kmsg.MetadataResponse {
	resp.AuthorizedOperations, resp.ErrorCode = math.MinInt32, code
	for _, asked := range req.Topics {
		topic := kmsg.NewMetadataResponseTopic()
		topic.ErrorCode, topic.Topic, topic.TopicID = code, asked.Topic, asked.TopicID
		if topic.Topic == nil {
			topic.Topic = text("")
		}
		resp.Topics = append(resp.Topics, topic)
	}
	return resp
}

func (b *Broker) metadataTopics(ctx context.Context, r *wire.Request, req *kmsg.MetadataRequest, may access) ([]kmsg.MetadataResponseTopic, error) {
	state, _ := b.view()
	if req.Topics == nil || req.Version == 0 && len(req.Topics) == 0 {
		all := make([]kmsg.MetadataResponseTopic, 0, state.Topics.Len())
		state.Topics.Each("", func(t *projections.Topic) bool {
			if may.may(acls.Describe, acls.Topic, t.Name) {
				all = append(all, b.metadataTopic(state, t, req, may))
			}
			return true
		})
		return all, nil
	}
	if slices.ContainsFunc(req.Topics, hasTopicID) {
		return b.metadataByID(state, req, may), nil
	}
	names, hidden := permitted(may, acls.Describe, acls.Topic, askedNames(req), itself)
	wanted := req.AllowAutoTopicCreation || req.Version < 4
	if wanted {
		var barred []string
		names, barred = b.metadataCreatable(state, names, may)
		hidden = slices.Concat(barred, hidden)
		if err := b.autoCreate(ctx, r, state, names); err != nil {
			return nil, err
		}
		state, _ = b.view()
	}
	answer := make([]kmsg.MetadataResponseTopic, 0, len(names))
	for _, name := range names {
		if found := state.Topics.Named(name); found != nil {
			answer = append(answer, b.metadataTopic(state, found, req, may))
			continue
		}
		missing := metadataMissing(name, operationsAsked(req, may, name))
		if wanted && internal(name) {
			missing.ErrorCode = invalidTopicException
		}
		answer = append(answer, missing)
	}
	for _, name := range hidden {
		answer = append(answer, metadataHidden(&name, projections.ID{}))
	}
	return answer, nil
}

// metadataCreatable leaves those names aside that are not there, that asking would create, and that the caller may not create.
func (b *Broker) metadataCreatable(state *projections.State, names []string, may access) (rest, barred []string) {
	if !may.guarded() || !b.settings(state).Bool("auto.create.topics.enable") || may.mayCluster(acls.Create) {
		return names, nil
	}
	for _, name := range names {
		if state.Topics.Named(name) == nil && !may.may(acls.Create, acls.Topic, name) {
			barred = append(barred, name)
		} else {
			rest = append(rest, name)
		}
	}
	return rest, barred
}

// metadataHidden says nothing of a topic that the caller may not describe, or create: not even whether it is there.
func metadataHidden(name *string, id projections.ID) kmsg.MetadataResponseTopic {
	topic := kmsg.NewMetadataResponseTopic()
	topic.ErrorCode, topic.Topic, topic.TopicID, topic.AuthorizedOperations = topicAuthorizationFailed, name, id, math.MinInt32
	return topic
}

// askedNames are the names of the request, each once, in name order.
func askedNames(req *kmsg.MetadataRequest) []string {
	names := make([]string, 0, len(req.Topics))
	for _, t := range req.Topics {
		if t.Topic != nil {
			names = append(names, *t.Topic)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// metadataMissing says UNKNOWN_TOPIC_OR_PARTITION also of a name that could not be created on demand, as Kafka does, which
// answers before it tries. (Its internal topics come with their first use; to who might make them, metadataTopics says that
// here they do not.)
func metadataMissing(name string, operations int32) kmsg.MetadataResponseTopic {
	topic := kmsg.NewMetadataResponseTopic()
	topic.Topic = text(name)
	topic.IsInternal = internal(name)
	topic.ErrorCode, topic.AuthorizedOperations = unknownTopicOrPartition, operations
	if invalidTopicName(name) != "" {
		topic.ErrorCode = invalidTopicException
	}
	return topic
}

// metadataByID answers the ids of the request; names beside them are ignored, as Kafka does.
func (b *Broker) metadataByID(state *projections.State, req *kmsg.MetadataRequest, may access) []kmsg.MetadataResponseTopic {
	var known, unknown, hidden []kmsg.MetadataResponseTopic
	seen := map[[16]byte]bool{{}: true}
	for _, asked := range req.Topics {
		if seen[asked.TopicID] {
			continue
		}
		seen[asked.TopicID] = true
		found := state.Topics.WithID(asked.TopicID)
		if found != nil && !may.may(acls.Describe, acls.Topic, found.Name) {
			hidden = append(hidden, metadataHidden(nil, asked.TopicID))
			continue
		}
		if found != nil {
			known = append(known, b.metadataTopic(state, found, req, may))
			continue
		}
		topic := kmsg.NewMetadataResponseTopic()
		topic.ErrorCode, topic.TopicID, topic.AuthorizedOperations = unknownTopicID, asked.TopicID, math.MinInt32
		unknown = append(unknown, topic)
	}
	return slices.Concat(unknown, known, hidden)
}

// operationsAsked are what a client may do with a topic, if it asks.
func operationsAsked(req *kmsg.MetadataRequest, may access, name string) int32 {
	if req.IncludeTopicAuthorizedOperations && req.Version >= 8 {
		return may.operations(acls.Topic, name)
	}
	return math.MinInt32
}

func (b *Broker) metadataTopic(state *projections.State, t *projections.Topic, req *kmsg.MetadataRequest, may access) kmsg.MetadataResponseTopic {
	topic := kmsg.NewMetadataResponseTopic()
	topic.Topic, topic.TopicID = &t.Name, t.ID
	topic.AuthorizedOperations = operationsAsked(req, may, t.Name)
	// One backing array serves the replicas and ISR of every partition: all are the one broker.
	self := []int32{b.nodeID}
	topic.Partitions = make([]kmsg.MetadataResponseTopicPartition, t.Partitions)
	for i := range topic.Partitions {
		topic.Partitions[i] = kmsg.MetadataResponseTopicPartition{
			Partition: int32(i), Leader: b.nodeID, LeaderEpoch: t.LeaderEpoch(int32(i), state.Starts),
			Replicas: self, ISR: self, OfflineReplicas: []int32{},
		}
	}
	return topic
}

// autoCreate makes the topics of names that are not there, those that can be made, no more than one CreateTopics could. It creates nothing when the broker does
// not create topics on demand.
func (b *Broker) autoCreate(ctx context.Context, r *wire.Request, state *projections.State, names []string) error {
	missing := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return state.Topics.Named(name) != nil })
	if len(missing) == 0 || !b.settings(state).Bool("auto.create.topics.enable") {
		return nil
	}
	charge, _ := b.mutations(r, true)
	err := b.update(ctx, r, func(tx *tx) {
		before, size := tx.State.Clone().Topics, 0
		for _, name := range missing {
			partitions := b.defaultPartitions(tx.State)
			size += 1 + int(partitions)
			if size > maxRecordsPerRequest || b.checkPartitionLimits(tx.State, int64(partitions)) != nil {
				return
			}
			if no := checkNewTopicName(before, tx.State.Topics, name); no == nil && charge(partitions) == nil {
				tx.Emit(&journal.TopicCreated{ID: tx.NewUUID(), Name: name, Partitions: partitions})
			}
		}
	})
	if diskRefused(err) {
		return nil // the names stay unknown until the disk takes writes again
	}
	return err
}
