package console

import (
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// tracePage is the dot of the template "trace".
type tracePage struct {
	ID      string
	Rows    []messageRow
	Topics  int
	Scanned int64
	Left    []string // topics that were not looked through to their starts
	Took    string
}

// Bounds of a search through all topics.
const (
	traceTopics = 200
	traceFound  = 200
	traceTime   = 6 * time.Second
)

// traceMessages looks for a trace's messages in the newest records of every topic.
func traceMessages(r *request) (answer, error) {
	id := strings.TrimSpace(r.query("id"))
	data := tracePage{ID: id}
	if id == "" || len(id) > maxTraceHeader {
		return nil, badRequest("Which trace? The address has none: /trace?id=...")
	}
	meta, err := r.c.kafka.metadata(r.Context())
	if err != nil {
		return nil, err
	}
	began := time.Now()
	logs, err := r.c.kafka.logsOf(r.Context(), meta.Topics, false)
	if err != nil {
		return nil, err
	}
	for _, name := range meta.Topics.Names() {
		detail := meta.Topics[name]
		if detail.IsInternal || detail.Err != nil || logs.empty(name) {
			continue
		}
		left := traceTime - time.Since(began)
		if data.Topics++; data.Topics > traceTopics || left <= 0 || len(data.Rows) >= traceFound {
			data.Left = append(data.Left, name)
			continue
		}
		if err := data.search(r, name, detail, &logs, left); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(data.Rows, func(a, b messageRow) int { return a.At.Compare(b.At) })
	data.Took = time.Since(began).Round(time.Millisecond).String()
	return page{Title: "Trace " + id, Nav: "topics", Crumbs: []crumb{{"Topics", "/topics"}, {"Trace", ""}}, Name: "trace", Data: data}, nil
}

// search looks through the newest records of one topic.
func (data *tracePage) search(r *request, name string, detail kadm.TopicDetail, logs *topicLogs, left time.Duration) error {
	s, d, _, err := r.prepare(name, detail, messageQuery{From: "newest", Limit: traceFound - len(data.Rows), logs: logs}, budget{Records: 20_000, Bytes: 16 << 20, Time: left})
	if err != nil {
		return err
	}
	s.match = func(record *kgo.Record) bool {
		return slices.ContainsFunc(parseTrace(record.Headers, r.c.opt.TraceHeaders), func(t trace) bool { return strings.EqualFold(t.ID, data.ID) })
	}
	found, err := r.scan(s)
	if err != nil {
		return err
	}
	for _, record := range found {
		data.Rows = append(data.Rows, rowOf(r, d, record))
	}
	data.Scanned += s.scanned
	if _, more := s.next(); more {
		data.Left = append(data.Left, name)
	}
	return nil
}
