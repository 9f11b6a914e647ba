package console

import (
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"io"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kgo"
)

// exported is a record in a file: a line of JSON, or of CSV. What is no text is base64; null and empty are told apart.
type exported struct {
	Partition   int32            `json:"partition"`
	Offset      int64            `json:"offset"`
	Timestamp   int64            `json:"timestamp"`
	Time        string           `json:"time"`
	Key         *string          `json:"key"`
	KeyBase64   bool             `json:"keyBase64,omitempty"`
	Value       *string          `json:"value"`
	ValueBase64 bool             `json:"valueBase64,omitempty"`
	Headers     []exportedHeader `json:"headers,omitempty"`
}

type exportedHeader struct {
	Key    string  `json:"key"`
	Value  *string `json:"value"`
	Base64 bool    `json:"base64,omitempty"`
}

// Bounds of a file that is written.
const (
	maxExport   = 100_000
	exportBytes = 256 << 20
	exportTime  = 30 * time.Second
)

func exportHref(r *request, topic, kind string) string {
	q := r.URL.Query()
	q.Set("kind", kind)
	return path("topics", topic, "export") + "?" + q.Encode()
}

// export writes what the page's query finds, and more of it than a page shows.
func export(r *request) (answer, error) {
	name, err := r.named("topic")
	if err != nil {
		return nil, err
	}
	detail, err := r.c.kafka.topic(r.Context(), name)
	if err != nil {
		return nil, err
	}
	q := queryOf(r)
	q.Limit = r.number("count", 10_000, 1, maxExport)
	s, _, _, err := r.prepare(name, detail, q, budget{Records: 10 * maxExport, Bytes: exportBytes, Time: exportTime})
	if err != nil {
		return nil, err
	}
	found, err := r.scan(s)
	if err != nil {
		return nil, err
	}
	if r.query("kind") == "csv" {
		return download{Filename: name + ".csv", Type: "text/csv; charset=utf-8", Write: func(w io.Writer) error { return writeCSV(w, found) }}, nil
	}
	return download{Filename: name + ".jsonl", Type: "application/x-ndjson; charset=utf-8", Write: func(w io.Writer) error { return writeLines(w, found) }}, nil
}

func writeLines(w io.Writer, records []*kgo.Record) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, r := range records {
		if r.Attrs.IsControl() {
			continue
		}
		if err := enc.Encode(exportOf(r)); err != nil {
			return err
		}
	}
	return nil
}

// csvHead are the columns of CSV. A key or value is text, base64 or null, as the column beside it says.
var csvHead = []string{"partition", "offset", "timestamp", "time", "key", "keyForm", "value", "valueForm", "headers"}

func writeCSV(w io.Writer, records []*kgo.Record) error {
	out := csv.NewWriter(w)
	if err := out.Write(csvHead); err != nil {
		return err
	}
	for _, r := range records {
		if r.Attrs.IsControl() {
			continue
		}
		e := exportOf(r)
		headers, err := json.Marshal(e.Headers)
		if err != nil {
			return err
		}
		key, keyForm := csvSide(e.Key, e.KeyBase64)
		value, valueForm := csvSide(e.Value, e.ValueBase64)
		if err := out.Write([]string{strconv.Itoa(int(e.Partition)), strconv.FormatInt(e.Offset, 10), strconv.FormatInt(e.Timestamp, 10), e.Time, key, keyForm, value, valueForm, string(headers)}); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func csvSide(s *string, coded bool) (text, form string) {
	switch {
	case s == nil:
		return "", "null"
	case coded:
		return *s, "base64"
	}
	return *s, "text"
}

func exportOf(r *kgo.Record) exported {
	e := exported{Partition: r.Partition, Offset: r.Offset, Timestamp: r.Timestamp.UnixMilli(), Time: r.Timestamp.UTC().Format(isoMillis)}
	e.Key, e.KeyBase64 = exportSide(r.Key)
	e.Value, e.ValueBase64 = exportSide(r.Value)
	for _, h := range r.Headers {
		made := exportedHeader{Key: h.Key}
		made.Value, made.Base64 = exportSide(h.Value)
		e.Headers = append(e.Headers, made)
	}
	return e
}

// exportSide is bytes as text where a file gives the same bytes back, else as base64. A carriage return is base64: readers of CSV
// drop it.
func exportSide(b []byte) (*string, bool) {
	if b == nil {
		return nil, false
	}
	s := string(b)
	if utf8.Valid(b) && !containsCR(b) {
		return &s, false
	}
	s = base64.StdEncoding.EncodeToString(b)
	return &s, true
}

func containsCR(b []byte) bool {
	for _, c := range b {
		if c == '\r' {
			return true
		}
	}
	return false
}
