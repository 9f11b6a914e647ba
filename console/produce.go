package console

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kgo"
)

func (c *Console) produceRoutes() []route {
	return []route{
		{pattern: "GET /topics/{topic}/produce", do: produceForm},
		{pattern: "POST /topics/{topic}/produce", do: produce},
		{pattern: "GET /topics/{topic}/import", do: importForm},
		{pattern: "POST /topics/{topic}/import", do: importRecords},
	}
}

// sideForms are the ways to write a key or a value.
var sideForms = []string{"text", "json", "null", "empty", "base64", "hex", "schema"}

// side is a key or a value as it was typed.
type side struct {
	Name    string // key or value
	Form    string
	Text    string
	Subject string
	Forms   []string
}

// headerField is a header of the message that is to be like another one, chosen or not.
type headerField struct {
	Key, Value string // as it is shown
	Coded      string // as the form sends it
	Chosen     bool
	Tracing    bool
}

// producePage is the dot of the template "produce".
type producePage struct {
	Head       topicHead
	Key, Value side
	Partition  string
	Partitions []int32
	Time       string
	Headers    string // typed, NAME: VALUE a line
	Like       string // partition-offset of the message that it is like
	Carried    []headerField
	Subjects   []string
	Wrong      string
	Example    string // the address of the form with an example under the subject's schema
}

// produceForm shows the form; ?like=PARTITION-OFFSET fills it from a message, ?subject=NAME with an example under its schema.
func produceForm(r *request) (answer, error) {
	p, err := newProducePage(r)
	if err != nil {
		return nil, err
	}
	if p.Like != "" {
		if err := p.fillLike(r); err != nil {
			return nil, err
		}
	}
	for _, s := range []*side{&p.Key, &p.Value} {
		subject := r.query(s.Name + "-subject")
		if subject == "" {
			continue
		}
		s.Form, s.Subject = "schema", subject
		if example, err := r.exampleOf(subject); err == nil {
			s.Text = example
		} else {
			p.Wrong = asProblem(err).Message + ". " + asProblem(err).Hint
		}
	}
	return p.answer(0), nil
}

func newProducePage(r *request) (producePage, error) {
	h, detail, err := headOf(r, "")
	if err != nil {
		return producePage{}, err
	}
	p := producePage{Head: h, Like: r.query("like"), Key: side{Name: "key", Form: "text", Forms: sideForms}, Value: side{Name: "value", Form: "text", Forms: sideForms}}
	for _, d := range detail.Partitions.Sorted() {
		p.Partitions = append(p.Partitions, d.Partition)
	}
	if r.c.kafka.registry != nil {
		p.Subjects, _ = r.c.kafka.registry.Subjects(r.Context()) // without them a subject can still be typed
		slices.Sort(p.Subjects)
	}
	return p, nil
}

func (p producePage) answer(status int) answer {
	a := topicAnswer(p.Head, "Produce", "produce", p)
	a.Status = status
	return a
}

// fillLike fills the form from a message. Headers of traces are left out unless they are chosen: a replayed trace misleads.
func (p *producePage) fillLike(r *request) error {
	partition, offset, ok := strings.Cut(p.Like, "-")
	n, err1 := strconv.ParseInt(partition, 10, 32)
	at, err2 := strconv.ParseInt(offset, 10, 64)
	if !ok || err1 != nil || err2 != nil {
		return badRequest("like=%s names no message: write it as PARTITION-OFFSET", clip(p.Like, 40))
	}
	record, err := r.c.kafka.recordAt(r.Context(), p.Head.Name, int32(n), at)
	if err != nil {
		return err
	}
	p.Key.take(record.Key)
	p.Value.take(record.Value)
	tracing := map[string]bool{"traceparent": true, "tracestate": true, "b3": true, "x-b3-traceid": true, "x-b3-spanid": true, "x-b3-parentspanid": true, "x-b3-sampled": true}
	for _, h := range r.c.opt.TraceHeaders {
		tracing[strings.ToLower(h)] = true
	}
	for _, h := range record.Headers {
		shown := showHeader(h)
		trace := tracing[strings.ToLower(h.Key)]
		p.Carried = append(p.Carried, headerField{Key: h.Key, Value: shown.Value, Coded: codeHeader(h), Chosen: !trace, Tracing: trace})
	}
	return nil
}

// take fills a side from bytes: text stays text, anything else is base64, so that the same bytes are sent.
func (s *side) take(b []byte) {
	switch {
	case b == nil:
		s.Form = "null"
	case len(b) == 0:
		s.Form = "empty"
	case printable(b) && !strings.Contains(string(b), "\r"): // a browser changes line ends
		s.Form, s.Text = "text", string(b)
	default:
		s.Form, s.Text = "base64", base64.StdEncoding.EncodeToString(b)
	}
}

// codeHeader writes a header for a form; the value is null, or base64.
func codeHeader(h kgo.RecordHeader) string {
	value := "-"
	if h.Value != nil {
		value = base64.StdEncoding.EncodeToString(h.Value)
	}
	return base64.StdEncoding.EncodeToString([]byte(h.Key)) + "." + value
}

// parseHeaders reads the headers of a form: those that were carried over, then NAME: VALUE lines.
//
//fuzz:parser class=http FuzzConsoleForms
func parseHeaders(carried []string, typed string) ([]kgo.RecordHeader, error) {
	var headers []kgo.RecordHeader
	for _, c := range carried {
		name, value, _ := strings.Cut(c, ".")
		key, err := base64.StdEncoding.DecodeString(name)
		h := kgo.RecordHeader{Key: string(key)}
		if err == nil && value != "-" {
			h.Value, err = base64.StdEncoding.DecodeString(value)
			if h.Value == nil {
				h.Value = []byte{}
			}
		}
		if err != nil {
			return nil, badRequest("A header that is carried over cannot be read")
		}
		headers = append(headers, h)
	}
	for line := range strings.Lines(typed) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, badRequest("The header %q is not NAME: VALUE", clip(line, 80))
		}
		headers = append(headers, kgo.RecordHeader{Key: name, Value: []byte(strings.TrimPrefix(value, " "))})
	}
	return headers, nil
}

// produce sends the record that the form describes.
func produce(r *request) (answer, error) {
	f, err := r.form()
	if err != nil {
		return nil, err
	}
	p, err := newProducePage(r)
	if err != nil {
		return nil, err
	}
	p.Partition, p.Time, p.Headers, p.Like = f.text("partition"), f.trimmed("time"), f.text("headers"), f.text("like")
	for _, s := range []*side{&p.Key, &p.Value} {
		s.Form, s.Text, s.Subject = f.text(s.Name+"-form"), f.text(s.Name), f.trimmed(s.Name+"-subject")
	}
	for _, coded := range f.all("carry") {
		p.Carried = append(p.Carried, headerField{Coded: coded, Chosen: true})
	}
	record, err := p.record(r, f.all("carry"))
	if err == nil {
		err = r.c.kafka.produce(r.Context(), record).FirstErr()
	}
	if err != nil {
		wrong := asProblem(err)
		p.Wrong = strings.TrimSpace(wrong.Message + ". " + wrong.Hint)
		p.nameCarried()
		return p.answer(http.StatusUnprocessableEntity), nil
	}
	at := path("topics", record.Topic, "message", strconv.Itoa(int(record.Partition)), strconv.FormatInt(record.Offset, 10))
	return done{To: at, Toast: fmt.Sprintf("Produced to partition %d at offset %s", record.Partition, grouped(record.Offset))}, nil
}

// nameCarried shows the headers again that the form sent back.
func (p *producePage) nameCarried() {
	for i, c := range p.Carried {
		if hs, err := parseHeaders([]string{c.Coded}, ""); err == nil {
			p.Carried[i].Key, p.Carried[i].Value = hs[0].Key, showHeader(hs[0]).Value
		}
	}
}

func (p producePage) record(r *request, carried []string) (*kgo.Record, error) {
	record := &kgo.Record{Topic: p.Head.Name, Partition: -1}
	var err error
	if p.Partition != "" {
		n, err := strconv.ParseInt(p.Partition, 10, 32)
		if err != nil || !slices.Contains(p.Partitions, int32(n)) {
			return nil, badRequest("The topic has no partition %s", clip(p.Partition, 20))
		}
		record.Partition = int32(n)
	}
	if p.Time != "" {
		if record.Timestamp, err = parseMoment(p.Time, r.loc); err != nil {
			return nil, err
		}
	}
	if record.Headers, err = parseHeaders(carried, p.Headers); err != nil {
		return nil, err
	}
	if record.Key, err = r.bytesOf(p.Key); err != nil {
		return nil, err
	}
	record.Value, err = r.bytesOf(p.Value)
	return record, err
}

// bytesOf are the bytes that a person has written.
func (r *request) bytesOf(s side) ([]byte, error) {
	if s.Form == "schema" {
		return r.encode(s)
	}
	b, err := parseSide(s.Form, s.Text)
	if err != nil {
		return nil, badRequest("The %s: %v", s.Name, err)
	}
	return b, nil
}

// parseSide reads bytes in one of the forms. An empty text is an empty value; null is a form of its own.
//
//fuzz:parser class=http FuzzConsoleForms
func parseSide(form, text string) ([]byte, error) {
	switch form {
	case "null":
		return nil, nil
	case "empty":
		return []byte{}, nil
	case "text", "":
		if !utf8.ValidString(text) {
			return nil, errors.New("it is no text in UTF-8")
		}
		return []byte(strings.ReplaceAll(text, "\r\n", "\n")), nil
	case "json":
		if !json.Valid([]byte(text)) {
			return nil, jsonMistake(text)
		}
		return []byte(strings.ReplaceAll(text, "\r\n", "\n")), nil
	case "base64":
		return base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	case "hex":
		return hex.DecodeString(strings.Join(strings.Fields(text), ""))
	}
	return nil, fmt.Errorf("there is no form %q", clip(form, 20))
}

// jsonMistake says where JSON goes wrong.
func jsonMistake(text string) error {
	var v any
	err := json.Unmarshal([]byte(text), &v)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		line := 1 + strings.Count(text[:min(int(syntax.Offset), len(text))], "\n")
		return fmt.Errorf("it is no JSON: line %d: %w", line, err)
	}
	return fmt.Errorf("it is no JSON: %w", err)
}
