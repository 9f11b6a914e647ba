package projections

import (
	"fmt"
)

// What a row of the registry is reckoned to take beside its texts: see sizes.go.
const (
	schemaBytes         = 320
	schemaRefBytes      = 160
	schemaVersionBytes  = 224
	registryConfigBytes = 320
	registryModeBytes   = 96
	associationBytes    = 480 // in three trees
)

// Bytes is what all of the registry is reckoned to take.
func (r Registry) Bytes() int64 { return r.bytes }

// Bytes is what the schema is reckoned to take.
func (s *Schema) Bytes() int64 {
	n := schemaBytes + len(s.Context) + len(s.Type) + len(s.Text) + len(s.Metadata) + len(s.RuleSet)
	for _, ref := range s.References {
		n += schemaRefBytes + len(ref.Name) + 2*len(ref.Subject)
	}
	return int64(n)
}

// Bytes is what the version is reckoned to take.
func (v SchemaVersion) Bytes() int64 { return schemaVersionBytes + int64(len(v.Subject)) }

// Bytes is what the mode is reckoned to take.
func (m RegistryMode) Bytes() int64 { return registryModeBytes + int64(len(m.Scope)+len(m.Mode)) }

func configBytesOf(c *RegistryConfig) int64 {
	return registryConfigBytes + int64(len(c.Scope)+len(c.Compatibility)+len(c.Policy)+len(c.Group)+len(c.Alias)+len(c.AliasForDeks)+
		len(c.DefaultMetadata)+len(c.OverrideMetadata)+len(c.DefaultRuleSet)+len(c.OverrideRuleSet))
}

// checkRegistry holds versions, schemas and what is worked out from them against each other.
func (s *State) checkRegistry() (err error) {
	r, bytes := s.Registry, int64(0)
	r.FromSubject("", func(v SchemaVersion) bool {
		bytes += v.Bytes()
		err = r.checkVersion(v)
		return err == nil
	})
	if err != nil {
		return err
	}
	r.schemas.Ascend(func(schema *Schema) bool {
		bytes += schema.Bytes()
		used := false
		r.UsesOf(schema.Context, schema.ID, func(SchemaVersion) bool { used = true; return false })
		if !used {
			err = fmt.Errorf("id %d of context %s is of no version", schema.ID, schema.Context)
		} else if same, _ := r.guids.Get(schemaGUID{schema.GUID, schema}); same.schema != schema {
			err = fmt.Errorf("id %d of context %s is not the same by its guid", schema.ID, schema.Context)
		} else {
			err = r.checkReferences(schema)
		}
		return err == nil
	})
	if err == nil && (r.uses.Len() != r.versions.Len() || r.guids.Len() != r.schemas.Len()) {
		err = fmt.Errorf("%d versions, %d uses; %d schemas, %d guids", r.versions.Len(), r.uses.Len(), r.schemas.Len(), r.guids.Len())
	}
	if err != nil {
		return err
	}
	r.Configs("", func(c *RegistryConfig) bool { bytes += configBytesOf(c); return true })
	r.Modes("", func(m RegistryMode) bool { bytes += m.Bytes(); return true })
	if err := r.checkAssociations(&bytes); err != nil {
		return err
	}
	if bytes != r.bytes {
		return fmt.Errorf("bytes counted: registry %d; there are %d", r.bytes, bytes)
	}
	return nil
}

func (r Registry) checkVersion(v SchemaVersion) error {
	context, name := SplitSubject(v.Subject)
	c, _ := r.Context(context)
	switch {
	case JoinSubject(context, name) != v.Subject:
		return fmt.Errorf("subject %q should be %q", v.Subject, JoinSubject(context, name))
	case r.OfVersion(v) == nil:
		return fmt.Errorf("version %d of subject %q is id %d, which is not there", v.Version, v.Subject, v.ID)
	case !c.Listed || v.ID > c.LastID:
		return fmt.Errorf("id %d of subject %q in context %s, which gave out %d and is listed: %t", v.ID, v.Subject, context, c.LastID, c.Listed)
	}
	if _, has := r.uses.Get(schemaUse{context, v.ID, v.Subject, v.Version}); !has {
		return fmt.Errorf("version %d of subject %q is no use of id %d", v.Version, v.Subject, v.ID)
	}
	return nil
}

func (r Registry) checkReferences(s *Schema) error {
	for _, ref := range s.References {
		if _, has := r.referrers.Get(schemaReferrer{QualifyReference(s.Context, ref.Subject), ref.Version, s.Context, s.ID}); !has {
			return fmt.Errorf("id %d of context %s is no referrer of %q version %d", s.ID, s.Context, ref.Subject, ref.Version)
		}
	}
	return nil
}
