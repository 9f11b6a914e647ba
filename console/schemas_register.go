package console

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/sr"
)

// Bounds of the form of a schema; the registry has the same for its body.
const (
	maxSchemaText       = 1 << 20
	maxSchemaReferences = 100
	spareReferences     = 2 // empty rows of the references editor
)

// schemaForm is a schema as a person writes it.
type schemaForm struct {
	Subject    string
	Type       string // AVRO, JSON, PROTOBUF
	Text       string
	References []referenceForm
	Normalize  bool
}

// referenceForm is one row of the references editor, as typed.
type referenceForm struct{ Name, Subject, Version string }

// schemaTypes are the types that a schema may have.
var schemaTypes = []choice{{"AVRO", "Avro"}, {"JSON", "JSON Schema"}, {"PROTOBUF", "Protobuf"}}

// schemaView is the dot of the form.
type schemaView struct {
	Form     schemaForm
	Types    []choice
	Subjects []string
	Verdict  *schemaVerdict
	Wrong    string
	Level    string
}

// schemaVerdict is what a check found.
type schemaVerdict struct {
	Good     bool
	Text     string
	Messages []string
	Against  int // the version that the comparison is with; 0: none
	Lines    []diffLine
	Same     bool // the very schema is registered already, as version Against
}

// askSchema shows the form: empty, or with a version of a subject to go on from.
func askSchema(r *request) (answer, error) {
	registry, err := r.registry()
	if err != nil {
		return nil, err
	}
	f := schemaForm{Subject: clip(r.query("subject"), maxText), Type: "AVRO"}
	if f.Subject != "" {
		from, err := registry.version(r.Context(), f.Subject, r.number("from", 0, 0, 1<<31-1))
		if err != nil && !isNotFound(err) {
			return nil, refused(err)
		}
		if err == nil {
			f = formOf(from)
		}
	}
	return schemaPage(r, registry, schemaView{Form: f}, 0), nil
}

// formOf is the form that a version makes.
func formOf(v version) schemaForm {
	f := schemaForm{Subject: v.Subject, Type: v.Type.String(), Text: v.Readable}
	for _, ref := range v.References {
		f.References = append(f.References, referenceForm{ref.Name, ref.Subject, strconv.Itoa(ref.Version)})
	}
	return f
}

func schemaPage(r *request, registry registryReader, view schemaView, status int) page {
	view.Types = schemaTypes
	view.Subjects, _ = registry.cl.Subjects(r.Context()) // only to help with typing
	if len(view.Subjects) > 1000 {
		view.Subjects = view.Subjects[:1000]
	}
	if view.Form.Subject != "" {
		view.Level = registry.levelInForce(r.Context(), view.Form.Subject)
	}
	for range spareReferences {
		if len(view.Form.References) < maxSchemaReferences {
			view.Form.References = append(view.Form.References, referenceForm{})
		}
	}
	crumbs := []crumb{{Text: "Schemas", Href: "/schemas"}, {Text: "New schema"}}
	if view.Form.Subject != "" {
		crumbs = subjectCrumbs(view.Form.Subject, crumb{Text: "New version"})
	}
	return page{Title: "New schema", Nav: "schemas", Crumbs: crumbs, Name: "schema-new", Data: view, Status: status}
}

// levelInForce is the compatibility level of a subject in words, its own or that of all.
func (g registryReader) levelInForce(ctx context.Context, subject string) string {
	level, err := g.level(ctx, subject)
	if err == nil && level == "" {
		level, err = g.level(ctx, "")
	}
	if err != nil {
		return ""
	}
	return inWords(schemaLevels, level)
}

// registerSchema checks what was typed, or registers it: the button says which. Asked for more rows of references it only shows
// the form again.
func registerSchema(r *request) (answer, error) {
	registry, err := r.registry()
	if err != nil {
		return nil, err
	}
	typed, err := r.form()
	if err != nil {
		return nil, err
	}
	f := readSchemaForm(typed)
	view := schemaView{Form: f}
	schema, err := f.schema()
	switch do := typed.text("do"); {
	case do == "more":
		view.Form.References = append(view.Form.References, referenceForm{}, referenceForm{})
		return schemaPage(r, registry, view, 0), nil
	case err != nil:
		view.Wrong = err.Error()
		return schemaPage(r, registry, view, http.StatusUnprocessableEntity), nil
	case do == "register":
		return registry.registered(r, view, schema)
	}
	if view.Verdict, err = registry.check(r.Context(), f, schema); err != nil {
		view.Wrong = asProblem(refused(err)).Message
		return schemaPage(r, registry, view, http.StatusUnprocessableEntity), nil
	}
	return schemaPage(r, registry, view, 0), nil
}

// readSchemaForm is the form as it was typed; rows of references that are empty are left out.
func readSchemaForm(typed form) schemaForm {
	f := schemaForm{Subject: typed.trimmed("subject"), Type: typed.text("type"), Text: typed.text("schema"), Normalize: typed.checked("normalize")}
	names, subjects, versions := typed.all("ref-name"), typed.all("ref-subject"), typed.all("ref-version")
	for i := range min(len(names), len(subjects), len(versions), maxSchemaReferences) {
		ref := referenceForm{strings.TrimSpace(names[i]), strings.TrimSpace(subjects[i]), strings.TrimSpace(versions[i])}
		if ref != (referenceForm{}) {
			f.References = append(f.References, ref)
		}
	}
	return f
}

// schema is what the form says to the registry.
func (f schemaForm) schema() (sr.Schema, error) {
	out := sr.Schema{Schema: f.Text}
	switch {
	case f.Subject == "" || len(f.Subject) > maxText:
		return out, fmt.Errorf("name the subject, in at most %d bytes", maxText)
	case strings.TrimSpace(f.Text) == "" || len(f.Text) > maxSchemaText:
		return out, fmt.Errorf("write the schema, in at most %d bytes", maxSchemaText)
	case out.Type.UnmarshalText([]byte(f.Type)) != nil:
		return out, fmt.Errorf("choose a type of schema: %s is none", clip(f.Type, 40))
	}
	for _, ref := range f.References {
		n, err := strconv.Atoi(ref.Version)
		if err != nil || n < -1 || ref.Name == "" || ref.Subject == "" {
			return out, fmt.Errorf("reference %q: give its name, its subject and the number of a version", clip(ref.Name, 100))
		}
		out.References = append(out.References, sr.SchemaReference{Name: ref.Name, Subject: ref.Subject, Version: n})
	}
	return out, nil
}

func (g registryReader) with(ctx context.Context, f schemaForm) context.Context {
	if f.Normalize {
		return sr.WithParams(ctx, sr.Normalize)
	}
	return ctx
}

// registered registers and goes to the new version; what the registry says against it is shown with the form.
func (g registryReader) registered(r *request, view schemaView, schema sr.Schema) (answer, error) {
	made, err := g.cl.CreateSchema(g.with(r.Context(), view.Form), view.Form.Subject, schema)
	if err != nil {
		p := asProblem(refused(err))
		view.Wrong = p.Message
		return schemaPage(r, g, view, p.Status), nil
	}
	return done{
		To:    subjectHref(view.Form.Subject, made.Version),
		Toast: fmt.Sprintf("Registered %s version %d with id %d", clip(shownName(view.Form.Subject), 200), made.Version, made.ID),
	}, nil
}

// check asks the registry whether a schema may be registered, and compares it with the latest version.
func (g registryReader) check(ctx context.Context, f schemaForm, schema sr.Schema) (*schemaVerdict, error) {
	if same, err := g.cl.LookupSchema(g.with(ctx, f), f.Subject, schema); err == nil {
		return &schemaVerdict{Good: true, Same: true, Against: same.Version, Text: fmt.Sprintf("This very schema is version %d already, with id %d: registering it changes nothing.", same.Version, same.ID)}, nil
	}
	verdict, err := g.cl.CheckCompatibility(sr.WithParams(g.with(ctx, f), sr.Verbose), f.Subject, -2, schema)
	if err != nil && !isNotFound(err) {
		return nil, err
	}
	latest, latestErr := g.cl.SchemaByVersion(ctx, f.Subject, -1)
	out := &schemaVerdict{Good: verdict.Is, Messages: verdict.Messages}
	switch {
	case latestErr != nil:
		// Nothing to compare with. The lookup has parsed the schema: the registry refused it if it cannot be read.
		return &schemaVerdict{Good: true, Text: "It would be the first version of the subject."}, nil
	case verdict.Is:
		out.Text = "Compatible: it may be registered."
	default:
		out.Text = "Not compatible: the registry would refuse it."
	}
	out.Against = latest.Version
	out.Lines = diffTexts(readable(latest.Schema.Schema), readable(f.Text))
	return out, nil
}
