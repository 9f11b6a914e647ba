package console

import (
	"crypto/sha256"
	"encoding/hex"
	"html/template"
	"net/http"
)

// live is a piece of a page that asks for itself every few seconds. It says what it shows (seen, a hash of it); when that has not
// changed the answer is 204 and the page stays as it is. What it shows must depend on nothing but the state: no "a minute ago".
type live struct {
	ID      string // of its element
	Name    string // the template
	Data    any
	Seconds int // between two looks; 0: 2
}

// liveView is the dot of the template "live".
type liveView struct {
	ID, URL string
	Seconds int
	Body    template.HTML
}

// view renders the piece within a page. path is the route that answers with the same live.
func (l live) view(r *request, path string) (*liveView, error) {
	body, err := r.render(l.Name, l.Data)
	if err != nil {
		return nil, err
	}
	return l.around(r, path, body), nil
}

func (l live) around(r *request, path string, body []byte) *liveView {
	seconds := l.Seconds
	if seconds == 0 {
		seconds = 2
	}
	return &liveView{l.ID, withSeen(r, path, seenHash(body)), seconds, template.HTML(body)} //nolint:gosec // html/template made it
}

// withSeen is the route's address with the page's own values and the hash of what is shown.
func withSeen(r *request, path, seen string) string {
	q := r.URL.Query()
	q.Set("seen", seen)
	return path + "?" + q.Encode()
}

func seenHash(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:8])
}

// send answers the piece's own route.
func (l live) send(r *request, w http.ResponseWriter) {
	body, err := r.render(l.Name, l.Data)
	if err != nil {
		r.broken(w, err)
		return
	}
	if r.query("seen") == seenHash(body) {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	partial{Name: "live", Data: l.around(r, r.URL.EscapedPath(), body)}.send(r, w)
}
