package projections

import (
	"fmt"
	"slices"

	"doze/journal"
)

// applyOfRegistry folds the events of the schema registry; known is false for any other.
func (s *State) applyOfRegistry(at int64, event journal.Event) (known bool, err error) {
	known, err = s.Registry.apply(at, event)
	if known {
		s.Registry.changes++
	}
	return known, err
}

func (r *Registry) apply(at int64, event journal.Event) (known bool, err error) {
	switch e := event.(type) {
	case *journal.SchemaRegistered:
		return true, r.applyRegistered(at, e)
	case *journal.SchemaVersionsDeleted:
		return true, r.applyVersionsDeleted(at, e)
	case *journal.RegistryConfigSet:
		r.putConfig(e)
	case *journal.RegistryConfigDeleted:
		return true, r.deleteConfig(e.Scope)
	case *journal.RegistryModeSet:
		return true, r.applyModeSet(e)
	case *journal.RegistryModeDeleted:
		return true, r.deleteMode(e.Scope)
	case *journal.RegistryContextDeleted:
		return true, r.applyContextDeleted(e)
	case *journal.AssociationSet:
		return true, r.applyAssociationSet(at, e)
	case *journal.AssociationDeleted:
		return true, r.deleteAssociation(associationKey{e.ResourceID, e.ResourceType, e.Of})
	default:
		return false, nil
	}
	return true, nil
}

func (r *Registry) applyRegistered(at int64, e *journal.SchemaRegistered) error {
	context, name := SplitSubject(e.Subject)
	if e.Version <= 0 || e.ID < 0 || JoinSubject(context, name) != e.Subject {
		return fmt.Errorf("subject %q cannot have version %d with id %d", e.Subject, e.Version, e.ID)
	}
	schema := &Schema{
		Context: context, ID: e.ID, GUID: e.GUID, Type: e.Type, Text: e.Schema, References: slices.Clip(e.References), Metadata: e.Metadata, RuleSet: e.RuleSet,
	}
	if known := r.Schema(context, e.ID); known != nil && !known.Same(schema) {
		return fmt.Errorf("id %d of context %s is another schema than that of %q version %d", e.ID, context, e.Subject, e.Version)
	} else if known == nil {
		r.putSchema(schema)
	}
	if old, had := r.Version(e.Subject, e.Version); had {
		r.removeVersion(old, e.ID)
	}
	r.putVersion(SchemaVersion{Subject: e.Subject, Version: e.Version, ID: e.ID, At: at})
	r.countID(context, e.ID)
	return nil
}

// Same says whether both are the same schema; their contexts and ids may differ.
func (s *Schema) Same(o *Schema) bool {
	return s.GUID == o.GUID && s.Type == o.Type && s.Text == o.Text && slices.Equal(s.References, o.References) && s.Metadata == o.Metadata && s.RuleSet == o.RuleSet
}

func (r *Registry) countID(context string, id int32) {
	c, _ := r.Context(context)
	r.contexts.ReplaceOrInsert(RegistryContext{Name: context, LastID: max(c.LastID, id), Listed: true})
}

// putSchema says whether the id is new. A state that has a schema put over another one is to be thrown away.
func (r *Registry) putSchema(s *Schema) bool {
	if _, had := r.schemas.ReplaceOrInsert(s); had {
		return false
	}
	r.guids.ReplaceOrInsert(schemaGUID{s.GUID, s})
	for _, ref := range s.References {
		r.referrers.ReplaceOrInsert(schemaReferrer{QualifyReference(s.Context, ref.Subject), ref.Version, s.Context, s.ID})
	}
	r.bytes += s.Bytes()
	return true
}

// putVersion says whether the version was there before.
func (r *Registry) putVersion(v SchemaVersion) (had bool) {
	context, _ := SplitSubject(v.Subject)
	if _, had = r.versions.ReplaceOrInsert(v); !had {
		r.bytes += v.Bytes()
	}
	r.uses.ReplaceOrInsert(schemaUse{context, v.ID, v.Subject, v.Version})
	return had
}

// removeVersion takes the version away, and its schema when that was its last one and is not kept.
func (r *Registry) removeVersion(v SchemaVersion, kept int32) {
	context, _ := SplitSubject(v.Subject)
	r.versions.Delete(v)
	r.bytes -= v.Bytes()
	r.uses.Delete(schemaUse{context, v.ID, v.Subject, v.Version})
	used := v.ID == kept
	r.UsesOf(context, v.ID, func(SchemaVersion) bool { used = true; return false })
	if used {
		return
	}
	s := r.Schema(context, v.ID)
	r.schemas.Delete(s)
	r.guids.Delete(schemaGUID{s.GUID, s})
	for _, ref := range s.References {
		r.referrers.Delete(schemaReferrer{QualifyReference(s.Context, ref.Subject), ref.Version, s.Context, s.ID})
	}
	r.bytes -= s.Bytes()
}

func (r *Registry) applyVersionsDeleted(at int64, e *journal.SchemaVersionsDeleted) error {
	for _, version := range e.Versions {
		v, found := r.Version(e.Subject, version)
		if !found || v.Deleted != e.Permanent {
			return fmt.Errorf("version %d of subject %q is there: %t, hidden: %t", version, e.Subject, found, v.Deleted)
		}
		if e.Permanent {
			r.removeVersion(v, -1)
			continue
		}
		v.Deleted, v.At = true, at
		r.putVersion(v)
	}
	return nil
}

func (r *Registry) putConfig(c *RegistryConfig) {
	kept := *c
	if old, had := r.configs.ReplaceOrInsert(&kept); had {
		r.bytes -= configBytesOf(old)
	}
	r.bytes += configBytesOf(&kept)
}

func (r *Registry) deleteConfig(scope string) error {
	old, had := r.configs.Delete(&RegistryConfig{Scope: scope})
	if !had {
		return fmt.Errorf("scope %q has no config", scope)
	}
	r.bytes -= configBytesOf(old)
	return nil
}

func (r *Registry) applyModeSet(e *journal.RegistryModeSet) error {
	if e.Mode == "" {
		return fmt.Errorf("scope %q cannot be in no mode", e.Scope)
	}
	r.putMode(RegistryMode{e.Scope, e.Mode})
	return nil
}

func (r *Registry) putMode(m RegistryMode) {
	if old, had := r.modes.ReplaceOrInsert(m); had {
		r.bytes -= old.Bytes()
	}
	r.bytes += m.Bytes()
}

func (r *Registry) deleteMode(scope string) error {
	old, had := r.modes.Delete(RegistryMode{Scope: scope})
	if !had {
		return fmt.Errorf("scope %q has no mode", scope)
	}
	r.bytes -= old.Bytes()
	return nil
}

func (r *Registry) applyContextDeleted(e *journal.RegistryContextDeleted) error {
	c, found := r.Context(e.Context)
	inUse := false
	r.schemas.AscendGreaterOrEqual(&Schema{Context: e.Context}, func(s *Schema) bool { inUse = s.Context == e.Context; return false })
	if !found || inUse {
		return fmt.Errorf("context %s is there: %t, in use: %t", e.Context, found, inUse)
	}
	c.Listed = false
	r.contexts.ReplaceOrInsert(c)
	return nil
}
