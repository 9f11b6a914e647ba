package registry

import (
	"context"
	"maps"
	"slices"
	"strings"

	"doze/projections"
)

// judge says whether the part asks for what is there already; or refuses it. It fills in what follows from what is there.
func (v view) judge(ctx context.Context, q *associationRequest, p *associationPart, old *projections.Association, create bool) (same bool, err error) {
	if old == nil && !create {
		if err := p.fill(false); err != nil {
			return false, err
		}
	}
	own := q.ownSubject(p.Of)
	if err := p.settle(own, old); err != nil {
		return false, err
	}
	if old == nil {
		return false, v.judgeNew(ctx, p, create)
	}
	return v.judgeOld(ctx, p, old, own, create)
}

// settle fills in the subject and holds lifecycle, frozen and subject against each other.
func (p *associationPart) settle(own string, old *projections.Association) error {
	switch {
	case p.Subject != nil:
	case old != nil:
		p.Subject = &old.Subject
	case p.Lifecycle == lifecycleStrong:
		p.Subject = &own
	default:
		return invalidAssociation("subject", "a %s association needs one", lifecycleWeak)
	}
	lifecycle, frozen := p.lifecycle(old), p.Frozen != nil && *p.Frozen
	if old != nil {
		frozen = old.Frozen
	}
	if lifecycle == lifecycleWeak && p.Schema != nil {
		return invalidAssociation("lifecycle", "it cannot be %s with a schema", lifecycleWeak)
	}
	if lifecycle == lifecycleWeak && *p.Subject == own {
		return invalidAssociation("subject", "a %s association cannot have '%s'", lifecycleWeak, own)
	}
	asked := frozen
	if p.Frozen != nil {
		asked = *p.Frozen
	}
	if asked != (lifecycle == lifecycleStrong) {
		return invalidAssociation("frozen", "that of a %s association cannot be %t", lifecycle, asked)
	}
	if frozen && *p.Subject != own {
		return invalidAssociation("subject", "that of a frozen association is '%s'", own)
	}
	return nil
}

func (p *associationPart) lifecycle(old *projections.Association) string {
	if p.Lifecycle == "" && old != nil {
		return lifecycleOf(old)
	}
	return p.Lifecycle
}

// judgeNew holds to how strong associations begin: with the topic and a first schema, unless the subject is imported.
func (v view) judgeNew(ctx context.Context, p *associationPart, create bool) error {
	if p.Lifecycle != lifecycleStrong || v.modeInScope(*p.Subject) == modeImport {
		return nil
	}
	if !create {
		return invalidAssociation("lifecycle", "a %s association is made with its topic, not later", lifecycleStrong)
	}
	if p.Schema == nil {
		return invalidAssociation("schema", "a frozen association is made with one")
	}
	newest, has := v.Registry.Latest(*p.Subject)
	if !has {
		return nil
	}
	if newest.Version == 1 {
		if has, err := v.hasSchema(ctx, p); has || err != nil {
			return err
		}
	}
	return invalidAssociation("frozen", "subject '%s' has schemas already", *p.Subject)
}

// hasSchema says whether the subject has the schema of the part.
func (v view) hasSchema(ctx context.Context, p *associationPart) (bool, error) {
	s, err := submitTagged(*p.Subject, p.Schema, v)
	if err != nil {
		return false, err
	}
	_, has, err := v.find(ctx, *s, p.Normalize, false)
	return has, err
}

func (v view) judgeOld(ctx context.Context, p *associationPart, old *projections.Association, own string, create bool) (same bool, err error) {
	exists := fail(40903, "An association of type '%s' already exists for resource '%s'", p.Of, old.Name)
	if *p.Subject == old.Subject && p.lifecycle(old) == lifecycleOf(old) && (p.Frozen == nil || *p.Frozen == old.Frozen) {
		if create && p.Schema != nil {
			if has, err := v.hasSchema(ctx, p); err != nil || !has {
				return false, cmpError(err, exists)
			}
		}
		return true, nil
	}
	switch {
	case create:
		return false, exists
	case p.Lifecycle == "" && p.Schema == nil:
		return false, invalidAssociation("lifecycle", "an update changes it or brings a schema")
	case *p.Subject != old.Subject:
		return false, invalidAssociation("subject", "it stays '%s'", old.Subject)
	case old.Strong && p.Lifecycle == lifecycleWeak && old.Subject == own:
		return false, invalidAssociation("lifecycle", "it stays %s with '%s'", lifecycleStrong, own)
	case p.Frozen != nil && *p.Frozen != old.Frozen:
		return false, invalidAssociation("frozen", "it stays %t", old.Frozen)
	case old.Frozen:
		return false, frozenAssociation(old)
	}
	return false, nil
}

func cmpError(err error, otherwise *Error) error {
	if err != nil {
		return err
	}
	return otherwise
}

func frozenAssociation(a *projections.Association) *Error {
	return fail(40908, "The association of type '%s' is frozen for subject '%s'", a.Of, a.Subject)
}

// oneLifecycle holds to one lifecycle for keys and values of a resource, as they would be after the request.
func (a *association) oneLifecycle() error {
	after := map[string]string{}
	for _, old := range a.resources {
		after[old.Of] = lifecycleOf(old)
	}
	for i := range a.request.Associations {
		if p := &a.request.Associations[i]; p.Lifecycle != "" {
			after[p.Of] = p.Lifecycle
		}
	}
	var all []string
	for _, of := range slices.Sorted(maps.Keys(after)) {
		all = append(all, of+"="+after[of])
	}
	if after["key"] != "" && after["value"] != "" && after["key"] != after["value"] {
		return invalidAssociation("lifecycle", "keys and values of a resource have the same one: %s", strings.Join(all, ", "))
	}
	return nil
}

// judgeSubject holds to what the subject must be like.
func (v view) judgeSubject(a *association, p *associationPart) error {
	facts := v.factsOf(*p.Subject)
	a.subjects = append(a.subjects, facts)
	live, _ := facts.live()
	switch {
	case p.Schema != nil && facts.mode == modeImport:
		return invalidAssociation("schema", "subject '%s' is in IMPORT mode", *p.Subject)
	case p.Schema == nil && live == 0:
		return noLiveVersion(*p.Subject)
	}
	old := a.of(p.Of)
	others := slices.DeleteFunc(slices.Clone(facts.with), func(other *projections.Association) bool { return other == old })
	if p.lifecycle(old) == lifecycleWeak {
		if slices.ContainsFunc(others, func(o *projections.Association) bool { return o.Strong }) {
			return fail(40905, "A strong association already exists for subject '%s'", *p.Subject)
		}
		return nil
	}
	if len(others) > 0 {
		return subjectAssociated(*p.Subject)
	}
	if facts.referred || a.request.refersTo(*p.Subject) {
		return fail(42206, "One or more references exist to the schema %s.", *p.Subject)
	}
	return nil
}

// refersTo says whether a schema of the request refers to the subject.
func (q *associationRequest) refersTo(subject string) bool {
	for i := range q.Associations {
		p := &q.Associations[i]
		if p.Schema == nil {
			continue
		}
		own, _ := projections.SplitSubject(*p.Subject)
		for _, ref := range p.Schema.References {
			if projections.QualifyReference(own, ref.Subject) == subject {
				return true
			}
		}
	}
	return false
}
