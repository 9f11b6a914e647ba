package console

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/sr"
)

func (c *Console) schemaRoutes() []route {
	return []route{
		{pattern: "GET /schemas", do: showSubjects},
		{pattern: "GET /schemas/find", do: findSchema},
		{pattern: "GET /schemas/new", do: askSchema},
		{pattern: "POST /schemas/new", do: registerSchema},
		{pattern: "GET /schemas/settings", do: askRegistrySettings},
		{pattern: "POST /schemas/settings", do: setRegistrySettings},
		{pattern: "GET /schemas/subjects/{subject}", do: showSubject},
		{pattern: "GET /schemas/subjects/{subject}/diff", do: showDiff},
		{pattern: "GET /schemas/subjects/{subject}/settings", do: askRegistrySettings},
		{pattern: "POST /schemas/subjects/{subject}/settings", do: setRegistrySettings},
		{pattern: "GET /schemas/subjects/{subject}/delete", do: askDeleteSchema},
		{pattern: "POST /schemas/subjects/{subject}/delete", do: deleteSchema},
		{pattern: "POST /schemas/subjects/{subject}/restore", do: restoreSchema},
	}
}

// subjectsPage is the dot of the list of subjects.
type subjectsPage struct {
	Table       table
	Level, Mode string
	Deleted     bool // deleted subjects are shown
	Toggle      string
	Problem     string
}

func showSubjects(r *request) (answer, error) {
	registry, err := r.registry()
	if err != nil {
		return nil, err
	}
	view := subjectsPage{Deleted: r.query("deleted") != ""}
	rows, err := registry.subjects(r.Context(), view.Deleted)
	if err != nil {
		return nil, refused(err)
	}
	if view.Level, err = registry.level(r.Context(), ""); err != nil {
		view.Problem = err.Error()
	}
	if view.Mode, err = registry.mode(r.Context(), ""); err != nil {
		view.Problem = err.Error()
	}
	view.Level, view.Mode = inWords(schemaLevels, view.Level), inWords(schemaModes, view.Mode)
	view.Toggle = r.changed("deleted", map[bool]string{true: "", false: "1"}[view.Deleted], "page", "")
	view.Table = subjectTable(r, registry, rows)
	return page{Title: "Schemas", Nav: "schemas", Crumbs: []crumb{{Text: "Schemas"}}, Name: "schemas", Data: view}, nil
}

// subjectTable shows the subjects; versions are asked for only where they are seen.
func subjectTable(r *request, registry registryReader, rows []*subjectRow) table {
	var seen []*subjectRow
	subjectSheet(func(row *subjectRow) { seen = append(seen, row) }).show(r, rows)
	registry.fill(r.Context(), seen)
	return subjectSheet(func(*subjectRow) {}).show(r, rows)
}

func subjectSheet(see func(*subjectRow)) sheet[*subjectRow] {
	return sheet[*subjectRow]{
		ID: "t", Noun: "subject", Sort: "name",
		Find: func(row *subjectRow) string { return row.Name },
		Href: func(row *subjectRow) string { return subjectHref(row.Name, 0) },
		Columns: []column[*subjectRow]{
			{Key: "name", Title: "Subject", Order: by(func(row *subjectRow) string { return row.Name }), Cell: func(row *subjectRow) cell {
				see(row)
				c := linkCell(shownName(row.Name), subjectHref(row.Name, 0))
				if row.Deleted {
					c = c.with(badge{"deleted", "warn", "Softly: it can be restored, and its schemas can still be read by their ids"})
				}
				return c
			}},
			{Title: "Type", Cell: func(row *subjectRow) cell { return latestCell(row, textCell(row.Latest.Type.String())) }},
			{Title: "Latest version", Num: true, Cell: func(row *subjectRow) cell { return latestCell(row, numCell(int64(row.Latest.Version))) }},
			{Title: "Id", Num: true, Hint: "What records carry to name the schema", Cell: func(row *subjectRow) cell { return latestCell(row, numCell(int64(row.Latest.ID))) }},
			{Title: "References", Num: true, Cell: func(row *subjectRow) cell { return latestCell(row, numCell(int64(len(row.Latest.References)))) }},
		},
		Empty:   "No schema is registered. Register one here with New schema, or let a producer do it:",
		Command: `curl REGISTRY/subjects/orders-value/versions -H 'Content-Type: application/json' -d '{"schema": "\"string\""}'`,
	}
}

func latestCell(row *subjectRow, c cell) cell {
	if row.Problem != "" {
		return unknownCell(row.Problem)
	}
	return c
}

// subjectHref is the page of a version of a subject; version 0 is the latest.
func subjectHref(subject string, version int) string {
	to := path("schemas", "subjects", subject)
	if version == 0 {
		return to
	}
	return withQuery(to, "version", strconv.Itoa(version))
}

// findSchema goes from an id or a guid, as a record carries it, to a page that shows the schema.
func findSchema(r *request) (answer, error) {
	registry, err := r.registry()
	if err != nil {
		return nil, err
	}
	what := strings.TrimSpace(clip(r.query("what"), 100))
	id, err := strconv.Atoi(what)
	if err != nil {
		ids, err := registry.cl.SchemaIDsByGUID(r.Context(), what)
		if err != nil || len(ids) == 0 {
			return nil, notFound("No schema has the id or guid %q", what)
		}
		id = ids[0].ID
	}
	found, err := registry.cl.SchemaVersionsByID(sr.WithParams(r.Context(), sr.ShowDeleted), id)
	if err != nil || len(found) == 0 {
		return nil, notFound("No subject has a schema with the id %s", what)
	}
	return done{To: subjectHref(found[0].Subject, found[0].Version)}, nil
}

// subjectPage is the dot of a subject.
type subjectPage struct {
	*subjectDetail
	LevelText, ModeText string
	LevelOwn, ModeOwn   bool
	List                []versionLink
	References          []referenceLink
	UsedBy, AlsoAs      []referenceLink
	Diff                *diffForm
	New, Settings       string
	DeleteVersion       string
	DeleteAll           string
	Restore             string
	AllDeleted          bool
}

// versionLink is a version in the list beside a schema.
type versionLink struct {
	Number        int
	Href          string
	Lit, Deleted  bool
	DiffFromPrior string
}

// referenceLink is a way to another schema.
type referenceLink struct{ Name, Text, Href string }

func showSubject(r *request) (answer, error) {
	registry, err := r.registry()
	if err != nil {
		return nil, err
	}
	name, err := r.named("subject")
	if err != nil {
		return nil, err
	}
	d, err := registry.detail(r.Context(), name, r.number("version", 0, 0, 1<<31-1))
	if err != nil {
		return nil, refused(err)
	}
	return page{Title: shownName(name) + " · schema", Nav: "schemas", Crumbs: subjectCrumbs(name), Name: "schema", Data: newSubjectPage(d)}, nil
}

func subjectCrumbs(name string, more ...crumb) []crumb {
	own := crumb{Text: shownName(name)}
	if len(more) > 0 {
		own.Href = subjectHref(name, 0)
	}
	return append([]crumb{{Text: "Schemas", Href: "/schemas"}, own}, more...)
}

func newSubjectPage(d *subjectDetail) subjectPage {
	at := path("schemas", "subjects", d.Name)
	number := strconv.Itoa(d.Chosen.Version)
	v := subjectPage{
		subjectDetail: d, LevelOwn: d.Level != "", ModeOwn: d.Mode != "", AllDeleted: len(d.Deleted) == len(d.Versions),
		New: withQuery("/schemas/new", "subject", d.Name, "from", number), Settings: at + "/settings",
		DeleteVersion: withQuery(at+"/delete", "version", number), DeleteAll: at + "/delete", Restore: at + "/restore",
	}
	v.LevelText, v.ModeText = inWords(schemaLevels, d.Level), inWords(schemaModes, d.Mode)
	if !v.LevelOwn {
		v.LevelText = inWords(schemaLevels, d.GlobalLevel)
	}
	if !v.ModeOwn {
		v.ModeText = inWords(schemaModes, d.GlobalMode)
	}
	for i, n := range d.Versions {
		link := versionLink{Number: n, Href: subjectHref(d.Name, n), Lit: n == d.Chosen.Version, Deleted: d.Deleted[n]}
		if i+1 < len(d.Versions) {
			link.DiffFromPrior = diffHref(d.Name, d.Versions[i+1], d.Name, n, "")
		}
		v.List = append(v.List, link)
	}
	for _, ref := range d.Chosen.References {
		v.References = append(v.References, referenceLink{ref.Name, fmt.Sprintf("%s version %d", ref.Subject, ref.Version), subjectHref(ref.Subject, ref.Version)})
	}
	v.UsedBy, v.AlsoAs = versionLinks(d.ReferencedBy), versionLinks(d.OtherUses)
	if len(d.Versions) > 1 {
		v.Diff = &diffForm{Action: at + "/diff", Versions: d.Versions, From: d.Versions[1], To: d.Versions[0], Subject: d.Name, Other: d.Name}
	}
	return v
}

func versionLinks(of []sr.SubjectVersion) []referenceLink {
	var out []referenceLink
	for _, u := range of {
		out = append(out, referenceLink{"", fmt.Sprintf("%s version %d", u.Subject, u.Version), subjectHref(u.Subject, u.Version)})
	}
	return out
}
