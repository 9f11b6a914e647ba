package handlers

import (
	"math"
	"unicode/utf8"

	"doze/configs"
	"doze/journal"
	"doze/projections"
)

// newMemberJoinTimeoutMs is how long a member may be in its first join phase: it cannot heartbeat before it has its id.
const newMemberJoinTimeoutMs = 5 * 60_000

// groupDecision is one decision of the coordinator: it reads the state and emits events, which change that state at once.
// What the world outside is told once the events are safe (answers, deadlines) is collected in effects, in order. A
// decision reads no clock and nothing that is not in the state, so the same state, command and time give the same events; but
// for streams groups, of which Kafka keeps some things in memory alone, and so do we (streamsSoft).
type groupDecision struct {
	state    *projections.State
	seq      uint64
	at       int64 // ms
	emit     func(journal.Event)
	newUUID  func() [16]byte
	settings *groupSettings
	configs  *configs.Broker // the broker's own as they are now
	drop     func()          // ends the decision: nothing that it did happens
	effects  []groupEffect
	barred   map[string]bool // topics that the caller may not do this with
	caller   access          // who heartbeats: regular expressions stand for what it may describe
	// streams is what is known of streams groups beside the state.
	streams *streamsSofts
}

// groupEffect is what a decision does to the coordinator's soft state.
type groupEffect struct {
	do    effectKind
	key   deadlineKey
	delay int32  // of a deadline, ms
	token uint64 // of a deadline: the entry that set it
	wait  *waiter
	reply any // to whoever waits under the key
	// topics are those that the key's group knows, or has to be held against.
	topics *projections.Revision
	force  bool   // resolve even when the topics are known
	caller access // on whose account regular expressions are resolved
}

type effectKind uint8

const (
	effectArm effectKind = iota
	effectDisarm
	effectPark
	effectReply
	effectPutOff
	effectCurrent
	effectForget
	effectResolve
	effectArmIfAbsent
)

func (d *groupDecision) group(id string) *projections.Group { return d.state.Groups.Get(id) }

func (d *groupDecision) arm(key deadlineKey, delayMs int32, token uint64) {
	d.effects = append(d.effects, groupEffect{do: effectArm, key: key, delay: delayMs, token: token})
}

func (d *groupDecision) armIfAbsent(key deadlineKey, delayMs int32) {
	d.effects = append(d.effects, groupEffect{do: effectArmIfAbsent, key: key, delay: delayMs})
}

func (d *groupDecision) disarm(key deadlineKey) {
	d.effects = append(d.effects, groupEffect{do: effectDisarm, key: key})
}

// putOff moves a deadline that was set before.
func (d *groupDecision) putOff(key deadlineKey, delayMs int32) {
	d.effects = append(d.effects, groupEffect{do: effectPutOff, key: key, delay: delayMs})
}

// knowTopics notes that the group has looked at the topics as they are now.
func (d *groupDecision) knowTopics(group string) {
	d.effects = append(d.effects, groupEffect{do: effectCurrent, key: deadlineKey{group: group}, topics: d.state.Topics.Changed()})
}

// resolveRegexes has the group's regular expressions held against the topics, if some were created since it was done last, or
// a member has brought a new one.
func (d *groupDecision) resolveRegexes(group string, isNew bool) {
	key := deadlineKey{kind: deadlineRegex, group: group}
	d.effects = append(d.effects, groupEffect{do: effectResolve, key: key, topics: d.state.Topics.Created(), force: isNew, caller: d.caller})
}

// forget drops what is known of a group that is deleted, or of another type now.
func (d *groupDecision) forget(group string) {
	d.effects = append(d.effects, groupEffect{do: effectForget, key: deadlineKey{group: group}})
}

// groupInt is the effective whole number of a group's key: the group's own value, held to the broker's bounds, else the
// broker's.
func (d *groupDecision) groupInt(group, key string) int32 {
	return int32(d.configs.GroupInt(key, d.state.Configs.Map(projections.GroupResource, group)))
}

// park leaves a request unanswered until a reply comes for the key. Another request under the key takes its place: the
// first is never answered, as in Kafka, where a member waits with one request only.
func (d *groupDecision) park(key deadlineKey, w *waiter) {
	d.effects = append(d.effects, groupEffect{do: effectPark, key: key, wait: w})
}

func (d *groupDecision) reply(key deadlineKey, reply any) {
	d.effects = append(d.effects, groupEffect{do: effectReply, key: key, reply: reply})
}

// newMemberID makes the id of a new member out of its client id or, when it is static, of its instance id. A client id is
// cut where the whole would not fit in a string of the protocol: Kafka fails there when it writes its answer.
func (d *groupDecision) newMemberID(prefix string) string {
	const most = math.MaxInt16 - len("-00000000-0000-0000-0000-000000000000")
	if end := most; len(prefix) > most {
		for !utf8.RuneStart(prefix[end]) {
			end--
		}
		prefix = prefix[:end]
	}
	u := d.newUUID()
	return prefix + "-" + formatUUID(u)
}

func formatUUID(u [16]byte) string {
	const hex = "0123456789abcdef"
	out := make([]byte, 0, 36)
	for i, b := range u {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			out = append(out, '-')
		}
		out = append(out, hex[b>>4], hex[b&15])
	}
	return string(out)
}

// remove takes a member, or an id that was handed out, out of the group. When it led, the member of longest standing
// leads from here on.
func (d *groupDecision) remove(g *projections.Group, id string, reason journal.RemovalReason) {
	leader := g.Leader
	if leader == id {
		leader = longestStanding(g, func(m *projections.Member) bool { return m.ID != id })
	}
	d.emit(&journal.MemberRemoved{Group: g.ID, Member: id, Reason: reason, Leader: leader})
	d.disarm(sessionOf(g.ID, id))
}

// maxRemovedBytes bounds the removals of one decision, which must fit in an entry of the journal.
const maxRemovedBytes = 4 << 20

// removeAll removes the members that are gone, and says which was the last of them, and whether those were all: with long
// names they are more than one decision can take.
func (d *groupDecision) removeAll(id string, reason journal.RemovalReason, gone func(*projections.Member) bool) (last string, all bool) {
	bytes := 0
	for _, m := range d.group(id).Members {
		if !gone(m) {
			continue
		}
		g := d.group(id)
		if bytes += len(id) + len(m.ID) + len(g.Leader); bytes > maxRemovedBytes {
			return last, false
		}
		d.remove(g, m.ID, reason)
		last = m.ID
	}
	return last, true
}

// longestStanding returns the id of the member that joined first among those that fit, or "".
func longestStanding(g *projections.Group, fits func(*projections.Member) bool) string {
	var first *projections.Member
	for _, m := range g.Members {
		if fits(m) && (first == nil || m.Joined < first.Joined) {
			first = m
		}
	}
	if first == nil {
		return ""
	}
	return first.ID
}

// checkMember says whether a request comes from a member of the group: a static one by the id it has now.
func checkMember(g *projections.Group, id string, instance *string) int16 {
	if instance != nil {
		m := g.StaticMember(*instance)
		switch {
		case m == nil:
			return unknownMemberID
		case m.ID != id:
			return fencedInstanceID
		}
	}
	if g.Member(id) == nil {
		return unknownMemberID
	}
	return none
}
