package console

import (
	"context"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kgo"
)

// messagePage is the dot of the template "message": one message, whole.
type messagePage struct {
	Topic      string
	Partition  int32
	Offset     int64
	At         time.Time
	TimeType   string
	Key, Value shown
	Headers    []shownHeader
	Marks      []badge
	Facts      []hidden
	Trace      []traceLink
	Href       string // the message's own address
	Like       string // where one like it is produced
	Prev, Next string
	Decodings  []string
	KeyAs      string
	ValueAs    string
	Script     bool // it is shown in the list
}

// shown is a key or a value in every form that a person can look at.
type shown struct {
	decoded
	Tree *jsonNode // folded JSON; nil: it is none, or too large
	Raw  string    // the bytes as text
	Hex  string
	Get  string // where the bytes are downloaded
	View string // pretty, raw or hex
}

type shownHeader struct {
	Key   string
	Value string
	Marks []badge
}

// message shows one message: the permalink.
func message(r *request) (answer, error) {
	record, d, err := r.record()
	if err != nil {
		return nil, err
	}
	data := r.messagePage(record, d)
	if r.htmx() {
		data.Script = true
		return partial{Name: "message", Data: data}, nil
	}
	where := "partition " + strconv.Itoa(int(record.Partition)) + ", offset " + grouped(record.Offset)
	return page{Title: record.Topic + ", " + where, Nav: "topics", Name: "message", Data: data,
		Crumbs: []crumb{{"Topics", "/topics"}, {record.Topic, path("topics", record.Topic)}, {where, ""}}}, nil
}

// record is the message that the path names.
func (r *request) record() (*kgo.Record, decoder, error) {
	topic, err := r.named("topic")
	if err != nil {
		return nil, decoder{}, err
	}
	partition, err1 := strconv.ParseInt(r.PathValue("partition"), 10, 32)
	offset, err2 := strconv.ParseInt(r.PathValue("offset"), 10, 64)
	if err1 != nil || err2 != nil || offset < 0 {
		return nil, decoder{}, notFound("There is no message %s", r.URL.Path)
	}
	d := decoder{schemas: r.c.schemas, key: r.query("key"), value: r.query("value")}
	record, err := r.c.kafka.recordAt(r.Context(), topic, int32(partition), offset)
	return record, d, err
}

// recordAt reads one record.
func (k *kafka) recordAt(ctx context.Context, topic string, partition int32, offset int64) (*kgo.Record, error) {
	detail, err := k.topic(ctx, topic)
	if err != nil {
		return nil, err
	}
	p, there := detail.Partitions[partition]
	if !there {
		return nil, notFound("Topic %s has no partition %d", topic, partition)
	}
	s := &scan{k: k, topic: topic, id: detail.ID, leaders: map[int32]int32{partition: p.Leader}, parts: []*scanPart{{partition: partition, until: offset + 1}}}
	got, err := k.fetchOnce(ctx, s, map[int32]int64{partition: offset})
	if err != nil {
		return nil, err
	}
	if records := got[partition].records; len(records) > 0 && records[0].Offset == offset {
		return records[0], nil
	}
	return nil, problem{Status: 404, Message: "There is no message at partition " + strconv.Itoa(int(partition)) + ", offset " + grouped(offset),
		Hint: "It was deleted by retention, compacted away, or not written yet."}
}

func (r *request) messagePage(record *kgo.Record, d decoder) messagePage {
	at := func(offset int64, more ...string) string {
		return path(append([]string{"topics", record.Topic, "message", strconv.Itoa(int(record.Partition)), strconv.FormatInt(offset, 10)}, more...)...)
	}
	data := messagePage{
		Topic: record.Topic, Partition: record.Partition, Offset: record.Offset, At: record.Timestamp, Marks: marksOf(record),
		Key: showSide(d.keyOf(r.Context(), record), record.Key, r.query("view")), Value: showSide(d.valueOf(r.Context(), record), record.Value, r.query("view")),
		Href: at(record.Offset), Next: at(record.Offset + 1), Decodings: decodings, KeyAs: d.key, ValueAs: d.value,
		Like: withQuery(path("topics", record.Topic, "produce"), "like", strconv.Itoa(int(record.Partition))+"-"+strconv.FormatInt(record.Offset, 10)),
	}
	data.Key.Get, data.Value.Get = at(record.Offset, "key"), at(record.Offset, "value")
	if record.Offset > 0 {
		data.Prev = at(record.Offset - 1)
	}
	data.TimeType = map[int8]string{0: "create time", 1: "append time"}[record.Attrs.TimestampType()]
	for _, h := range record.Headers {
		data.Headers = append(data.Headers, showHeader(h))
	}
	data.Trace = r.c.traceLinks(record)
	data.Facts = factsOf(record)
	return data
}

func factsOf(record *kgo.Record) []hidden {
	facts := []hidden{{"Leader epoch", strconv.Itoa(int(record.LeaderEpoch))}}
	if record.ProducerID >= 0 {
		facts = append(facts, hidden{"Producer id", strconv.FormatInt(record.ProducerID, 10)}, hidden{"Producer epoch", strconv.Itoa(int(record.ProducerEpoch))})
	}
	return append(facts, hidden{"Key", humanBytes(int64(len(record.Key)))}, hidden{"Value", humanBytes(int64(len(record.Value)))})
}

func showSide(d decoded, raw []byte, view string) shown {
	s := shown{decoded: d, View: view}
	if d.JSON {
		s.Tree = parseJSONTree([]byte(d.Text))
	}
	switch view {
	case "raw":
		s.Raw = clip(strings.ToValidUTF8(string(raw), "\uFFFD"), maxShown)
	case "hex":
		s.Hex = hexDump(raw)
	}
	return s
}

func showHeader(h kgo.RecordHeader) shownHeader {
	s := shownHeader{Key: h.Key}
	switch {
	case h.Value == nil:
		s.Marks = []badge{{Text: "null"}}
	case len(h.Value) == 0:
		s.Marks = []badge{{Text: "empty"}}
	case printable(h.Value):
		s.Value = clip(string(h.Value), maxText)
	default:
		s.Value, s.Marks = hexDump(h.Value[:min(len(h.Value), 1024)]), []badge{{Text: "hex"}}
	}
	return s
}

// messagePart downloads the bytes of a key or a value.
func messagePart(r *request) (answer, error) {
	record, _, err := r.record()
	if err != nil {
		return nil, err
	}
	b, part := record.Value, r.PathValue("part")
	switch part {
	case "key":
		b = record.Key
	case "value":
	default:
		return nil, notFound("A message has a key and a value, and no %s", clip(part, 40))
	}
	name := record.Topic + "-" + strconv.Itoa(int(record.Partition)) + "-" + strconv.FormatInt(record.Offset, 10) + "." + part
	return download{Filename: name, Type: "application/octet-stream", Write: func(w io.Writer) error { _, err := w.Write(b); return err }}, nil
}

// jsonNode is a value of JSON as it is shown folded: numbers are their digits.
type jsonNode struct {
	Key   string
	Named bool
	Kind  string // object, array, string, number, word
	Text  string
	Open  bool
	Items []jsonNode
}

// Bounds of folded JSON; what is beyond is shown as it is.
const (
	maxJSONNodes = 3000
	maxJSONDepth = 40
)

// parseJSONTree reads JSON in the order that it has; nil for what is no JSON or too large to fold.
//
//fuzz:parser class=payload FuzzDecodings
func parseJSONTree(b []byte) *jsonNode {
	if len(b) > maxShown || !utf8.Valid(b) {
		return nil
	}
	dec := json.NewDecoder(strings.NewReader(string(b)))
	dec.UseNumber()
	left := maxJSONNodes
	n, ok := readNode(dec, 0, &left)
	if !ok {
		return nil
	}
	return &n
}

func readNode(dec *json.Decoder, depth int, left *int) (jsonNode, bool) {
	if *left--; *left < 0 || depth > maxJSONDepth {
		return jsonNode{}, false
	}
	t, err := dec.Token()
	if err != nil {
		return jsonNode{}, false
	}
	switch t := t.(type) {
	case json.Delim:
		return readItems(dec, t, depth, left)
	case string:
		return jsonNode{Kind: "string", Text: quoteJSON(t)}, true
	case json.Number:
		return jsonNode{Kind: "number", Text: t.String()}, true
	case bool:
		return jsonNode{Kind: "word", Text: strconv.FormatBool(t)}, true
	}
	return jsonNode{Kind: "word", Text: "null"}, true
}

func readItems(dec *json.Decoder, open json.Delim, depth int, left *int) (jsonNode, bool) {
	n := jsonNode{Kind: "array", Open: depth < 2}
	if open == '{' {
		n.Kind = "object"
	}
	for dec.More() {
		key := ""
		if n.Kind == "object" {
			t, err := dec.Token()
			if err != nil {
				return n, false
			}
			key, _ = t.(string)
		}
		item, ok := readNode(dec, depth+1, left)
		if !ok {
			return n, false
		}
		item.Key, item.Named = key, n.Kind == "object"
		n.Items = append(n.Items, item)
	}
	_, err := dec.Token()
	return n, err == nil
}

func quoteJSON(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(s) != nil {
		return s
	}
	return strings.TrimSuffix(b.String(), "\n")
}
