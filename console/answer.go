package console

import (
	"bytes"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/url"
)

// answer is what an action returns. There are page, partial, live, dialog, done and download.
type answer interface {
	send(*request, http.ResponseWriter)
}

// page is a whole page: its template within the layout.
type page struct {
	Title  string // of the browser's tab
	Nav    string // key of the navigation's item that is lit; see nav.go
	Crumbs []crumb
	Name   string // the template
	Data   any    // its dot
	Status int    // 0: 200
}

// crumb is a step of the way to the page. Without Href it is the page itself.
type crumb struct{ Text, Href string }

func (p page) send(r *request, w http.ResponseWriter) {
	body, err := r.render(p.Name, p.Data)
	if err != nil {
		r.broken(w, err)
		return
	}
	p.sendBody(r, w, body)
}

// sendBody puts what a template made into the layout.
func (p page) sendBody(r *request, w http.ResponseWriter, body []byte) {
	frame := frameOf(r, p)
	frame.Body = template.HTML(body) //nolint:gosec // html/template made it
	frame.Toast = takeToast(r.Request, w)
	whole, err := r.render("layout", frame)
	if err != nil {
		r.broken(w, err)
		return
	}
	sendHTML(w, p.Status, whole)
}

// partial is a piece of a page, which a script puts in its place.
type partial struct {
	Name   string
	Data   any
	Status int
}

func (p partial) send(r *request, w http.ResponseWriter) {
	body, err := r.render(p.Name, p.Data)
	if err != nil {
		r.broken(w, err)
		return
	}
	sendHTML(w, p.Status, body)
}

// dialog is a form of its own: in a dialog of the page when a script asks, as a page without one.
type dialog struct {
	Title  string
	Nav    string
	Crumbs []crumb
	Name   string
	Data   any
	Status int // 422 for a form that is shown again with what is wrong
}

func (d dialog) send(r *request, w http.ResponseWriter) {
	body, err := r.render(d.Name, d.Data)
	if err != nil {
		r.broken(w, err)
		return
	}
	if !r.htmx() {
		page{Title: d.Title, Nav: d.Nav, Crumbs: d.Crumbs, Status: d.Status}.sendBody(r, w, body)
		return
	}
	framed, err := r.render("dialog", struct {
		Title string
		Body  template.HTML
	}{d.Title, template.HTML(body)}) //nolint:gosec // html/template made it
	if err != nil {
		r.broken(w, err)
		return
	}
	w.Header().Set("HX-Retarget", "#dialog")
	w.Header().Set("HX-Reswap", "innerHTML")
	w.Header().Set("HX-Push-Url", "false")
	sendHTML(w, d.Status, framed)
}

// done is the answer to a change: the browser goes to a page, which shows the toast.
type done struct {
	To    string // a path of the console
	Toast string
	Undo  string // a path of the console where the change can be taken back; empty: none
}

func (d done) send(r *request, w http.ResponseWriter) {
	if d.Toast != "" {
		setToast(w, toast{Text: d.Toast, Undo: d.Undo})
	}
	if r.htmx() {
		w.Header().Set("HX-Redirect", d.To)
		w.WriteHeader(http.StatusOK)
		return
	}
	http.Redirect(w, r.Request, d.To, http.StatusSeeOther)
}

// download is a file.
type download struct {
	Filename string
	Type     string // with its charset when it is text
	Write    func(io.Writer) error
}

func (d download) send(r *request, w http.ResponseWriter) {
	w.Header().Set("Content-Type", d.Type)
	w.Header().Set("Content-Disposition", "attachment; filename*=UTF-8''"+url.PathEscape(d.Filename))
	if err := d.Write(w); err != nil {
		r.c.opt.Logger.Warn("console: a download ended early", "path", r.URL.Path, "error", err)
		panic(http.ErrAbortHandler) // the browser sees that the file is not whole
	}
}

// failure is a problem for a script: it goes where the page shows problems.
type failure struct{ problem }

func (f failure) send(r *request, w http.ResponseWriter) {
	body, err := r.render("problem-note", f.problem)
	if err != nil {
		r.broken(w, err)
		return
	}
	w.Header().Set("HX-Retarget", "#problem")
	w.Header().Set("HX-Reswap", "innerHTML")
	w.Header().Set("HX-Push-Url", "false")
	w.Header().Set("HX-Replace-Url", "false")
	sendHTML(w, f.Status, body)
}

func sendHTML(w http.ResponseWriter, status int, body []byte) {
	if status == 0 {
		status = http.StatusOK
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a browser that has gone is told nothing
}

// broken answers when a template failed: a mistake in the console, not in what it shows.
func (r *request) broken(w http.ResponseWriter, err error) {
	r.c.opt.Logger.Error("console: a template failed", "path", r.URL.Path, "error", err)
	http.Error(w, "The console could not make this page: "+err.Error(), http.StatusInternalServerError)
}

// render executes a template whole before anything is sent.
func (r *request) render(name string, data any) ([]byte, error) {
	set, err := r.c.sets.in(r.loc)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := set.ExecuteTemplate(&b, name, data); err != nil {
		return nil, fmt.Errorf("make %s: %w", name, err)
	}
	return b.Bytes(), nil
}
