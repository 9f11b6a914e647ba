package handlers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/configs"
	"doze/journal"
	"doze/projections"
)

// TestConsumerTranscripts runs testdata/consumer/*.txt, as TestClassicTranscripts its own.
func TestConsumerTranscripts(t *testing.T) {
	runTranscripts(t, "testdata/consumer", func(t *testing.T) transcribed {
		b := newGroupBench(t)
		return transcribed{run: b.run, take: b.take, replay: b.replay}
	})
}

// beat GROUP MEMBER EPOCH [TOPIC/PARTITION...] [names=a,b] [regex=r] [instance=i] [assignor=a] [rebalance=60s] [client=c]
//
// Epoch 0 says all that a member must say; "-" as the only partition says that it has none.
func (b *groupBench) beat(name string, a benchArgs) {
	req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	req.Version = 1
	epoch, _ := strconv.Atoi(a.words[2])
	req.Group, req.MemberID, req.MemberEpoch = a.words[0], a.words[1], int32(epoch)
	req.InstanceID, req.ServerAssignor, req.SubscribedTopicRegex = a.optional("instance"), a.optional("assignor"), a.optional("regex")
	if names, told := a.named["names"]; told {
		req.SubscribedTopicNames = slices.DeleteFunc(strings.Split(names, ","), func(s string) bool { return s == "" })
	}
	req.RebalanceTimeoutMillis = a.number("rebalance", -1)
	if epoch == 0 {
		req.RebalanceTimeoutMillis = a.number("rebalance", 60_000)
		req.Topics = []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	}
	for _, w := range a.words[3:] {
		if req.Topics == nil {
			req.Topics = []kmsg.ConsumerGroupHeartbeatRequestTopic{}
		}
		if topic, partition, ok := strings.Cut(w, "/"); ok {
			n, _ := strconv.Atoi(partition)
			req.Topics = append(req.Topics, kmsg.ConsumerGroupHeartbeatRequestTopic{TopicID: b.state.Topics.Named(topic).ID, Partitions: []int32{int32(n)}})
		}
	}
	from := caller{cause: journal.Cause{API: 68}, clientID: a.text("client", "c"), clientHost: "/127.0.0.1"}
	b.printf("%s: %s\n", name, b.describeBeat(b.c.consumerHeartbeat(context.Background(), from, req)))
	b.deliver()
}

func (b *groupBench) describeBeat(r *kmsg.ConsumerGroupHeartbeatResponse) string {
	if r.ErrorCode != 0 {
		return fmt.Sprintf("%d %s", r.ErrorCode, *r.ErrorMessage)
	}
	s := fmt.Sprintf("epoch=%d", r.MemberEpoch)
	if r.Assignment == nil {
		return s
	}
	var list []string
	for _, t := range r.Assignment.Topics {
		for _, p := range t.Partitions {
			list = append(list, fmt.Sprintf("%s/%d", b.topicName(t.TopicID), p))
		}
	}
	return s + " [" + strings.Join(list, " ") + "]"
}

func (b *groupBench) topicName(id [16]byte) string {
	if t := b.state.Topics.WithID(id); t != nil {
		return t.Name
	}
	return "?"
}

func (b *groupBench) describeConsumers(a benchArgs) {
	resp := b.c.describeConsumers(&kmsg.ConsumerGroupDescribeRequest{Groups: a.words}, access{})
	for _, g := range resp.Groups {
		b.printf("describe %s %d %s epoch=%d assignment=%d %s\n", g.Group, g.ErrorCode, g.State, g.Epoch, g.AssignmentEpoch, g.AssignorName)
	}
}

// configureConsumers takes keys that are a broker's or a group's with '_' for '.'.
func (b *groupBench) configureConsumers(a benchArgs) {
	static := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(a.named)) {
		if name := "group." + strings.ReplaceAll(key, "_", "."); strings.HasPrefix(key, "consumer_") {
			static[name] = a.named[key]
		}
	}
	if len(static) > 0 {
		b.broker = configs.NewBroker(static, nil, nil)
		b.set.consumer = consumerSettingsOf(b.broker)
	}
}

func dumpConsumers(out *strings.Builder, s *projections.State, g *projections.Group) {
	c := g.Consumer
	fmt.Fprintf(out, "group %s %s consumer epoch=%d target=%d\n", g.ID, g.State, c.Epoch, c.TargetEpoch)
	for _, r := range c.Regexes {
		fmt.Fprintf(out, "  regex %s %v\n", r.Regex, r.Topics)
	}
	for _, m := range c.Members {
		fmt.Fprintf(out, "  member %s epoch=%d before=%d %s", m.ID, m.Epoch, m.Previous, m.State)
		if m.Static {
			fmt.Fprintf(out, " instance=%s", m.InstanceID)
		}
		if m.Classic {
			fmt.Fprintf(out, " classic session=%s", time.Duration(m.SessionTimeoutMs)*time.Millisecond)
		}
		fmt.Fprintf(out, " reads=%v%s has=%v", m.Topics, m.Regex, shownOwned(s, m.Assigned))
		if len(m.Revoking) > 0 {
			fmt.Fprintf(out, " revoking=%v", shownOwned(s, m.Revoking))
		}
		var target []journal.OwnedPartitions
		for _, p := range m.Target {
			target = append(target, journal.OwnedPartitions{TopicID: p.TopicID, Partitions: p.Partitions})
		}
		fmt.Fprintf(out, " target=%v\n", shownOwned(s, target))
	}
}

func shownOwned(s *projections.State, owned []journal.OwnedPartitions) (list []string) {
	for _, p := range owned {
		name := "?"
		if t := s.Topics.WithID(p.TopicID); t != nil {
			name = t.Name
		}
		for i, n := range p.Partitions {
			text := fmt.Sprintf("%s/%d", name, n)
			if len(p.Epochs) > 0 {
				text += fmt.Sprintf("@%d", p.Epochs[i])
			}
			list = append(list, text)
		}
	}
	return list
}

// consumerMetadata is "@a,b" as the metadata of a consumer that reads a and b; anything else stands for itself.
func consumerMetadata(s string) []byte {
	names, is := strings.CutPrefix(s, "@")
	if !is {
		return []byte(s)
	}
	m := kmsg.NewConsumerMemberMetadata()
	m.Version, m.Topics = 1, strings.Split(names, ",")
	return m.AppendTo(nil)
}

// consumerAssignment is "@a/0,a/1" as what a leader gives to a consumer; anything else stands for itself.
func consumerAssignment(s string) []byte {
	list, is := strings.CutPrefix(s, "@")
	if !is {
		return []byte(s)
	}
	a := kmsg.NewConsumerMemberAssignment()
	for _, w := range strings.Split(list, ",") {
		topic, partition := splitPartition(w)
		a.Topics = append(a.Topics, kmsg.ConsumerMemberAssignmentTopic{Topic: topic, Partitions: []int32{partition}})
	}
	return a.AppendTo(nil)
}
