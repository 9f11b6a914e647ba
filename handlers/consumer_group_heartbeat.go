package handlers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/projections"
	"doze/wire"
)

// ConsumerGroupHeartbeat (key 68), v0-v1 (KIP-848): a member of a consumer group joins (epoch 0), says that it is there and
// what it has, leaves (-1), or leaves for a while if it is static (-2); the answer tells it its epoch and, when that
// changed, what it is to have.
//
//	v1  subscription by a regular expression; the member chooses its own id
//
// A heartbeat that changes nothing is answered from the published state and costs no entry of the journal.
func (b *Broker) consumerGroupHeartbeat(ctx context.Context, r *wire.Request) (wire.Reply, error) {
	return b.groups.consumerHeartbeat(ctx, b.callerOf(r), r.Body.(*kmsg.ConsumerGroupHeartbeatRequest)), nil
}

// consumerCommand is a ConsumerGroupHeartbeat as the state machine sees it.
type consumerCommand struct {
	req        *kmsg.ConsumerGroupHeartbeatRequest
	topics     []string // the request's, sorted and without doubles
	clientID   string
	clientHost string
	invalid    string // what is wrong with the request's regular expression
}

// Epochs that say what the member wants.
const (
	joiningEpoch       = 0
	leavingEpoch       = -1
	leavingStaticEpoch = -2
)

func (c *coordinator) consumerHeartbeat(ctx context.Context, from caller, req *kmsg.ConsumerGroupHeartbeatRequest) *kmsg.ConsumerGroupHeartbeatResponse {
	state := c.view()
	if !c.consumerProtocol(state) {
		return refuseConsumer(&refusal{code: unsupportedVersion})
	}
	if from.access.hidesAny(req.SubscribedTopicNames) {
		return refuseConsumer(&refusal{code: topicAuthorizationFailed})
	}
	if refused := c.checkConsumerHeartbeat(req); refused != nil {
		return refuseConsumer(refused)
	}
	cmd := &consumerCommand{req: req, topics: distinctSorted(req.SubscribedTopicNames), clientID: from.clientID, clientHost: from.clientHost}
	if resp := c.quietHeartbeat(state, cmd); resp != nil {
		return resp
	}
	if req.SubscribedTopicRegex != nil && *req.SubscribedTopicRegex != "" {
		_, _, cmd.invalid = compilePattern(*req.SubscribedTopicRegex)
	}
	var resp *kmsg.ConsumerGroupHeartbeatResponse
	var refused *refusal
	err := c.update(ctx, from.cause, func(d *groupDecision) {
		d.caller = from.access
		if resp, refused = d.consumerHeartbeat(cmd); refused != nil {
			d.drop()
		}
	})
	switch {
	case refused != nil:
		return refuseConsumer(refused)
	case err != nil:
		return refuseConsumer(refuse(notCoordinator, notCoordinatorText))
	}
	return resp
}

// consumerProtocol says whether the broker serves consumer groups: group.version, group.coordinator.rebalance.protocols.
func (c *coordinator) consumerProtocol(state *projections.State) bool {
	return c.settings.consumer.enabled && c.level(state, "group.version") >= 1
}

// checkConsumerHeartbeat refuses what no group would take, in the order of Kafka.
func (c *coordinator) checkConsumerHeartbeat(req *kmsg.ConsumerGroupHeartbeatRequest) *refusal {
	if refused := checkConsumerNames(req); refused != nil {
		return refused
	}
	switch {
	case req.MemberEpoch == joiningEpoch && req.RebalanceTimeoutMillis == -1:
		return refuse(invalidRequest, "RebalanceTimeoutMs must be provided in first request.")
	case req.MemberEpoch == joiningEpoch && (req.Topics == nil || len(req.Topics) > 0):
		return refuse(invalidRequest, "TopicPartitions must be empty when (re-)joining.")
	case req.MemberEpoch == joiningEpoch && req.SubscribedTopicNames == nil && req.SubscribedTopicRegex == nil:
		return refuse(invalidRequest, "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.")
	case req.MemberEpoch == leavingStaticEpoch && req.InstanceID == nil:
		return refuse(invalidRequest, "InstanceId can't be null.")
	case req.MemberEpoch < leavingStaticEpoch:
		return refuse(invalidRequest, "MemberEpoch is invalid.")
	case req.ServerAssignor != nil && !slices.Contains(c.settings.consumer.assignors, *req.ServerAssignor):
		return refuse(unsupportedAssignor, fmt.Sprintf("ServerAssignor %s is not supported. Supported assignors: %s.",
			*req.ServerAssignor, strings.Join(c.settings.consumer.assignors, ", ")))
	}
	return checkConsumerSizes(req)
}

func checkConsumerNames(req *kmsg.ConsumerGroupHeartbeatRequest) *refusal {
	blank := func(s *string) bool { return s != nil && isBlank(*s) }
	idNeeded := req.Version >= 1 || req.MemberEpoch > 0 || req.MemberEpoch == leavingEpoch
	switch {
	case idNeeded && isBlank(req.MemberID):
		return refuse(invalidRequest, "MemberId can't be empty.")
	case isBlank(req.Group):
		return refuse(invalidRequest, "GroupId can't be empty.")
	case blank(req.InstanceID):
		return refuse(invalidRequest, "InstanceId can't be empty.")
	case blank(req.RackID):
		return refuse(invalidRequest, "RackId can't be empty.")
	}
	return nil
}

// isBlank is whether nothing is left of a text when Java trims it: of all up to the space.
func isBlank(s string) bool { return !strings.ContainsFunc(s, func(r rune) bool { return r > ' ' }) }

// maxMemberID bounds an id that a member chose: a name and a UUID.
const maxMemberID = maxName + 64

// checkConsumerSizes holds what a member says of itself to doze's bounds (docs/limits.md).
func checkConsumerSizes(req *kmsg.ConsumerGroupHeartbeatRequest) *refusal {
	if len(req.Group) > maxName {
		return refuse(invalidGroupID, fmt.Sprintf("The group id is longer than %d bytes.", maxName))
	}
	bytes := 0
	long := len(req.MemberID) > maxMemberID || isLong(req.InstanceID) || isLong(req.RackID) || isLong(req.SubscribedTopicRegex)
	for _, topic := range req.SubscribedTopicNames {
		bytes += len(topic) + 16
		long = long || len(topic) > maxName
	}
	if long || bytes > maxJoinBytes {
		return refuse(invalidRequest, malformedRequest)
	}
	return nil
}

// quietHeartbeat answers a heartbeat that changes nothing; nil when it may change something.
func (c *coordinator) quietHeartbeat(state *projections.State, cmd *consumerCommand) *kmsg.ConsumerGroupHeartbeatResponse {
	g := state.Groups.Get(cmd.req.Group)
	if g == nil || g.Consumer == nil || cmd.req.MemberEpoch <= 0 {
		return nil
	}
	m := g.Consumer.Member(cmd.req.MemberID)
	if m == nil || m.Classic || m.Epoch != cmd.req.MemberEpoch || !m.Reconciled(g.Consumer.TargetEpoch) || !cmd.describes(m) {
		return nil
	}
	if !c.knowsTopics(g.ID, state) {
		return nil
	}
	if g.Consumer.Epoch > g.Consumer.TargetEpoch {
		interval := c.groupInt(state, g.ID, "consumer.assignment.interval.ms")
		if mayAssign(g.Consumer, interval, c.now()) {
			return nil
		}
	}
	c.touch(g.ID, m.ID, c.groupInt(state, g.ID, "consumer.session.timeout.ms"))
	return consumerAnswer(m, c.groupInt(state, g.ID, "consumer.heartbeat.interval.ms"), cmd.isFull())
}

// describes says whether the request says nothing of the member that is not known.
func (c *consumerCommand) describes(m *projections.ConsumerMember) bool {
	req := c.req
	same := func(s *string, known string) bool { return s == nil || *s == known }
	return (req.InstanceID == nil && !m.Static || req.InstanceID != nil && m.Static && *req.InstanceID == m.InstanceID) &&
		same(req.RackID, m.Rack) && same(req.ServerAssignor, m.Assignor) && same(req.SubscribedTopicRegex, m.Regex) &&
		(req.RebalanceTimeoutMillis == -1 || req.RebalanceTimeoutMillis == m.RebalanceTimeoutMs) &&
		(req.SubscribedTopicNames == nil || slices.Equal(c.topics, m.Topics)) &&
		c.clientID == m.ClientID && c.clientHost == m.ClientHost
}

// isFull says whether the request has all that a member says of itself: it wants to know all that it is to have.
func (c *consumerCommand) isFull() bool {
	return c.req.RebalanceTimeoutMillis != -1 && (c.req.SubscribedTopicNames != nil || c.req.SubscribedTopicRegex != nil) && c.req.Topics != nil
}

// consumerAnswer tells a member its epoch and, if need be, its partitions.
func consumerAnswer(m *projections.ConsumerMember, intervalMs int32, withAssignment bool) *kmsg.ConsumerGroupHeartbeatResponse {
	resp := kmsg.NewPtrConsumerGroupHeartbeatResponse()
	resp.MemberID, resp.MemberEpoch, resp.HeartbeatIntervalMillis = &m.ID, m.Epoch, intervalMs
	if !withAssignment {
		return resp
	}
	resp.Assignment = &kmsg.ConsumerGroupHeartbeatResponseAssignment{}
	for _, p := range m.Assigned {
		resp.Assignment.Topics = append(resp.Assignment.Topics, kmsg.ConsumerGroupHeartbeatResponseAssignmentTopic{TopicID: p.TopicID, Partitions: p.Partitions})
	}
	return resp
}

func refuseConsumer(r *refusal) *kmsg.ConsumerGroupHeartbeatResponse {
	resp := kmsg.NewPtrConsumerGroupHeartbeatResponse()
	resp.ErrorCode, resp.ErrorMessage = r.code, r.message
	return resp
}

// distinctSorted gives the names in order and without doubles; nil of nil.
func distinctSorted(names []string) []string {
	out := slices.Clone(names)
	slices.Sort(out)
	return slices.Compact(out)
}
