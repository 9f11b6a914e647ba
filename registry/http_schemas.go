package registry

import (
	"net/http"
	"slices"
	"strconv"

	"doze/projections"
)

func (r *Registry) getTypes(*request) (any, error) { return []string{JSON, Protobuf, Avro}, nil }

func (r *Registry) getSchemas(q *request) (any, error) {
	deleted, latestOnly, ruleType := q.flag("deleted"), q.flag("latestOnly"), q.query.Get("ruleType")
	matches := matcher(q.query.Get("subjectPrefix"))
	v := view{r.view()}
	aliases := map[string][]string{}
	if q.flag("aliases") {
		aliases = v.aliases(matches)
	}
	var found []projections.SchemaVersion
	v.Registry.FromSubject("", func(s projections.SchemaVersion) bool {
		if s.Deleted && !deleted || !matches(s.Subject) && aliases[s.Subject] == nil {
			return true
		}
		if last := len(found) - 1; latestOnly && last >= 0 && found[last].Subject == s.Subject {
			found[last] = s
		} else {
			found = append(found, s)
		}
		return true
	})
	if ruleType != "" {
		kept := found[:0]
		for _, s := range found {
			if unstored[ruleSet](v.Registry.OfVersion(s).RuleSet).hasType(ruleType) {
				kept = append(kept, s)
			}
		}
		found = kept
	}
	associations, err := q.associated(v, &found)
	if err != nil {
		return nil, err
	}
	found, err = page(q, found, maxSchemas)
	if err != nil {
		return nil, err
	}
	answers := make([]*schemaAnswer, len(found))
	for i, s := range found {
		answers[i] = answerOf(v.State, s)
		answers[i].Aliases, answers[i].Associations = aliases[s.Subject], associations[s.Subject]
	}
	return answers, nil
}

// associated leaves the versions whose subject has associations of the kind that the query asks for, if it asks, and gives those
// by subject. The lifecycle NONE asks for subjects without any.
func (q *request) associated(v view, found *[]projections.SchemaVersion) (map[string][]associationView, error) {
	f := associationFilter{resourceType: q.query.Get("resourceType"), of: q.query["associationType"]}
	lifecycles := q.query["lifecycle"]
	for _, l := range lifecycles {
		if l != lifecycleStrong && l != lifecycleWeak && l != "NONE" {
			return nil, plain(http.StatusNotFound)
		}
	}
	if !q.query.Has("resourceType") && len(f.of) == 0 && len(lifecycles) == 0 {
		return nil, nil
	}
	of := map[string][]associationView{}
	*found = slices.DeleteFunc(*found, func(s projections.SchemaVersion) bool {
		with := f.pick(func(yield func(*projections.Association) bool) { v.Registry.AssociationsWith(s.Subject, yield) })
		if len(with) == 0 {
			return !slices.Contains(lifecycles, "NONE")
		}
		var views []associationView
		for _, a := range with {
			if len(lifecycles) == 0 || slices.Contains(lifecycles, lifecycleOf(a)) {
				views = append(views, viewOf(a))
			}
		}
		of[s.Subject] = views
		return len(views) == 0
	})
	return of, nil
}

// aliases are the subjects that stand for others, by what they stand for.
func (v view) aliases(matches func(string) bool) map[string][]string {
	of := map[string][]string{}
	v.Registry.Configs("", func(c *projections.RegistryConfig) bool {
		if c.Alias != "" && matches(c.Scope) {
			context, _ := projections.SplitSubject(c.Scope)
			subject := projections.QualifyReference(context, c.Alias)
			of[subject] = append(of[subject], c.Scope)
		}
		return true
	})
	return of
}

// byID is a version that has the id of a path: of the subject of the query, else of any in its context.
func (r *Registry) byID(q *request) (view, projections.SchemaVersion, error) {
	v := view{r.view()}
	n, err := strconv.ParseInt(q.args[0], 10, 32)
	if err != nil {
		return v, projections.SchemaVersion{}, plain(http.StatusNotFound)
	}
	subject := normalizeSubject(q.query.Get("subject"))
	found, ok := v.useOf(int32(n), subject)
	if context, name := projections.SplitSubject(subject); !ok && name != "" && context == projections.DefaultContext {
		v.inContexts(subject, func(in string) bool {
			found, ok = v.useOf(int32(n), in)
			return ok
		})
		if !ok {
			found, ok = v.useOf(int32(n), "")
		}
	}
	if !ok {
		return v, found, fail(40403, "Schema %d not found", n)
	}
	return v, found, nil
}

// useOf is the subject's version with the id, or when there is no name a version of the context's, one that is not hidden before.
func (v view) useOf(id int32, subject string) (found projections.SchemaVersion, ok bool) {
	context, name := projections.SplitSubject(subject)
	for _, use := range v.usesBySubject(context, id) {
		if name != "" && use.Subject != subject {
			continue
		}
		if !ok || found.Deleted && !use.Deleted {
			found, ok = use, true
		}
	}
	return found, ok
}

func (r *Registry) getByID(q *request) (any, error) {
	v, found, err := r.byID(q)
	if err != nil {
		return nil, err
	}
	a := answerOf(v.State, found)
	a.ID = nil
	q.qualifyReferences(a, found.Subject)
	if q.flag("fetchMaxId") {
		context, _ := projections.SplitSubject(found.Subject)
		c, _ := v.Registry.Context(context)
		a.MaxID = &c.LastID
	}
	if err := q.findTags(v, a, found); err != nil {
		return nil, err
	}
	return q.formatted(v, a, found)
}

func (r *Registry) getTextByID(q *request) (any, error) {
	v, found, err := r.byID(q)
	if err != nil {
		return nil, err
	}
	a, err := q.formatted(v, answerOf(v.State, found), found)
	if err != nil {
		return nil, err
	}
	return text(a.Schema), nil
}

// usesByID are the versions with the id of a path.
func (r *Registry) usesByID(q *request) ([]projections.SchemaVersion, error) {
	v, found, err := r.byID(q)
	if err != nil {
		return nil, schemaNotFoundUnless(err)
	}
	context, _ := projections.SplitSubject(found.Subject)
	var uses []projections.SchemaVersion
	for _, use := range v.usesBySubject(context, found.ID) {
		if !use.Deleted || q.flag("deleted") {
			uses = append(uses, use)
		}
	}
	return uses, nil
}

func schemaNotFoundUnless(err error) error {
	if e, is := err.(*Error); is && e.Code == 40403 {
		return schemaNotFound()
	}
	return err
}

func (r *Registry) getSubjectsByID(q *request) (any, error) {
	uses, err := r.usesByID(q)
	if err != nil {
		return nil, err
	}
	subjects := make([]string, len(uses))
	for i, use := range uses {
		subjects[i] = use.Subject
	}
	return page(q, subjects, 0)
}

type subjectVersion struct {
	Subject string `json:"subject"`
	Version int32  `json:"version"`
}

func (r *Registry) getVersionsByID(q *request) (any, error) {
	uses, err := r.usesByID(q)
	if err != nil {
		return nil, err
	}
	versions := make([]subjectVersion, len(uses))
	for i, use := range uses {
		versions[i] = subjectVersion{use.Subject, use.Version}
	}
	return page(q, versions, 0)
}

func (r *Registry) getByGUID(q *request) (any, error) {
	v := view{r.view()}
	guid, ok := parseUUID(q.args[0])
	if ok {
		for _, context := range append([]string{projections.DefaultContext}, v.contexts()...) {
			s := v.Registry.WithGUID(context, guid)
			if s == nil {
				continue
			}
			found, _ := v.useOf(s.ID, projections.JoinSubject(context, ""))
			a := answerOf(v.State, found)
			a.Subject, a.Version, a.ID = "", 0, nil
			return q.formatted(v, a, found)
		}
	}
	return nil, fail(40403, "Schema %s not found", q.args[0])
}

func (r *Registry) getIDsByGUID(q *request) (any, error) {
	v := view{r.view()}
	ids := []schemaID{}
	if guid, ok := parseUUID(q.args[0]); ok {
		for _, context := range append([]string{projections.DefaultContext}, v.contexts()...) {
			if s := v.Registry.WithGUID(context, guid); s != nil {
				ids = append(ids, schemaID{context, s.ID})
			}
		}
	}
	return ids, nil
}
