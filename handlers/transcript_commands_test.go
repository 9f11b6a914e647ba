package handlers

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/journal"
)

// benchArgs are the words behind a command of a transcript, and those of the form name=value.
type benchArgs struct {
	words []string
	named map[string]string
}

func parseArgs(words []string) benchArgs {
	a := benchArgs{named: map[string]string{}}
	for _, w := range words {
		if k, v, ok := strings.Cut(w, "="); ok && k != "" {
			a.named[k] = v
		} else {
			a.words = append(a.words, w)
		}
	}
	return a
}

func (a benchArgs) text(name, otherwise string) string {
	if v, ok := a.named[name]; ok {
		return v
	}
	return otherwise
}

func (a benchArgs) number(name string, otherwise int32) int32 {
	v, ok := a.named[name]
	if !ok {
		return otherwise
	}
	if d, err := time.ParseDuration(v); err == nil {
		return int32(d.Milliseconds())
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		panic(err)
	}
	return int32(n)
}

func (a benchArgs) optional(name string) *string {
	if v, ok := a.named[name]; ok {
		return &v
	}
	return nil
}

func member(word string) string {
	if word == "-" {
		return ""
	}
	return word
}

// join GROUP MEMBER|- PROTOCOL[:METADATA]... [v=9] [client=c] [instance=i] [session=10s] [rebalance=60s] [type=consumer]
func (b *groupBench) join(name string, a benchArgs) {
	req := kmsg.NewPtrJoinGroupRequest()
	req.Version = int16(a.number("v", 9))
	req.Group, req.MemberID, req.InstanceID = a.words[0], member(a.words[1]), a.optional("instance")
	req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = a.number("session", 10_000), a.number("rebalance", 60_000)
	req.ProtocolType = a.text("type", "consumer")
	for _, w := range a.words[2:] {
		p := kmsg.NewJoinGroupRequestProtocol()
		protocol, metadata, _ := strings.Cut(w, ":")
		p.Name, p.Metadata = protocol, consumerMetadata(metadata)
		req.Protocols = append(req.Protocols, p)
	}
	cmd := &joinCommand{req: req, clientID: a.text("client", "c"), clientHost: "/127.0.0.1", wait: newWaiter()}
	var resp *kmsg.JoinGroupResponse
	_ = b.c.update(context.Background(), journal.Cause{API: 11}, func(d *groupDecision) { resp = d.join(cmd) })
	b.answer(name, resp == nil, resp, cmd.wait)
}

// sync GROUP MEMBER GENERATION [MEMBER:ASSIGNMENT]... [instance=i] [type=t] [protocol=p]
func (b *groupBench) sync(name string, a benchArgs) {
	req := kmsg.NewPtrSyncGroupRequest()
	req.Version = 5
	generation, _ := strconv.Atoi(a.words[2])
	req.Group, req.MemberID, req.Generation, req.InstanceID = a.words[0], a.words[1], int32(generation), a.optional("instance")
	req.ProtocolType, req.Protocol = a.optional("type"), a.optional("protocol")
	for _, w := range a.words[3:] {
		as := kmsg.NewSyncGroupRequestGroupAssignment()
		id, assignment, _ := strings.Cut(w, ":")
		as.MemberID, as.MemberAssignment = id, consumerAssignment(assignment)
		req.GroupAssignment = append(req.GroupAssignment, as)
	}
	cmd := &syncCommand{req: req, wait: newWaiter()}
	var resp *kmsg.SyncGroupResponse
	_ = b.c.update(context.Background(), journal.Cause{API: 14}, func(d *groupDecision) { resp = d.sync(cmd) })
	b.answer(name, resp == nil, resp, cmd.wait)
}

// leave GROUP MEMBER|-[/INSTANCE]...
func (b *groupBench) leave(name string, a benchArgs) {
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Group = a.words[0]
	for _, w := range a.words[1:] {
		m := kmsg.NewLeaveGroupRequestMember()
		id, instance, static := strings.Cut(w, "/")
		m.MemberID = member(id)
		if static {
			m.InstanceID = &instance
		}
		req.Members = append(req.Members, m)
	}
	var out []kmsg.LeaveGroupResponseMember
	_ = b.c.update(context.Background(), journal.Cause{API: 13}, func(d *groupDecision) { out = d.leave(req) })
	for _, m := range out {
		instance := ""
		if m.InstanceID != nil {
			instance = "/" + *m.InstanceID
		}
		b.printf("%s: leave %s%s %s\n", name, m.MemberID, instance, codeName(m.ErrorCode))
	}
	b.deliver()
}

// heartbeat GROUP MEMBER GENERATION [instance=i]
func (a benchArgs) heartbeat() *kmsg.HeartbeatRequest {
	req := kmsg.NewPtrHeartbeatRequest()
	generation, _ := strconv.Atoi(a.words[2])
	req.Group, req.MemberID, req.Generation, req.InstanceID = a.words[0], a.words[1], int32(generation), a.optional("instance")
	return req
}
