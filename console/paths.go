package console

import (
	"encoding/base64"
	"net/url"
	"strconv"
	"strings"
)

// path joins parts to a path of the console. Each may be any text: a name of a group or a subject has no rules.
func path(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString("/" + segment(p))
	}
	return b.String()
}

// segment is a name as one segment of a path. Browsers resolve dots and servers drop what is empty; such a name, and one that
// begins with the tilde that marks them, is written as ~ and base64.
func segment(name string) string {
	if name == "" || name == "." || name == ".." || strings.HasPrefix(name, "~") {
		return "~" + base64.RawURLEncoding.EncodeToString([]byte(name))
	}
	return url.PathEscape(name)
}

// named is the name in a segment of the path, as path wrote it.
func (r *request) named(key string) (string, error) {
	s := r.PathValue(key)
	if coded, ok := strings.CutPrefix(s, "~"); ok {
		name, err := base64.RawURLEncoding.DecodeString(coded)
		if err != nil {
			return "", notFound("There is no page %s", r.URL.Path)
		}
		s = string(name)
	}
	if len(s) > maxText {
		return "", badRequest("A name of %d bytes is longer than any that Kafka takes", len(s))
	}
	return s, nil
}

// withQuery adds values to a path: names and values in turn. Those that are empty are left out.
func withQuery(path string, pairs ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Add(pairs[i], pairs[i+1])
		}
	}
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

// changed is the request's own address with some values changed: names and values in turn; an empty value takes one away.
func (r *request) changed(pairs ...string) string {
	q := r.URL.Query()
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			q.Del(pairs[i])
		} else {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	if len(q) == 0 {
		return r.URL.EscapedPath()
	}
	return r.URL.EscapedPath() + "?" + q.Encode()
}

// keepingAt is a path of the console in the same state of the past.
func (r *request) keepingAt(path string) string {
	if r.at == 0 {
		return path
	}
	join := "?"
	if strings.Contains(path, "?") {
		join = "&"
	}
	return path + join + "at=" + strconv.FormatUint(r.at, 10)
}
