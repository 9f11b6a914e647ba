package console

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// importPage is the dot of the template "import".
type importPage struct {
	Name  string
	Wrong string
}

func (p importPage) dialog(status int) dialog {
	return dialog{Title: "Import into " + p.Name, Nav: "topics", Crumbs: []crumb{{"Topics", "/topics"}, {p.Name, path("topics", p.Name)}, {"Import", ""}}, Name: "import", Data: p, Status: status}
}

func importForm(r *request) (answer, error) {
	name, err := r.named("topic")
	if err != nil {
		return nil, err
	}
	_, err = r.c.kafka.topic(r.Context(), name)
	return importPage{Name: name}.dialog(0), err
}

// importRecords produces the records of a file that an export wrote.
func importRecords(r *request) (answer, error) {
	name, err := r.named("topic")
	if err != nil {
		return nil, err
	}
	detail, err := r.c.kafka.topic(r.Context(), name)
	if err != nil {
		return nil, err
	}
	records, err := r.uploaded()
	if err == nil {
		err = r.c.kafka.send(r.Context(), name, len(detail.Partitions), records, r.FormValue("partitions") == "keep", r.FormValue("times") == "keep")
	}
	if err != nil {
		p := asProblem(err)
		return importPage{name, strings.TrimSpace(p.Message + ". " + p.Hint)}.dialog(http.StatusUnprocessableEntity), nil
	}
	return done{To: path("topics", name), Toast: plural(len(records), "message") + " imported into " + name}, nil
}

// uploaded are the records of the form's file.
func (r *request) uploaded() ([]*kgo.Record, error) {
	var tooLong *http.MaxBytesError
	if err := r.ParseMultipartForm(maxUpload); errors.As(err, &tooLong) {
		return nil, badRequest("The file has more than %s", humanBytes(maxUpload))
	} else if err != nil {
		return nil, badRequest("The file cannot be read: %v", err)
	}
	defer r.MultipartForm.RemoveAll() //nolint:errcheck // what was in memory is gone
	f, _, err := r.FormFile("file")
	if err != nil {
		return nil, badRequest("Choose a file")
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		return nil, badRequest("The file cannot be read: %v", err)
	}
	return parseImport(b)
}

// parseImport reads a file of an export: lines of JSON, or CSV.
//
//fuzz:parser class=http FuzzImport
func parseImport(b []byte) ([]*kgo.Record, error) {
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	if trimmed := bytes.TrimSpace(b); len(trimmed) > 0 && trimmed[0] == '{' {
		return parseLines(trimmed)
	}
	return parseCSV(b)
}

// parseLines reads a record of JSON a line.
//
//fuzz:parser class=http FuzzImport
func parseLines(b []byte) ([]*kgo.Record, error) {
	var records []*kgo.Record
	lines := bufio.NewScanner(bytes.NewReader(b))
	lines.Buffer(make([]byte, 64<<10), maxUpload+1)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var e exported
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, badRequest("Line %d is no record: %v", n, err)
		}
		record, err := e.record()
		if err != nil {
			return nil, badRequest("Line %d: %v", n, err)
		}
		if records = append(records, record); len(records) > maxExport {
			return nil, badRequest("The file has more than %s records", grouped(maxExport))
		}
	}
	return records, lines.Err()
}

// parseCSV reads the columns of csvHead.
//
//fuzz:parser class=http FuzzImport
func parseCSV(b []byte) ([]*kgo.Record, error) {
	in := csv.NewReader(bytes.NewReader(b))
	in.FieldsPerRecord = len(csvHead)
	if head, err := in.Read(); err != nil || strings.Join(head, ",") != strings.Join(csvHead, ",") {
		return nil, badRequest("The file is neither lines of JSON nor CSV with the columns %s", strings.Join(csvHead, ", "))
	}
	var records []*kgo.Record
	for n := 2; ; n++ {
		row, err := in.Read()
		if errors.Is(err, io.EOF) {
			return records, nil
		}
		if err != nil {
			return nil, badRequest("%v", err)
		}
		e, err := csvRecord(row)
		var record *kgo.Record
		if err == nil {
			record, err = e.record()
		}
		if err != nil {
			return nil, badRequest("Record %d: %v", n-1, err)
		}
		if records = append(records, record); len(records) > maxExport {
			return nil, badRequest("The file has more than %s records", grouped(maxExport))
		}
	}
}

func csvRecord(row []string) (exported, error) {
	partition, err1 := strconv.ParseInt(row[0], 10, 32)
	at, err2 := strconv.ParseInt(row[2], 10, 64)
	e := exported{Partition: int32(partition), Timestamp: at}
	var err3 error
	if row[8] != "" {
		err3 = json.Unmarshal([]byte(row[8]), &e.Headers)
	}
	if row[5] != "null" {
		e.Key, e.KeyBase64 = &row[4], row[5] == "base64"
	}
	if row[7] != "null" {
		e.Value, e.ValueBase64 = &row[6], row[7] == "base64"
	}
	return e, errors.Join(err1, err2, err3)
}

// record is what an exported record was.
func (e exported) record() (*kgo.Record, error) {
	r := &kgo.Record{Partition: e.Partition, Timestamp: time.UnixMilli(e.Timestamp)}
	var err1, err2 error
	r.Key, err1 = importSide(e.Key, e.KeyBase64)
	r.Value, err2 = importSide(e.Value, e.ValueBase64)
	errs := errors.Join(err1, err2)
	for _, h := range e.Headers {
		value, err := importSide(h.Value, h.Base64)
		errs = errors.Join(errs, err)
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: h.Key, Value: value})
	}
	return r, errs
}

func importSide(s *string, coded bool) ([]byte, error) {
	switch {
	case s == nil:
		return nil, nil
	case coded:
		b, err := base64.StdEncoding.DecodeString(*s)
		if b == nil {
			b = []byte{}
		}
		return b, err
	}
	return []byte(*s), nil
}

// send produces records in their order.
func (k *kafka) send(ctx context.Context, topic string, partitions int, records []*kgo.Record, keepPartitions, keepTimes bool) error {
	for _, r := range records {
		r.Topic = topic
		if !keepTimes {
			r.Timestamp = time.Time{}
		}
		switch {
		case !keepPartitions:
			r.Partition = -1
		case r.Partition < 0 || int(r.Partition) >= partitions:
			return badRequest("The file has a record of partition %d, and the topic has %s", r.Partition, plural(partitions, "partition"))
		}
	}
	for i, result := range k.produce(ctx, records...) {
		if result.Err != nil {
			return fmt.Errorf("message %d of %d: %w", i+1, len(records), result.Err)
		}
	}
	return nil
}
