package registry

import (
	"slices"
	"strconv"
	"strings"

	"doze/projections"
)

func (r *Registry) getRoot(*request) (any, error) { return struct{}{}, nil }

// versionOf reads a version of a path: a number, or latest.
func versionOf(text string) (int32, error) {
	trimmed := strings.TrimSpace(text)
	if strings.EqualFold(trimmed, "latest") {
		return latest, nil
	}
	n, err := strconv.ParseInt(trimmed, 10, 32)
	if err != nil || n <= 0 && n != latest {
		return 0, invalidVersion(text)
	}
	return int32(n), nil
}

// formatted puts the schema of the answer in the format that the query asks for.
func (q *request) formatted(v view, a *schemaAnswer, version projections.SchemaVersion) (*schemaAnswer, error) {
	name := q.query.Get("format")
	if blank(name) && q.descriptor {
		name = "serialized"
	}
	if blank(name) {
		return a, nil
	}
	m, err := v.load(version)
	if err != nil {
		return nil, err
	}
	if a.Schema, err = m.format(q.ctx, name); err != nil {
		return nil, invalidSchema("Invalid schema of type %s, details: %v", a.SchemaType, err)
	}
	return a, nil
}

// matcher says which subjects a prefix is of; ":*:" is any context.
func matcher(prefix string) func(subject string) bool {
	context, name := projections.SplitSubject(prefix)
	open := strings.HasPrefix(prefix, ":.") && !strings.Contains(prefix[1:], ":") // the beginning of a context
	return func(subject string) bool {
		own, rest := projections.SplitSubject(subject)
		switch {
		case open:
			return strings.HasPrefix(own, context)
		case context != projections.WildcardContext && own != context:
			return false
		}
		return strings.HasPrefix(rest, name)
	}
}

func (r *Registry) getSubjects(q *request) (any, error) {
	prefix := ":*:"
	if q.query.Has("subjectPrefix") {
		prefix = q.query.Get("subjectPrefix")
	}
	deletedOnly, deleted := q.flag("deletedOnly"), q.flag("deleted")
	matches := matcher(prefix)
	var subjects []string
	live := map[string]bool{}
	view{r.view()}.Registry.FromSubject("", func(s projections.SchemaVersion) bool {
		if matches(s.Subject) {
			if last := len(subjects) - 1; last < 0 || subjects[last] != s.Subject {
				subjects = append(subjects, s.Subject)
			}
			live[s.Subject] = live[s.Subject] || !s.Deleted
		}
		return true
	})
	subjects = slices.DeleteFunc(subjects, func(s string) bool {
		return deletedOnly && live[s] || !deletedOnly && !deleted && !live[s]
	})
	return page(q, subjects, 0)
}

func (r *Registry) postLookup(q *request) (any, error) {
	var body schemaRequest
	if err := q.decode(&body); err != nil {
		return nil, err
	}
	q.descriptor = body.isDescriptor()
	subject, deleted := normalizeSubject(q.args[0]), q.flag("deleted")
	v := view{r.view()}
	normalize := q.flag("normalize") || isOn(v.configInScope(subject).Normalize)
	var found projections.SchemaVersion
	var ok bool
	var first error
	v.inContexts(subject, func(in string) bool {
		s, err := submit(in, &body)
		if err == nil {
			found, ok, err = v.find(q.ctx, *s, normalize, deleted)
		}
		if in == subject {
			first = err // of other contexts an error means that it is not there
		}
		return ok || first != nil
	})
	switch {
	case first != nil:
		return nil, first
	case !ok && !v.has(subject, deleted):
		return nil, subjectNotFound(subject)
	case !ok:
		return nil, schemaNotFound()
	}
	return q.formatted(v, answerOf(v.State, found), found)
}

func (r *Registry) delSubject(q *request) (any, error) {
	return r.deleteSubject(q.ctx, q.cause(), normalizeSubject(q.args[0]), q.flag("permanent"))
}

func (r *Registry) getWithMetadata(q *request) (any, error) {
	subject, deleted := normalizeSubject(q.args[0]), q.flag("deleted")
	keys, values := q.query["key"], q.query["value"]
	v := view{r.view()}
	versions := v.versions(subject)
	for i := len(versions) - 1; i >= 0; i-- {
		if versions[i].Deleted && !deleted {
			continue
		}
		m := unstored[metadata](v.Registry.OfVersion(versions[i]).Metadata)
		if m == nil || m.Properties == nil || !hasPairs(m.Properties, keys, values) {
			continue
		}
		return q.formatted(v, answerOf(v.State, versions[i]), versions[i])
	}
	if !v.has(subject, deleted) {
		return nil, subjectNotFound(subject)
	}
	return nil, schemaNotFound()
}

func hasPairs(properties map[string]string, keys, values []string) bool {
	wanted := map[string]string{}
	for i := range min(len(keys), len(values)) {
		wanted[keys[i]] = values[i]
	}
	for key, value := range wanted {
		if got, has := properties[key]; !has || got != value {
			return false
		}
	}
	return true
}

func (r *Registry) getVersions(q *request) (any, error) {
	subject := normalizeSubject(q.args[0])
	deleted, deletedOnly, negative := q.flag("deleted"), q.flag("deletedOnly"), q.flag("deletedAsNegative")
	v := view{r.view()}
	if !v.has(subject, deleted || deletedOnly) {
		return nil, subjectNotFound(subject)
	}
	numbers := []int32{}
	for _, s := range v.versions(subject) {
		switch {
		case negative && s.Deleted:
			numbers = append(numbers, -s.Version)
		case negative, deletedOnly && s.Deleted, !deletedOnly && (deleted || !s.Deleted):
			numbers = append(numbers, s.Version)
		}
	}
	return page(q, numbers, 0)
}

func (r *Registry) postVersion(q *request) (any, error) {
	var body schemaRequest
	if err := q.decode(&body); err != nil {
		return nil, err
	}
	q.descriptor = body.isDescriptor()
	if err := body.RuleSet.check(); err != nil {
		return nil, err
	}
	if !validSubject(q.args[0], false) {
		return nil, invalidSubject(q.args[0])
	}
	s, err := submitTagged(normalizeSubject(q.args[0]), &body, view{r.view()})
	if err != nil {
		return nil, err
	}
	a, err := r.register(q.ctx, q.cause(), *s, q.flag("normalize"), q.flag("force"))
	if err != nil {
		return nil, err
	}
	return q.registered(view{r.view()}, s.subject, a)
}

// registered is the answer to a registration.
func (q *request) registered(v view, subject string, a *schemaAnswer) (any, error) {
	if found, ok := v.get(subject, a.Version, true); ok {
		var err error
		if a, err = q.formatted(v, a, found); err != nil {
			return nil, err
		}
	}
	a.Subject, a.At, a.Deleted = "", 0, nil
	return a, nil
}

// byVersion is the version of a path, tried in every context, or the error that it is not there.
func (r *Registry) byVersion(q *request, deleted bool) (view, projections.SchemaVersion, error) {
	subject := normalizeSubject(q.args[0])
	v := view{r.view()}
	number, err := versionOf(q.args[1])
	if err != nil {
		return v, projections.SchemaVersion{}, err
	}
	var found projections.SchemaVersion
	var ok bool
	v.inContexts(subject, func(in string) bool {
		found, ok = v.get(in, number, deleted)
		return ok
	})
	switch {
	case ok:
		return v, found, nil
	case !v.has(subject, deleted):
		return v, found, subjectNotFound(subject)
	}
	return v, found, versionNotFound(number)
}

func (r *Registry) getVersion(q *request) (any, error) {
	v, found, err := r.byVersion(q, q.flag("deleted"))
	if err != nil {
		return nil, err
	}
	a := answerOf(v.State, found)
	q.qualifyReferences(a, found.Subject)
	if err := q.findTags(v, a, found); err != nil {
		return nil, err
	}
	return q.formatted(v, a, found)
}

// qualifyReferences names the contexts of references when the query asks for that.
func (q *request) qualifyReferences(a *schemaAnswer, subject string) {
	context, _ := projections.SplitSubject(subject)
	if q.query.Get("referenceFormat") != "qualified" || context == projections.DefaultContext {
		return
	}
	for i := range a.References {
		a.References[i].Subject = projections.QualifyReference(context, a.References[i].Subject)
	}
}

func (r *Registry) getVersionText(q *request) (any, error) {
	v, found, err := r.byVersion(q, q.flag("deleted"))
	if err != nil {
		return nil, err
	}
	a, err := q.formatted(v, answerOf(v.State, found), found)
	if err != nil {
		return nil, err
	}
	return text(a.Schema), nil
}

func (r *Registry) getReferencedBy(q *request) (any, error) {
	v, found, err := r.byVersion(q, true)
	if err != nil {
		return nil, err
	}
	ids := []int32{}
	for _, id := range v.referrers(found.Subject, found.Version, q.flag("deleted")) {
		ids = append(ids, id.ID)
	}
	return page(q, ids, maxSchemas)
}

func (r *Registry) delVersion(q *request) (any, error) {
	number, err := versionOf(q.args[1])
	if err != nil {
		return nil, err
	}
	return r.deleteVersion(q.ctx, q.cause(), normalizeSubject(q.args[0]), number, q.flag("permanent"))
}
