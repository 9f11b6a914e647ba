package registry

import (
	"slices"
	"strings"

	"doze/projections"
	"doze/registry/tagged"
)

// Types of entities.
const (
	recordEntity = "sr_record"
	fieldEntity  = "sr_field"
)

func (e entity) path() string { return strings.TrimPrefix(e.Path, ".") }

func (e entity) check() error {
	if e.Path == "" || e.Type != recordEntity && e.Type != fieldEntity {
		return invalidSchema("An entity has an entityPath and the entityType %s or %s", recordEntity, fieldEntity)
	}
	return nil
}

// retag adds tags to entities of the model and takes others away. Every entity that is named must be there.
func retag(m model, add, remove []entityTags) error {
	entities, err := m.entities()
	if err != nil {
		return invalidSchema("%v", err)
	}
	more, err := byEntity(add)
	if err != nil {
		return err
	}
	less, err := byEntity(remove)
	if err != nil {
		return err
	}
	for _, asked := range slices.Concat(add, remove) {
		if !changeTags(entities, asked.Entity, more, less) {
			return invalidSchema("No matching path '%s' found in the schema", asked.Entity.Path)
		}
	}
	return nil
}

// changeTags changes the tags of the first entity of the path.
func changeTags(entities []tagged.Entity, asked entity, more, less map[entity][]string) bool {
	for i := range entities {
		e := &entities[i]
		if e.Set == nil || !e.Is(asked.path(), asked.Type == fieldEntity) {
			continue
		}
		key := entity{asked.path(), asked.Type}
		e.Tags = tagged.Changed(e.Tags, more[key], less[key])
		e.Set(e.Tags)
		return true
	}
	return false
}

func byEntity(list []entityTags) (map[entity][]string, error) {
	by := map[entity][]string{}
	for _, t := range list {
		if err := t.Entity.check(); err != nil {
			return nil, err
		}
		key := entity{t.Entity.path(), t.Entity.Type}
		by[key] = append(by[key], t.Tags...)
	}
	return by, nil
}

// parseSubmitted parses what was sent, as it was sent.
func (v view) parseSubmitted(s *submitted) (model, error) {
	own, _ := projections.SplitSubject(s.subject)
	refs, _, err := v.resolve(own, s.References, false)
	if err != nil {
		return nil, invalid(s.Type, err)
	}
	return parse(s.Type, s.Text, refs, false)
}

// submitTagged is submit, with the tags that the request adds to the schema or takes from it.
func submitTagged(subject string, req *schemaRequest, v view) (*submitted, error) {
	s, err := submit(subject, req)
	if err != nil || len(req.TagsToAdd)+len(req.TagsToRemove) == 0 {
		return s, err
	}
	m, err := v.parseSubmitted(s)
	if err != nil {
		return nil, err
	}
	if err := retag(m, req.TagsToAdd, req.TagsToRemove); err != nil {
		return nil, err
	}
	s.Text = m.canonical()
	if s.version == 0 {
		s.version = latest // so that its version is noted in metadata
	}
	return s, nil
}

// keepTags puts the tags of the previous version on what is still there.
func (v view) keepTags(s *submitted, previous projections.SchemaVersion) error {
	old, err := v.load(previous)
	if err != nil {
		return err
	}
	had, err := old.entities()
	if err != nil {
		return invalidSchema("%v", err)
	}
	m, err := v.parseSubmitted(s)
	if err != nil {
		return err
	}
	has, err := m.entities()
	if err != nil {
		return invalidSchema("%v", err)
	}
	changed := false
	for i := range has {
		e := &has[i]
		at := slices.IndexFunc(had, func(o tagged.Entity) bool { return len(o.Tags) > 0 && o.Is(e.Path, e.Field) })
		if e.Set == nil || at < 0 {
			continue
		}
		changed = true
		e.Set(tagged.Changed(e.Tags, had[at].Tags, nil))
	}
	if changed {
		s.Text = m.canonical()
	}
	return nil
}

// findTags puts the entities that have one of the tags of the query into the answer; the tag * is any.
func (q *request) findTags(v view, a *schemaAnswer, version projections.SchemaVersion) error {
	wanted := q.query["findTags"]
	if len(wanted) == 0 {
		return nil
	}
	m, err := v.load(version)
	if err != nil {
		return err
	}
	entities, err := m.entities()
	if err != nil {
		return invalidSchema("%v", err)
	}
	any := slices.Contains(wanted, "*")
	for _, e := range entities {
		if len(e.Tags) == 0 || !any && !slices.ContainsFunc(e.Tags, func(tag string) bool { return slices.Contains(wanted, tag) }) {
			continue
		}
		is := recordEntity
		if e.Field {
			is = fieldEntity
		}
		a.SchemaTags = append(a.SchemaTags, entityTags{entity{e.Path, is}, tagged.Changed(e.Tags, nil, nil)})
	}
	return nil
}

// tagRequest is the body that makes a version of another with other tags, metadata and rules.
type tagRequest struct {
	NewVersion    *int32       `json:"newVersion"`
	TagsToAdd     []entityTags `json:"tagsToAdd"`
	TagsToRemove  []entityTags `json:"tagsToRemove"`
	Metadata      *metadata    `json:"metadata"`
	RuleSet       *ruleSet     `json:"ruleSet"`
	RulesToMerge  *ruleSet     `json:"rulesToMerge"`
	RulesToRemove []string     `json:"rulesToRemove"`
}

func (t *tagRequest) check() error {
	if t.RuleSet != nil && (t.RulesToMerge != nil || t.RulesToRemove != nil) {
		return fail(42210, "ruleSet and rulesToMerge or rulesToRemove exclude each other")
	}
	if err := t.RulesToMerge.check(); err != nil {
		return err
	}
	return t.RuleSet.check()
}

func (t *tagRequest) newVersion() int32 {
	if t.NewVersion == nil {
		return 0
	}
	return *t.NewVersion
}

// rules are those that were sent, or those of the version before with the changes that were sent.
func (t *tagRequest) rules(v view, subject string) *ruleSet {
	if t.RulesToMerge == nil && t.RulesToRemove == nil {
		return t.RuleSet
	}
	before := int32(latest)
	if t.NewVersion != nil {
		before = *t.NewVersion - 1
	}
	var rules *ruleSet
	if old, has := v.get(subject, before, false); has {
		rules = unstored[ruleSet](v.Registry.OfVersion(old).RuleSet)
	}
	if rules = mergeRuleSets(rules, t.RulesToMerge); rules == nil {
		return nil
	}
	kept := *rules
	for _, list := range []*[]rule{&kept.MigrationRules, &kept.DomainRules, &kept.EncodingRules} {
		*list = slices.DeleteFunc(slices.Clone(*list), func(r rule) bool { return slices.Contains(t.RulesToRemove, r.Name) })
	}
	return &kept
}

func (r *Registry) postTags(q *request) (any, error) {
	var body tagRequest
	if err := q.decode(&body); err != nil {
		return nil, err
	}
	if !validSubject(q.args[0], false) {
		return nil, invalidSubject(q.args[0])
	}
	v, found, err := r.byVersion(q, false)
	if err != nil {
		return nil, err
	}
	if err := body.check(); err != nil {
		return nil, err
	}
	s, err := v.submitRetagged(found, &body)
	if err != nil {
		return nil, err
	}
	a, err := r.register(q.ctx, q.cause(), *s, false, false)
	if err != nil {
		return nil, err
	}
	return q.registered(view{r.view()}, s.subject, a)
}

// submitRetagged is the version as it would be sent with what the request changes.
func (v view) submitRetagged(version projections.SchemaVersion, t *tagRequest) (*submitted, error) {
	m, err := v.load(version)
	if err != nil {
		return nil, err
	}
	if err := retag(m, t.TagsToAdd, t.TagsToRemove); err != nil {
		return nil, err
	}
	s := &submitted{subject: version.Subject, id: -1, version: t.newVersion(), content: *contentOf(v.Registry.OfVersion(version))}
	s.Text = m.canonical()
	if t.Metadata != nil {
		s.Metadata = t.Metadata
	}
	s.Metadata = s.Metadata.withVersion(formatVersion(t.newVersion()))
	s.RuleSet = t.rules(v, version.Subject)
	return s, nil
}
