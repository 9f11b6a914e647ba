package handlers

import (
	"context"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/acls"
	"doze/projections"
	"doze/wire"
)

// DescribeTransactions (key 65), v0 (KIP-664): the state of transactional ids, with the partitions of an open transaction.
// Offsets of groups are shown as Kafka shows them: as partitions of its topic of offsets.
func (b *Broker) describeTransactions(_ context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.DescribeTransactionsRequest)
	resp := respond[*kmsg.DescribeTransactionsResponse](r)
	state, _ := b.view()
	room, may := answerRoom(maxAnswerBytes), b.access(r)
	for _, id := range req.TransactionalIDs {
		t := state.Transactions.Get(id)
		if size := int64(100 + len(id)); !room.take(size) || t != nil && !room.take(300*int64(len(t.Partitions)+len(t.Groups))) {
			return nil, errAnswerTooLarge
		}
		if !may.may(acls.Describe, acls.TransactionalID, id) {
			hidden := kmsg.NewDescribeTransactionsResponseTransactionState()
			hidden.TransactionalID, hidden.ErrorCode = id, transactionalIDAuthorizationFailed
			resp.TransactionStates = append(resp.TransactionStates, hidden)
			continue
		}
		out := describeTransaction(state, t, id)
		out.Topics, _ = permitted(may, acls.Describe, acls.Topic, out.Topics, func(t kmsg.DescribeTransactionsResponseTransactionStateTopic) string { return t.Topic })
		resp.TransactionStates = append(resp.TransactionStates, out)
	}
	return resp, nil
}

func describeTransaction(state *projections.State, t *projections.Transaction, id string) kmsg.DescribeTransactionsResponseTransactionState {
	out := kmsg.NewDescribeTransactionsResponseTransactionState()
	out.TransactionalID = id
	switch {
	case id == "" || len(id) > maxName:
		out.ErrorCode = invalidRequest
		return out
	case t == nil:
		out.ErrorCode = transactionalIDNotFound
		return out
	}
	out.ProducerID, out.ProducerEpoch, out.State = t.ProducerID, t.Epoch, t.State.String()
	out.TimeoutMillis, out.StartTimestamp = t.TimeoutMs, t.StartAt
	out.Topics = topicsOfTxn(state, t)
	return out
}

// topicsOfTxn lists the partitions of a transaction by topic, as in Kafka with those of topics that were deleted.
func topicsOfTxn(state *projections.State, t *projections.Transaction) (topics []kmsg.DescribeTransactionsResponseTransactionStateTopic) {
	last := projections.ID{}
	for i, p := range t.Partitions {
		if i == 0 || last != p.Topic {
			name := t.TopicName(p.Topic)
			if topic := state.Topics.WithID(p.Topic); topic != nil {
				name = topic.Name
			}
			topics = append(topics, kmsg.DescribeTransactionsResponseTransactionStateTopic{Topic: name})
			last = p.Topic
		}
		to := &topics[len(topics)-1]
		to.Partitions = append(to.Partitions, p.Partition)
	}
	if len(t.Groups) > 0 {
		topics = append(topics, kmsg.DescribeTransactionsResponseTransactionStateTopic{Topic: offsetsTopic, Partitions: t.Groups})
	}
	slices.SortFunc(topics, func(a, b kmsg.DescribeTransactionsResponseTransactionStateTopic) int {
		return strings.Compare(a.Topic, b.Topic)
	})
	return topics
}
