package registry

import (
	"strings"

	"doze/projections"
)

type compatibilityAnswer struct {
	Compatible bool      `json:"is_compatible"`
	Messages   *[]string `json:"messages,omitempty"` // none too, when asked for
}

func (r *Registry) postCompatibility(q *request) (any, error) {
	v := view{r.view()}
	var live []projections.SchemaVersion
	for _, s := range v.versions(normalizeSubject(q.args[0])) {
		if !s.Deleted {
			live = append(live, s)
		}
	}
	return q.compatibility(v, live)
}

func (r *Registry) postCompatibilityWith(q *request) (any, error) {
	v := view{r.view()}
	number, err := versionOf(q.args[1])
	if err != nil {
		return nil, err
	}
	found, ok := v.get(normalizeSubject(q.args[0]), number, false)
	switch {
	case ok:
		return q.compatibility(v, []projections.SchemaVersion{found})
	case number != latest:
		return nil, versionNotFound(number)
	}
	return q.compatibility(v, nil)
}

// compatibility tests the schema of the body against the versions by the subject's level.
func (q *request) compatibility(v view, versions []projections.SchemaVersion) (any, error) {
	var body schemaRequest
	if err := q.decode(&body); err != nil {
		return nil, err
	}
	verbose := q.flag("verbose")
	messages, err := q.test(v, &body, versions)
	if e, is := err.(*Error); is && e.Code == 42201 && verbose {
		messages, err = []string{e.Message}, nil
	}
	if err != nil {
		return nil, err
	}
	a := &compatibilityAnswer{Compatible: len(messages) == 0}
	if verbose {
		messages = append([]string{}, messages...)
		a.Messages = &messages
	}
	return a, nil
}

func (q *request) test(v view, body *schemaRequest, versions []projections.SchemaVersion) ([]string, error) {
	s, err := submit(normalizeSubject(q.args[0]), body)
	if err != nil {
		return nil, err
	}
	config := v.configInScope(s.subject)
	m, err := v.canonicalize(q.ctx, config, s, true, q.flag("normalize") || isOn(config.Normalize))
	if err != nil {
		return nil, err
	}
	if m == nil {
		return nil, invalidSchema("Empty schema")
	}
	return v.incompatible(q.ctx, config, &candidate{s.content, m}, versions)
}

// scope of a config or mode: the default context itself is the global one.
func (q *request) scope() string {
	if len(q.args) == 0 || isDefaultContext(q.args[0]) {
		return ""
	}
	return normalizeSubject(q.args[0])
}

func (r *Registry) getConfig(q *request) (any, error) {
	v, scope := view{r.view()}, q.scope()
	if q.flag("defaultToGlobal") {
		return answerConfig(v.configInScope(scope)), nil
	}
	c := v.ownConfig(scope)
	if c == nil {
		return nil, fail(40408, "Subject '%s' does not have subject-level compatibility configured", scope)
	}
	return answerConfig(c), nil
}

func (r *Registry) setConfig(q *request) (any, error) {
	var body configRequest
	if err := q.decode(&body); err != nil {
		return nil, err
	}
	scope := q.scope()
	if !validSubject(scope, true) {
		return nil, invalidSubject(q.args[0])
	}
	return r.putConfig(q.ctx, q.cause(), scope, body)
}

func (r *Registry) delConfig(q *request) (any, error) {
	return r.deleteConfig(q.ctx, q.cause(), q.scope())
}

func (r *Registry) getMode(q *request) (any, error) {
	v, scope := view{r.view()}, q.scope()
	if q.flag("defaultToGlobal") {
		return answerMode(v.modeInScope(scope)), nil
	}
	m := v.ownMode(scope)
	if m == "" {
		return nil, fail(40409, "Subject '%s' does not have subject-level mode configured", scope)
	}
	return answerMode(m), nil
}

func (r *Registry) setMode(q *request) (any, error) {
	var body modeAnswer
	if err := q.decode(&body); err != nil {
		return nil, err
	}
	scope := q.scope()
	if !validSubject(scope, true) {
		return nil, invalidSubject(q.args[0])
	}
	return &body, r.putMode(q.ctx, q.cause(), scope, body.Mode, q.flag("force"))
}

func (r *Registry) delMode(q *request) (any, error) {
	old, err := r.deleteMode(q.ctx, q.cause(), q.scope(), q.flag("recursive"))
	if err == nil && old.Mode == nil {
		return struct{}{}, nil
	}
	return old, err
}

func (r *Registry) getContexts(q *request) (any, error) {
	all := append([]string{projections.DefaultContext}, view{r.view()}.contexts()...)
	var names []string
	for _, name := range all {
		if strings.HasPrefix(name, q.query.Get("contextPrefix")) {
			names = append(names, name)
		}
	}
	return page(q, names, 0)
}

func (r *Registry) delContext(q *request) (any, error) {
	if err := r.deleteContext(q.ctx, q.cause(), normalizeSubject(q.args[0])); err != nil {
		return nil, err
	}
	return nothing{}, nil
}

// ReferenceVersion is the release of Confluent's registry whose answers these are.
const ReferenceVersion = "8.1.5"

func (r *Registry) getServerVersion(*request) (any, error) {
	return map[string]string{"version": ReferenceVersion, "commitId": "doze"}, nil
}

func (r *Registry) getClusterID(*request) (any, error) {
	clusters := map[string]string{"kafka-cluster": r.view().ClusterID, "schema-registry-cluster": "schema-registry"}
	return map[string]any{"scope": map[string]any{"path": []string{}, "clusters": clusters}}, nil
}

func (r *Registry) getDeployment(*request) (any, error) {
	return map[string][]string{"attributes": {}}, nil
}
