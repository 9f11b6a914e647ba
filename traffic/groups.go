package traffic

import (
	"container/list"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/console/inside"
	"doze/wire"
)

// Bounds of the events of groups.
const (
	MaxGroupEvents = 200    // of a group
	maxGroups      = 1000   // the one that has been silent longest goes
	maxAllEvents   = 10_000 // likewise
	alikeWithin    = 16     // events back, within which one that is alike is counted and not added
)

// groupEvent is something that members of a group asked for and got.
type groupEvent struct {
	x             *exchange
	group, member string
	quiet         bool // it says nothing new: alike ones are counted
	times         int
	since         time.Time
}

// maxLazy is what an event may weigh whose words are left to who looks.
const maxLazy = 2 << 10

// eventOf makes an event of a request that a group's coordinator answered; nil of any other.
func eventOf(r *wire.Request, a wire.Answer, x *exchange, name TopicNamer) *groupEvent {
	group, member, quiet := groupOf(r.Body, a.Response)
	if group == "" {
		return nil
	}
	if !quiet || x.weight > maxLazy {
		x.words(name)
	}
	return &groupEvent{
		x: x, group: cut(group, maxKeptName), member: cut(member, maxKeptText), quiet: quiet && a.Err == nil && !refusedAny(a.Response),
		times: 1, since: r.Received,
	}
}

// refusedAny says whether an answer to a quiet request refuses something.
func refusedAny(resp kmsg.Response) bool {
	switch resp := resp.(type) {
	case *kmsg.HeartbeatResponse:
		return resp.ErrorCode != 0
	case *kmsg.ConsumerGroupHeartbeatResponse:
		return resp.ErrorCode != 0
	case *kmsg.ShareGroupHeartbeatResponse:
		return resp.ErrorCode != 0
	case *kmsg.StreamsGroupHeartbeatResponse:
		return resp.ErrorCode != 0
	case *kmsg.AddOffsetsToTxnResponse:
		return resp.ErrorCode != 0
	case *kmsg.OffsetCommitResponse:
		for _, t := range resp.Topics {
			for _, p := range t.Partitions {
				if p.ErrorCode != 0 {
					return true
				}
			}
		}
		return false
	case *kmsg.TxnOffsetCommitResponse:
		for _, t := range resp.Topics {
			for _, p := range t.Partitions {
				if p.ErrorCode != 0 {
					return true
				}
			}
		}
		return false
	}
	return true
}

// told is the event as it is shown.
func (e *groupEvent) told(name TopicNamer) inside.GroupEvent {
	row := e.x.words(name)
	return inside.GroupEvent{
		Request: e.x.id, At: row.At, Took: row.Took, API: row.API, Client: row.Client, Member: e.member, Asked: row.Asked, Got: row.Got,
		Error: row.Error, Times: e.times, Since: e.since,
	}
}

// groupOf is the group of a request that changes it or belongs to its life, and the member that sent it. quiet: it says
// nothing new, as a heartbeat or the next commit.
func groupOf(body kmsg.Request, resp kmsg.Response) (group, member string, quiet bool) {
	switch req := body.(type) {
	case *kmsg.JoinGroupRequest:
		return req.Group, req.MemberID, false
	case *kmsg.SyncGroupRequest:
		return req.Group, req.MemberID, false
	case *kmsg.HeartbeatRequest:
		return req.Group, req.MemberID, true
	case *kmsg.LeaveGroupRequest:
		member := req.MemberID
		if member == "" && len(req.Members) > 0 {
			member = req.Members[0].MemberID
		}
		return req.Group, member, false
	case *kmsg.OffsetCommitRequest:
		return req.Group, req.MemberID, true
	case *kmsg.TxnOffsetCommitRequest:
		return req.Group, req.MemberID, true
	case *kmsg.OffsetDeleteRequest:
		return req.Group, "", false
	case *kmsg.AddOffsetsToTxnRequest:
		return req.Group, "", true
	}
	return liveGroupOf(body, resp)
}

// liveGroupOf is groupOf of groups that live in heartbeats.
func liveGroupOf(body kmsg.Request, resp kmsg.Response) (group, member string, quiet bool) {
	switch req := body.(type) {
	case *kmsg.ConsumerGroupHeartbeatRequest:
		r, ok := resp.(*kmsg.ConsumerGroupHeartbeatResponse)
		return req.Group, req.MemberID, ok && r.Assignment == nil && r.MemberEpoch == req.MemberEpoch && req.SubscribedTopicNames == nil && req.Topics == nil
	case *kmsg.ShareGroupHeartbeatRequest:
		r, ok := resp.(*kmsg.ShareGroupHeartbeatResponse)
		return req.GroupID, req.MemberID, ok && r.Assignment == nil && r.MemberEpoch == req.MemberEpoch && req.SubscribedTopicNames == nil
	case *kmsg.StreamsGroupHeartbeatRequest:
		r, ok := resp.(*kmsg.StreamsGroupHeartbeatResponse)
		return req.Group, req.MemberID, ok && r.MemberEpoch == req.MemberEpoch && r.ActiveTasks == nil && req.Topology == nil && req.ActiveTasks == nil
	case *kmsg.AlterShareGroupOffsetsRequest:
		return req.GroupID, "", false
	case *kmsg.DeleteShareGroupOffsetsRequest:
		return req.GroupID, "", false
	}
	return "", "", false
}

// groupRings are the events of each group. Its lock is the ring's.
type groupRings struct {
	groups map[string]*list.Element // of order
	order  *list.List               // of *groupRing, the one that was last heard of first
	all    int                      // events
}

type groupRing struct {
	group  string
	events []*groupEvent // oldest first
}

func newGroupRings() groupRings {
	return groupRings{groups: map[string]*list.Element{}, order: list.New()}
}

func (g *groupRings) add(e *groupEvent) {
	at, known := g.groups[e.group]
	if !known {
		at = g.order.PushFront(&groupRing{group: e.group})
		g.groups[e.group] = at
	}
	g.order.MoveToFront(at)
	ring := at.Value.(*groupRing)
	if ring.counted(e) {
		return
	}
	if len(ring.events) == MaxGroupEvents {
		copy(ring.events, ring.events[1:])
		ring.events[MaxGroupEvents-1] = e
		return
	}
	ring.events = append(ring.events, e)
	g.all++
	for g.order.Len() > maxGroups || g.all > maxAllEvents && g.order.Len() > 1 {
		g.forget(g.order.Back())
	}
}

func (g *groupRings) forget(at *list.Element) {
	ring := at.Value.(*groupRing)
	g.all -= len(ring.events)
	delete(g.groups, ring.group)
	g.order.Remove(at)
}

// counted adds an event that says nothing new to one of the last ones that is alike.
func (r *groupRing) counted(e *groupEvent) bool {
	if !e.quiet {
		return false
	}
	for i := len(r.events) - 1; i >= max(0, len(r.events)-alikeWithin); i-- {
		was := r.events[i]
		if !was.quiet {
			return false // what has happened since is between them
		}
		if was.x.key == e.x.key && was.member == e.member && was.x.client == e.x.client {
			e.times, e.since = was.times+1, was.since
			r.events[i] = e
			return true
		}
	}
	return false
}

// of gives a copy of a group's events.
func (g *groupRings) of(group string) []groupEvent {
	at, known := g.groups[group]
	if !known {
		return nil
	}
	events := at.Value.(*groupRing).events
	out := make([]groupEvent, len(events))
	for i, e := range events {
		out[i] = *e
	}
	return out
}
