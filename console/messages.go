package console

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

func (c *Console) messageRoutes() []route {
	return []route{
		{pattern: "GET /topics/{topic}", do: messages},
		{pattern: "GET /topics/{topic}/messages-live", do: func(r *request) (answer, error) { return liveMessages(r) }},
		{pattern: "GET /topics/{topic}/messages-new", do: func(r *request) (answer, error) { return newMessages(r) }},
		{pattern: "GET /topics/{topic}/export", do: export},
		{pattern: "GET /topics/{topic}/message/{partition}/{offset}", do: message},
		{pattern: "GET /topics/{topic}/message/{partition}/{offset}/{part}", do: messagePart},
		{pattern: "GET /trace", do: traceMessages},
	}
}

// messageQuery is what the address of a page of messages asks for.
type messageQuery struct {
	From      string // newest, oldest, offset, time
	Offset    string
	Time      string // as typed: RFC 3339, or in the page's zone
	Partition string // "": all
	Limit     int
	Forgotten bool // the address has the id of a filter that is not kept
	Text, In  string
	CEL       string
	Columns   string // a person's own: CEL expressions, between semicolons
	Key       string // decoding
	Value     string
	Committed bool
	Live      bool
	Cursor    string     // where an earlier scan ended
	logs      *topicLogs // of the topic, when they are known; nil: they are asked for
}

// limits are the numbers of messages of a page that a person can choose.
var limits = []int{20, 50, 100, 500}

func queryOf(r *request) messageQuery {
	q := messageQuery{
		From: r.query("from"), Offset: strings.TrimSpace(r.query("offset")), Time: strings.TrimSpace(r.query("time")), Partition: r.query("partition"),
		Limit: r.number("limit", 50, 1, 500), In: r.query("in"),
		Columns: clip(r.query("columns"), maxText), Key: r.query("key"), Value: r.query("value"), Committed: r.query("committed") != "", Live: r.query("live") != "", Cursor: r.query("cursor"),
	}
	text, known := r.filterText("q")
	cel, alsoKnown := r.filterText("cel")
	q.Text, q.CEL, q.Forgotten = clip(text, maxText), cel, !known || !alsoKnown
	if !slices.Contains([]string{"newest", "oldest", "offset", "time"}, q.From) {
		q.From = "newest"
		if q.Offset != "" {
			q.From = "offset"
		}
	}
	return q
}

// messagesPage is the dot of the template "messages".
type messagesPage struct {
	Head       topicHead
	Query      messageQuery
	Partitions []int32
	Limits     []int
	Decodings  []string
	Wrong      string // with the filter or the place to start
	Hint       string
	Live       *liveView   // when the page is live
	List       *messageSet // when it is not
	New        *liveView   // how many came since
	Toggle     string      // the address of the page live, or not
	Action     string      // of the form
	Export     []tab
}

// messageSet is the dot of the template "message-list".
type messageSet struct {
	Rows     []messageRow
	Columns  []string // titles of a person's own
	Scanned  int64
	Of       int64 // offsets that there are in the chosen partitions
	Bytes    int64
	Took     string // empty on live pages, whose text depends on nothing but the records
	Spent    bool   // the budget ended it
	Continue string // the address of what follows; empty: there is no more
	First    string // the address of the first page, when this is a later one
	Failed   int
	Why      string
	Command  string
	Filtered bool
	Ends     string // where the partitions ended, for "N new"
	Ranges   string // which offsets were looked at
}

// messageRow is one message of the list.
type messageRow struct {
	Topic      string
	Partition  int32
	Offset     int64
	At         time.Time
	Key, Value decoded
	Own        []ownCell // of a person's own columns
	Marks      []badge
	Headers    int
	Href       string
}

// messages shows a page of messages.
func messages(r *request) (answer, error) {
	if short := r.shortened(); short != "" {
		return done{To: short}, nil
	}
	h, detail, err := headOf(r, "messages")
	if err != nil {
		return nil, err
	}
	q := queryOf(r)
	data := messagesPage{Head: h, Query: q, Limits: limits, Decodings: decodings, Action: path("topics", h.Name)}
	for _, p := range detail.Partitions.Sorted() {
		data.Partitions = append(data.Partitions, p.Partition)
	}
	for _, kind := range []string{"json", "csv"} {
		data.Export = append(data.Export, tab{Text: strings.ToUpper(kind), Href: exportHref(r, h.Name, kind)})
	}
	data.Toggle = r.changed("live", "yes", "cursor", "", "from", "newest")
	set, err := r.messageSet(h.Name, detail, q)
	if p, mistake := err.(problem); mistake { //nolint:errorlint // only what the person typed is shown in the form
		data.Wrong, data.Hint = p.Message, p.Hint
		return topicAnswer(h, "", "messages", data), nil
	}
	if err != nil {
		return nil, err
	}
	if err := data.fill(r, q, set); err != nil {
		return nil, err
	}
	return topicAnswer(h, "", "messages", data), nil
}

// fill puts the messages into the page: as a live piece, or as they are with a count of those that come.
func (data *messagesPage) fill(r *request, q messageQuery, set *messageSet) error {
	var err error
	if q.Live {
		set.Took = ""
		data.Toggle = r.changed("live", "")
		data.Live, err = live{ID: "messages", Name: "message-list", Data: set}.view(r, path("topics", data.Head.Name, "messages-live"))
		return err
	}
	data.List = set
	if q.From == "newest" && q.Cursor == "" {
		data.New, err = live{ID: "messages-new", Name: "messages-new", Data: newCount{}}.view(r, withQuery(path("topics", data.Head.Name, "messages-new")))
		if err == nil {
			data.New.URL += "&ends=" + set.Ends
		}
	}
	return err
}

// liveMessages is the live piece by itself.
func liveMessages(r *request) (answer, error) {
	name, err := r.named("topic")
	if err != nil {
		return nil, err
	}
	detail, err := r.c.kafka.topic(r.Context(), name)
	if err != nil {
		return nil, err
	}
	q := queryOf(r)
	q.Live = true
	set, err := r.messageSet(name, detail, q)
	if err != nil {
		return nil, err
	}
	set.Took = ""
	return live{ID: "messages", Name: "message-list", Data: set}, nil
}

// newCount is how many messages came since the page was made.
type newCount struct {
	Count int64
	Href  string
}

// newMessages counts what came after the ends that the page has seen.
func newMessages(r *request) (answer, error) {
	name, err := r.named("topic")
	if err != nil {
		return nil, err
	}
	seen, err := parseCursor(r.query("ends"))
	if err != nil {
		return nil, err
	}
	ends, err := r.c.kafka.admin.ListEndOffsets(r.Context(), name)
	if err != nil {
		return nil, err
	}
	n := newCount{Href: pageOf(r, name)}
	ends.Each(func(o kadm.ListedOffset) {
		if from, ok := seen[o.Partition]; ok && o.Err == nil {
			n.Count += max(o.Offset-from, 0)
		}
	})
	return live{ID: "messages-new", Name: "messages-new", Data: n}, nil
}

// pageOf is the address of the page of messages that a piece belongs to.
func pageOf(r *request, topic string) string {
	q := r.URL.Query()
	q.Del("seen")
	q.Del("ends")
	if len(q) == 0 {
		return path("topics", topic)
	}
	return path("topics", topic) + "?" + q.Encode()
}

// messageSet scans as the query says.
func (r *request) messageSet(topic string, detail kadm.TopicDetail, q messageQuery) (*messageSet, error) {
	s, d, f, err := r.prepare(topic, detail, q, usualBudget)
	if err != nil {
		return nil, err
	}
	columns, err := newColumns(r.Context(), q.Columns, d)
	if err != nil {
		return nil, err
	}
	set := &messageSet{Filtered: f != nil, Command: r.exact("echo hello | doze produce TOPIC -b HOST:PORT")}
	if columns != nil {
		set.Columns = columns.titles
	}
	for _, p := range s.parts {
		set.Of += p.high - p.low
	}
	before := s.positions()
	found, err := r.scan(s)
	if err != nil {
		return nil, err
	}
	for _, record := range found {
		row := rowOf(r, d, record)
		row.Own = columns.cells(record)
		set.Rows = append(set.Rows, row)
	}
	set.Scanned, set.Bytes = s.scanned, s.bytes
	set.Took = time.Since(s.began).Round(time.Millisecond).String()
	at, more := s.next()
	set.Spent = s.spent && more && len(found) < q.Limit
	set.Ranges = rangesOf(before, at, s.down)
	if more {
		set.Continue = r.changed("cursor", formatCursor(at), "live", "")
	}
	if q.Cursor != "" {
		set.First = r.changed("cursor", "")
	}
	if f != nil {
		set.Failed, set.Why = f.failed, f.firstFail
	}
	set.Ends = s.ends
	return set, nil
}

// scan runs a scan when there is room for one.
func (r *request) scan(s *scan) ([]*kgo.Record, error) {
	select {
	case r.c.scans <- struct{}{}:
		defer func() { <-r.c.scans }()
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	return s.run(r.Context())
}

// prepare makes the scan that a query asks for.
func (r *request) prepare(topic string, detail kadm.TopicDetail, q messageQuery, b budget) (*scan, decoder, *filter, error) {
	d := decoder{schemas: r.c.schemas, key: q.Key, value: q.Value}
	if q.Forgotten {
		return nil, d, nil, errForgotten
	}
	f, err := newFilter(r.Context(), q.Text, q.In, q.CEL, d)
	if err != nil {
		return nil, d, nil, err
	}
	s := &scan{k: r.c.kafka, topic: topic, id: detail.ID, leaders: map[int32]int32{}, down: q.From == "newest", committed: q.Committed, limit: q.Limit, budget: b}
	if f != nil {
		s.match = f.matches
	}
	chosen, err := q.chosen(detail)
	if err != nil {
		return nil, d, nil, err
	}
	for _, p := range chosen {
		s.leaders[p.Partition] = p.Leader
	}
	return s, d, f, r.place(s, detail, q)
}

// chosen are the partitions that are asked for.
func (q messageQuery) chosen(detail kadm.TopicDetail) ([]kadm.PartitionDetail, error) {
	all := detail.Partitions.Sorted()
	if q.Partition == "" {
		return all, nil
	}
	n, err := strconv.ParseInt(q.Partition, 10, 32)
	p, there := detail.Partitions[int32(n)]
	if err != nil || !there {
		return nil, badRequest("The topic has no partition %s", clip(q.Partition, 20))
	}
	return []kadm.PartitionDetail{p}, nil
}

// place sets where each partition's scan begins and ends.
func (r *request) place(s *scan, detail kadm.TopicDetail, q messageQuery) error {
	if q.logs == nil {
		logs, err := r.c.kafka.logsOf(r.Context(), kadm.TopicDetails{s.topic: detail}, q.Committed)
		if err != nil {
			return err
		}
		q.logs = &logs
	}
	starts, ends, err := q.logs.bounds(s.topic)
	if err != nil {
		return err
	}
	cursor, err := parseCursor(q.Cursor)
	if err != nil {
		return err
	}
	from, err := r.beginnings(s, q)
	if err != nil {
		return err
	}
	for _, partition := range sortedInts(s.leaders) {
		p := &scanPart{partition: partition, low: starts[partition], high: ends[partition]}
		if at, ok := from[partition]; ok {
			p.low = min(max(p.low, at), p.high)
		}
		if at, ok := cursor[partition]; ok && s.down {
			p.high = min(max(p.low, at), p.high)
		} else if ok {
			p.low = min(max(p.low, at), p.high)
		}
		s.parts = append(s.parts, p)
	}
	s.ends = formatCursor(ends)
	return nil
}

// beginnings are the offsets that a scan towards newer ones starts at, where the query names some.
func (r *request) beginnings(s *scan, q messageQuery) (map[int32]int64, error) {
	from := map[int32]int64{}
	switch q.From {
	case "offset":
		n, err := strconv.ParseInt(q.Offset, 10, 64)
		if err != nil || n < 0 {
			return nil, badRequest("Offset %q is no whole number from 0", clip(q.Offset, 40))
		}
		for partition := range s.leaders {
			from[partition] = n
		}
	case "time":
		at, err := parseMoment(q.Time, r.loc)
		if err != nil {
			return nil, err
		}
		listed, err := r.c.kafka.admin.ListOffsetsAfterMilli(r.Context(), at.UnixMilli(), s.topic)
		if err != nil {
			return nil, err
		}
		listed.Each(func(o kadm.ListedOffset) {
			if o.Err == nil {
				from[o.Partition] = o.Offset
			}
		})
	}
	return from, nil
}

// bounds are the first offsets and the ends of a topic's partitions.
func (l topicLogs) bounds(topic string) (starts, ends map[int32]int64, err error) {
	starts, ends = map[int32]int64{}, map[int32]int64{}
	for _, o := range l.start[topic] {
		starts[o.Partition] = o.Offset
	}
	for _, o := range l.end[topic] {
		ends[o.Partition] = o.Offset
		err = errOf(err, o.Err, "")
	}
	return starts, ends, err
}

// rowOf is a record as the list shows it.
func rowOf(r *request, d decoder, record *kgo.Record) messageRow {
	row := messageRow{
		Topic: record.Topic, Partition: record.Partition, Offset: record.Offset, At: record.Timestamp, Headers: len(record.Headers),
		Key: d.keyOf(r.Context(), record), Value: d.valueOf(r.Context(), record), Marks: marksOf(record),
		Href: withQuery(path("topics", record.Topic, "message", strconv.Itoa(int(record.Partition)), strconv.FormatInt(record.Offset, 10)), "key", d.key, "value", d.value),
	}
	if record.Attrs.IsControl() {
		row.Key = decoded{As: "marker"}
	}
	return row
}

// codecs are the codecs of batches by number.
var codecs = []string{"", "gzip", "snappy", "lz4", "zstd"}

func marksOf(r *kgo.Record) []badge {
	var marks []badge
	switch {
	case r.Attrs.IsControl():
		marks = append(marks, badge{"marker", "info", "A record that ends a transaction; consumers are not handed it"})
	case r.Value == nil:
		marks = append(marks, badge{"tombstone", "warn", "The value is null: compaction deletes the key"})
	}
	if r.Attrs.IsTransactional() && !r.Attrs.IsControl() {
		marks = append(marks, badge{"transaction", "", fmt.Sprintf("Written in a transaction by producer %d", r.ProducerID)})
	}
	if c := r.Attrs.CompressionType(); c > 0 && int(c) < len(codecs) {
		marks = append(marks, badge{codecs[c], "", "Its batch is compressed"})
	}
	return marks
}
