package registry

import (
	"errors"

	"doze/projections"
)

type associationQuery struct {
	Name      string   `json:"resourceName"`
	Namespace string   `json:"resourceNamespace"`
	ID        string   `json:"resourceId"`
	Type      string   `json:"resourceType"`
	Of        []string `json:"associationTypes"`
	Lifecycle string   `json:"lifecycle"`
}

func (r *Registry) postAssociationQueries(q *request) (any, error) {
	var body struct {
		Requests []associationQuery `json:"requests"`
	}
	if err := q.decode(&body); err != nil {
		return nil, err
	}
	if len(body.Requests) == 0 {
		return nil, invalidAssociation("requests", "there must be one")
	}
	v, schemas := view{r.view()}, q.flag("includeSchemas")
	results := make([]batchResult, len(body.Requests))
	for i := range body.Requests {
		results[i] = resultOf(v.associationsFor(&body.Requests[i], schemas))
	}
	return several{results}, nil
}

func resultOf(answer *associationAnswer, err error) batchResult {
	var known *Error
	switch {
	case err == nil:
		return batchResult{Result: answer}
	case errors.As(err, &known):
		return batchResult{Error: known}
	}
	return batchResult{Error: fail(50001, "%v", err)}
}

// associationsFor answers one query of a batch.
func (v view) associationsFor(q *associationQuery, schemas bool) (*associationAnswer, error) {
	if q.ID == "" && q.Name == "" {
		return nil, invalidAssociation("resourceId", "give that or resourceName")
	}
	if q.ID == "" && q.Namespace == "" {
		return nil, invalidAssociation("resourceNamespace", "it must be there with resourceName")
	}
	if q.Type == "" {
		q.Type = topicResource
	}
	f := associationFilter{resourceType: q.Type, of: q.Of, lifecycle: q.Lifecycle}
	found := v.associationsOf(q.ID, f)
	if q.ID == "" {
		found = v.associationsNamed(q.Name, q.Namespace, f)
	}
	answer := &associationAnswer{Name: q.Name, Namespace: q.Namespace, ID: q.ID, Type: q.Type}
	if len(found) > 0 {
		first := found[0]
		answer.Name, answer.Namespace, answer.ID = first.Name, first.Namespace, first.ResourceID
	}
	for _, a := range found {
		if a.ResourceID != answer.ID {
			return nil, fail(50001, "Error while getting associations: more than one resource is called '%s' in namespace '%s'; ask by resourceId", q.Name, q.Namespace)
		}
		info := infoOf(a, nil)
		if latest, has := v.Registry.Latest(a.Subject); schemas && has {
			info.Schema = answerOf(v.State, latest)
		}
		answer.Associations = append(answer.Associations, info)
	}
	return answer, nil
}

func (r *Registry) postAssociationChanges(q *request) (any, error) {
	var body struct {
		Requests []associationRequest `json:"requests"`
	}
	if err := q.decode(&body); err != nil {
		return nil, err
	}
	if len(body.Requests) == 0 {
		return nil, invalidAssociation("requests", "there must be one")
	}
	scope, err := q.inContextOf()
	if err != nil {
		return nil, err
	}
	results := make([]batchResult, len(body.Requests))
	for i := range body.Requests {
		results[i] = resultOf(r.changeAssociations(q, scope, &body.Requests[i]))
	}
	return several{results}, nil
}

// changeAssociations carries out one request of a batch. Operations of one kind that follow one another are one change.
func (r *Registry) changeAssociations(q *request, scope string, body *associationRequest) (*associationAnswer, error) {
	dryRun := q.flag("dryRun")
	if err := body.check(dryRun); err != nil {
		return nil, err
	}
	schemas := map[string]*schemaAnswer{}
	for parts := body.Associations; len(parts) > 0; {
		op, n := parts[0].Op, 1
		if op == opDelete {
			f := associationFilter{resourceType: body.Type, of: []string{parts[0].Of}}
			if err := r.dissociate(q.ctx, q.cause(), body.id(), f, parts[0].Cascade, dryRun); err != nil {
				return nil, err
			}
		} else {
			for n < len(parts) && parts[n].Op == op {
				n++
			}
			done, err := r.associate(q.ctx, q.cause(), scope, body.copy(parts[:n]), op == opCreate, dryRun)
			if err != nil {
				return nil, err
			}
			for _, info := range done.Associations {
				schemas[info.Of] = info.Schema
			}
		}
		parts = parts[n:]
	}
	answer := body.answer()
	if dryRun {
		return answer, nil
	}
	for _, a := range (view{r.view()}).associationsOf(body.id(), associationFilter{resourceType: body.Type}) {
		answer.Associations = append(answer.Associations, infoOf(a, schemas[a.Of]))
	}
	return answer, nil
}

func infoOf(a *projections.Association, schema *schemaAnswer) associationInfo {
	return associationInfo{Subject: a.Subject, Of: a.Of, Lifecycle: lifecycleOf(a), Frozen: a.Frozen, Schema: schema}
}
