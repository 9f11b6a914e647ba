package projections

import (
	"bytes"
	"strings"

	"doze/journal"
)

// Registry is the schema registry: versions of subjects, the schemas that they are, configs and modes.
type Registry struct {
	versions  tree[SchemaVersion]   // by subject, version
	schemas   tree[*Schema]         // by context, id
	guids     tree[schemaGUID]      // by guid, context, id
	uses      tree[schemaUse]       // by context, id, subject, version
	referrers tree[schemaReferrer]  // by subject, version, context, id
	contexts  tree[RegistryContext] // by name
	configs   tree[*RegistryConfig] // by scope
	modes     tree[RegistryMode]    // by scope
	owned     associations
	bytes     int64
	changes   uint64
}

// SchemaVersion is one version of a subject.
type SchemaVersion struct {
	Subject string // with its context
	Version int32
	ID      int32 // of its schema, in the subject's context
	Deleted bool  // hidden, but its id still resolves
	At      int64 // ms; when it was registered or hidden
}

// Schema is what an id stands for in a context: an immutable value.
type Schema struct {
	Context    string
	ID         int32
	GUID       ID // MD5 of what follows, but for the type
	Type       string
	Text       string
	References []journal.SchemaReference
	Metadata   string // JSON, empty: none
	RuleSet    string // JSON, empty: none
}

// RegistryContext is a context that was registered in.
type RegistryContext struct {
	Name   string
	LastID int32 // the highest id that was given out
	Listed bool
}

// RegistryConfig is the config of a scope.
type RegistryConfig = journal.RegistryConfigSet

// RegistryMode is the mode of a scope.
type RegistryMode struct{ Scope, Mode string }

type schemaUse struct {
	context string
	id      int32
	subject string
	version int32
}

// schemaGUID has the guid beside the schema, so that comparing two does not look at the schemas.
type schemaGUID struct {
	guid   ID
	schema *Schema
}

type schemaReferrer struct {
	subject string
	version int32
	context string
	id      int32
}

// Names of contexts. A context's name begins with a dot; the default context is the dot alone and is not written in subjects.
const (
	DefaultContext  = "."
	GlobalContext   = ".__GLOBAL" // of configs and modes only: the last that is asked
	WildcardContext = "*"
)

// SplitSubject is the context and the name of a subject: ":.context:name" or "name".
func SplitSubject(subject string) (context, name string) {
	switch {
	case strings.HasPrefix(subject, ":."):
		context, name, _ = strings.Cut(subject[1:], ":")
		return context, name
	case strings.HasPrefix(subject, ":*:"):
		return WildcardContext, subject[3:]
	}
	return DefaultContext, subject
}

// JoinSubject is the subject of that name in the context.
func JoinSubject(context, name string) string {
	if context == DefaultContext {
		return name
	}
	return ":" + context + ":" + name
}

// QualifyReference is the subject that a schema of the context means by a reference: of its own context unless it names one.
func QualifyReference(context, subject string) string {
	own, name := SplitSubject(subject)
	if own == DefaultContext {
		// The name is what was written, even ":.:name": that is a subject of the parent's context too.
		if context != DefaultContext {
			name = subject
		}
		return JoinSubject(context, name)
	}
	return JoinSubject(own, name)
}

func newRegistry() Registry {
	return Registry{
		versions: newTree(func(a, b SchemaVersion) bool {
			if c := strings.Compare(a.Subject, b.Subject); c != 0 {
				return c < 0
			}
			return a.Version < b.Version
		}),
		schemas:   newTree(schemaBefore),
		guids:     newTree(guidBefore),
		uses:      newTree(useBefore),
		referrers: newTree(referrerBefore),
		contexts:  newTree(func(a, b RegistryContext) bool { return a.Name < b.Name }),
		configs:   newTree(func(a, b *RegistryConfig) bool { return a.Scope < b.Scope }),
		modes:     newTree(func(a, b RegistryMode) bool { return a.Scope < b.Scope }),
		owned:     newAssociations(),
	}
}

// The orders of the large tables, each step of which is taken only when those before leave it open: a start compares millions.

func schemaBefore(a, b *Schema) bool {
	if a.Context != b.Context {
		return a.Context < b.Context
	}
	return a.ID < b.ID
}

func guidBefore(a, b schemaGUID) bool {
	if c := bytes.Compare(a.guid[:], b.guid[:]); c != 0 {
		return c < 0
	}
	return schemaBefore(a.schema, b.schema)
}

func useBefore(a, b schemaUse) bool {
	switch {
	case a.context != b.context:
		return a.context < b.context
	case a.id != b.id:
		return a.id < b.id
	case a.subject != b.subject:
		return a.subject < b.subject
	}
	return a.version < b.version
}

func referrerBefore(a, b schemaReferrer) bool {
	switch {
	case a.subject != b.subject:
		return a.subject < b.subject
	case a.version != b.version:
		return a.version < b.version
	case a.context != b.context:
		return a.context < b.context
	}
	return a.id < b.id
}

func (r *Registry) clone() Registry {
	c := *r
	c.versions, c.schemas, c.guids, c.uses = r.versions.clone(), r.schemas.clone(), r.guids.clone(), r.uses.clone()
	c.referrers, c.contexts, c.configs, c.modes = r.referrers.clone(), r.contexts.clone(), r.configs.clone(), r.modes.clone()
	c.owned = r.owned.clone()
	return c
}

// Changes counts the events of the registry since the state was loaded: of two states of one process that have as many the registry
// is the same. It is no part of the state.
func (r Registry) Changes() uint64 { return r.changes }

// Versions counts the versions of all subjects, hidden ones too.
func (r Registry) Versions() int { return r.versions.Len() }

// Version is that version of the subject, hidden or not.
func (r Registry) Version(subject string, version int32) (SchemaVersion, bool) {
	return r.versions.Get(SchemaVersion{Subject: subject, Version: version})
}

// OfSubject yields the subject's versions in order, hidden ones too.
func (r Registry) OfSubject(subject string, yield func(SchemaVersion) bool) {
	r.versions.AscendGreaterOrEqual(SchemaVersion{Subject: subject}, func(v SchemaVersion) bool {
		return v.Subject == subject && yield(v)
	})
}

// Latest is the subject's newest version that is not hidden.
func (r Registry) Latest(subject string) (latest SchemaVersion, found bool) {
	r.versions.t.DescendLessOrEqual(SchemaVersion{Subject: subject, Version: 1<<31 - 1}, func(v SchemaVersion) bool {
		if v.Subject == subject && !v.Deleted {
			latest, found = v, true
		}
		return v.Subject == subject && v.Deleted
	})
	return latest, found
}

// FromSubject yields all versions from the subject on, in order of subject and version.
func (r Registry) FromSubject(subject string, yield func(SchemaVersion) bool) {
	r.versions.AscendGreaterOrEqual(SchemaVersion{Subject: subject}, func(v SchemaVersion) bool { return yield(v) })
}

// Schema is what the id stands for in the context, or nil.
func (r Registry) Schema(context string, id int32) *Schema {
	s, _ := r.schemas.Get(&Schema{Context: context, ID: id})
	return s
}

// OfVersion is the schema of a version that is there.
func (r Registry) OfVersion(v SchemaVersion) *Schema {
	context, _ := SplitSubject(v.Subject)
	return r.Schema(context, v.ID)
}

// WithGUID is the schema with the guid in the context, that with the highest id if there are more, or nil.
func (r Registry) WithGUID(context string, guid ID) (found *Schema) {
	last := schemaGUID{guid, &Schema{Context: context, ID: 1<<31 - 1}}
	r.guids.t.DescendLessOrEqual(last, func(k schemaGUID) bool {
		if k.schema.Context == context && k.guid == guid {
			found = k.schema
		}
		return false
	})
	return found
}

// UsesOf yields the versions that are the schema, by subject and version, hidden ones too.
func (r Registry) UsesOf(context string, id int32, yield func(SchemaVersion) bool) {
	r.uses.AscendGreaterOrEqual(schemaUse{context: context, id: id}, func(u schemaUse) bool {
		if u.context != context || u.id != id {
			return false
		}
		v, _ := r.Version(u.subject, u.version)
		return yield(v)
	})
}

// ReferrersOf yields the schemas that refer to the version of the subject.
func (r Registry) ReferrersOf(subject string, version int32, yield func(context string, id int32) bool) {
	r.referrers.AscendGreaterOrEqual(schemaReferrer{subject: subject, version: version}, func(f schemaReferrer) bool {
		return f.subject == subject && f.version == version && yield(f.context, f.id)
	})
}

// Context is what is known of the context of that name.
func (r Registry) Context(name string) (RegistryContext, bool) {
	return r.contexts.Get(RegistryContext{Name: name})
}

// Contexts yields the contexts that were registered in, the default one too, by name.
func (r Registry) Contexts(yield func(RegistryContext) bool) {
	r.contexts.Ascend(func(c RegistryContext) bool { return yield(c) })
}

// Config is the scope's own config, or nil. It is not to be changed.
func (r Registry) Config(scope string) *RegistryConfig {
	c, _ := r.configs.Get(&RegistryConfig{Scope: scope})
	return c
}

// Configs yields every scope's config from the scope on.
func (r Registry) Configs(from string, yield func(*RegistryConfig) bool) {
	r.configs.AscendGreaterOrEqual(&RegistryConfig{Scope: from}, func(c *RegistryConfig) bool { return yield(c) })
}

// Mode is the scope's own mode; empty: none.
func (r Registry) Mode(scope string) string {
	m, _ := r.modes.Get(RegistryMode{Scope: scope})
	return m.Mode
}

// Modes yields every scope's mode from the scope on.
func (r Registry) Modes(from string, yield func(RegistryMode) bool) {
	r.modes.AscendGreaterOrEqual(RegistryMode{Scope: from}, func(m RegistryMode) bool { return yield(m) })
}
