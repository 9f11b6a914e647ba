package registry

import (
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

	"doze/projections"
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

// ServeHTTP answers one request. Every answer, errors of unknown paths too, is JSON.
func (r *Registry) ServeHTTP(w http.ResponseWriter, hr *http.Request) {
	ctx, cancel := context.WithTimeout(hr.Context(), r.opt.RequestTimeout)
	defer cancel()
	answer, err := r.answer(ctx, w, hr)
	if err != nil {
		var known *Error
		if !errors.As(err, &known) {
			r.opt.Report(fmt.Errorf("%s %s: %w", hr.Method, hr.URL.Path, err))
			known = plain(http.StatusInternalServerError)
		}
		write(w, hr, known.Status, known)
		return
	}
	write(w, hr, http.StatusOK, answer)
}

func (r *Registry) answer(ctx context.Context, w http.ResponseWriter, hr *http.Request) (answer any, err error) {
	defer func() {
		if p := recover(); p != nil {
			answer, err = nil, fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	q := &request{Request: hr, ctx: ctx, query: hr.URL.Query()}
	if err := r.authenticate(w, q); err != nil {
		return nil, err
	}
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

func (r *Registry) authenticate(w http.ResponseWriter, q *request) error {
	q.whoever = "User:ANONYMOUS"
	if r.opt.Authenticate == nil {
		return nil
	}
	principal, ok := r.opt.Authenticate(q.Request)
	if !ok {
		w.Header().Set("WWW-Authenticate", `Basic realm="doze"`)
		return plain(http.StatusUnauthorized)
	}
	q.whoever = principal
	return nil
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

func (r *Registry) aliased(subject string) string {
	subject = normalizeSubject(subject)
	c := r.view().Registry.Config(subject)
	if c == nil || c.Alias == "" {
		return subject
	}
	context, _ := projections.SplitSubject(subject)
	return projections.QualifyReference(context, c.Alias)
}

func (q *request) read(w http.ResponseWriter) error {
	if !q.route.body {
		return nil
	}
	if media, _, _ := strings.Cut(q.Header.Get("Content-Type"), ";"); !accepted(strings.ToLower(strings.TrimSpace(media))) {
		return plain(http.StatusUnsupportedMediaType)
	}
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
	if err := json.Unmarshal(q.body, into); err != nil {
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

func write(w http.ResponseWriter, hr *http.Request, status int, answer any) {
	h := w.Header()
	h.Set("Cache-Control", "no-cache, no-store, must-revalidate")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Type", mediaFor(hr.Header.Get("Accept")))
	var b []byte
	switch a := answer.(type) {
	case nothing:
		h.Del("Content-Type")
		w.WriteHeader(http.StatusNoContent)
		return
	case text:
		b = []byte(a)
	default:
		var buf strings.Builder
		enc := json.NewEncoder(&buf)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(answer); err != nil {
			status, buf = http.StatusInternalServerError, strings.Builder{}
			buf.WriteString(`{"error_code":500,"message":"the answer cannot be written"}`)
		}
		b = []byte(strings.TrimSuffix(buf.String(), "\n"))
	}
	h.Set("Content-Length", strconv.Itoa(len(b)))
	w.WriteHeader(status)
	if hr.Method != http.MethodHead {
		_, _ = w.Write(b) // a client that has gone is told nothing
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
