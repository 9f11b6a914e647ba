package console

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
)

// topicRow is one topic of the list.
type topicRow struct {
	Name              string
	Internal, Pinned  bool
	Partitions        int
	Replicas          int
	Messages          int64 // last offset minus first, of all partitions: markers and compacted records count
	Bytes             int64 // on the leaders' disks; -1: not known
	Policy, Retention string
	Faults            int // partitions without a leader
}

// topicsPage is the dot of the template "topics".
type topicsPage struct {
	Table    table
	Internal *toggle // the switch that shows internal topics; nil: there are none
	ReadOnly bool
	New      string
}

// toggle is a link that turns something on or off.
type toggle struct {
	On         bool
	Text, Href string
}

// listTopics shows all topics, internal ones when asked for.
func listTopics(r *request) (answer, error) {
	meta, err := r.c.kafka.metadata(r.Context())
	if err != nil {
		return nil, err
	}
	var failed error
	a := topicsAnswer(r, topicRows(meta), func(shown []topicRow, columns []string) {
		failed = errors.Join(failed, r.c.kafka.enrich(r.Context(), meta, shown, columns))
	})
	return a, failed
}

// topicsAnswer is the list of any topics: those of now, or of an entry of the journal. enrich adds offsets, sizes and policies to rows
// that lack them; nil: none does.
func topicsAnswer(r *request, rows []topicRow, enrich func([]topicRow, []string)) page {
	shown, hidden := rows[:0:0], 0
	withInternal := r.query("internal") == "yes"
	pins := pinsOf(r.Request)
	for _, t := range rows {
		t.Pinned = slices.Contains(pins, t.Name)
		if t.Internal && !withInternal {
			hidden++
			continue
		}
		shown = append(shown, t)
	}
	list := topicSheet
	list.Enrich, list.Dear = enrich, []string{"messages", "size", "policy"}
	data := topicsPage{Table: list.show(r, shown), ReadOnly: r.readOnly(), New: "/topics-new"}
	switch {
	case withInternal:
		data.Internal = &toggle{true, "Hide internal topics", r.changed("internal", "", "page", "")}
	case hidden > 0:
		data.Internal = &toggle{false, "Show " + plural(hidden, "internal topic"), r.changed("internal", "yes", "page", "")}
	}
	return page{Title: "Topics", Nav: "topics", Name: "topics", Data: data}
}

var topicSheet = sheet[topicRow]{
	ID: "topics", Noun: "topic", Sort: "name",
	Find:    func(t topicRow) string { return t.Name },
	Href:    func(t topicRow) string { return path("topics", t.Name) },
	First:   func(t topicRow) bool { return t.Pinned },
	Empty:   "There is no topic yet. A client that produces to one makes it; so does this command:",
	Command: "doze topic create orders:3 -b HOST:PORT",
	Columns: []column[topicRow]{
		{Key: "name", Title: "Topic", Cell: topicName, Order: by(func(t topicRow) string { return t.Name })},
		{Key: "partitions", Title: "Partitions", Num: true, Cell: func(t topicRow) cell { return numCell(int64(t.Partitions)) }, Order: by(func(t topicRow) int { return t.Partitions })},
		{Key: "messages", Title: "Offsets", Hint: "Last offset minus first, of all partitions. Markers of transactions and compacted records count.", Num: true, Cell: func(t topicRow) cell { return numCell(t.Messages) }, Order: by(func(t topicRow) int64 { return t.Messages })},
		{Key: "size", Title: "Size", Num: true, Cell: topicSize, Order: by(func(t topicRow) int64 { return t.Bytes })},
		{Key: "policy", Title: "Cleanup", Cell: func(t topicRow) cell { return textCell(t.Policy) }, Order: by(func(t topicRow) string { return t.Policy })},
	},
}

func topicName(t topicRow) cell {
	c := linkCell(t.Name, path("topics", t.Name))
	if t.Pinned {
		c = c.with(badge{Text: "pinned", Tone: "info"})
	}
	if t.Internal {
		c = c.with(badge{Text: "internal"})
	}
	if t.Faults > 0 {
		c = c.with(badge{plural(t.Faults, "partition") + " without a leader", "bad", ""})
	}
	return c
}

func topicSize(t topicRow) cell {
	if t.Bytes < 0 {
		return unknownCell("The broker does not say").right()
	}
	return sizeCell(t.Bytes)
}

// topicRows are all topics, without their offsets, sizes and policies: see enrich.
func topicRows(meta kadm.Metadata) []topicRow {
	names := meta.Topics.Names()
	rows := make([]topicRow, 0, len(names))
	for _, name := range names {
		t := meta.Topics[name]
		row := topicRow{Name: name, Internal: t.IsInternal || strings.HasPrefix(name, "__"), Partitions: len(t.Partitions), Bytes: -1}
		for _, p := range t.Partitions {
			row.Replicas = max(row.Replicas, len(p.Replicas))
			if p.Leader < 0 {
				row.Faults++
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// enrich adds offsets, sizes or policies: a request or two for each, however many topics there are, but each topic costs the broker
// something.
func (k *kafka) enrich(ctx context.Context, meta kadm.Metadata, rows []topicRow, columns []string) error {
	if len(rows) == 0 {
		return nil
	}
	names := make([]string, len(rows))
	for i, t := range rows {
		names[i] = t.Name
	}
	for _, column := range columns {
		switch column {
		case "messages":
			span, err := k.topicSpans(ctx, some(meta.Topics, names))
			if err != nil {
				return err
			}
			each(rows, func(t *topicRow) { t.Messages = span[t.Name] })
		case "size":
			sizes := k.topicSizes(ctx, some(meta.Topics, names))
			each(rows, func(t *topicRow) {
				if b, known := sizes[t.Name]; known {
					t.Bytes = b
				}
			})
		case "policy":
			policies := k.topicPolicies(ctx, names)
			each(rows, func(t *topicRow) { t.Policy = policies[t.Name] })
		}
	}
	return nil
}

func each[T any](rows []T, do func(*T)) {
	for i := range rows {
		do(&rows[i])
	}
}

// topicSizes are the bytes on disk by topic; nothing when the broker does not say.
func (k *kafka) topicSizes(ctx context.Context, topics kadm.TopicDetails) map[string]int64 {
	sizes := map[string]int64{}
	set := kadm.TopicsSet{} // with partitions: of a topic without any, none is described
	for name, t := range topics {
		set.Add(name, t.Partitions.Numbers()...)
	}
	dirs, err := k.admin.DescribeAllLogDirs(ctx, set)
	if err != nil {
		return sizes
	}
	dirs.Each(func(d kadm.DescribedLogDir) {
		d.Topics.Each(func(p kadm.DescribedLogDirPartition) { sizes[p.Topic] += p.Size })
	})
	return sizes
}

// topicSpans are last offsets minus first by topic.
func (k *kafka) topicSpans(ctx context.Context, topics kadm.TopicDetails) (map[string]int64, error) {
	logs, err := k.logsOf(ctx, topics, false)
	if err != nil {
		return nil, err
	}
	span := map[string]int64{}
	logs.end.Each(func(o kadm.ListedOffset) {
		if s, ok := logs.start.Lookup(o.Topic, o.Partition); ok && o.Err == nil && s.Err == nil {
			span[o.Topic] += max(o.Offset-s.Offset, 0)
		}
	})
	return span, nil
}

// topicPolicies are the cleanup policies by topic.
func (k *kafka) topicPolicies(ctx context.Context, names []string) map[string]string {
	policies := map[string]string{}
	all, err := k.describeTopicKeys(ctx, names, "cleanup.policy")
	if err != nil {
		return policies
	}
	for name, keys := range all {
		policies[name] = keys["cleanup.policy"]
	}
	return policies
}
