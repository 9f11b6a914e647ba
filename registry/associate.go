package registry

import (
	"context"
	"maps"
	"slices"
	"strings"

	"doze/journal"
	"doze/projections"
)

// association is what a request worked out on a view: what it relies on, and what follows if that still holds.
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
	for range maxAttempts {
		v := view{r.view()}
		plan, err := v.planAssociation(ctx, scope, q.copy(q.Associations), create, dryRun)
		if err != nil {
			return nil, err
		}
		if dryRun {
			return q.answer(), nil
		}
		var answer *associationAnswer
		err = r.update(ctx, c, func(tx *journal.Tx[*projections.State]) error {
			if !plan.holds(view{tx.State}) {
				return nil
			}
			var err error
			answer, err = plan.decide(tx)
			return err
		})
		if err != nil || answer != nil {
			return answer, err
		}
	}
	return nil, fail(50002, "Operation timed out: resource %s changes all the time", q.Name)
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
	plan, known, err := v.plan(ctx, *s, p.Normalize, false)
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
