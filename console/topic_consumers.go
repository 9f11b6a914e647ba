package console

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// consumerRow is one partition as one group reads it.
type consumerRow struct {
	Group, State, Member string
	Partition            int32
	Committed, End, Lag  int64
	Err                  string
}

// topicConsumers shows the groups that have committed offsets of the topic or read it now.
func topicConsumers(r *request) (answer, error) {
	h, _, err := headOf(r, "consumers")
	if err != nil {
		return nil, err
	}
	rows, err := r.c.kafka.consumersOf(r.Context(), h.Name)
	if err != nil {
		return nil, err
	}
	data := topicTable{Head: h, Table: consumerSheet.show(r, rows), Note: "Lag is the end offset minus the committed one; under transactions markers count as offsets, which no consumer is handed."}
	return topicAnswer(h, "Consumers", "topic-table", data), nil
}

var consumerSheet = sheet[consumerRow]{
	ID: "consumers", Noun: "partition of a group", Sort: "group", Size: 100,
	Find:    func(c consumerRow) string { return c.Group + " " + c.Member },
	Href:    func(c consumerRow) string { return path("groups", c.Group) },
	Empty:   "No group has committed an offset of this topic. A consumer of one:",
	Command: "kafka-console-consumer.sh --bootstrap-server HOST:PORT --group my-group --from-beginning --topic TOPIC",
	Columns: []column[consumerRow]{
		{Key: "group", Title: "Group", Cell: func(c consumerRow) cell {
			return linkCell(c.Group, path("groups", c.Group)).with(badge{Text: c.State}).with(badBadge(c.Err)...)
		}, Order: by(func(c consumerRow) string { return c.Group })},
		{Key: "partition", Title: "Partition", Num: true, Cell: func(c consumerRow) cell { return numCell(int64(c.Partition)) }, Order: by(func(c consumerRow) int32 { return c.Partition })},
		{Title: "Member", Cell: func(c consumerRow) cell { return textCell(c.Member) }},
		{Key: "committed", Title: "Committed", Num: true, Cell: func(c consumerRow) cell { return offsetCell(c.Committed) }, Order: by(func(c consumerRow) int64 { return c.Committed })},
		{Key: "end", Title: "End offset", Num: true, Cell: func(c consumerRow) cell { return offsetCell(c.End) }, Order: by(func(c consumerRow) int64 { return c.End })},
		{Key: "lag", Title: "Lag", Num: true, Cell: func(c consumerRow) cell { return offsetCell(c.Lag) }, Order: by(func(c consumerRow) int64 { return c.Lag })},
	},
}

// offsetCell is an offset; a negative one is none.
func offsetCell(n int64) cell {
	if n < 0 {
		return unknownCell("none").right()
	}
	return numCell(n)
}

// consumersOf asks for the committed offsets of all groups in one request, and describes those that read the topic.
func (k *kafka) consumersOf(ctx context.Context, topic string) ([]consumerRow, error) {
	listed, err := k.admin.ListGroups(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, g := range listed.Sorted() {
		if g.ProtocolType == "consumer" || g.ProtocolType == "" {
			names = append(names, g.Group)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	ends, err := k.admin.ListEndOffsets(ctx, topic)
	if err != nil {
		return nil, err
	}
	var rows []consumerRow
	var reading []string
	for group, fetched := range k.admin.FetchManyOffsets(ctx, names...) {
		for partition, o := range fetched.Fetched[topic] {
			row := consumerRow{Group: group, State: listed[group].State, Partition: partition, Committed: o.At, End: -1, Lag: -1, Err: errorText(o.Err)}
			if end, ok := ends.Lookup(topic, partition); ok && end.Err == nil {
				row.End = end.Offset
				if row.Committed >= 0 {
					row.Lag = max(end.Offset-row.Committed, 0)
				}
			}
			rows = append(rows, row)
			if !slices.Contains(reading, group) {
				reading = append(reading, group)
			}
		}
	}
	k.nameMembers(ctx, topic, reading, rows)
	return rows, nil
}

// nameMembers adds who reads each partition, of the groups of both protocols.
func (k *kafka) nameMembers(ctx context.Context, topic string, groups []string, rows []consumerRow) {
	if len(groups) == 0 {
		return
	}
	owner := map[string]string{}
	key := func(group string, partition int32) string { return strconv.Itoa(int(partition)) + " " + group }
	described, _ := k.admin.DescribeGroups(ctx, groups...)
	for _, g := range described {
		for _, m := range g.Members {
			if assigned, ok := m.Assigned.AsConsumer(); ok {
				for _, t := range assigned.Topics {
					for _, p := range t.Partitions {
						if t.Topic == topic {
							owner[key(g.Group, p)] = m.ClientID + " at " + m.ClientHost
						}
					}
				}
			}
		}
	}
	consumers, _ := k.admin.DescribeConsumerGroups(ctx, groups...)
	for _, g := range consumers {
		for _, m := range g.Members {
			for _, p := range m.Assignment.Sorted() {
				for _, n := range p.Partitions {
					if p.Topic == topic {
						owner[key(g.Group, n)] = m.ClientID + " at " + m.ClientHost
					}
				}
			}
		}
	}
	for i := range rows {
		rows[i].Member = owner[key(rows[i].Group, rows[i].Partition)]
	}
}

// topicProducers shows who has produced with an id, and the transactions that are open on the topic.
func topicProducers(r *request) (answer, error) {
	h, _, err := headOf(r, "producers")
	if err != nil {
		return nil, err
	}
	set := kadm.TopicsSet{}
	set.Add(h.Name)
	described, err := r.c.kafka.admin.DescribeProducers(r.Context(), set)
	if err != nil {
		return nil, err
	}
	var rows []kadm.DescribedProducer
	for _, partitions := range described {
		for _, p := range partitions.Partitions {
			for _, producer := range p.ActiveProducers {
				rows = append(rows, producer)
			}
		}
	}
	open, err := r.c.kafka.openTransactions(r.Context(), h.Name)
	if err != nil {
		return nil, err
	}
	transactions := transactionSheet.show(r, open)
	data := topicTable{Head: h, Table: producerSheet.show(r, rows), Extra: &transactions, Title: "Open transactions",
		Note: "Producers that are idempotent or transactional and have produced lately. Others have no id, and the broker does not remember them."}
	return topicAnswer(h, "Producers", "topic-table", data), nil
}

var producerSheet = sheet[kadm.DescribedProducer]{
	ID: "producers", Noun: "producer", Sort: "partition", Size: 100,
	Empty: "No producer with an id has produced to this topic lately.",
	Columns: []column[kadm.DescribedProducer]{
		{Key: "partition", Title: "Partition", Num: true, Cell: func(p kadm.DescribedProducer) cell { return numCell(int64(p.Partition)) }, Order: by(func(p kadm.DescribedProducer) int32 { return p.Partition })},
		{Key: "id", Title: "Producer id", Num: true, Cell: func(p kadm.DescribedProducer) cell { return numCell(p.ProducerID) }, Order: by(func(p kadm.DescribedProducer) int64 { return p.ProducerID })},
		{Title: "Epoch", Num: true, Cell: func(p kadm.DescribedProducer) cell { return numCell(int64(p.ProducerEpoch)) }},
		{Title: "Last sequence", Num: true, Cell: func(p kadm.DescribedProducer) cell { return offsetCell(int64(p.LastSequence)) }},
		{Key: "last", Title: "Last produced", Cell: func(p kadm.DescribedProducer) cell { return timeCell(millis(p.LastTimestamp)) }, Order: by(func(p kadm.DescribedProducer) int64 { return p.LastTimestamp })},
		{Title: "Transaction since offset", Num: true, Cell: func(p kadm.DescribedProducer) cell { return offsetCell(p.CurrentTxnStartOffset) }},
	},
}

var transactionSheet = sheet[kadm.DescribedTransaction]{
	ID: "transactions", Noun: "open transaction", Sort: "id",
	Empty: "No transaction is open on this topic.",
	Columns: []column[kadm.DescribedTransaction]{
		{Key: "id", Title: "Transactional id", Cell: func(t kadm.DescribedTransaction) cell { return codeCell(t.TxnID) }, Order: by(func(t kadm.DescribedTransaction) string { return t.TxnID })},
		{Title: "State", Cell: func(t kadm.DescribedTransaction) cell { return badgeCell(badge{Text: t.State, Tone: "info"}) }},
		{Title: "Producer id", Num: true, Cell: func(t kadm.DescribedTransaction) cell { return numCell(t.ProducerID) }},
		{Key: "since", Title: "Since", Cell: func(t kadm.DescribedTransaction) cell { return timeCell(millis(t.StartTimestamp)) }, Order: by(func(t kadm.DescribedTransaction) int64 { return t.StartTimestamp })},
		{Title: "Timeout", Num: true, Cell: func(t kadm.DescribedTransaction) cell {
			return textCell((time.Duration(t.TimeoutMillis) * time.Millisecond).String()).right()
		}},
	},
}

// openTransactions are those that have partitions of the topic and no end yet.
func (k *kafka) openTransactions(ctx context.Context, topic string) ([]kadm.DescribedTransaction, error) {
	listed, err := k.admin.ListTransactions(ctx, nil, []string{"Ongoing", "PrepareCommit", "PrepareAbort"})
	if err != nil || len(listed) == 0 {
		return nil, err
	}
	described, err := k.admin.DescribeTransactions(ctx, listed.TransactionalIDs()...)
	if err != nil {
		return nil, err
	}
	var open []kadm.DescribedTransaction
	for _, t := range described.Sorted() {
		if _, there := t.Topics[topic]; there {
			open = append(open, t)
		}
	}
	return open, nil
}

// millis is a timestamp of Kafka; a negative one is none.
func millis(ms int64) time.Time {
	if ms < 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// topicACLs shows the ACLs that match the topic: of its name, of prefixes, of all topics.
func topicACLs(r *request) (answer, error) {
	h, _, err := headOf(r, "acls")
	if err != nil {
		return nil, err
	}
	rows, note, err := r.c.kafka.aclsOf(r.Context(), kmsg.ACLResourceTypeTopic, h.Name)
	if err != nil {
		return nil, err
	}
	return topicAnswer(h, "ACLs", "topic-table", topicTable{Head: h, Table: aclSheet.show(r, rows), Note: note}), nil
}

// aclRow is one ACL.
type aclRow struct{ Principal, Host, Operation, Permission, Pattern, Name string }

var aclSheet = sheet[aclRow]{
	ID: "acls", Noun: "ACL", Sort: "principal",
	Find:    func(a aclRow) string { return a.Principal + " " + a.Operation },
	Empty:   "No ACL is about this topic. One that lets a user read it:",
	Command: "kafka-acls.sh --bootstrap-server HOST:PORT --add --allow-principal User:alice --operation Read --topic TOPIC",
	Columns: []column[aclRow]{
		{Key: "principal", Title: "Principal", Cell: func(a aclRow) cell { return textCell(a.Principal) }, Order: by(func(a aclRow) string { return a.Principal })},
		{Key: "permission", Title: "Permission", Cell: func(a aclRow) cell {
			return badgeCell(badge{Text: a.Permission, Tone: map[string]string{"ALLOW": "good", "DENY": "bad"}[a.Permission]})
		}, Order: by(func(a aclRow) string { return a.Permission })},
		{Key: "operation", Title: "Operation", Cell: func(a aclRow) cell { return textCell(a.Operation) }, Order: by(func(a aclRow) string { return a.Operation })},
		{Title: "Host", Cell: func(a aclRow) cell { return textCell(a.Host) }},
		{Title: "Resource", Cell: func(a aclRow) cell { return textCell(a.Name).with(badge{Text: a.Pattern}) }},
	},
}

// aclsOf asks for the ACLs that match a resource; a broker without an authorizer has none, which the note says.
func (k *kafka) aclsOf(ctx context.Context, kind kmsg.ACLResourceType, name string) (rows []aclRow, note string, err error) {
	req := kmsg.NewPtrDescribeACLsRequest()
	req.ResourceType, req.ResourceName, req.ResourcePatternType = kind, &name, kmsg.ACLResourcePatternTypeMatch
	req.Operation, req.PermissionType = kmsg.ACLOperationAny, kmsg.ACLPermissionTypeAny
	resp, err := req.RequestWith(ctx, k.client)
	if err != nil {
		return nil, "", err
	}
	if resp.ErrorCode != 0 {
		p := asProblem(kafkaError(resp.ErrorCode, resp.ErrorMessage))
		return nil, p.Message + ". " + p.Hint, nil
	}
	for _, res := range resp.Resources {
		for _, a := range res.ACLs {
			rows = append(rows, aclRow{a.Principal, a.Host, a.Operation.String(), a.PermissionType.String(), res.ResourcePatternType.String(), res.ResourceName})
		}
	}
	return rows, "", nil
}
