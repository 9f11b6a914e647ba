package registry

import (
	"net/http"
	"strings"
)

// route is a method and path with its handler. A wildcard of the pattern is any one part of a path, an empty one only when it is
// written {*}.
type route struct {
	method  string
	pattern string
	body    bool // has one
	serve   func(r *Registry, q *request) (any, error)

	parts []string
}

const (
	get  = http.MethodGet
	post = http.MethodPost
	put  = http.MethodPut
	del  = http.MethodDelete
)

// routes is the one list of what is answered. What is not here is a JSON 404, or 405 for another method of a path that is.
var routes = []*route{
	{method: get, pattern: "/", serve: (*Registry).getRoot},
	{method: post, pattern: "/", body: true, serve: (*Registry).getRoot},

	{method: get, pattern: "/subjects", serve: (*Registry).getSubjects},
	{method: post, pattern: "/subjects/{subject}", body: true, serve: (*Registry).postLookup},
	{method: del, pattern: "/subjects/{subject}", serve: (*Registry).delSubject},
	{method: get, pattern: "/subjects/{subject}/metadata", serve: (*Registry).getWithMetadata},
	{method: get, pattern: "/subjects/{subject}/versions", serve: (*Registry).getVersions},
	{method: post, pattern: "/subjects/{subject}/versions", body: true, serve: (*Registry).postVersion},
	{method: get, pattern: "/subjects/{subject}/versions/{version}", serve: (*Registry).getVersion},
	{method: del, pattern: "/subjects/{subject}/versions/{version}", serve: (*Registry).delVersion},
	{method: get, pattern: "/subjects/{subject}/versions/{version}/schema", serve: (*Registry).getVersionText},
	{method: get, pattern: "/subjects/{subject}/versions/{version}/referencedby", serve: (*Registry).getReferencedBy},
	{method: post, pattern: "/subjects/{subject}/versions/{version}/tags", body: true, serve: (*Registry).postTags},

	{method: get, pattern: "/schemas", serve: (*Registry).getSchemas},
	{method: get, pattern: "/schemas/types", serve: (*Registry).getTypes},
	{method: get, pattern: "/schemas/ids/{id}", serve: (*Registry).getByID},
	{method: get, pattern: "/schemas/ids/{id}/schema", serve: (*Registry).getTextByID},
	{method: get, pattern: "/schemas/ids/{id}/subjects", serve: (*Registry).getSubjectsByID},
	{method: get, pattern: "/schemas/ids/{id}/versions", serve: (*Registry).getVersionsByID},
	{method: get, pattern: "/schemas/guids/{guid}", serve: (*Registry).getByGUID},
	{method: get, pattern: "/schemas/guids/{guid}/ids", serve: (*Registry).getIDsByGUID},

	{method: post, pattern: "/compatibility/subjects/{subject}/versions", body: true, serve: (*Registry).postCompatibility},
	{method: post, pattern: "/compatibility/subjects/{subject}/versions/{version}", body: true, serve: (*Registry).postCompatibilityWith},

	{method: get, pattern: "/config", serve: (*Registry).getConfig},
	{method: put, pattern: "/config", body: true, serve: (*Registry).setConfig},
	{method: del, pattern: "/config", serve: (*Registry).delConfig},
	{method: get, pattern: "/config/{subject}", serve: (*Registry).getConfig},
	{method: put, pattern: "/config/{subject}", body: true, serve: (*Registry).setConfig},
	{method: del, pattern: "/config/{subject}", serve: (*Registry).delConfig},

	{method: get, pattern: "/mode", serve: (*Registry).getMode},
	{method: put, pattern: "/mode", body: true, serve: (*Registry).setMode},
	{method: del, pattern: "/mode", serve: (*Registry).delMode},
	{method: get, pattern: "/mode/{subject}", serve: (*Registry).getMode},
	{method: put, pattern: "/mode/{subject}", body: true, serve: (*Registry).setMode},
	{method: del, pattern: "/mode/{subject}", serve: (*Registry).delMode},

	{method: get, pattern: "/contexts", serve: (*Registry).getContexts},
	{method: del, pattern: "/contexts/{context}", serve: (*Registry).delContext},

	{method: get, pattern: "/v1/metadata/id", serve: (*Registry).getClusterID},
	{method: get, pattern: "/v1/metadata/version", serve: (*Registry).getServerVersion},
	{method: get, pattern: "/v1/metadata/deployment", serve: (*Registry).getDeployment},

	// Clients ask for the association of a topic before they register; without one they go on by the topic's name.
	{method: get, pattern: "/associations/subjects/{subject}", serve: (*Registry).getAssociationsOfSubject},
	{method: get, pattern: "/associations/resources/{id}", serve: (*Registry).getAssociationsOfResource},
	{method: get, pattern: "/associations/resources/{*}/{name}", serve: (*Registry).getAssociationsNamed},
	{method: post, pattern: "/associations", body: true, serve: (*Registry).postAssociations},
	{method: put, pattern: "/associations/resources/{id}", body: true, serve: (*Registry).putAssociations},
	{method: del, pattern: "/associations/resources/{id}", serve: (*Registry).delAssociations},
	{method: post, pattern: "/associations:batchGet", body: true, serve: (*Registry).postAssociationQueries},
	{method: post, pattern: "/associations:batchMutate", body: true, serve: (*Registry).postAssociationChanges},
}

func init() {
	for _, r := range routes {
		if path := strings.Trim(r.pattern, "/"); path != "" {
			r.parts = strings.Split(path, "/")
		}
	}
}

// match finds the route of a path.
func (q *request) match(path []string) error {
	method, known := q.Method, false
	if method == http.MethodHead {
		method = get
	}
	for _, r := range routes {
		args, ok := r.args(path)
		if !ok {
			continue
		}
		known = true
		if r.method == method {
			q.route, q.args = r, args
			return nil
		}
	}
	if known {
		return plain(http.StatusMethodNotAllowed)
	}
	return plain(http.StatusNotFound)
}

func (r *route) args(path []string) (args []string, ok bool) {
	if len(path) != len(r.parts) {
		return nil, false
	}
	for i, part := range r.parts {
		switch {
		case part == "{*}":
			args = append(args, path[i])
		case part[0] == '{':
			if path[i] == "" {
				return nil, false
			}
			args = append(args, path[i])
		case part != path[i]:
			return nil, false
		}
	}
	return args, true
}
