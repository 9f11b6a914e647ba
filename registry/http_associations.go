package registry

import (
	"context"
	"net/http"

	"doze/journal"
	"doze/projections"
)

// associationView is an association as lists show it.
type associationView struct {
	Subject   string `json:"subject"`
	GUID      string `json:"guid"`
	Name      string `json:"resourceName"`
	Namespace string `json:"resourceNamespace"`
	ID        string `json:"resourceId"`
	Type      string `json:"resourceType"`
	Of        string `json:"associationType"`
	Lifecycle string `json:"lifecycle"`
	Frozen    bool   `json:"frozen"`
	Created   int64  `json:"createTs,omitempty"`
	Updated   int64  `json:"updateTs,omitempty"`
}

// associationAnswer is what a change or a query of a batch gives.
type associationAnswer struct {
	Name         string            `json:"resourceName,omitempty"`
	Namespace    string            `json:"resourceNamespace,omitempty"`
	ID           string            `json:"resourceId,omitempty"`
	Type         string            `json:"resourceType,omitempty"`
	Associations []associationInfo `json:"associations,omitempty"`
}

type associationInfo struct {
	Subject   string        `json:"subject"`
	Of        string        `json:"associationType"`
	Lifecycle string        `json:"lifecycle"`
	Frozen    bool          `json:"frozen"`
	Schema    *schemaAnswer `json:"schema,omitempty"`
}

// batchResult is one of a batch: an error or an answer.
type batchResult struct {
	Error  *Error             `json:"error,omitempty"`
	Result *associationAnswer `json:"result,omitempty"`
}

func viewOf(a *projections.Association) associationView {
	return associationView{
		Subject: a.Subject, GUID: uuid(a.GUID), Name: a.Name, Namespace: a.Namespace, ID: a.ResourceID, Type: a.ResourceType, Of: a.Of,
		Lifecycle: lifecycleOf(a), Frozen: a.Frozen, Created: a.Created, Updated: a.Updated,
	}
}

func (q *associationRequest) answer() *associationAnswer {
	return &associationAnswer{Name: q.Name, Namespace: q.Namespace, ID: q.id(), Type: q.Type}
}

// filter is what the query of a list asks for.
func (q *request) filter() (associationFilter, error) {
	f := associationFilter{resourceType: q.query.Get("resourceType"), of: q.query["associationType"], lifecycle: q.query.Get("lifecycle")}
	if f.lifecycle != "" && f.lifecycle != lifecycleStrong && f.lifecycle != lifecycleWeak {
		return f, plain(http.StatusNotFound) // as a number that is none
	}
	if f.resourceType == "" {
		f.resourceType = topicResource
	}
	return f, nil
}

func (q *request) associations(list func(v view, f associationFilter) []*projections.Association, r *Registry) (any, error) {
	f, err := q.filter()
	if err != nil {
		return nil, err
	}
	views := []associationView{}
	for _, a := range list(view{r.view()}, f) {
		views = append(views, viewOf(a))
	}
	return page(q, views, maxSchemas)
}

func (r *Registry) getAssociationsOfSubject(q *request) (any, error) {
	return q.associations(func(v view, f associationFilter) []*projections.Association {
		return f.pick(func(yield func(*projections.Association) bool) {
			v.Registry.AssociationsWith(normalizeSubject(q.args[0]), yield)
		})
	}, r)
}

func (r *Registry) getAssociationsOfResource(q *request) (any, error) {
	return q.associations(func(v view, f associationFilter) []*projections.Association { return v.associationsOf(q.args[0], f) }, r)
}

func (r *Registry) getAssociationsNamed(q *request) (any, error) {
	return q.associations(func(v view, f associationFilter) []*projections.Association {
		return v.associationsNamed(q.args[1], q.args[0], f)
	}, r)
}

// inContextOf is the prefix of the context that a change names.
func (q *request) inContextOf() (string, error) {
	context := q.query.Get("context")
	if context == "" {
		return "", nil
	}
	prefix, ok := normalizeContext(context)
	if !ok {
		return "", &Error{Status: 400, Code: 400, Message: "Context name '" + context + "' cannot contain a colon"}
	}
	return prefix, nil
}

func (r *Registry) postAssociations(q *request) (any, error) {
	var body associationRequest
	if err := q.decode(&body); err != nil {
		return nil, err
	}
	return r.setAssociations(q, &body, opCreate)
}

func (r *Registry) putAssociations(q *request) (any, error) {
	var body associationRequest
	if err := q.decode(&body); err != nil {
		return nil, err
	}
	if body.ID == nil {
		body.ID = &q.args[0]
	} else if *body.ID != q.args[0] {
		return nil, invalidAssociation("resourceId", "that of the path is another than that of the body")
	}
	return r.setAssociations(q, &body, opUpsert)
}

func (r *Registry) setAssociations(q *request, body *associationRequest, op string) (any, error) {
	for i := range body.Associations {
		body.Associations[i].Op = op
	}
	dryRun := q.flag("dryRun")
	if err := body.check(dryRun); err != nil {
		return nil, err
	}
	scope, err := q.inContextOf()
	if err != nil {
		return nil, err
	}
	return r.associate(q.ctx, q.cause(), scope, body, op == opCreate, dryRun)
}

func (r *Registry) delAssociations(q *request) (any, error) {
	f, err := q.filter()
	if err != nil {
		return nil, err
	}
	f.lifecycle = ""
	if len(view{r.view()}.associationsOf(q.args[0], f)) == 0 {
		return nil, fail(40410, "Association for '%s' not found.", q.args[0])
	}
	if err := r.dissociate(q.ctx, q.cause(), q.args[0], f, q.flag("cascadeLifecycle"), q.flag("dryRun")); err != nil {
		return nil, err
	}
	return nothing{}, nil
}

// dissociate takes associations of a resource away. With cascade those that are frozen go too, and the subjects that the
// resource owns for good, unless they are imported.
func (r *Registry) dissociate(ctx context.Context, c cause, id string, f associationFilter, cascade, dryRun bool) error {
	var refused error
	err := r.update(ctx, c, func(tx *journal.Tx[*projections.State]) error {
		refused = decideDissociate(tx, id, f, cascade)
		if refused == nil && dryRun {
			refused = journal.ErrDropped
		}
		return refused
	})
	if dryRun && refused == journal.ErrDropped {
		return nil
	}
	return err
}

func decideDissociate(tx *journal.Tx[*projections.State], id string, f associationFilter, cascade bool) error {
	all := view{tx.State}.associationsOf(id, f)
	for _, a := range all {
		if (view{tx.State}).isReadOnly(a.Subject) {
			return inReadOnlyMode(a.Subject)
		}
		if a.Frozen && !cascade {
			return frozenAssociation(a)
		}
	}
	for _, a := range all {
		tx.Emit(&journal.AssociationDeleted{ResourceID: a.ResourceID, ResourceType: a.ResourceType, Of: a.Of})
		v := view{tx.State}
		if !cascade || !a.Strong || v.modeInScope(a.Subject) == modeImport {
			continue
		}
		for _, permanent := range []bool{false, true} {
			if !v.has(a.Subject, permanent) {
				continue
			}
			versions, err := decideDeleteSubject(view{tx.State}, a.Subject, permanent)
			if err := emitDeleted(tx, a.Subject, versions, permanent, err); err != nil {
				return err
			}
		}
	}
	return nil
}
