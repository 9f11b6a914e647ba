package registry

import (
	"strings"
	"unicode"

	"doze/projections"
)

// normalizeSubject writes the default context away: ":.:a" is "a".
func normalizeSubject(subject string) string {
	return projections.JoinSubject(projections.SplitSubject(subject))
}

// contextPrefix is ":.context:", or empty for the default context.
func contextPrefix(subject string) string {
	context, _ := projections.SplitSubject(subject)
	return projections.JoinSubject(context, "")
}

// isDefaultContext says whether a scope is the default context itself: the global scope of configs and modes.
func isDefaultContext(scope string) bool {
	context, name := projections.SplitSubject(scope)
	return context == projections.DefaultContext && name == ""
}

// validSubject is the rule for names of subjects and of scopes of configs and modes.
func validSubject(subject string, scope bool) bool {
	context, name := projections.SplitSubject(subject)
	if strings.ContainsFunc(subject, unicode.IsControl) || len(subject) > MaxSubject {
		return false
	}
	return name != "__GLOBAL" && name != "__EMPTY" && (scope || context != projections.GlobalContext)
}

// normalizeContext is a context of a path as the prefix of its subjects.
func normalizeContext(context string) (string, bool) {
	context = strings.TrimSuffix(strings.TrimPrefix(context, ":"), ":")
	if strings.Contains(context, ":") {
		return "", false
	}
	if !strings.HasPrefix(context, ".") {
		context = "." + context
	}
	return projections.JoinSubject(context, ""), true
}

func startsWithContext(s string) bool {
	return strings.HasPrefix(s, ":.") || strings.HasPrefix(s, ":*:")
}

// view reads the registry of one state.
type view struct{ *projections.State }

// versions of the subject in order, hidden ones too.
func (v view) versions(subject string) (all []projections.SchemaVersion) {
	v.Registry.OfSubject(subject, func(s projections.SchemaVersion) bool { all = append(all, s); return true })
	return all
}

// eachInScope yields all versions of the subject; of all subjects of the context when it has no name; of all when it is global.
func (v view) eachInScope(scope string, all bool, yield func(projections.SchemaVersion) bool) {
	context, name := projections.SplitSubject(scope)
	if name != "" {
		v.Registry.OfSubject(scope, yield)
		return
	}
	v.Registry.FromSubject("", func(s projections.SchemaVersion) bool {
		own, _ := projections.SplitSubject(s.Subject)
		if !all && context != projections.GlobalContext && own != context {
			return true
		}
		return yield(s)
	})
}

// has says whether there is a version in the scope of a subject or context.
func (v view) has(scope string, deleted bool) (found bool) {
	v.eachInScope(scope, false, func(s projections.SchemaVersion) bool {
		found = deleted || !s.Deleted
		return !found
	})
	return found
}

const latest = -1

// get is the version, or the newest one that is not hidden.
func (v view) get(subject string, version int32, deleted bool) (projections.SchemaVersion, bool) {
	if version == latest {
		return v.Registry.Latest(subject)
	}
	s, found := v.Registry.Version(subject, version)
	return s, found && (deleted || !s.Deleted)
}

// contexts are those beside the default one, by name.
func (v view) contexts() (names []string) {
	v.Registry.Contexts(func(c projections.RegistryContext) bool {
		if c.Listed && c.Name != projections.DefaultContext {
			names = append(names, c.Name)
		}
		return true
	})
	return names
}

// inContexts tries the subject as it is and, when it names no context, in every known one.
func (v view) inContexts(subject string, try func(subject string) bool) {
	if try(subject) {
		return
	}
	context, name := projections.SplitSubject(subject)
	if context != projections.DefaultContext {
		return
	}
	for _, c := range v.contexts() {
		if try(projections.JoinSubject(c, name)) {
			return
		}
	}
}

// usesBySubject is the highest version of each subject that is the schema.
func (v view) usesBySubject(context string, id int32) (uses []projections.SchemaVersion) {
	v.Registry.UsesOf(context, id, func(s projections.SchemaVersion) bool {
		if last := len(uses) - 1; last >= 0 && uses[last].Subject == s.Subject {
			uses[last] = s
		} else {
			uses = append(uses, s)
		}
		return true
	})
	return uses
}

// referrers are the schemas that refer to the version; those all of whose versions are hidden only when deleted.
func (v view) referrers(subject string, version int32, deleted bool) (found []schemaID) {
	v.Registry.ReferrersOf(subject, version, func(context string, id int32) bool {
		live := deleted
		v.Registry.UsesOf(context, id, func(s projections.SchemaVersion) bool { live = live || !s.Deleted; return !live })
		if live {
			found = append(found, schemaID{context, id})
		}
		return true
	})
	return found
}

// schemaID is an id in its context.
type schemaID struct {
	Context string `json:"context"`
	ID      int32  `json:"id"`
}
