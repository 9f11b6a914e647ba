package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// MaxBody is the most that a request may send.
const MaxBody = 1 << 20

// Media types of answers, the preferred one first; requests may also send the last.
const (
	mediaV1      = "application/vnd.schemaregistry.v1+json"
	mediaDefault = "application/vnd.schemaregistry+json"
	mediaJSON    = "application/json"
	mediaBytes   = "application/octet-stream"
)

// request is a request on its way to its handler.
type request struct {
	*http.Request
	ctx     context.Context
	route   *route
	args    []string // of the wildcards of the route
	query   url.Values
	body    []byte
	whoever string // principal
	// descriptor: a schema was sent as a descriptor and is answered as one, unless the query asks for something else. The clients
	// that send them keep the answer and read it as one.
	descriptor bool
}

// text is an answer that is not JSON: a bare schema.
type text string

// nothing is an answer without a body.
type nothing struct{}

// several are the results of a batch: its status says that each has its own.
type several struct {
	Results any `json:"results"`
}

// ServeHTTP answers one request. Every answer, errors of unknown paths too, is JSON.
func (r *Registry) ServeHTTP(w http.ResponseWriter, hr *http.Request) {
	whoever, err := r.authenticate(w, hr)
	if err != nil {
		write(w, hr, http.StatusUnauthorized, err)
		return
	}
	before := r.view().Registry.Changes()
	if body := r.known.get(hr, before); body != nil {
		send(w, hr, http.StatusOK, body)
		return
	}
	ctx, cancel := context.WithTimeout(hr.Context(), r.opt.RequestTimeout)
	defer cancel()
	answer, err := r.answer(ctx, w, hr, whoever)
	if err != nil {
		var known *Error
		if !errors.As(err, &known) {
			r.opt.Report(fmt.Errorf("%s %s: %w", hr.Method, hr.URL.Path, err))
			known = plain(http.StatusInternalServerError)
		}
		write(w, hr, known.Status, known)
		return
	}
	status := http.StatusOK
	if _, is := answer.(several); is {
		status = http.StatusMultiStatus
	}
	if body := write(w, hr, status, answer); r.view().Registry.Changes() == before {
		r.known.put(hr, before, body)
	}
}

func (r *Registry) answer(ctx context.Context, w http.ResponseWriter, hr *http.Request, whoever string) (answer any, err error) {
	defer func() {
		if p := recover(); p != nil {
			answer, err = nil, fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	q := &request{Request: hr, ctx: ctx, query: hr.URL.Query(), whoever: whoever}
	path, err := q.segments()
	if err != nil {
		return nil, err
	}
	r.unalias(path, q.query)
	if err := q.match(path); err != nil {
		return nil, err
	}
	if err := q.read(w); err != nil {
		return nil, err
	}
	return q.route.serve(r, q)
}

func (r *Registry) authenticate(w http.ResponseWriter, hr *http.Request) (principal string, err error) {
	if r.opt.Authenticate == nil {
		return "User:ANONYMOUS", nil
	}
	principal, ok := r.opt.Authenticate(hr)
	if !ok {
		w.Header().Set("WWW-Authenticate", `Basic realm="doze"`)
		return "", plain(http.StatusUnauthorized)
	}
	return principal, nil
}

// segments are the parts of the path, unescaped, so that a part may hold a slash; a context at the front is worked in.
func (q *request) segments() ([]string, error) {
	path := strings.TrimSuffix(strings.TrimPrefix(q.URL.EscapedPath(), "/"), "/")
	if path == "" {
		return nil, nil
	}
	parts := strings.Split(path, "/")
	for i, part := range parts {
		decoded, err := url.PathUnescape(part)
		if err != nil {
			return nil, plain(http.StatusBadRequest)
		}
		parts[i] = decoded
	}
	if parts[0] == "contexts" && len(parts) > 1 {
		return q.inContext(parts[1], parts[2:])
	}
	return parts, nil
}

// inContext puts the context of a path in front of subjects that name none.
func (q *request) inContext(context string, parts []string) ([]string, error) {
	prefix, ok := normalizeContext(context)
	if !ok {
		return nil, &Error{Status: 400, Code: 400, Message: fmt.Sprintf("Context name '%s' cannot contain a colon", context)}
	}
	qualify := func(s string) string {
		if startsWithContext(s) {
			return s
		}
		return prefix + s
	}
	if len(parts) == 0 {
		return []string{"contexts", prefix}, nil
	}
	switch parts[0] {
	case "config", "mode":
		if len(parts) == 1 {
			parts = append(parts, "")
		}
		parts[1] = qualify(parts[1])
	case "schemas":
		if len(parts) > 1 && parts[1] == "ids" {
			q.query.Set("subject", qualify(q.query.Get("subject")))
		}
	}
	if strings.HasPrefix(parts[0], "associations") && q.Method != http.MethodGet {
		q.query.Set("context", prefix)
	}
	if len(parts) == 1 && (parts[0] == "schemas" || parts[0] == "subjects") {
		q.query.Set("subjectPrefix", qualify(q.query.Get("subjectPrefix")))
	}
	for i := 1; i < len(parts); i++ {
		if parts[i-1] == "subjects" {
			parts[i] = qualify(parts[i])
		}
	}
	return parts, nil
}

// unalias puts subjects in the place of their aliases.
func (r *Registry) unalias(parts []string, query url.Values) {
	for i := 1; i < len(parts); i++ {
		if parts[i-1] == "subjects" {
			parts[i] = r.aliased(parts[i])
		}
	}
	if len(parts) > 2 && parts[0] == "schemas" && parts[1] == "ids" && query.Get("subject") != "" {
		query.Set("subject", r.aliased(query.Get("subject")))
	}
}

func (r *Registry) aliased(subject string) string { return view{r.view()}.aliased(subject) }

func (q *request) read(w http.ResponseWriter) error {
	if !q.route.body {
		return nil
	}
	if media, _, _ := strings.Cut(q.Header.Get("Content-Type"), ";"); !accepted(strings.ToLower(strings.TrimSpace(media))) {
		return plain(http.StatusUnsupportedMediaType)
	}
	// One that sends its body slowly has its place among the requests in hand no longer than any other.
	_ = http.NewResponseController(w).SetReadDeadline(q.deadline()) // not every writer has one
	var err error
	q.body, err = io.ReadAll(http.MaxBytesReader(w, q.Body, MaxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return &Error{Status: 413, Code: 413, Message: fmt.Sprintf("Request body is larger than %d bytes", MaxBody)}
	case err != nil:
		return plain(http.StatusBadRequest)
	}
	return nil
}

func (q *request) deadline() time.Time {
	deadline, _ := q.ctx.Deadline()
	return deadline
}

func accepted(media string) bool {
	return media == "" || media == mediaV1 || media == mediaDefault || media == mediaJSON || media == mediaBytes
}

// decode reads the body as JSON. What is unknown or null is as if it were not there.
//
//fuzz:parser class=http FuzzRequests
func (q *request) decode(into any) error {
	if len(q.body) == 0 || isNull(q.body) {
		return &Error{Status: 422, Code: 422, Message: "The request body must not be empty"}
	}
	if err := unmarshal(q.body, into); err != nil {
		return malformed(err)
	}
	return nil
}

func (q *request) cause() cause {
	return cause{name: "registry " + q.route.method + " " + q.route.pattern, client: q.UserAgent(), principal: q.whoever}
}

// flag is a switch of the query, as Java reads one: only true is true, however it is capitalised.
func (q *request) flag(name string) bool { return strings.EqualFold(q.query.Get(name), "true") }

// number of the query; what is none is a path that is not there, as in the reference.
func (q *request) number(name string, otherwise int) (int, error) {
	text := q.query.Get(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, plain(http.StatusNotFound)
	}
	return int(n), nil
}

// maxSchemas is the default and the most of a page of schemas; other pages have no bound.
const maxSchemas = 1000

// page is the part of a list that offset and limit ask for; a limit out of bounds is the default.
func page[T any](q *request, all []T, most int) ([]T, error) {
	offset, err := q.number("offset", 0)
	if err != nil {
		return nil, err
	}
	limit, err := q.number("limit", -1)
	if err != nil {
		return nil, err
	}
	if limit <= 0 || most > 0 && limit > most {
		if limit = most; most == 0 {
			limit = len(all)
		}
	}
	offset = min(max(offset, 0), len(all))
	paged := all[offset:min(offset+limit, len(all))]
	if len(paged) == 0 {
		return []T{}, nil
	}
	return paged, nil
}

// write sends an answer and gives its body.
func write(w http.ResponseWriter, hr *http.Request, status int, answer any) []byte {
	switch a := answer.(type) {
	case nothing:
		w.Header()["Cache-Control"] = noCache
		w.WriteHeader(http.StatusNoContent)
		return nil
	case text:
		send(w, hr, status, []byte(a))
		return []byte(a)
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(answer); err != nil {
		status, buf = http.StatusInternalServerError, bytes.Buffer{}
		buf.WriteString(`{"error_code":500,"message":"the answer cannot be written"}`)
	}
	body := bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	send(w, hr, status, body)
	return body
}

// Values of headers that all answers share; the server does not change them.
var noCache, noSniff = []string{"no-cache, no-store, must-revalidate"}, []string{"nosniff"}

func send(w http.ResponseWriter, hr *http.Request, status int, body []byte) {
	h := w.Header()
	h["Cache-Control"], h["X-Content-Type-Options"] = noCache, noSniff
	h.Set("Content-Type", mediaFor(hr.Header.Get("Accept")))
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if hr.Method != http.MethodHead {
		_, _ = w.Write(body) // a client that has gone is told nothing
	}
}

// mediaFor is the first type of ours that the client accepts.
func mediaFor(accept string) string {
	for part := range strings.SplitSeq(accept, ",") {
		media, _, _ := strings.Cut(part, ";")
		switch media = strings.TrimSpace(media); media {
		case mediaV1, mediaDefault, mediaJSON:
			return media
		}
	}
	return mediaV1
}
