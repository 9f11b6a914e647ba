package registry

import (
	"context"
	"slices"

	"doze/journal"
	"doze/projections"
)

// submitted is a schema that a client sent for a subject.
type submitted struct {
	content
	subject string
	version int32 // 0: not said, -1: the newest
	id      int32 // -1: not said
	// keepsTags: the tags of the previous version stay on what is still there.
	keepsTags bool
}

func submit(subject string, req *schemaRequest) (*submitted, error) {
	s := &submitted{subject: subject, id: -1, keepsTags: req.PropagateTags, content: content{Type: Avro, Metadata: req.Metadata, RuleSet: req.RuleSet}}
	if req.Schema != nil {
		s.Text = *req.Schema
	}
	if req.SchemaType != nil && *req.SchemaType != "" {
		s.Type = *req.SchemaType
	}
	if req.Version != nil {
		s.version = *req.Version
	}
	if req.ID != nil {
		s.id = *req.ID
	}
	for _, ref := range req.References {
		if ref.Name == "" || ref.Subject == "" || ref.Version == nil {
			return nil, invalidSchema("Invalid reference: {name='%s', subject='%s'}: a reference has a name, a subject and a version", ref.Name, ref.Subject)
		}
		s.References = append(s.References, journal.SchemaReference{Name: ref.Name, Subject: ref.Subject, Version: *ref.Version})
	}
	return s, nil
}

// canonicalize parses the schema and makes its content what would be stored. Without a text there is no model.
func (v view) canonicalize(ctx context.Context, config *projections.RegistryConfig, s *submitted, strict, normalize bool) (model, error) {
	if blank(s.Text) {
		return nil, nil
	}
	own, _ := projections.SplitSubject(s.subject)
	refs, fixed, err := v.resolve(own, s.References, strict)
	if err != nil {
		return nil, invalid(s.Type, err)
	}
	m, err := parse(s.Type, s.Text, refs, strict)
	if err != nil {
		return nil, err
	}
	if !imports(v.modeInScope(s.subject)) {
		if err := m.validate(ctx, validatesFields(config)); err != nil {
			return nil, invalidSchema("Invalid schema {subject=%s,schemaType=%s}, details: %v", s.subject, s.Type, err)
		}
	}
	s.References, s.Text = fixed, m.canonical()
	if normalize {
		s.References = sortedReferences(fixed)
		if s.Text, err = m.normalized(); err != nil {
			return nil, invalidSchema("Invalid schema {subject=%s,schemaType=%s}, details: %v", s.subject, s.Type, err)
		}
	}
	return m, nil
}

func blank(s string) bool {
	for i := range len(s) {
		if s[i] > ' ' {
			return false
		}
	}
	return true
}

func sortedReferences(refs []journal.SchemaReference) []journal.SchemaReference {
	refs = slices.Clone(refs)
	slices.SortStableFunc(refs, func(a, b journal.SchemaReference) int {
		return compareReferences(a, b)
	})
	return slices.Compact(refs)
}

// lookUp is the version of the subject that the schema is, if it is one.
func (v view) lookUp(ctx context.Context, config *projections.RegistryConfig, s submitted, normalize, deleted, newest bool) (projections.SchemaVersion, bool, error) {
	m, err := v.canonicalize(ctx, config, &s, false, normalize)
	if err != nil || m == nil {
		return projections.SchemaVersion{}, false, err
	}
	context, _ := projections.SplitSubject(s.subject)
	if same := v.same(context, &s.content); same != nil && !newest {
		for _, use := range v.usesBySubject(context, same.ID) {
			if use.Subject == s.subject && (deleted || !use.Deleted) {
				return use, true, nil
			}
		}
	}
	if newest {
		last, found := v.Registry.Latest(s.subject)
		return last, found && v.equivalent(&s, m, last), nil
	}
	versions := v.versions(s.subject)
	for i := len(versions) - 1; i >= 0; i-- {
		if (deleted || !versions[i].Deleted) && v.equivalent(&s, m, versions[i]) {
			return versions[i], true, nil
		}
	}
	return projections.SchemaVersion{}, false, nil
}

// same is the schema of the context with that content, or nil.
func (v view) same(context string, c *content) *projections.Schema {
	if s := v.Registry.WithGUID(context, c.guid()); s != nil && s.Type == c.Type && s.Text == c.Text {
		return s
	}
	return nil
}

// equivalent says whether a stored version is what was sent: but for references that were sent put in, versions of references
// that were left open, and the version that the registry itself notes in metadata.
func (v view) equivalent(s *submitted, m model, version projections.SchemaVersion) bool {
	old := contentOf(v.Registry.OfVersion(version))
	if old.Type != s.Type || stored(old.RuleSet) != stored(s.RuleSet) || !sameMetadata(s.Metadata, old.Metadata, version.Version) {
		return false
	}
	if slices.Equal(old.References, s.References) {
		return old.Text == s.Text
	}
	if own, is := m.(avroModel); is && len(s.References) == 0 {
		theirs, err := v.load(version)
		return err == nil && own.Resolved() == theirs.(avroModel).Resolved()
	}
	return false
}

// sameMetadata compares but for the version that one of the two notes.
func sameMetadata(sent, old *metadata, version int32) bool {
	noted, kept := sent.version(), old.version()
	switch {
	case noted == "" && kept != "":
		return stored(orEmpty(sent)) == stored(old.withVersion(""))
	case noted != "" && kept == "":
		return noted == formatVersion(version) && stored(sent.withVersion("")) == stored(orEmpty(old))
	}
	return stored(sent) == stored(old)
}

func orEmpty(m *metadata) *metadata {
	if m == nil {
		return &metadata{}
	}
	return m
}

// find is lookUp, and once more with the metadata and rules that a registration would inherit.
func (v view) find(ctx context.Context, s submitted, normalize, deleted bool) (projections.SchemaVersion, bool, error) {
	config := v.configInScope(s.subject)
	found, ok, err := v.lookUp(ctx, config, s, normalize, deleted, false)
	if ok || err != nil {
		return found, ok, err
	}
	last, has := v.Registry.Latest(s.subject)
	if !has {
		return found, false, nil
	}
	heir := s
	if !v.inherit(config, &heir, contentOf(v.Registry.OfVersion(last)), 0) {
		return found, false, nil
	}
	return v.lookUp(ctx, config, heir, normalize, deleted, false)
}
