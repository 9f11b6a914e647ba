package projections

import (
	"encoding/hex"
	"fmt"

	"doze/journal"
)

func (c RegistryContext) encode(w *rowWriter) {
	w.string(c.Name)
	w.int(int64(c.LastID))
	w.bool(c.Listed)
}

// Fields shows the context and the last id given out in it.
func (c RegistryContext) Fields() []Field {
	return []Field{{"context", c.Name}, {"last-id", int64(c.LastID)}, {"listed", c.Listed}}
}

func eachRegistryContext(s *State, yield func(row) bool) {
	s.Registry.Contexts(func(c RegistryContext) bool { return yield(c) })
}

func loadRegistryContext(s *State, r *rowReader) {
	s.Registry.contexts.ReplaceOrInsert(RegistryContext{Name: r.string(), LastID: r.int32(), Listed: r.bool()})
}

func (s *Schema) encode(w *rowWriter) {
	w.string(s.Context)
	w.int(int64(s.ID))
	w.id(s.GUID)
	w.string(s.Type)
	w.string(s.Text)
	w.uint(uint64(len(s.References)))
	for _, ref := range s.References {
		w.string(ref.Name)
		w.string(ref.Subject)
		w.int(int64(ref.Version))
	}
	w.string(s.Metadata)
	w.string(s.RuleSet)
}

// Fields shows references as "name=subject@version".
func (s *Schema) Fields() []Field {
	refs := make([]string, len(s.References))
	for i, ref := range s.References {
		refs[i] = fmt.Sprintf("%s=%s@%d", ref.Name, ref.Subject, ref.Version)
	}
	return []Field{
		{"context", s.Context}, {"id", int64(s.ID)}, {"type", s.Type}, {"guid", hex.EncodeToString(s.GUID[:])}, {"references", refs},
		{"metadata", s.Metadata}, {"rule-set", s.RuleSet}, {"schema", s.Text},
	}
}

func eachSchema(s *State, yield func(row) bool) {
	s.Registry.schemas.Ascend(func(schema *Schema) bool { return yield(schema) })
}

func loadSchema(s *State, r *rowReader) {
	schema := &Schema{Context: r.string(), ID: r.int32(), GUID: r.id(), Type: r.string(), Text: r.string()}
	for range r.count() {
		schema.References = append(schema.References, journal.SchemaReference{Name: r.string(), Subject: r.string(), Version: r.int32()})
	}
	schema.Metadata, schema.RuleSet = r.string(), r.string()
	if r.err == nil && (schema.ID < 0 || !s.Registry.putSchema(schema)) {
		r.fail(fmt.Errorf("id %d of context %q is there", schema.ID, schema.Context))
	}
}

func (v SchemaVersion) encode(w *rowWriter) {
	w.string(v.Subject)
	w.int(int64(v.Version))
	w.int(int64(v.ID))
	w.bool(v.Deleted)
	w.int(v.At)
}

// Fields shows one version of a subject.
func (v SchemaVersion) Fields() []Field {
	return []Field{{"subject", v.Subject}, {"version", int64(v.Version)}, {"id", int64(v.ID)}, {"deleted", v.Deleted}, {"at", v.At}}
}

func eachSchemaVersion(s *State, yield func(row) bool) {
	s.Registry.FromSubject("", func(v SchemaVersion) bool { return yield(v) })
}

func loadSchemaVersion(s *State, r *rowReader) {
	v := SchemaVersion{Subject: r.string(), Version: r.int32(), ID: r.int32(), Deleted: r.bool(), At: r.int()}
	if r.err != nil {
		return
	}
	if v.Version <= 0 || s.Registry.OfVersion(v) == nil || s.Registry.putVersion(v) {
		r.fail(fmt.Errorf("version %d of subject %q cannot be id %d", v.Version, v.Subject, v.ID))
	}
}

type registryConfigRow struct{ *RegistryConfig }

func (c registryConfigRow) encode(w *rowWriter) {
	for _, text := range []string{
		c.Scope, c.Compatibility, c.Policy, c.Group, c.Alias, c.AliasForDeks, c.DefaultMetadata, c.OverrideMetadata, c.DefaultRuleSet, c.OverrideRuleSet,
	} {
		w.string(text)
	}
	for _, is := range []uint8{c.Normalize, c.ValidateFields, c.ValidateNewSchemas, c.ValidateRules} {
		w.uint(uint64(is))
	}
}

// Fields shows what is set of the config.
func (c registryConfigRow) Fields() []Field {
	return append([]Field{{"scope", c.Scope}}, c.set()...)
}

func (c registryConfigRow) set() (fields []Field) {
	for _, f := range []Field{
		{"compatibility", c.Compatibility}, {"policy", c.Policy}, {"group", c.Group}, {"alias", c.Alias}, {"alias-for-deks", c.AliasForDeks},
		{"default-metadata", c.DefaultMetadata}, {"override-metadata", c.OverrideMetadata},
		{"default-rule-set", c.DefaultRuleSet}, {"override-rule-set", c.OverrideRuleSet},
		{"normalize", switchName(c.Normalize)}, {"validate-fields", switchName(c.ValidateFields)},
		{"validate-new-schemas", switchName(c.ValidateNewSchemas)}, {"validate-rules", switchName(c.ValidateRules)},
	} {
		if f.Value != "" {
			fields = append(fields, f)
		}
	}
	return fields
}

func switchName(s uint8) string {
	switch s {
	case journal.SwitchOn:
		return "true"
	case journal.SwitchOff:
		return "false"
	}
	return ""
}

func eachRegistryConfig(s *State, yield func(row) bool) {
	s.Registry.Configs("", func(c *RegistryConfig) bool { return yield(registryConfigRow{c}) })
}

func loadRegistryConfig(s *State, r *rowReader) {
	c := &RegistryConfig{
		Scope: r.string(), Compatibility: r.string(), Policy: r.string(), Group: r.string(), Alias: r.string(), AliasForDeks: r.string(),
		DefaultMetadata: r.string(), OverrideMetadata: r.string(), DefaultRuleSet: r.string(), OverrideRuleSet: r.string(),
		Normalize: r.small(), ValidateFields: r.small(), ValidateNewSchemas: r.small(), ValidateRules: r.small(),
	}
	if r.err == nil {
		s.Registry.putConfig(c)
	}
}

func (m RegistryMode) encode(w *rowWriter) {
	w.string(m.Scope)
	w.string(m.Mode)
}

// Fields shows a scope and its mode.
func (m RegistryMode) Fields() []Field { return []Field{{"scope", m.Scope}, {"mode", m.Mode}} }

func eachRegistryMode(s *State, yield func(row) bool) {
	s.Registry.Modes("", func(m RegistryMode) bool { return yield(m) })
}

func loadRegistryMode(s *State, r *rowReader) {
	m := RegistryMode{r.string(), r.string()}
	if r.err == nil && m.Mode == "" {
		r.fail(errRowForm)
	}
	if r.err == nil {
		s.Registry.putMode(m)
	}
}
