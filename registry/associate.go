package registry

import (
	"context"
	"slices"

	"doze/journal"
	"doze/projections"
)

// association is the plan of a request: what it relies on, and what it changes.
type association struct {
	request   *associationRequest
	resources []*projections.Association // of the resource, by id or else by name
	subjects  []subjectFacts
	schemas   map[string]*registration // by kind, of schemas that are to be registered
	known     map[string]*schemaAnswer // of those that are there
	events    []*journal.AssociationSet
	gone      []*journal.AssociationDeleted
}

// subjectFacts is what an association relies on of its subject.
type subjectFacts struct {
	subject  string
	versions []projections.SchemaVersion
	with     []*projections.Association
	mode     string
	referred bool
}

func (v view) factsOf(subject string) subjectFacts {
	return subjectFacts{subject, v.versions(subject), v.associationsWith(subject), v.modeInScope(subject), v.referred(subject)}
}

func (f *subjectFacts) hold(v view) bool {
	now := v.factsOf(f.subject)
	return slices.Equal(f.versions, now.versions) && slices.Equal(f.with, now.with) && f.mode == now.mode && f.referred == now.referred
}

func (f *subjectFacts) live() (n int, newest projections.SchemaVersion) {
	for _, s := range f.versions {
		if !s.Deleted {
			n, newest = n+1, s
		}
	}
	return n, newest
}

// associate makes or changes associations of a resource, and registers the schemas that come with them, all or nothing.
func (r *Registry) associate(ctx context.Context, c cause, scope string, q *associationRequest, create, dryRun bool) (*associationAnswer, error) {
	answer, err := carryOut(ctx, r, c, func(v view) (plan[associationAnswer], *associationAnswer, error) {
		p, err := v.planAssociation(ctx, scope, q.copy(q.Associations), create, dryRun)
		if err == nil && dryRun {
			return nil, q.answer(), nil
		}
		return p, nil, err
	})
	if err == nil && answer == nil {
		return nil, fail(50002, "Operation timed out: resource %s changes all the time", q.Name)
	}
	return answer, err
}

// resourceOf are the associations of the resource. A trial may not know its id yet: then that of the name which was changed last.
func (v view) resourceOf(q *associationRequest) []*projections.Association {
	f := associationFilter{resourceType: q.Type}
	if q.ID != nil {
		return v.associationsOf(*q.ID, f)
	}
	return ofNewestResource(v.associationsNamed(q.Name, q.Namespace, f))
}

func (v view) planAssociation(ctx context.Context, scope string, q *associationRequest, create, dryRun bool) (*association, error) {
	if err := v.qualify(scope, q); err != nil {
		return nil, err
	}
	a := &association{request: q, resources: v.resourceOf(q), schemas: map[string]*registration{}, known: map[string]*schemaAnswer{}}
	var kept []bool
	for i := range q.Associations {
		same, err := v.judge(ctx, q, &q.Associations[i], a.of(q.Associations[i].Of), create)
		if err != nil {
			return nil, err
		}
		kept = append(kept, same)
	}
	if err := a.oneLifecycle(); err != nil {
		return nil, err
	}
	for i := range q.Associations {
		if err := v.judgeSubject(a, &q.Associations[i]); err != nil {
			return nil, err
		}
	}
	for i := range q.Associations {
		if err := v.planSchema(ctx, a, &q.Associations[i]); err != nil {
			return nil, err
		}
		if !kept[i] && !dryRun {
			if err := v.planEvents(a, &q.Associations[i]); err != nil {
				return nil, err
			}
		}
	}
	return a, nil
}

// of is the association that the resource has for the kind, or nil.
func (a *association) of(kind string) *projections.Association {
	for _, old := range a.resources {
		if old.Of == kind {
			return old
		}
	}
	return nil
}

// planSchema works out the registration of the part's schema.
func (v view) planSchema(ctx context.Context, a *association, p *associationPart) error {
	if p.Schema == nil {
		return nil
	}
	if err := p.Schema.RuleSet.check(); err != nil {
		return err
	}
	s, err := submitTagged(*p.Subject, p.Schema, v)
	if err != nil {
		return err
	}
	plan, known, err := v.planRegistration(ctx, *s, p.Normalize, false)
	if err != nil {
		return err
	}
	if known != nil {
		a.known[p.Of] = known
	} else {
		a.schemas[p.Of] = plan
	}
	return nil
}

// planEvents works out what the part changes. One resource takes the place of another of its name that had the subject.
func (v view) planEvents(a *association, p *associationPart) error {
	q, old := a.request, a.of(p.Of)
	e := &journal.AssociationSet{
		ResourceID: q.id(), ResourceType: q.Type, Of: p.Of, Namespace: q.Namespace, Name: q.Name, Subject: *p.Subject,
		Strong: p.lifecycle(old) == lifecycleStrong, Frozen: p.Frozen != nil && *p.Frozen,
	}
	if old != nil {
		if old.Name != q.Name || old.Namespace != q.Namespace {
			return invalidAssociation("resourceName", "resource '%s' is '%s' in namespace '%s'", old.ResourceID, old.Name, old.Namespace)
		}
		e.GUID, e.Created = old.GUID, old.Created
		if p.Frozen == nil {
			e.Frozen = old.Frozen
		}
	}
	for _, other := range v.associationsWith(e.Subject) {
		if other != old && other.Of == e.Of && other.Name == e.Name && other.Namespace == e.Namespace && other.ResourceType == e.ResourceType {
			a.gone = append(a.gone, &journal.AssociationDeleted{ResourceID: other.ResourceID, ResourceType: other.ResourceType, Of: other.Of})
		}
	}
	a.events = append(a.events, e)
	return nil
}

// holds says whether what was relied on is still so.
func (a *association) holds(v view) bool {
	if !slices.Equal(a.resources, v.resourceOf(a.request)) {
		return false
	}
	for i := range a.subjects {
		if !a.subjects[i].hold(v) {
			return false
		}
	}
	for _, plan := range a.schemas {
		if !plan.holds(v) {
			return false
		}
	}
	return true
}

func (a *association) decide(tx *journal.Tx[*projections.State]) (*associationAnswer, error) {
	answer := a.request.answer()
	for i := range a.request.Associations {
		of := a.request.Associations[i].Of
		plan := a.schemas[of]
		if plan == nil {
			continue
		}
		registered, err := plan.decide(tx)
		if err != nil {
			return nil, err
		}
		a.known[of] = registered
	}
	for _, e := range a.gone {
		tx.Emit(e)
	}
	for _, e := range a.events {
		set := *e
		if set.Created == 0 {
			set.GUID, set.Created = tx.NewUUID(), tx.At
		}
		if tx.State.Registry.CountAssociations() >= MaxAssociations {
			return nil, fail(40902, "A maximum of %d associations already exist", MaxAssociations)
		}
		tx.Emit(&set)
		answer.Associations = append(answer.Associations, associationInfo{
			Subject: set.Subject, Of: set.Of, Lifecycle: lifecycleOf(&projections.Association{AssociationSet: set}), Frozen: set.Frozen, Schema: a.known[set.Of],
		})
	}
	return answer, nil
}
