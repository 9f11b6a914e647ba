package projections

import (
	"cmp"
	"fmt"
	"strings"

	"doze/journal"
)

// Association says which subject the keys or the values of a resource have: an immutable value.
type Association struct {
	journal.AssociationSet
	Updated int64 // ms
}

// associations are three orders of the same values.
type associations struct {
	byResource tree[*Association] // by id, type, key or value
	byName     tree[*Association] // by name, namespace, then as by resource
	bySubject  tree[*Association] // by subject, then as by resource
}

type associationKey struct{ id, resourceType, of string }

func compareAssociations(a, b *Association) int {
	return cmp.Or(strings.Compare(a.ResourceID, b.ResourceID), strings.Compare(a.ResourceType, b.ResourceType), strings.Compare(a.Of, b.Of))
}

func newAssociations() associations {
	return associations{
		byResource: newTree(func(a, b *Association) bool { return compareAssociations(a, b) < 0 }),
		byName: newTree(func(a, b *Association) bool {
			return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Namespace, b.Namespace), compareAssociations(a, b)) < 0
		}),
		bySubject: newTree(func(a, b *Association) bool {
			return cmp.Or(strings.Compare(a.Subject, b.Subject), compareAssociations(a, b)) < 0
		}),
	}
}

func (a *associations) clone() associations {
	return associations{a.byResource.clone(), a.byName.clone(), a.bySubject.clone()}
}

func sought(k associationKey) *Association {
	return &Association{AssociationSet: journal.AssociationSet{ResourceID: k.id, ResourceType: k.resourceType, Of: k.of}}
}

// Associations yields all, by resource.
func (r Registry) Associations(yield func(*Association) bool) {
	r.owned.byResource.Ascend(func(a *Association) bool { return yield(a) })
}

// AssociationsOf yields those of the resource with the id.
func (r Registry) AssociationsOf(id string, yield func(*Association) bool) {
	r.owned.byResource.AscendGreaterOrEqual(sought(associationKey{id: id}), func(a *Association) bool { return a.ResourceID == id && yield(a) })
}

// AssociationsNamed yields those of resources of that name, in any namespace.
func (r Registry) AssociationsNamed(name string, yield func(*Association) bool) {
	from := &Association{AssociationSet: journal.AssociationSet{Name: name}}
	r.owned.byName.AscendGreaterOrEqual(from, func(a *Association) bool { return a.Name == name && yield(a) })
}

// CountAssociations is how many there are.
func (r Registry) CountAssociations() int { return r.owned.byResource.Len() }

// AssociationsWith yields those that have the subject.
func (r Registry) AssociationsWith(subject string, yield func(*Association) bool) {
	from := &Association{AssociationSet: journal.AssociationSet{Subject: subject}}
	r.owned.bySubject.AscendGreaterOrEqual(from, func(a *Association) bool { return a.Subject == subject && yield(a) })
}

// Bytes is what the association is reckoned to take.
func (a *Association) Bytes() int64 {
	return associationBytes + int64(len(a.ResourceID)+len(a.ResourceType)+len(a.Of)+len(a.Namespace)+len(a.Name)+len(a.Subject))
}

func (r *Registry) applyAssociationSet(at int64, e *journal.AssociationSet) error {
	if e.ResourceID == "" || e.Of == "" || normalSubject(e.Subject) != e.Subject {
		return fmt.Errorf("%s of resource %q cannot have subject %q", e.Of, e.ResourceID, e.Subject)
	}
	r.putAssociation(&Association{*e, at})
	return nil
}

func normalSubject(subject string) string { return JoinSubject(SplitSubject(subject)) }

func (r *Registry) putAssociation(a *Association) {
	if old, had := r.owned.byResource.ReplaceOrInsert(a); had {
		r.owned.byName.Delete(old)
		r.owned.bySubject.Delete(old)
		r.bytes -= old.Bytes()
	}
	r.owned.byName.ReplaceOrInsert(a)
	r.owned.bySubject.ReplaceOrInsert(a)
	r.bytes += a.Bytes()
}

func (r *Registry) deleteAssociation(k associationKey) error {
	old, had := r.owned.byResource.Delete(sought(k))
	if !had {
		return fmt.Errorf("%s of resource %q has no subject of its own", k.of, k.id)
	}
	r.owned.byName.Delete(old)
	r.owned.bySubject.Delete(old)
	r.bytes -= old.Bytes()
	return nil
}

// checkAssociations holds the three orders against each other.
func (r Registry) checkAssociations(bytes *int64) (err error) {
	n := r.owned.byResource.Len()
	if r.owned.byName.Len() != n || r.owned.bySubject.Len() != n {
		return fmt.Errorf("%d associations, %d by subject, %d by name", n, r.owned.bySubject.Len(), r.owned.byName.Len())
	}
	r.Associations(func(a *Association) bool {
		*bytes += a.Bytes()
		named, _ := r.owned.byName.Get(a)
		with, _ := r.owned.bySubject.Get(a)
		if named != a || with != a {
			err = fmt.Errorf("the association of %s of resource %q is not the same by name and subject", a.Of, a.ResourceID)
		}
		return err == nil
	})
	return err
}

func (a *Association) encode(w *rowWriter) {
	for _, text := range []string{a.ResourceID, a.ResourceType, a.Of, a.Namespace, a.Name, a.Subject} {
		w.string(text)
	}
	w.id(a.GUID)
	w.bool(a.Strong)
	w.bool(a.Frozen)
	w.int(a.Created)
	w.int(a.Updated)
}

// Fields shows the resource and the subject.
func (a *Association) Fields() []Field {
	return []Field{
		{"resource", a.ResourceID}, {"type", a.ResourceType}, {"of", a.Of}, {"namespace", a.Namespace}, {"name", a.Name}, {"subject", a.Subject},
		{"strong", a.Strong}, {"frozen", a.Frozen}, {"created", a.Created}, {"updated", a.Updated},
	}
}

func eachAssociation(s *State, yield func(row) bool) {
	s.Registry.Associations(func(a *Association) bool { return yield(a) })
}

func loadAssociation(s *State, r *rowReader) {
	a := &Association{}
	for _, text := range []*string{&a.ResourceID, &a.ResourceType, &a.Of, &a.Namespace, &a.Name, &a.Subject} {
		*text = r.string()
	}
	a.GUID = r.id()
	a.Strong, a.Frozen, a.Created, a.Updated = r.bool(), r.bool(), r.int(), r.int()
	if r.err == nil && (a.ResourceID == "" || a.Of == "" || normalSubject(a.Subject) != a.Subject) {
		r.fail(errRowForm)
	}
	if r.err == nil {
		s.Registry.putAssociation(a)
	}
}
