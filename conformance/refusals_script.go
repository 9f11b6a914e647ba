package conformance

import (
	"math"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// A grid of refusals sends every bad request of a kind of group to a group in one state. Each is sent twice: the second answer
// shows that the first changed nothing.

// target is whom the bad requests are aimed at: a group in some state and a member of it, or one that it does not have.
type target struct {
	group, member string
	epoch         int32 // of the member: its epoch, or its generation
	session       int32 // the epoch of the share session's next request
	topic         topicRef
	producer      *txnProducer // whose transaction the group is in; nil: no TxnOffsetCommit is sent
	waits         *Pending     // a JoinGroup that the group holds until the member leaves; nil: none
}

// gridState is a state that a group can be in.
type gridState struct {
	name  string
	is    string                          // how a claim says it
	enter func(c *C, group string) target // brings a group there
}

// grid gives one scenario for each state: NAME-STATE.
func grid(name, kind string, part int, set map[string]string, states []gridState, bad func(target) []badRequest) []Scenario {
	list := make([]Scenario, 0, len(states))
	for _, state := range states {
		scenario := name + "-" + state.name
		list = append(list, Scenario{
			Name:  scenario,
			Claim: "What bad requests to " + kind + " are answered when " + state.is + "; each is answered the same the second time.",
			Part:  part, Set: set,
			Run: func(c *C) {
				n := c.Conn("n")
				n.AwaitGroupCoordinator(scenario)
				t := state.enter(c, scenario)
				n.refused(bad(t))
				if t.waits != nil {
					n.Do("the member leaves", 5, leaveRequest(t.group, t.member))
					t.waits.Await()
				}
			},
		})
	}
	return list
}

// badRequest is a request that a broker refuses, at least in most states.
type badRequest struct {
	name    string
	version int16
	req     kmsg.Request
}

// refused sends each request twice.
func (n *Conn) refused(all []badRequest) {
	for _, b := range all {
		for _, twin := range []string{"", ", again"} {
			n.Do(b.name+twin, b.version, b.req)
		}
	}
}

// spoil makes a request bad.
type spoil[R kmsg.Request] struct {
	name string
	do   func(R)
}

// bad gives a request for each change, at one version.
func bad[R kmsg.Request](api string, version int16, fresh func() R, changes []spoil[R]) []badRequest {
	list := make([]badRequest, 0, len(changes))
	for _, c := range changes {
		req := fresh()
		c.do(req)
		list = append(list, badRequest{api + " " + vn(version) + ": " + c.name, version, req})
	}
	return list
}

// Names that nobody has.
const (
	nobody  = "nobody"
	nogroup = "no-such-group"
	highest = math.MaxInt32
	longID  = "a-member-id-of-more-than-36-characters-as-a-UUID-has"
)

// tooLong is metadata beyond the 4096 bytes that an offset may have.
func tooLong() string { return strings.Repeat("x", 4097) }

// longPast is an epoch that is not the member's nor the one before, and not one that joins or leaves.
func longPast(epoch int32) int32 {
	if epoch > 2 {
		return epoch - 2
	}
	return -9
}

// badMembership are bad requests of the classic protocol.
func badMembership(t target) []badRequest {
	join := func() *kmsg.JoinGroupRequest { return joinRequest(t.group, t.member, "range:x") }
	sync := func() *kmsg.SyncGroupRequest { return syncRequest(t.group, t.member, t.epoch) }
	beat := func() *kmsg.HeartbeatRequest { return heartbeatRequest(t.group, t.member, t.epoch) }
	var list []badRequest
	list = append(list, bad("JoinGroup", 9, join, []spoil[*kmsg.JoinGroupRequest]{
		{"no group", func(r *kmsg.JoinGroupRequest) { r.Group = "" }},
		{"unknown member", func(r *kmsg.JoinGroupRequest) { r.MemberID = nobody }},
		{"unknown member and group", func(r *kmsg.JoinGroupRequest) { r.Group, r.MemberID = nogroup, nobody }},
		{"session too short", func(r *kmsg.JoinGroupRequest) { r.SessionTimeoutMillis = 1 }},
		{"session too long", func(r *kmsg.JoinGroupRequest) { r.SessionTimeoutMillis = highest }},
		{"unknown member of an instance", func(r *kmsg.JoinGroupRequest) { r.MemberID, r.InstanceID = nobody, kmsg.StringPtr("instance") }},
		{"no protocols", func(r *kmsg.JoinGroupRequest) { r.MemberID, r.Protocols = nobody, nil }},
		{"no protocol type", func(r *kmsg.JoinGroupRequest) { r.MemberID, r.ProtocolType = nobody, "" }},
	})...)
	list = append(list, bad("SyncGroup", 5, sync, []spoil[*kmsg.SyncGroupRequest]{
		{"no group", func(r *kmsg.SyncGroupRequest) { r.Group = "" }},
		{"unknown group", func(r *kmsg.SyncGroupRequest) { r.Group = nogroup }},
		{"unknown member", func(r *kmsg.SyncGroupRequest) { r.MemberID = nobody }},
		{"no member", func(r *kmsg.SyncGroupRequest) { r.MemberID = "" }},
		{"generation too low", func(r *kmsg.SyncGroupRequest) { r.Generation-- }},
		{"generation too high", func(r *kmsg.SyncGroupRequest) { r.Generation++ }},
		{"another protocol type", func(r *kmsg.SyncGroupRequest) { r.ProtocolType = kmsg.StringPtr("connect") }},
		{"another protocol", func(r *kmsg.SyncGroupRequest) { r.Protocol = kmsg.StringPtr("sticky") }},
		{"no protocol", func(r *kmsg.SyncGroupRequest) { r.Protocol = nil }},
		{"unknown instance", func(r *kmsg.SyncGroupRequest) { r.InstanceID = kmsg.StringPtr(nobody) }},
	})...)
	list = append(list, bad("Heartbeat", 4, beat, []spoil[*kmsg.HeartbeatRequest]{
		{"no group", func(r *kmsg.HeartbeatRequest) { r.Group = "" }},
		{"unknown group", func(r *kmsg.HeartbeatRequest) { r.Group = nogroup }},
		{"unknown member", func(r *kmsg.HeartbeatRequest) { r.MemberID = nobody }},
		{"no member", func(r *kmsg.HeartbeatRequest) { r.MemberID = "" }},
		{"generation too low", func(r *kmsg.HeartbeatRequest) { r.Generation-- }},
		{"generation too high", func(r *kmsg.HeartbeatRequest) { r.Generation++ }},
		{"generation -1", func(r *kmsg.HeartbeatRequest) { r.Generation = -1 }},
		{"unknown instance", func(r *kmsg.HeartbeatRequest) { r.InstanceID = kmsg.StringPtr(nobody) }},
	})...)
	for _, who := range []string{nobody, "", "/" + nobody, t.member + "/" + nobody} {
		list = append(list, badRequest{"LeaveGroup v5: " + strings.Replace(who, t.member+"/", "member/", 1), 5, leaveRequest(t.group, who)})
	}
	return append(list,
		badRequest{"LeaveGroup v5: no group", 5, leaveRequest("", t.member)},
		badRequest{"LeaveGroup v5: unknown group", 5, leaveRequest(nogroup, t.member)},
		badRequest{"DescribeGroups v6: unknown group", 6, describeGroupsRequest(nogroup)},
		badRequest{"DescribeGroups v6: no group", 6, describeGroupsRequest("")},
	)
}
