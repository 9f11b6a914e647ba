package handlers

import (
	"context"
	"math"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/acls"
	"doze/projections"
	"doze/wire"
)

// DescribeTopicPartitions (key 75), v0 (KIP-966): topics with their partitions in name order, page by page. An empty list
// means all topics. The cursor names the first partition that did not fit.
func (b *Broker) describeTopicPartitions(_ context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.DescribeTopicPartitionsRequest)
	resp := respond[*kmsg.DescribeTopicPartitionsResponse](r)
	state, _ := b.view()
	names := make([]string, len(req.Topics))
	for i, t := range req.Topics {
		names[i] = t.Topic
	}
	page := topicPage{node: b.nodeID, state: state, may: b.access(r), resp: resp, left: b.pageLimit(req.ResponsePartitionLimit)}
	if c := req.Cursor; c != nil {
		page.cursorTopic, page.cursorPartition = c.Topic, c.Partition
	}
	if code := page.refusal(names); code != none {
		for _, name := range names {
			page.missing(name, code, math.MinInt32)
		}
		return resp, nil
	}
	if len(names) == 0 {
		state.Topics.Each(page.cursorTopic, page.shown)
		return resp, nil
	}
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name < page.cursorTopic })
	names, hidden := permitted(page.may, acls.Describe, acls.Topic, names, itself)
	for _, name := range names {
		if !page.named(name) {
			break
		}
	}
	for _, name := range hidden {
		page.missing(name, topicAuthorizationFailed, math.MinInt32)
	}
	return resp, nil
}

// pageLimit is how many partitions one answer holds: what the request wants, at most the broker's
// max.request.partition.size.limit, at least one.
func (b *Broker) pageLimit(asked int32) int32 {
	return max(1, min(asked, int32(b.static.Int("max.request.partition.size.limit"))))
}

// topicPage fills one answer.
type topicPage struct {
	node            int32
	state           *projections.State
	resp            *kmsg.DescribeTopicPartitionsResponse
	cursorTopic     string
	cursorPartition int32
	left            int32
	may             access
}

// full ends the page at a topic that nothing of fits any more.
func (p *topicPage) full(name string) bool {
	if p.left > 0 {
		return false
	}
	p.resp.NextCursor = &kmsg.DescribeTopicPartitionsResponseNextCursor{Topic: name}
	return true
}

func (p *topicPage) named(name string) (more bool) {
	if found := p.state.Topics.Named(name); found != nil {
		return p.topic(found)
	}
	if p.full(name) {
		return false
	}
	code := unknownTopicOrPartition
	if invalidTopicName(name) != "" {
		code = invalidTopicException
	}
	p.missing(name, code, p.may.operations(acls.Topic, name))
	return true
}

// refusal refuses the request as a whole: a cursor that points nowhere, or an empty name, which fails Kafka.
func (p *topicPage) refusal(names []string) int16 {
	switch {
	case p.cursorPartition < 0 || len(names) > 0 && p.cursorTopic != "" && !slices.Contains(names, p.cursorTopic):
		return invalidRequest
	case p.cursorTopic == "" && slices.Contains(names, ""):
		return unknownServerError
	}
	return none
}

func (p *topicPage) missing(name string, code int16, operations int32) {
	topic := kmsg.NewDescribeTopicPartitionsResponseTopic()
	topic.Topic, topic.ErrorCode, topic.AuthorizedOperations = text(name), code, operations
	p.resp.Topics = append(p.resp.Topics, topic)
}

// shown is topic for one of all topics: those that the caller may not describe are passed over.
func (p *topicPage) shown(t *projections.Topic) (more bool) {
	return !p.may.may(acls.Describe, acls.Topic, t.Name) || p.topic(t)
}

func (p *topicPage) topic(t *projections.Topic) (more bool) {
	if p.full(t.Name) {
		return false
	}
	first := int32(0)
	if t.Name == p.cursorTopic {
		first = p.cursorPartition
	}
	end := min(t.Partitions, first+p.left)
	topic := kmsg.NewDescribeTopicPartitionsResponseTopic()
	topic.Topic, topic.TopicID, topic.AuthorizedOperations = &t.Name, t.ID, p.may.operations(acls.Topic, t.Name)
	self := []int32{p.node}
	for i := first; i < end; i++ {
		partition := kmsg.NewDescribeTopicPartitionsResponseTopicPartition()
		partition.Partition, partition.LeaderID, partition.LeaderEpoch = i, p.node, t.LeaderEpoch(i, p.state.Starts)
		partition.Replicas, partition.ISR = self, self
		partition.EligibleLeaderReplicas, partition.LastKnownELR = []int32{}, []int32{}
		topic.Partitions = append(topic.Partitions, partition)
	}
	p.resp.Topics = append(p.resp.Topics, topic)
	if end < t.Partitions {
		p.resp.NextCursor = &kmsg.DescribeTopicPartitionsResponseNextCursor{Topic: t.Name, Partition: end}
		return false
	}
	p.left -= max(0, end-first)
	return true
}
