package console

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
)

// topicRoutes are the pages of a topic, its dialogs behind them.
func (c *Console) topicRoutes() []route {
	return []route{
		{pattern: "GET /topics", do: listTopics},
		{pattern: "GET /topics-new", do: newTopic},
		{pattern: "POST /topics-new", do: createTopic},
		{pattern: "GET /topics/{topic}/partitions", do: topicPartitions},
		{pattern: "GET /topics/{topic}/partitions-add", do: addPartitionsForm},
		{pattern: "POST /topics/{topic}/partitions-add", do: addPartitions},
		{pattern: "GET /topics/{topic}/consumers", do: topicConsumers},
		{pattern: "GET /topics/{topic}/producers", do: topicProducers},
		{pattern: "GET /topics/{topic}/acls", do: topicACLs},
		{pattern: "GET /topics/{topic}/config", do: topicConfig},
		{pattern: "GET /topics/{topic}/config/{key}", do: configForm},
		{pattern: "POST /topics/{topic}/config/{key}", do: setConfig},
		{pattern: "GET /topics/{topic}/delete", do: deleteTopicForm},
		{pattern: "POST /topics/{topic}/delete", do: deleteTopic},
		{pattern: "GET /topics/{topic}/purge", do: purgeForm},
		{pattern: "POST /topics/{topic}/purge", do: purge},
	}
}

// topicHead is the upper part of every page of a topic, the template "topic-head".
type topicHead struct {
	Name     string
	ID       string
	Internal bool
	Pinned   bool
	Here     string
	ReadOnly bool
	Tabs     []tab
}

// topicTabs are the parts of a topic's page.
var topicTabs = []struct{ key, text, path string }{
	{"messages", "Messages", ""}, {"partitions", "Partitions", "partitions"}, {"consumers", "Consumers", "consumers"},
	{"producers", "Producers", "producers"}, {"config", "Config", "config"}, {"acls", "ACLs", "acls"},
}

// headOf is the head of a page of the topic in the path, which must be there.
func headOf(r *request, lit string) (topicHead, kadm.TopicDetail, error) {
	name, err := r.named("topic")
	if err != nil {
		return topicHead{}, kadm.TopicDetail{}, err
	}
	detail, err := r.c.kafka.topic(r.Context(), name)
	if err != nil {
		return topicHead{}, detail, err
	}
	return newTopicHead(r, name, lit, detail), detail, nil
}

func newTopicHead(r *request, name, lit string, detail kadm.TopicDetail) topicHead {
	h := topicHead{Name: name, ID: detail.ID.String(), Internal: detail.IsInternal, Pinned: slices.Contains(pinsOf(r.Request), name), Here: r.URL.RequestURI(), ReadOnly: r.readOnly()}
	for _, t := range topicTabs {
		href := path("topics", name)
		if t.path != "" {
			href = path("topics", name, t.path)
		}
		h.Tabs = append(h.Tabs, tab{Text: t.text, Href: r.keepingAt(href), Lit: t.key == lit})
	}
	return h
}

// topic asks for one topic, which must be there.
func (k *kafka) topic(ctx context.Context, name string) (kadm.TopicDetail, error) {
	if name == "" {
		return kadm.TopicDetail{}, notFound("A topic has a name")
	}
	meta, err := k.metadata(ctx, name)
	if err != nil {
		return kadm.TopicDetail{}, err
	}
	detail, there := meta.Topics[name]
	switch {
	case !there || errors.Is(detail.Err, kerr.UnknownTopicOrPartition):
		p := notFound("There is no topic %s", name)
		p.Hint = "New topic in the list of topics makes one, as doze topic create does, or a client that produces to it."
		return detail, p
	case detail.Err != nil:
		p := asProblem(detail.Err)
		p.Message = "Topic " + name + ": " + p.Message
		return detail, p
	}
	return detail, nil
}

// topicAnswer is a page of a topic.
func topicAnswer(h topicHead, tabText, template string, data any) page {
	crumbs := []crumb{{"Topics", "/topics"}, {h.Name, path("topics", h.Name)}}
	if tabText != "" {
		crumbs = append(crumbs, crumb{tabText, ""})
	}
	return page{Title: h.Name, Nav: "topics", Crumbs: crumbs, Name: template, Data: data}
}

// topicTable is the dot of a topic's pages that are a table.
type topicTable struct {
	Head  topicHead
	Table table
	Note  string
	Extra *table // a second one
	Title string // of the second
	Add   string // where partitions are added
}

type partitionRow struct {
	Partition  int32
	Leader     int32
	Replicas   []int32
	ISR        []int32
	Start, End int64
	Bytes      int64
	Err        string
}

func topicPartitions(r *request) (answer, error) {
	h, detail, err := headOf(r, "partitions")
	if err != nil {
		return nil, err
	}
	ctx := r.Context()
	logs, err := r.c.kafka.logsOf(ctx, kadm.TopicDetails{h.Name: detail}, false)
	if err != nil {
		return nil, err
	}
	sizes := r.c.kafka.partitionSizes(ctx, h.Name, detail.Partitions.Numbers())
	var rows []partitionRow
	for _, p := range detail.Partitions.Sorted() {
		row := partitionRow{Partition: p.Partition, Leader: p.Leader, Replicas: p.Replicas, ISR: p.ISR, Bytes: -1}
		if o, ok := logs.end.Lookup(h.Name, p.Partition); ok {
			row.End = o.Offset
			row.Err = errorText(cmp.Or(o.Err, p.Err))
		}
		if o, ok := logs.start.Lookup(h.Name, p.Partition); ok {
			row.Start = o.Offset
		}
		if b, known := sizes[p.Partition]; known {
			row.Bytes = b
		}
		rows = append(rows, row)
	}
	data := topicTable{Head: h, Table: partitionSheet(h.Name).show(r, rows)}
	if !h.ReadOnly {
		data.Add = path("topics", h.Name, "partitions-add")
	}
	return topicAnswer(h, "Partitions", "topic-table", data), nil
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return asProblem(err).Message
}

func partitionSheet(topic string) sheet[partitionRow] {
	return sheet[partitionRow]{
		ID: "partitions", Noun: "partition", Sort: "partition", Size: 100,
		Href: func(p partitionRow) string {
			return withQuery(path("topics", topic), "partition", strconv.Itoa(int(p.Partition)))
		},
		Columns: []column[partitionRow]{
			{Key: "partition", Title: "Partition", Num: true, Cell: func(p partitionRow) cell { return numCell(int64(p.Partition)).with(badBadge(p.Err)...) }, Order: by(func(p partitionRow) int32 { return p.Partition })},
			{Key: "start", Title: "First offset", Num: true, Cell: func(p partitionRow) cell { return numCell(p.Start) }, Order: by(func(p partitionRow) int64 { return p.Start })},
			{Key: "end", Title: "End offset", Hint: "The offset that the next record gets", Num: true, Cell: func(p partitionRow) cell { return numCell(p.End) }, Order: by(func(p partitionRow) int64 { return p.End })},
			{Key: "offsets", Title: "Offsets", Num: true, Cell: func(p partitionRow) cell { return numCell(p.End - p.Start) }, Order: by(func(p partitionRow) int64 { return p.End - p.Start })},
			{Key: "size", Title: "Size", Num: true, Cell: func(p partitionRow) cell { return topicSize(topicRow{Bytes: p.Bytes}) }, Order: by(func(p partitionRow) int64 { return p.Bytes })},
			{Title: "Leader", Num: true, Cell: func(p partitionRow) cell { return numCell(int64(p.Leader)) }},
			{Title: "In sync", Cell: func(p partitionRow) cell {
				return textCell(numbers(p.ISR) + " of " + numbers(p.Replicas)).hover("Replicas that have every record, of all that there are")
			}},
		},
	}
}

func badBadge(text string) []badge {
	if text == "" {
		return nil
	}
	return []badge{{text, "bad", ""}}
}

func numbers(ns []int32) string {
	text := ""
	for i, n := range ns {
		if i > 0 {
			text += ", "
		}
		text += grouped(n)
	}
	return text
}

// partitionSizes are bytes on disk by partition of a topic.
func (k *kafka) partitionSizes(ctx context.Context, topic string, partitions []int32) map[int32]int64 {
	sizes := map[int32]int64{}
	set := kadm.TopicsSet{}
	set.Add(topic, partitions...)
	dirs, err := k.admin.DescribeAllLogDirs(ctx, set)
	if err != nil {
		return sizes
	}
	dirs.Each(func(d kadm.DescribedLogDir) {
		d.Topics.Each(func(p kadm.DescribedLogDirPartition) {
			if p.Topic == topic {
				sizes[p.Partition] += p.Size
			}
		})
	})
	return sizes
}
