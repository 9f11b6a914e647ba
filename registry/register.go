package registry

import (
	"context"
	"slices"
	"strings"

	"doze/journal"
	"doze/projections"
)

// registration is the plan of one: what it relies on, and what is registered.
type registration struct {
	subject  string
	versions []projections.SchemaVersion
	config   projections.RegistryConfig
	mode     string
	refs     []resolved

	content content
	version int32
	id      int32 // -1: that of the same content, or a new one
}

// register gives the version that the schema is under the subject, a new one if need be.
func (r *Registry) register(ctx context.Context, c cause, s submitted, normalize, force bool) (*schemaAnswer, error) {
	answer, err := carryOut(ctx, r, c, func(v view) (plan[schemaAnswer], *schemaAnswer, error) {
		return v.planRegistration(ctx, s, normalize, force)
	})
	if err == nil && answer == nil {
		return nil, fail(50002, "Register operation timed out: subject %s changes all the time", s.subject)
	}
	return answer, err
}

// planRegistration works out a registration, or the answer when the schema is there already.
func (v view) planRegistration(ctx context.Context, s submitted, normalize, force bool) (*registration, *schemaAnswer, error) {
	config, mode := v.configInScope(s.subject), v.modeInScope(s.subject)
	normalize = normalize || isOn(config.Normalize)
	if !hasDefaults(config) {
		known, ok, err := v.registered(ctx, config, s, normalize)
		if err != nil || ok {
			return nil, known, err
		}
	}
	if err := v.mayRegister(&s, mode); err != nil {
		return nil, nil, err
	}
	p, live := v.newRegistration(s.subject, config, mode)
	if !imports(mode) {
		if err := v.populate(config, &s, live, p.version); err != nil {
			return nil, nil, err
		}
	}
	m, err := v.canonicalize(ctx, config, &s, s.id < 0 && config.ValidateNewSchemas != journal.SwitchOff, normalize)
	if err != nil {
		return nil, nil, err
	}
	if m == nil {
		return nil, nil, invalidSchema("Empty schema")
	}
	if err := v.refersToOwned(s.subject, s.References); err != nil {
		return nil, nil, err
	}
	own, _ := projections.SplitSubject(s.subject)
	p.refs, _, _ = v.resolve(own, s.References, false)
	if known := v.sameUnder(&s, m, live); known != nil {
		return nil, known, nil
	}
	if !imports(mode) && !force {
		if err := v.refuseIncompatible(ctx, config, &s, m, live); err != nil {
			return nil, nil, err
		}
	}
	return p, nil, p.place(v, &s)
}

// newRegistration notes what a registration relies on, and gives the versions that are not hidden.
func (v view) newRegistration(subject string, config *projections.RegistryConfig, mode string) (p *registration, live []projections.SchemaVersion) {
	p = &registration{subject: subject, versions: v.versions(subject), config: *config, mode: mode, version: 1}
	for _, version := range p.versions {
		p.version = version.Version + 1
		if !version.Deleted {
			live = append(live, version)
		}
	}
	return p, live
}

func (v view) refuseIncompatible(ctx context.Context, config *projections.RegistryConfig, s *submitted, m model, live []projections.SchemaVersion) error {
	messages, err := v.incompatible(ctx, config, &candidate{s.content, m}, live)
	if err == nil && len(messages) > 0 {
		return fail(40901, "Schema being registered is incompatible with an earlier schema for subject \"%s\", details: [%s]", s.subject, strings.Join(messages, ", "))
	}
	return err
}

// registered is what a plain lookup finds: it also succeeds where nothing may be registered.
func (v view) registered(ctx context.Context, config *projections.RegistryConfig, s submitted, normalize bool) (*schemaAnswer, bool, error) {
	newest := s.version == latest
	found, ok, err := v.lookUp(ctx, config, s, normalize, false, newest)
	if err != nil || !ok {
		return nil, false, err
	}
	if s.version == 0 || newest {
		ok = s.id < 0 || s.id == found.ID
	} else if ok = s.id == found.ID; ok && found.Version != s.version {
		found, ok = v.get(s.subject, s.version, false)
		ok = ok && found.ID == s.id
	}
	if !ok {
		return nil, false, nil
	}
	return answerOf(v.State, found), true, nil
}

func (v view) mayRegister(s *submitted, mode string) error {
	switch {
	case v.isReadOnly(s.subject):
		return inReadOnlyMode(s.subject)
	case s.id >= 0 && !imports(mode):
		return notPermitted("Subject %s in context %s is not in import mode", s.subject, contextPrefix(s.subject))
	case s.id < 0 && mode != modeReadWrite:
		return notPermitted("Subject %s in context %s is not in read-write mode", s.subject, contextPrefix(s.subject))
	}
	return nil
}

// populate takes from the previous version what was not sent.
func (v view) populate(config *projections.RegistryConfig, s *submitted, live []projections.SchemaVersion, version int32) error {
	var previous *content
	if len(live) > 0 {
		previous = contentOf(v.Registry.OfVersion(live[len(live)-1]))
	}
	if blank(s.Text) {
		if previous == nil {
			return invalidSchema("Empty schema")
		}
		s.Type, s.Text, s.References = previous.Type, previous.Text, previous.References
	}
	if s.keepsTags && previous != nil && previous.Type == s.Type {
		if err := v.keepTags(s, live[len(live)-1]); err != nil {
			return err
		}
	}
	v.inherit(config, s, previous, version)
	return nil
}

// sameUnder is the answer when the subject has the schema already. Otherwise the schema takes the id of the same content in the
// context, if there is one.
func (v view) sameUnder(s *submitted, m model, live []projections.SchemaVersion) *schemaAnswer {
	own, _ := projections.SplitSubject(s.subject)
	if same := v.same(own, &s.content); same != nil && (s.id < 0 || s.id == same.ID) {
		for _, use := range v.usesBySubject(own, same.ID) {
			if s.version == 0 && use.Subject == s.subject && !use.Deleted {
				return answerOf(v.State, use)
			}
		}
		s.id = same.ID
	}
	if s.version != 0 {
		return nil
	}
	for i := len(live) - 1; i >= 0; i-- {
		if (s.id < 0 || s.id == live[i].ID) && v.equivalent(s, m, live[i]) {
			return answerOf(v.State, live[i])
		}
	}
	return nil
}

// place fixes version and id.
func (p *registration) place(v view, s *submitted) error {
	if s.version > 0 {
		if s.version != p.version && !imports(p.mode) {
			return invalidSchema("Version is not one more than previous version")
		}
		p.version = s.version
	}
	p.content, p.id = s.content, s.id
	own, _ := projections.SplitSubject(s.subject)
	if there := v.Registry.Schema(own, s.id); s.id >= 0 && there != nil && (there.GUID != s.guid() || there.Type != s.Type) {
		return notPermitted("Overwrite new schema with id %d in context %s is not permitted.", s.id, contextPrefix(s.subject))
	}
	return nil
}

// holds says whether what was relied on is still so.
func (p *registration) holds(v view) bool {
	if !slices.Equal(p.versions, v.versions(p.subject)) || *v.configInScope(p.subject) != p.config || v.modeInScope(p.subject) != p.mode {
		return false
	}
	for _, ref := range p.refs {
		if now, found := v.Registry.Version(ref.place.Subject, ref.place.Version); !found || now.ID != ref.place.ID {
			return false
		}
	}
	return true
}

func (p *registration) decide(tx *journal.Tx[*projections.State]) (*schemaAnswer, error) {
	own, _ := projections.SplitSubject(p.subject)
	e := &journal.SchemaRegistered{
		Subject: p.subject, Version: p.version, ID: p.id, GUID: p.content.guid(), Type: p.content.Type, Schema: p.content.Text,
		References: p.content.References, Metadata: stored(p.content.Metadata), RuleSet: stored(p.content.RuleSet),
	}
	v := view{tx.State}
	if err := v.refersToOwned(p.subject, p.content.References); err != nil {
		return nil, err
	}
	if same := v.same(own, &p.content); p.id < 0 && same != nil {
		e.ID = same.ID
	} else if p.id < 0 {
		c, _ := v.Registry.Context(own)
		e.ID = c.LastID + 1
	}
	if there := v.Registry.Schema(own, e.ID); there != nil && there.GUID != e.GUID {
		return nil, notPermitted("Overwrite new schema with id %d in context %s is not permitted.", e.ID, contextPrefix(p.subject))
	}
	if r := v.Registry; r.Versions() >= MaxVersions || r.Bytes()+int64(len(e.Schema)+len(e.Metadata)+len(e.RuleSet)) > MaxBytes || e.ID < 0 {
		return nil, fail(42209, "Register operation failed because the registry holds %d versions and %d bytes; delete subjects permanently to make room", r.Versions(), r.Bytes())
	}
	tx.Emit(e)
	if gone := p.replaced(v, e.ID); len(gone) > 0 {
		tx.Emit(&journal.SchemaVersionsDeleted{Subject: p.subject, Versions: gone, Permanent: true})
	}
	now, _ := tx.State.Registry.Version(p.subject, p.version)
	answer := answerOf(tx.State, now)
	answer.At, answer.Deleted = 0, nil
	return answer, nil
}

// replaced are hidden versions with the id that are older, unless something refers to one.
func (p *registration) replaced(v view, id int32) (gone []int32) {
	for _, old := range p.versions {
		if old.Deleted && old.ID == id && old.Version < p.version && len(v.referrers(p.subject, old.Version, true)) == 0 {
			gone = append(gone, old.Version)
		}
	}
	return gone
}
