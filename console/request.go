package console

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Bounds of what a browser sends.
const (
	maxForm   = 1 << 20  // a form, in bytes
	maxUpload = 32 << 20 // a file of records, in bytes
	maxText   = 4096     // a value that names something
)

// request is a request with what every page wants to know of it.
type request struct {
	*http.Request
	c    *Console
	loc  *time.Location // the zone that times are shown in
	look string         // theme: dark, light, or "" as the system has it
	at   uint64         // the journal's entry that the page is of; 0: the present
}

// newRequest reads cookies and ?at= and bounds the body. A request is there even with an error, to explain it.
func (c *Console) newRequest(w http.ResponseWriter, hr *http.Request) (*request, error) {
	r := &request{Request: hr, c: c, loc: zoneOf(hr), look: themeOf(hr)}
	if at := hr.URL.Query().Get("at"); at != "" {
		n, err := strconv.ParseUint(at, 10, 64)
		if err != nil || n == 0 {
			return r, badRequest("at=%s names no entry of the journal: give a number from 1", clip(at, 40))
		}
		r.at = n
	}
	limit := int64(maxForm)
	if strings.HasPrefix(hr.Header.Get("Content-Type"), "multipart/form-data") {
		limit = maxUpload
	}
	hr.Body = http.MaxBytesReader(w, hr.Body, limit)
	return r, nil
}

// readOnly says that the page is of the past: nothing on it changes anything.
func (r *request) readOnly() bool { return r.at != 0 }

// htmx says that a script of the page asks, not the browser's address line.
func (r *request) htmx() bool { return r.Header.Get("HX-Request") == "true" }

// query is a value of the address, "" when it is not there.
func (r *request) query(name string) string { return r.URL.Query().Get(name) }

// number is a whole number of the address within bounds; the default when it is none.
func (r *request) number(name string, byDefault, least, most int) int {
	n, err := strconv.Atoi(r.query(name))
	if err != nil {
		return byDefault
	}
	return min(max(n, least), most)
}

// form is the body's form, bounded and with valid text.
func (r *request) form() (form, error) {
	err := r.ParseForm()
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		return form{}, problem{Status: http.StatusRequestEntityTooLarge, Message: fmt.Sprintf("The form has more than %d bytes", tooLong.Limit), Hint: "A large record goes through a client."}
	case err != nil:
		return form{}, badRequest("The form cannot be read: %v", err)
	}
	return form{r.PostForm}, nil
}

// form is what a person typed.
type form struct{ values map[string][]string }

// text is a field as it was typed.
func (f form) text(name string) string {
	if v := f.values[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// all are the values of a field that may come several times.
func (f form) all(name string) []string { return f.values[name] }

// trimmed is a field without space around it.
func (f form) trimmed(name string) string { return strings.TrimSpace(f.text(name)) }

// checked says whether a box is ticked.
func (f form) checked(name string) bool { return f.text(name) != "" }

// whole is a field as a whole number.
func (f form) whole(name, label string, least, most int64) (int64, error) {
	s := f.trimmed(name)
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < least || n > most {
		return 0, badRequest("%s is %q: give a whole number from %d to %d", label, clip(s, 40), least, most)
	}
	return n, nil
}

// clip shortens what is only quoted.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
