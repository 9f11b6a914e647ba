package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kgo"
)

// recordJSON is a record as doze consume prints and doze produce takes it, a line each; the names are those of fixtures. Bytes
// that are no text are in base64; null is null. A line with an offset tells where a record was: its partition is not where it
// goes.
type recordJSON struct {
	Topic     string       `json:"topic,omitempty"`
	Partition *int32       `json:"partition,omitempty"`
	Offset    *int64       `json:"offset,omitempty"` // told, not taken
	Timestamp string       `json:"timestamp,omitempty"`
	Key       *string      `json:"key,omitempty"`
	KeyBytes  []byte       `json:"key-base64,omitempty"`
	Value     *string      `json:"value"`
	Bytes     []byte       `json:"value-base64,omitempty"`
	Headers   []headerJSON `json:"headers,omitempty"`
}

type headerJSON struct {
	Name  string  `json:"name"`
	Value *string `json:"value"`
	Bytes []byte  `json:"value-base64,omitempty"`
}

// textOrBytes is a value as text where it is one.
func textOrBytes(b []byte) (*string, []byte) {
	switch {
	case b == nil:
		return nil, nil
	case utf8.Valid(b):
		s := string(b)
		return &s, nil
	}
	return nil, b
}

func appendRecordJSON(b []byte, r *kgo.Record) []byte {
	line := recordJSON{Topic: r.Topic, Partition: &r.Partition, Offset: &r.Offset, Timestamp: r.Timestamp.UTC().Format(time.RFC3339Nano)}
	line.Key, line.KeyBytes = textOrBytes(r.Key)
	line.Value, line.Bytes = textOrBytes(r.Value)
	for _, h := range r.Headers {
		header := headerJSON{Name: h.Key}
		header.Value, header.Bytes = textOrBytes(h.Value)
		line.Headers = append(line.Headers, header)
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(line) // texts and numbers always can
	return append(b, out.Bytes()...)
}

// parseRecordJSON reads a line that appendRecordJSON wrote, or a person: key and value are texts or null.
//
//fuzz:parser class=config FuzzRecordJSON
func parseRecordJSON(line []byte) (*kgo.Record, error) {
	var in recordJSON
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return nil, fmt.Errorf("%w; write {\"key\": TEXT, \"value\": TEXT}", err)
	}
	if d.More() {
		return nil, errors.New("has more than one value; write one object a line")
	}
	r := &kgo.Record{Topic: in.Topic, Partition: -1, Key: bytesOf(in.Key, in.KeyBytes), Value: bytesOf(in.Value, in.Bytes)}
	if in.Partition != nil && in.Offset == nil {
		r.Partition = max(*in.Partition, -1)
	}
	if in.Timestamp != "" {
		t, err := time.Parse(time.RFC3339Nano, in.Timestamp)
		if err != nil || t.UnixMilli() < 0 {
			return nil, fmt.Errorf("timestamp %q is no time; write it as 2026-01-31T12:00:00Z", in.Timestamp)
		}
		r.Timestamp = t
	}
	for _, h := range in.Headers {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: h.Name, Value: bytesOf(h.Value, h.Bytes)})
	}
	return r, nil
}

func bytesOf(text *string, b []byte) []byte {
	switch {
	case text != nil:
		return []byte(*text)
	case len(b) > 0:
		return b
	}
	return nil
}
