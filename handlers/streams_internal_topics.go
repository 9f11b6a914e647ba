package handlers

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/wire"
)

// Internal topics of a streams group are made by the broker on the account of the member whose heartbeat found them missing. One
// that could not be made is not tried again for two heartbeats; meanwhile members are told why.

// maxTopicErrors is how many topics' errors are kept, as in Kafka: those that expire first go first.
const maxTopicErrors = 1_000

// topicErrors are reasons why internal topics could not be made.
type topicErrors struct {
	mu sync.Mutex
	of map[string]topicError
}

type topicError struct {
	text  string
	until int64 // ms
}

// at gives the reasons for some topics that still count, in the order of the topics.
func (e *topicErrors) at(now int64, topics []kmsg.CreateTopicsRequestTopic) (found []string, open []kmsg.CreateTopicsRequestTopic) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, t := range topics {
		if why, known := e.of[t.Topic]; known && why.until > now {
			found = append(found, fmt.Sprintf("%s (%s)", t.Topic, why.text))
		} else {
			open = append(open, t)
		}
	}
	return found, open
}

func (e *topicErrors) put(topic, why string, now, until int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.of == nil {
		e.of = map[string]topicError{}
	}
	e.of[topic] = topicError{why, until}
	for first := ""; len(e.of) > maxTopicErrors; first = "" {
		for name, x := range e.of {
			if first == "" || x.until < e.of[first].until || x.until == e.of[first].until && name < first {
				first = name
			}
		}
		delete(e.of, first)
	}
	for name, x := range e.of {
		if x.until <= now {
			delete(e.of, name)
		}
	}
}

// createInternalTopics adds what failed before to the answer of a heartbeat, and makes the topics that did not. As in Kafka the
// answer does not wait for how that goes: the next one tells.
func (b *Broker) createInternalTopics(ctx context.Context, r *wire.Request, group string, resp *kmsg.StreamsGroupHeartbeatResponse, topics []kmsg.CreateTopicsRequestTopic) {
	now := b.steady.NowMillis()
	failed, open := b.groups.topicErrors.at(now, topics)
	tellFailed(resp, failed)
	if len(open) == 0 {
		return
	}
	until := now + 2*int64(b.groups.groupInt(b.groups.view(), group, "streams.heartbeat.interval.ms"))
	for _, answer := range b.createOnBehalf(ctx, r, open) {
		if answer.ErrorCode == none {
			continue
		}
		why := fmt.Sprint(answer.ErrorCode)
		if answer.ErrorMessage != nil {
			why = *answer.ErrorMessage
		}
		b.groups.topicErrors.put(answer.Topic, why, now, until)
	}
}

// tellBarred says in the answer of a heartbeat which of the missing topics its member may not create.
func tellBarred(resp *kmsg.StreamsGroupHeartbeatResponse, barred []kmsg.CreateTopicsRequestTopic) {
	names := make([]string, len(barred))
	for i, t := range barred {
		names[i] = t.Topic
	}
	detail := "Unauthorized to CREATE on topics " + strings.Join(names, ", ") + "."
	for i := range resp.Status {
		if s := &resp.Status[i]; s.StatusCode == statusMissingInternal {
			s.StatusDetail += "; " + detail
			return
		}
	}
	resp.Status = append(resp.Status, kmsg.StreamsGroupHeartbeatResponseStatus{StatusCode: statusMissingInternal, StatusDetail: detail})
}

// createOnBehalf makes topics as CreateTopics does.
func (b *Broker) createOnBehalf(ctx context.Context, r *wire.Request, topics []kmsg.CreateTopicsRequestTopic) (answers []kmsg.CreateTopicsResponseTopic) {
	if b.askedPartitions(topics) > maxPartitionsPerRequest {
		return noneCreated(topics, refuse(policyViolation, "Excessively large number of partitions per request."))
	}
	tooLarge := false
	charge, _ := b.mutations(r, true)
	err := b.decide(ctx, r, false, func(tx *tx) {
		if answers, tooLarge = b.createAll(tx, topics, nil, charge); tooLarge {
			tx.Drop()
		}
	})
	switch {
	case tooLarge:
		return noneCreated(topics, refuse(policyViolation, "Unable to perform excessively large batch operation."))
	case err != nil:
		return noneCreated(topics, storageRefusal(err))
	}
	return answers
}

// tellFailed adds to the status of missing topics why they could not be made; three of them at most.
func tellFailed(resp *kmsg.StreamsGroupHeartbeatResponse, failed []string) {
	const most = 3
	if len(failed) == 0 {
		return
	}
	list := strings.Join(failed[:min(most, len(failed))], ", ")
	if more := len(failed) - most; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	for i := range resp.Status {
		if s := &resp.Status[i]; s.StatusCode == statusMissingInternal {
			s.StatusDetail += "; Creation failed: " + list + "."
			return
		}
	}
}
