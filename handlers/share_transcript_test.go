package handlers

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/projections"
)

// TestShareTranscripts runs testdata/share/*.txt: members of share groups, and what the coordinator decides.
func TestShareTranscripts(t *testing.T) {
	runTranscripts(t, "testdata/share", func(t *testing.T) transcribed {
		b := newGroupBench(t)
		return transcribed{run: b.run, take: b.take, replay: b.replay}
	})
}

// share GROUP MEMBER EPOCH [TOPIC...] [rack=r] [client=c]: a ShareGroupHeartbeat; "-" names no topics.
func (b *groupBench) share(name string, a benchArgs) {
	req := kmsg.NewPtrShareGroupHeartbeatRequest()
	epoch, err := strconv.Atoi(a.words[2])
	if err != nil {
		b.t.Fatal(err)
	}
	req.GroupID, req.MemberID, req.MemberEpoch, req.RackID = a.words[0], a.words[1], int32(epoch), a.optional("rack")
	if topics := a.words[3:]; len(topics) > 0 {
		req.SubscribedTopicNames = topics
		if topics[0] == "-" {
			req.SubscribedTopicNames = []string{}
		}
	}
	from := caller{clientID: a.text("client", "c"), clientHost: "/127.0.0.1"}
	resp := b.c.shareHeartbeat(context.Background(), from, req)
	if resp.ErrorCode != none {
		why := ""
		if resp.ErrorMessage != nil {
			why = " " + *resp.ErrorMessage
		}
		b.printf("%s: share %s%s\n", name, codeName(resp.ErrorCode), why)
		return
	}
	b.printf("%s: share epoch %d%s\n", name, resp.MemberEpoch, b.shown(resp.Assignment))
}

func (b *groupBench) shown(a *kmsg.ShareGroupHeartbeatResponseAssignment) string {
	if a == nil {
		return ""
	}
	var parts []string
	for _, p := range a.TopicPartitions {
		name := "?"
		if t := b.state.Topics.WithID(p.TopicID); t != nil {
			name = t.Name
		}
		parts = append(parts, fmt.Sprintf("%s%v", name, p.Partitions))
	}
	return " has [" + strings.Join(parts, " ") + "]"
}

// describe-share GROUP shows members and epochs.
func (b *groupBench) describeShare(a benchArgs) {
	g := b.state.Groups.Get(a.words[0])
	d := describeShareGroup(b.state, g, a.words[0], true)
	b.printf("%s %s epoch %d assigned %d\n", d.GroupID, d.GroupState, d.GroupEpoch, d.AssignmentEpoch)
	for _, m := range d.Members {
		b.printf("  %s epoch %d reads %v has %v\n", m.MemberID, m.MemberEpoch, m.SubscribedTopicNames, m.Assignment.TopicPartitions)
	}
	b.state.ShareStates.OfGroup(a.words[0], func(st *projections.ShareState) bool {
		b.printf("  partition %d start %d epoch %d\n", st.Partition, st.Start, st.StateEpoch)
		return true
	})
}
