package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/twmb/franz-go/pkg/sr"
)

// registryReader reads the schema registry and changes it.
type registryReader struct{ cl *sr.Client }

// registry is the schema registry, or a page that says that there is none.
func (r *request) registry() (registryReader, error) {
	if r.c.kafka.registry == nil {
		return registryReader{}, problem{Status: http.StatusNotFound, Message: "This console has no schema registry", Hint: "doze serves one unless it was started with --schema-registry=false; for another Kafka name it: doze console --bootstrap HOST:PORT --schema-registry URL."}
	}
	return registryReader{r.c.kafka.registry}, nil
}

// refused is an error of the registry as a person is to see it: its own words and number.
func refused(err error) error {
	var said *sr.ResponseError
	if !errors.As(err, &said) {
		return err
	}
	status := said.StatusCode
	if status >= 500 || status < 400 {
		status = http.StatusBadGateway
	}
	return problem{Status: status, Message: clip(said.Error(), 4000), Hint: fmt.Sprintf("The schema registry answered with code %d.", said.ErrorCode)}
}

// isNotFound says that the registry does not have something.
func isNotFound(err error) bool {
	var said *sr.ResponseError
	return errors.As(err, &said) && said.StatusCode == http.StatusNotFound
}

// subjectPath is a subject's path in the registry, with more segments after it.
func subjectPath(before, subject string) string {
	if subject == "" {
		return before
	}
	return before + "/" + url.PathEscape(subject)
}

// level is a subject's own compatibility level, "" when it has none; with subject "" the level of all.
func (g registryReader) level(ctx context.Context, subject string) (string, error) {
	var answer struct {
		Level string `json:"compatibilityLevel"`
	}
	err := g.cl.Do(ctx, http.MethodGet, subjectPath("/config", subject), nil, &answer)
	if isNotFound(err) {
		return "", nil
	}
	return answer.Level, err
}

// mode is a subject's own mode, "" when it has none; with subject "" the mode of all.
func (g registryReader) mode(ctx context.Context, subject string) (string, error) {
	var answer struct {
		Mode string `json:"mode"`
	}
	err := g.cl.Do(ctx, http.MethodGet, subjectPath("/mode", subject), nil, &answer)
	if isNotFound(err) {
		return "", nil
	}
	return answer.Mode, err
}

// schemaLevels are the compatibility levels, in words.
var schemaLevels = []choice{
	{"BACKWARD", "BACKWARD: the new schema reads what the last one wrote. Upgrade consumers first."},
	{"BACKWARD_TRANSITIVE", "BACKWARD_TRANSITIVE: the new schema reads what all earlier ones wrote."},
	{"FORWARD", "FORWARD: the last schema reads what the new one writes. Upgrade producers first."},
	{"FORWARD_TRANSITIVE", "FORWARD_TRANSITIVE: all earlier schemas read what the new one writes."},
	{"FULL", "FULL: the new schema and the last one read each other. Upgrade in any order."},
	{"FULL_TRANSITIVE", "FULL_TRANSITIVE: the new schema and all earlier ones read each other."},
	{"NONE", "NONE: nothing is checked."},
}

// schemaModes are the modes, in words.
var schemaModes = []choice{
	{"READWRITE", "READWRITE: schemas may be registered."},
	{"READONLY", "READONLY: nothing changes."},
	{"IMPORT", "IMPORT: schemas are registered with ids and versions that the client gives."},
	{"FORWARD", "FORWARD: for a registry that takes its schemas from another."},
}

// inWords is what a page says of a level or a mode.
func inWords(of []choice, value string) string {
	for _, c := range of {
		if c.Value == value {
			return c.Label
		}
	}
	return value
}

// subjectRow is a subject in the list. The latest version is loaded for the rows that are shown.
type subjectRow struct {
	Name    string
	Deleted bool // all its versions are softly deleted
	Latest  sr.SubjectSchema
	Problem string
}

// subjects are the subjects in order, and when asked for the deleted ones among them.
func (g registryReader) subjects(ctx context.Context, deleted bool) ([]*subjectRow, error) {
	live, err := g.cl.Subjects(ctx)
	if err != nil {
		return nil, err
	}
	rows := map[string]*subjectRow{}
	for _, name := range live {
		rows[name] = &subjectRow{Name: name}
	}
	if deleted {
		all, err := g.cl.Subjects(sr.WithParams(ctx, sr.ShowDeleted))
		if err != nil {
			return nil, err
		}
		for _, name := range all {
			if rows[name] == nil {
				rows[name] = &subjectRow{Name: name, Deleted: true}
			}
		}
	}
	out := make([]*subjectRow, 0, len(rows))
	for _, name := range sortedKeys(rows) {
		out = append(out, rows[name])
	}
	return out, nil
}

// registryCallers is how many requests of one page the registry answers at once.
const registryCallers = 4

// fill loads the latest version of each row.
func (g registryReader) fill(ctx context.Context, rows []*subjectRow) {
	var wg sync.WaitGroup
	room := make(chan struct{}, registryCallers)
	for _, row := range rows {
		wg.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			asked := ctx
			if row.Deleted {
				asked = sr.WithParams(ctx, sr.ShowDeleted)
			}
			var err error
			if row.Latest, err = g.cl.SchemaByVersion(asked, row.Name, -1); err != nil {
				row.Problem = err.Error()
			}
		})
	}
	wg.Wait()
}

// version is one version of a subject.
type version struct {
	sr.SubjectSchema
	Deleted  bool
	Readable string
}

// subjectDetail is what a subject's page shows.
type subjectDetail struct {
	Name         string
	Versions     []int // latest first, the deleted ones among them
	Deleted      map[int]bool
	Chosen       version
	Level, Mode  string // of its own; "" when it has none
	GlobalLevel  string
	GlobalMode   string
	ReferencedBy []sr.SubjectVersion
	OtherUses    []sr.SubjectVersion // other subjects and versions with the same id
	Problems     []string            // what could not be read, the page shows the rest
}

// versions are the numbers of a subject's versions, latest first, and which of them are deleted.
func (g registryReader) versions(ctx context.Context, subject string) ([]int, map[int]bool, error) {
	all, err := g.cl.SubjectVersions(sr.WithParams(ctx, sr.ShowDeleted), subject)
	if err != nil {
		return nil, nil, err
	}
	live, err := g.cl.SubjectVersions(ctx, subject)
	if err != nil && !isNotFound(err) {
		return nil, nil, err
	}
	deleted := map[int]bool{}
	for _, v := range all {
		if !slices.Contains(live, v) {
			deleted[v] = true
		}
	}
	slices.Sort(all)
	slices.Reverse(all)
	return all, deleted, nil
}

// version is one version of a subject, deleted or not; 0 is the latest.
func (g registryReader) version(ctx context.Context, subject string, number int) (version, error) {
	if number == 0 {
		number = -1
	}
	found, err := g.cl.SchemaByVersion(sr.WithParams(ctx, sr.ShowDeleted), subject, number)
	return version{SubjectSchema: found, Readable: readable(found.Schema.Schema)}, err
}

// detail is a subject with one of its versions; 0 is the latest.
func (g registryReader) detail(ctx context.Context, subject string, number int) (*subjectDetail, error) {
	d := &subjectDetail{Name: subject}
	var err error
	if d.Versions, d.Deleted, err = g.versions(ctx, subject); err != nil {
		return nil, err
	}
	if number == 0 {
		number = d.latest()
	}
	if d.Chosen, err = g.version(ctx, subject, number); err != nil {
		return nil, err
	}
	d.Chosen.Deleted = d.Deleted[d.Chosen.Version]
	g.around(ctx, d)
	return d, nil
}

// latest is the latest version that is not deleted, else the latest.
func (d *subjectDetail) latest() int {
	for _, v := range d.Versions {
		if !d.Deleted[v] {
			return v
		}
	}
	if len(d.Versions) > 0 {
		return d.Versions[0]
	}
	return 0
}

// around loads what is said of a subject beside its schema. What fails is told and the rest is shown.
func (g registryReader) around(ctx context.Context, d *subjectDetail) {
	note := func(what string, err error) {
		if err != nil && !isNotFound(err) {
			d.Problems = append(d.Problems, what+": "+err.Error())
		}
	}
	var err error
	d.Level, err = g.level(ctx, d.Name)
	note("its level cannot be read", err)
	d.Mode, err = g.mode(ctx, d.Name)
	note("its mode cannot be read", err)
	d.GlobalLevel, err = g.level(ctx, "")
	note("the level of all cannot be read", err)
	d.GlobalMode, err = g.mode(ctx, "")
	note("the mode of all cannot be read", err)
	uses, err := g.cl.SchemaVersionsByID(sr.WithParams(ctx, sr.Subject(d.Name)), d.Chosen.ID)
	note("where its id is used cannot be read", err)
	for _, u := range uses {
		if u.Subject != d.Name || u.Version != d.Chosen.Version {
			d.OtherUses = append(d.OtherUses, u)
		}
	}
	d.ReferencedBy, err = g.referencedBy(ctx, d.Name, d.Chosen.Version)
	note("what refers to it cannot be read", err)
}

// referencedBy is which versions refer to one.
func (g registryReader) referencedBy(ctx context.Context, subject string, number int) ([]sr.SubjectVersion, error) {
	var ids []int
	if err := g.cl.Do(ctx, http.MethodGet, fmt.Sprintf("%s/versions/%d/referencedby", subjectPath("/subjects", subject), number), nil, &ids); err != nil {
		return nil, err
	}
	var out []sr.SubjectVersion
	for _, id := range ids {
		if len(out) >= maxReferencedBy {
			break
		}
		found, err := g.cl.SchemaVersionsByID(sr.WithParams(ctx, sr.Subject(subject)), id)
		if err != nil {
			return out, err
		}
		out = append(out, found...)
	}
	slices.SortFunc(out, compareVersions)
	return slices.Compact(out), nil
}

// maxReferencedBy is how many versions that refer to one are shown.
const maxReferencedBy = 200

func compareVersions(a, b sr.SubjectVersion) int {
	if by := strings.Compare(a.Subject, b.Subject); by != 0 {
		return by
	}
	return a.Version - b.Version
}
