package handlers

import (
	"log/slog"
	"sync"
	"sync/atomic"

	"doze/acls"
	"doze/configs"
	"doze/projections"
	"doze/wire"
)

// authorizer answers who may do what, by the ACLs of the state. A broker without one has nil, and everybody may do
// everything.
type authorizer struct {
	rules acls.Rules
	log   *slog.Logger
	known atomic.Pointer[indexedACLs]
	mu    sync.Mutex // of who indexes anew
}

// indexedACLs is the index of the ACLs of one revision.
type indexedACLs struct {
	revision *projections.Revision
	set      *acls.Set
}

// newAuthorizer gives the authorizer that the broker was started with; nil when with none.
func newAuthorizer(static *configs.Broker, log *slog.Logger) *authorizer {
	if class, set := static.Get(configs.AuthorizerClass); !set || class == "" {
		return nil
	}
	a := &authorizer{log: log, rules: acls.Rules{SuperUsers: map[string]bool{}}}
	users, _ := static.Get(configs.SuperUsers)
	for _, name := range acls.SuperUsers(users) {
		a.rules.SuperUsers[name] = true
	}
	allow, _ := static.Get(configs.AllowIfNoACL)
	a.rules.AllowIfNone = acls.Truth(allow)
	return a
}

// set is the index of the state's ACLs, made once for all that ask after a change.
func (a *authorizer) set(state *projections.State) *acls.Set {
	revision := state.ACLs.Revision()
	if known := a.known.Load(); known != nil && known.revision == revision {
		return known.set
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if known := a.known.Load(); known != nil && known.revision == revision {
		return known.set
	}
	before := new(acls.Set)
	if known := a.known.Load(); known != nil {
		before = known.set
	}
	made := &indexedACLs{revision, before.Next(state.ACLs.Each)}
	a.known.Store(made)
	return made.set
}

// access is what one request's caller may do. The zero value may do everything: it is a broker's without an authorizer.
type access struct {
	by  *authorizer
	set *acls.Set
	who acls.Caller
	api int16
}

// access looks at the ACLs as they are now: a request is judged by one set of them, until it waits.
func (b *Broker) access(r *wire.Request) access {
	if b.authorizer == nil {
		return access{}
	}
	state, _ := b.view()
	return access{
		by: b.authorizer, set: b.authorizer.set(state), api: r.Key,
		who: acls.Caller{Principal: r.Conn.Principal(), Host: r.Conn.Host()},
	}
}

// at is the access by the ACLs of a state: a request that waits is judged anew when it goes on.
func (a access) at(state *projections.State) access {
	if a.by != nil {
		a.set = a.by.set(state)
	}
	return a
}

// guarded says whether anything can be refused.
func (a access) guarded() bool { return a.by != nil }

// may says whether the caller may do an operation on the resource of that name.
func (a access) may(o acls.Operation, t acls.ResourceType, name string) bool {
	if a.by == nil || a.set.Authorize(&a.by.rules, a.who, o, t, name) {
		return true
	}
	a.by.log.Debug("permission refused", "principal", a.who.Principal, "host", a.who.Host, "operation", o.String(),
		"resource", t.String(), "name", name, "api", a.api)
	return false
}

// mayByACL is may of what is as good as being another principal: it takes an ACL that says so, though everybody may do what no ACL is
// about. An open door to a thing is not one to somebody. Before the first ACL is made all is open, as without an authorizer.
func (a access) mayByACL(o acls.Operation, t acls.ResourceType, name string) bool {
	if a.by == nil {
		return true
	}
	rules := a.by.rules
	rules.AllowIfNone = rules.AllowIfNone && a.set.Empty()
	return a.set.Authorize(&rules, a.who, o, t, name)
}

// mayCluster is may of the cluster.
func (a access) mayCluster(o acls.Operation) bool { return a.may(o, acls.Cluster, acls.ClusterName) }

// mayAny says whether there is any resource of the type on which the caller may do the operation.
func (a access) mayAny(o acls.Operation, t acls.ResourceType) bool {
	return a.by == nil || a.set.AuthorizeAny(&a.by.rules, a.who, o, t)
}

// operations are those of the resource that the caller may do, as answers list them (KIP-430).
func (a access) operations(t acls.ResourceType, name string) int32 {
	if a.by == nil {
		return acls.Bits(acls.Operations(t)...)
	}
	return a.set.Permitted(&a.by.rules, a.who, t, name)
}

// clusterOperations are those of the cluster; none for who may not describe it.
func (a access) clusterOperations() int32 {
	if !a.mayCluster(acls.Describe) {
		return 0
	}
	return a.operations(acls.Cluster, acls.ClusterName)
}

// barred are the names among those of a list that the caller may not do the operation on; nil without an authorizer.
func barred[T any](a access, o acls.Operation, t acls.ResourceType, list []T, name func(*T) string) map[string]bool {
	if !a.guarded() {
		return nil
	}
	names := map[string]bool{}
	for i := range list {
		if n := name(&list[i]); !a.may(o, t, n) {
			names[n] = true
		}
	}
	return names
}

// nameOfTopic is the name of a topic that a request names by its id, "" of one that is not there.
func nameOfTopic(state *projections.State, name string, id [16]byte, byID bool) string {
	if !byID {
		return name
	}
	if topic := state.Topics.WithID(id); topic != nil {
		return topic.Name
	}
	return ""
}

// hidesAny says whether the caller may not describe one of the topics.
func (a access) hidesAny(topics []string) bool {
	if !a.guarded() {
		return false
	}
	for _, name := range topics {
		if !a.may(acls.Describe, acls.Topic, name) {
			return true
		}
	}
	return false
}

// itself names what is a name.
func itself(name string) string { return name }

// permitted splits things by whether the caller may do the operation on the resource that each one names. Without an authorizer
// it gives the list itself.
func permitted[T any](a access, o acls.Operation, t acls.ResourceType, list []T, name func(T) string) (may, not []T) {
	if !a.guarded() {
		return list, nil
	}
	for _, item := range list {
		if a.may(o, t, name(item)) {
			may = append(may, item)
		} else {
			not = append(not, item)
		}
	}
	return may, not
}
