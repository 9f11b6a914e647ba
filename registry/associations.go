package registry

import (
	"cmp"
	"slices"
	"strings"

	"doze/journal"
	"doze/projections"
)

// Lifecycles of associations. With a strong one the resource owns the subject: the subject is called after it, holds what the
// association was made with, and can go with it. A weak one only says which subject is used.
const (
	lifecycleStrong = "STRONG"
	lifecycleWeak   = "WEAK"
)

const (
	topicResource = "topic"
	anyName       = "-" // in the place of a namespace or a name
	maxName       = 256
)

func subjectAssociated(subject string) *Error {
	return fail(40904, "An association already exists for subject '%s'", subject)
}

func noLiveVersion(subject string) *Error {
	return fail(40907, "No active (non-deleted) version exists for subject '%s'", subject)
}

func invalidAssociation(property, format string, args ...any) *Error {
	return fail(42212, "The association has an invalid value of '"+property+"': "+format, args...)
}

func lifecycleOf(a *projections.Association) string {
	if a.Strong {
		return lifecycleStrong
	}
	return lifecycleWeak
}

// associationFilter says which associations are meant; what is empty is any.
type associationFilter struct {
	resourceType string
	of           []string
	lifecycle    string
}

func (f *associationFilter) matches(a *projections.Association) bool {
	return (f.resourceType == "" || a.ResourceType == f.resourceType) && (len(f.of) == 0 || slices.Contains(f.of, a.Of)) &&
		(f.lifecycle == "" || f.lifecycle == lifecycleOf(a))
}

// pick are those of a list that match, in the order in which clients see them.
func (f *associationFilter) pick(each func(func(*projections.Association) bool)) (found []*projections.Association) {
	each(func(a *projections.Association) bool {
		if f.matches(a) {
			found = append(found, a)
		}
		return true
	})
	slices.SortStableFunc(found, func(a, b *projections.Association) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.ResourceType, b.ResourceType),
			strings.Compare(a.Of, b.Of), strings.Compare(a.Subject, b.Subject))
	})
	return found
}

func (v view) associationsWith(subject string) []*projections.Association {
	f := associationFilter{}
	return f.pick(func(yield func(*projections.Association) bool) { v.Registry.AssociationsWith(subject, yield) })
}

func (v view) associationsOf(id string, f associationFilter) []*projections.Association {
	return f.pick(func(yield func(*projections.Association) bool) { v.Registry.AssociationsOf(id, yield) })
}

// associationsNamed are those of resources of the name in the namespace; either may be any.
func (v view) associationsNamed(name, namespace string, f associationFilter) []*projections.Association {
	in := func(yield func(*projections.Association) bool) func(*projections.Association) bool {
		return func(a *projections.Association) bool {
			return namespace != anyName && namespace != "" && a.Namespace != namespace || yield(a)
		}
	}
	return f.pick(func(yield func(*projections.Association) bool) {
		if name == anyName {
			v.Registry.Associations(in(yield))
		} else {
			v.Registry.AssociationsNamed(name, in(yield))
		}
	})
}

// owned says whether a resource owns the subject.
func (v view) owned(subject string) bool {
	return slices.ContainsFunc(v.associationsWith(subject), func(a *projections.Association) bool { return a.Strong })
}

// refersToOwned refuses references to subjects that a resource owns.
func (v view) refersToOwned(subject string, refs []journal.SchemaReference) error {
	own, _ := projections.SplitSubject(subject)
	for _, ref := range refs {
		if v.owned(projections.QualifyReference(own, ref.Subject)) {
			return notPermitted("Subject '%s' has a strong association and cannot be referenced", ref.Subject)
		}
	}
	return nil
}

// lastOfAssociation says whether the subject has an association and no other version that is not hidden.
func (v view) lastOfAssociation(subject string, version int32) bool {
	if len(v.associationsWith(subject)) == 0 {
		return false
	}
	return !slices.ContainsFunc(v.versions(subject), func(s projections.SchemaVersion) bool { return !s.Deleted && s.Version != version })
}

// referred says whether any schema, hidden ones too, refers to a version of the subject.
func (v view) referred(subject string) bool {
	return slices.ContainsFunc(v.versions(subject), func(s projections.SchemaVersion) bool { return len(v.referrers(subject, s.Version, true)) > 0 })
}

// ofNewestResource are those of one resource: the one that was changed last.
func ofNewestResource(all []*projections.Association) []*projections.Association {
	if len(all) == 0 {
		return nil
	}
	newest := slices.MaxFunc(all, func(a, b *projections.Association) int {
		return cmp.Or(cmp.Compare(a.Updated, b.Updated), cmp.Compare(a.Created, b.Created), strings.Compare(a.ResourceID, b.ResourceID))
	})
	return slices.DeleteFunc(slices.Clone(all), func(a *projections.Association) bool { return a.ResourceID != newest.ResourceID })
}
