package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// The kinds of groups, as ListGroups names them.
const (
	classicGroup  = "classic"
	consumerGroup = "consumer"
	shareGroup    = "share"
	streamsGroup  = "streams"
)

// groupKinds are the four kinds with what they are called on pages.
var groupKinds = []choice{{classicGroup, "classic"}, {consumerGroup, "consumer"}, {shareGroup, "share"}, {streamsGroup, "streams"}}

// group is all that a client can learn of one group.
type group struct {
	Name, Kind, State string
	ProtocolType      string // classic: what members say they are ("consumer", "connect"); "" when nobody has joined
	Assignor          string // how partitions are spread; of a classic group its protocol
	Coordinator       string
	Epoch             int32 // not of classic groups, as AssignmentEpoch
	AssignmentEpoch   int32
	Members           []groupMember
	Subtopologies     []subtopology // of streams groups
	Offsets           []groupOffset
	Lag               int64
	LagPartial        bool   // some partition's lag is unknown
	OffsetsError      string // why offsets are not shown
}

// groupMember is a member of any kind of group.
type groupMember struct {
	ID, Instance, Client, Host, Rack string
	Epoch                            int32
	Subscribed                       []string // topics, or a regular expression
	Assigned, Target                 []groupTask
	Notes                            []string // what only some kinds have
}

// groupTask is some partitions of a topic, or of a subtopology with the role that the member has for them.
type groupTask struct {
	Topic, Role string
	Partitions  []int32
}

// Ranges are the task's partitions in short: "0-3,7".
func (t groupTask) Ranges() string { return ranges(t.Partitions) }

// subtopology is a part of a streams application.
type subtopology struct {
	ID                                      string
	Sources, Repartition, Sinks, Changelogs []string
}

// groupOffset is where a group is in one partition.
type groupOffset struct {
	Topic           string
	Partition       int32
	Committed       int64 // -1: none
	Start, End      int64 // -1: unknown; End is where a read_committed consumer stops
	Lag             int64 // -1: unknown
	Metadata        string
	Member          string // client id and host of who reads it; "" for nobody
	Problem         string
	Counted, Behind bool // Lag is the count of records; Committed is before the log's start
}

// groupReader reads groups through the Kafka client.
type groupReader struct{ *kafka }

// list is all groups in order of their names.
func (g groupReader) list(ctx context.Context) ([]kadm.ListedGroup, error) {
	listed, err := g.admin.ListGroups(ctx)
	if err != nil && len(listed) == 0 {
		return nil, fmt.Errorf("list groups: %w", err)
	}
	out := listed.Sorted()
	for i := range out {
		out[i].GroupType = cmp.Or(strings.ToLower(out[i].GroupType), classicGroup)
	}
	return out, nil
}

// errNoGroup is answered for a group that is not there.
var errNoGroup = errors.New("there is no such group")

// find is one group of the list.
func (g groupReader) find(ctx context.Context, name string) (kadm.ListedGroup, error) {
	all, err := g.list(ctx)
	if err != nil {
		return kadm.ListedGroup{}, err
	}
	i, found := slices.BinarySearchFunc(all, name, func(l kadm.ListedGroup, name string) int { return strings.Compare(l.Group, name) })
	if !found {
		return kadm.ListedGroup{}, errNoGroup
	}
	return all[i], nil
}

// load is a group with its members, offsets and lag.
func (g groupReader) load(ctx context.Context, name string) (*group, error) {
	listed, err := g.find(ctx, name)
	if err != nil {
		return nil, err
	}
	out, err := g.described(ctx, []kadm.ListedGroup{listed})
	if err != nil {
		return nil, err
	}
	one := out[0]
	g.addOffsets(ctx, out)
	return one, nil
}

// described is the groups with their members, in the order given: one request for each kind.
func (g groupReader) described(ctx context.Context, listed []kadm.ListedGroup) ([]*group, error) {
	byKind := map[string][]string{}
	coordinators := map[string]int32{}
	for _, l := range listed {
		byKind[l.GroupType] = append(byKind[l.GroupType], l.Group)
		coordinators[l.Group] = l.Coordinator
	}
	found := map[string]*group{}
	var failed error
	for _, describe := range []struct {
		kind string
		do   func(context.Context, []string) ([]*group, error)
	}{
		{classicGroup, g.classics}, {consumerGroup, g.consumers}, {shareGroup, g.shares},
		{streamsGroup, func(ctx context.Context, names []string) ([]*group, error) {
			return g.streams(ctx, names, coordinators)
		}},
	} {
		if len(byKind[describe.kind]) == 0 {
			continue
		}
		groups, err := describe.do(ctx, byKind[describe.kind])
		failed = errors.Join(failed, err)
		for _, one := range groups {
			found[one.Name] = one
		}
	}
	out := make([]*group, len(listed))
	for i, l := range listed {
		out[i] = found[l.Group]
		if out[i] == nil {
			if len(listed) == 1 && failed != nil {
				return nil, failed
			}
			out[i] = &group{Name: l.Group, Kind: l.GroupType, State: l.State, ProtocolType: l.ProtocolType}
		}
	}
	return out, nil
}

func (g groupReader) classics(ctx context.Context, names []string) ([]*group, error) {
	described, err := g.admin.DescribeGroups(ctx, names...)
	var out []*group
	for _, d := range described.Sorted() {
		if d.Err != nil {
			err = errors.Join(err, fmt.Errorf("describe group %s: %w", d.Group, d.Err))
			continue
		}
		one := &group{Name: d.Group, Kind: classicGroup, State: d.State, ProtocolType: d.ProtocolType, Assignor: d.Protocol, Coordinator: brokerName(d.Coordinator)}
		for _, m := range d.Members {
			one.Members = append(one.Members, classicMember(m))
		}
		out = append(out, one)
	}
	return out, err
}

func classicMember(m kadm.DescribedGroupMember) groupMember {
	out := groupMember{ID: m.MemberID, Instance: deref(m.InstanceID), Client: m.ClientID, Host: host(m.ClientHost), Epoch: -1}
	if joined, ok := m.Join.AsConsumer(); ok {
		out.Subscribed = joined.Topics
	}
	if assigned, ok := m.Assigned.AsConsumer(); ok {
		for _, t := range assigned.Topics {
			out.Assigned = append(out.Assigned, groupTask{Topic: t.Topic, Partitions: t.Partitions})
		}
	} else if raw, ok := m.Assigned.Raw(); ok && len(raw) > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("assignment of %d bytes in a format of its own", len(raw)))
	}
	return out
}

func (g groupReader) consumers(ctx context.Context, names []string) ([]*group, error) {
	described, err := g.admin.DescribeConsumerGroups(ctx, names...)
	var out []*group
	for _, d := range described.Sorted() {
		if d.Err != nil {
			err = errors.Join(err, fmt.Errorf("describe group %s: %w", d.Group, d.Err))
			continue
		}
		one := &group{
			Name: d.Group, Kind: consumerGroup, State: d.State, ProtocolType: "consumer", Assignor: d.AssignorName,
			Coordinator: brokerName(d.Coordinator), Epoch: d.Epoch, AssignmentEpoch: d.AssignmentEpoch,
		}
		for _, m := range d.Members {
			one.Members = append(one.Members, consumerMember(m))
		}
		out = append(out, one)
	}
	return out, err
}

func consumerMember(m kadm.ConsumerGroupMember) groupMember {
	out := groupMember{
		ID: m.MemberID, Instance: deref(m.InstanceID), Client: m.ClientID, Host: host(m.ClientHost), Rack: deref(m.RackID), Epoch: m.MemberEpoch,
		Subscribed: m.SubscribedTopics, Assigned: tasksOf(m.Assignment), Target: tasksOf(m.TargetAssignment),
	}
	if regex := deref(m.SubscribedTopicRegex); regex != "" {
		out.Notes = append(out.Notes, "reads topics that match "+regex)
	}
	if m.MemberType == 0 {
		out.Notes = append(out.Notes, "speaks the classic protocol")
	}
	return out
}

func (g groupReader) shares(ctx context.Context, names []string) ([]*group, error) {
	described, err := g.admin.DescribeShareGroups(ctx, names...)
	var out []*group
	for _, d := range described.Sorted() {
		if d.Err != nil {
			err = errors.Join(err, fmt.Errorf("describe group %s: %w", d.GroupID, d.Err))
			continue
		}
		one := &group{
			Name: d.GroupID, Kind: shareGroup, State: d.GroupState, ProtocolType: "share", Assignor: d.Assignor,
			Coordinator: brokerName(d.Coordinator), Epoch: d.GroupEpoch, AssignmentEpoch: d.AssignmentEpoch,
		}
		for _, m := range d.Members {
			one.Members = append(one.Members, groupMember{
				ID: m.MemberID, Client: m.ClientID, Host: host(m.ClientHost), Rack: deref(m.RackID), Epoch: m.MemberEpoch,
				Subscribed: m.SubscribedTopicNames, Assigned: tasksOf(m.Assignment),
			})
		}
		out = append(out, one)
	}
	return out, err
}

// streams asks each coordinator for its streams groups; the admin client does not know them.
func (g groupReader) streams(ctx context.Context, names []string, coordinators map[string]int32) ([]*group, error) {
	byNode := map[int32][]string{}
	for _, name := range names {
		byNode[coordinators[name]] = append(byNode[coordinators[name]], name)
	}
	var out []*group
	var failed error
	for node, names := range byNode {
		req := kmsg.NewPtrStreamsGroupDescribeRequest()
		req.Groups = names
		resp, err := g.client.Broker(int(node)).Request(ctx, req)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("describe streams groups: %w", err))
			continue
		}
		for _, d := range resp.(*kmsg.StreamsGroupDescribeResponse).Groups {
			if err := kerr.ErrorForCode(d.ErrorCode); err != nil {
				failed = errors.Join(failed, fmt.Errorf("describe group %s: %w", d.Group, err))
				continue
			}
			out = append(out, streamsOf(d, node))
		}
	}
	return out, failed
}

func streamsOf(d kmsg.StreamsGroupDescribeResponseGroup, node int32) *group {
	one := &group{
		Name: d.Group, Kind: streamsGroup, State: d.State, ProtocolType: "streams", Assignor: deref(d.AssignorName), Coordinator: strconv.Itoa(int(node)),
		Epoch: d.Epoch, AssignmentEpoch: d.AssignmentEpoch,
	}
	for _, m := range d.Members {
		one.Members = append(one.Members, streamsMember(m))
	}
	if d.Topology == nil {
		return one
	}
	for _, s := range d.Topology.Subtopologies {
		one.Subtopologies = append(one.Subtopologies, subtopology{
			ID: s.SubtopologyID, Sources: s.SourceTopics, Sinks: s.RepartitionSinkTopics,
			Repartition: topicInfos(s.RepartitionSourceTopics), Changelogs: topicInfos(s.StateChangelogTopics),
		})
	}
	return one
}

func streamsMember(m kmsg.StreamsGroupDescribeResponseGroupMember) groupMember {
	out := groupMember{
		ID: m.MemberID, Instance: deref(m.InstanceID), Client: m.ClientID, Host: host(m.ClientHost), Rack: deref(m.RackID), Epoch: m.MemberEpoch,
		Assigned: streamsTasks(m.Assignment), Target: streamsTasks(m.TargetAssignment),
	}
	out.Notes = append(out.Notes, "process "+m.ProcessID)
	if m.UserEndpoint != nil {
		out.Notes = append(out.Notes, fmt.Sprintf("answers queries at %s:%d", m.UserEndpoint.Host, m.UserEndpoint.Port))
	}
	for _, tag := range m.ClientTags {
		out.Notes = append(out.Notes, tag.Key+"="+tag.Value)
	}
	return out
}

func streamsTasks(a kmsg.StreamsAssignment) []groupTask {
	var out []groupTask
	for _, role := range []struct {
		name  string
		tasks []kmsg.TaskIDs
	}{{"active", a.ActiveTasks}, {"standby", a.StandbyTasks}, {"warm-up", a.WarmupTasks}} {
		for _, t := range role.tasks {
			out = append(out, groupTask{Topic: t.SubtopologyID, Role: role.name, Partitions: t.Partitions})
		}
	}
	return out
}

func topicInfos(infos []kmsg.TopicInfo) []string {
	var out []string
	for _, i := range infos {
		out = append(out, i.Topic)
	}
	return out
}

func tasksOf(set kadm.TopicsSet) []groupTask {
	var out []groupTask
	for _, t := range set.Sorted() {
		out = append(out, groupTask{Topic: t.Topic, Partitions: t.Partitions})
	}
	return out
}

func brokerName(b kadm.BrokerDetail) string {
	if b.Host == "" {
		return strconv.Itoa(int(b.NodeID))
	}
	return fmt.Sprintf("%d (%s:%d)", b.NodeID, b.Host, b.Port)
}

// host is the address of a member without the slash that Kafka puts before it.
func host(s string) string { return strings.TrimPrefix(s, "/") }

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// ranges prints numbers in short: "0-3,7".
func ranges(numbers []int32) string {
	sorted := slices.Sorted(slices.Values(numbers))
	var b strings.Builder
	for i := 0; i < len(sorted); {
		j := i
		for j+1 < len(sorted) && sorted[j+1] == sorted[j]+1 {
			j++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%d", sorted[i])
		if j > i {
			fmt.Fprintf(&b, "-%d", sorted[j])
		}
		i = j + 1
	}
	return b.String()
}
