package console

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/sr"
)

// settingsView is the dot of the levels and modes of a subject, or of all.
type settingsView struct {
	Subject             string // "": of all
	Action              string
	Level, Mode         string
	Levels, Modes       []choice
	GlobalLevel, Global string
}

// askRegistrySettings shows the level and the mode of a subject, or of all when the path names none.
func askRegistrySettings(r *request) (answer, error) {
	registry, subject, err := r.maybeSubject()
	if err != nil {
		return nil, err
	}
	view := settingsView{Subject: subject, Action: r.URL.EscapedPath(), Levels: schemaLevels, Modes: schemaModes}
	if view.Level, err = registry.level(r.Context(), subject); err != nil {
		return nil, refused(err)
	}
	if view.Mode, err = registry.mode(r.Context(), subject); err != nil {
		return nil, refused(err)
	}
	crumbs := []crumb{{Text: "Schemas", Href: "/schemas"}, {Text: "Settings"}}
	title := "Settings of the registry"
	if subject != "" {
		crumbs, title = subjectCrumbs(subject, crumb{Text: "Settings"}), "Settings of "+shownName(subject)
	}
	return dialog{Title: title, Nav: "schemas", Crumbs: crumbs, Name: "schema-settings", Data: view}, nil
}

// maybeSubject is the subject that the path names, "" when it names none.
func (r *request) maybeSubject() (registryReader, string, error) {
	registry, err := r.registry()
	if err != nil || r.PathValue("subject") == "" {
		return registry, "", err
	}
	name, err := r.named("subject")
	return registry, name, err
}

// setRegistrySettings sets a level or a mode; an empty value takes a subject's own away.
func setRegistrySettings(r *request) (answer, error) {
	registry, subject, err := r.maybeSubject()
	if err != nil {
		return nil, err
	}
	f, err := r.form()
	if err != nil {
		return nil, err
	}
	to, of := "/schemas", "all subjects"
	if subject != "" {
		to, of = subjectHref(subject, 0), shownName(subject)
	}
	what, value := f.text("what"), f.text("value")
	known := map[string][]choice{"level": schemaLevels, "mode": schemaModes}[what]
	if known == nil || value != "" && inWords(known, value) == value {
		return nil, badRequest("There is no %s %s", clip(what, 40), clip(value, 40))
	}
	if err := registry.set(r.Context(), what, subject, value, f.checked("force")); err != nil {
		return nil, refused(err)
	}
	said := "is " + value
	if value == "" {
		said = "is that of all again"
	}
	return done{To: to, Toast: fmt.Sprintf("The %s of %s %s", what, clip(of, 200), said)}, nil
}

// set changes a level or a mode.
func (g registryReader) set(ctx context.Context, what, subject, value string, force bool) error {
	at, body := subjectPath("/config", subject), map[string]string{"compatibility": value}
	if what == "mode" {
		at, body = subjectPath("/mode", subject), map[string]string{"mode": value}
	}
	if value == "" {
		return g.cl.Do(ctx, http.MethodDelete, at, nil, nil)
	}
	if force {
		ctx = sr.WithParams(ctx, sr.Force)
	}
	return g.cl.Do(ctx, http.MethodPut, at, body, nil)
}

// askDeleteSchema asks whether a version, or without one the subject, is to be deleted.
func askDeleteSchema(r *request) (answer, error) {
	registry, err := r.registry()
	if err != nil {
		return nil, err
	}
	name, err := r.named("subject")
	if err != nil {
		return nil, err
	}
	return registry.deleteDialog(r, name, r.number("version", 0, 0, 1<<31-1), "", 0)
}

func (g registryReader) deleteDialog(r *request, name string, number int, wrong string, status int) (answer, error) {
	versions, deleted, err := g.versions(r.Context(), name)
	if err != nil {
		return nil, refused(err)
	}
	forGood := len(deleted) == len(versions)
	view := deleteView{What: "subject", Name: name, Action: path("schemas", "subjects", name, "delete"), Wrong: wrong, Button: "Delete the subject"}
	title := "Delete subject " + shownName(name)
	if number > 0 {
		forGood = deleted[number]
		title = fmt.Sprintf("Delete version %d of %s", number, shownName(name))
		view.Button = fmt.Sprintf("Delete version %d", number)
		view.Hidden = []hidden{{"version", strconv.Itoa(number)}}
		view.WhyNot = g.whyReferenced(r.Context(), name, number)
	}
	view.Means = []string{"It is a soft deletion: the schema can still be read by its id, so records stay readable, and it can be restored."}
	if forGood {
		view.Type, view.Button = true, view.Button+" for good"
		view.Hidden = append(view.Hidden, hidden{"permanent", "1"})
		view.Means = []string{"It is deleted softly already; now it goes for good. Records that carry its id can then not be decoded."}
	}
	return dialog{Title: title, Nav: "schemas", Crumbs: subjectCrumbs(name, crumb{Text: "Delete"}), Name: "really-delete", Data: view, Status: status}, nil
}

// whyReferenced is why a version cannot be deleted: others refer to it.
func (g registryReader) whyReferenced(ctx context.Context, subject string, number int) string {
	by, err := g.referencedBy(ctx, subject, number)
	if err != nil || len(by) == 0 {
		return ""
	}
	var names []string
	for _, u := range by[:min(3, len(by))] {
		names = append(names, fmt.Sprintf("%s version %d", u.Subject, u.Version))
	}
	return "It is referred to by " + strings.Join(names, ", ") + ". Delete those first."
}

func deleteSchema(r *request) (answer, error) {
	registry, name, f, err := r.subjectForm()
	if err != nil {
		return nil, err
	}
	number := 0
	if f.text("version") != "" {
		n, err := f.whole("version", "The version", 1, 1<<31-1)
		if err != nil {
			return nil, err
		}
		number = int(n)
	}
	how := sr.SoftDelete
	if f.checked("permanent") {
		how = sr.HardDelete
		if f.text("typed") != name {
			return registry.deleteDialog(r, name, number, "Type the subject's name to delete it for good.", http.StatusUnprocessableEntity)
		}
	}
	return registry.deleted(r, name, number, how)
}

func (g registryReader) deleted(r *request, name string, number int, how sr.DeleteHow) (answer, error) {
	gone := "Deleted subject " + clip(shownName(name), 200)
	to := withQuery("/schemas", "deleted", "1")
	var err error
	if number > 0 {
		gone, to = fmt.Sprintf("Deleted version %d of %s", number, clip(shownName(name), 200)), subjectHref(name, 0)
		err = g.cl.DeleteSchema(r.Context(), name, number, how)
	} else {
		_, err = g.cl.DeleteSubject(r.Context(), name, how)
	}
	if err != nil {
		return nil, refused(err)
	}
	if how == sr.HardDelete {
		return done{To: "/schemas", Toast: gone + " for good"}, nil
	}
	return done{To: to, Toast: gone + ". It can be restored."}, nil
}

// subjectForm is what a form about a subject needs.
func (r *request) subjectForm() (registry registryReader, subject string, f form, err error) {
	if registry, err = r.registry(); err != nil {
		return registry, "", f, err
	}
	if subject, err = r.named("subject"); err != nil {
		return registry, "", f, err
	}
	f, err = r.form()
	return registry, subject, f, err
}

// restoreSchema registers softly deleted versions again, in their order: they keep their ids and get new numbers.
func restoreSchema(r *request) (answer, error) {
	registry, name, f, err := r.subjectForm()
	if err != nil {
		return nil, err
	}
	n, err := f.whole("version", "The version", 1, 1<<31-1)
	if err != nil {
		return nil, err
	}
	old, err := registry.version(r.Context(), name, int(n))
	if err != nil {
		return nil, refused(err)
	}
	made, err := registry.cl.CreateSchema(r.Context(), name, old.Schema)
	if err != nil {
		return nil, refused(err)
	}
	return done{
		To:    subjectHref(name, made.Version),
		Toast: fmt.Sprintf("Restored version %d of %s as version %d, with its id %d", old.Version, clip(shownName(name), 200), made.Version, made.ID),
	}, nil
}
