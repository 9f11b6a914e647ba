package console

import (
	"context"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
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
	h, detail, err := headOf(r, "consumers")
	if err != nil {
		return nil, err
	}
	rows, err := r.c.kafka.consumersOf(r.Context(), detail)
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
	Command: "doze consume TOPIC --group my-group -b HOST:PORT",
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

// consumersOf asks for what all groups have committed in the topic, and describes those that have members.
func (k *kafka) consumersOf(ctx context.Context, topic kadm.TopicDetail) ([]consumerRow, error) {
	listed, err := groupReader{k}.list(ctx)
	if err != nil {
		return nil, err
	}
	listed = slices.DeleteFunc(listed, func(g kadm.ListedGroup) bool { return g.ProtocolType != "consumer" && g.ProtocolType != "" })
	if len(listed) == 0 {
		return nil, nil
	}
	names := make([]string, len(listed))
	for i, g := range listed {
		names[i] = g.Group
	}
	ends, err := k.listOffsets(ctx, kadm.TopicDetails{topic.Topic: topic}, atEnd, false)
	if err != nil {
		return nil, err
	}
	committed, err := k.committedIn(ctx, topic, names)
	if err != nil {
		return nil, err
	}
	members, err := k.membersAt(ctx, topic.Topic, listed)
	if err != nil {
		return nil, err
	}
	var rows []consumerRow
	for _, g := range listed {
		rows = append(rows, consumerRows(g, topic.Topic, committed[g.Group], members[g.Group], ends)...)
	}
	return rows, nil
}

// consumerRows are a group's partitions of a topic: those with an offset, and those that a member reads.
func consumerRows(g kadm.ListedGroup, topic string, committed []kmsg.OffsetFetchResponseGroupTopicPartition, members map[int32]string, ends kadm.ListedOffsets) []consumerRow {
	rows := make(map[int32]consumerRow, len(committed))
	for _, p := range committed {
		rows[p.Partition] = consumerRow{Group: g.Group, State: g.State, Partition: p.Partition, Committed: p.Offset, Err: errorText(kerr.ErrorForCode(p.ErrorCode))}
	}
	for partition := range members {
		if _, there := rows[partition]; !there {
			rows[partition] = consumerRow{Group: g.Group, State: g.State, Partition: partition, Committed: -1}
		}
	}
	out := make([]consumerRow, 0, len(rows))
	for _, partition := range sortedInts(rows) {
		row := rows[partition]
		row.Member, row.Lag = members[partition], -1
		if row.End = listedOffset(ends, topic, partition); row.End >= 0 && row.Committed >= 0 {
			row.Lag = max(row.End-row.Committed, 0)
		}
		out = append(out, row)
	}
	return out
}

// membersAt says who reads each partition of a topic, by group. Groups without members are not asked about.
func (k *kafka) membersAt(ctx context.Context, topic string, listed []kadm.ListedGroup) (map[string]map[int32]string, error) {
	listed = slices.DeleteFunc(slices.Clone(listed), func(g kadm.ListedGroup) bool { return g.State == "Empty" || g.State == "Dead" })
	if len(listed) == 0 {
		return nil, nil
	}
	groups, err := groupReader{k}.described(ctx, listed)
	if err != nil {
		return nil, err
	}
	out := map[string]map[int32]string{}
	for _, g := range groups {
		at := map[int32]string{}
		for _, m := range g.Members {
			for _, task := range m.Assigned {
				for _, p := range task.Partitions {
					if task.Topic == topic {
						at[p] = m.Client + " at " + m.Host
					}
				}
			}
		}
		out[g.Name] = at
	}
	return out, nil
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
