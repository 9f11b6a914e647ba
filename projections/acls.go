package projections

import (
	"fmt"

	"doze/acls"
	"doze/journal"
)

// ACLs holds the access control list: every ACL that was created and not deleted, in the order of acls.Binding.
type ACLs struct {
	tree     tree[acls.Binding]
	revision *Revision // another one after each change
	bytes    int64
}

func newACLs() ACLs {
	return ACLs{revision: new(Revision), tree: newTree(func(a, b acls.Binding) bool { return a.Compare(b) < 0 })}
}

func (a *ACLs) clone() ACLs { return ACLs{a.tree.clone(), a.revision, a.bytes} }

// Revision differs between two states of one process whose ACLs differ.
func (a ACLs) Revision() *Revision { return a.revision }

// Len counts the ACLs.
func (a ACLs) Len() int { return a.tree.Len() }

// Has says whether there is an ACL that says just this.
func (a ACLs) Has(b acls.Binding) bool { return a.tree.Has(b) }

// Each yields the ACLs in order.
func (a ACLs) Each(yield func(acls.Binding) bool) { a.tree.Ascend(yield) }

// Bytes is what all ACLs are reckoned to take.
func (a ACLs) Bytes() int64 { return a.bytes }

const aclBytes = 192 // in the tree and in the index of who asks

// BytesOfACL is what an ACL is reckoned to take.
func BytesOfACL(b acls.Binding) int64 {
	return aclBytes + int64(len(b.Name)+len(b.Principal)+len(b.Host))
}

func (a *ACLs) put(b acls.Binding) {
	if _, had := a.tree.ReplaceOrInsert(b); !had {
		a.bytes += BytesOfACL(b)
	}
	a.revision = new(Revision)
}

func bindingOf(e *journal.AclCreated) acls.Binding {
	return acls.Binding{
		Pattern: acls.Pattern{Type: acls.ResourceType(e.Type), Name: e.Name, Kind: acls.PatternType(e.Pattern)},
		Entry: acls.Entry{
			Principal: e.Principal, Host: e.Host, Operation: acls.Operation(e.Operation), Permission: acls.Permission(e.Permission),
		},
	}
}

// applyOfACL folds the events of this area; known is false for others.
func (s *State) applyOfACL(event journal.Event) (known bool, err error) {
	switch e := event.(type) {
	case *journal.AclCreated:
		return true, s.applyACLCreated(e)
	case *journal.AclDeleted:
		return true, s.applyACLDeleted(e)
	}
	return false, nil
}

func (s *State) applyACLCreated(e *journal.AclCreated) error {
	b := bindingOf(e)
	if why := b.Refusal(); why != "" {
		return fmt.Errorf("acl %v: %s", b, why)
	}
	if s.ACLs.Has(b) {
		return fmt.Errorf("acl %v is there already", b)
	}
	s.ACLs.put(b)
	return nil
}

func (s *State) applyACLDeleted(e *journal.AclDeleted) error {
	b := bindingOf((*journal.AclCreated)(e))
	if _, had := s.ACLs.tree.Delete(b); !had {
		return fmt.Errorf("acl %v is not there", b)
	}
	s.ACLs.bytes -= BytesOfACL(b)
	s.ACLs.revision = new(Revision)
	return nil
}

// aclRow is an ACL as snapshots and dumps have it.
type aclRow struct{ acls.Binding }

func (r aclRow) encode(w *rowWriter) {
	w.int(int64(r.Type))
	w.string(r.Name)
	w.int(int64(r.Pattern.Kind))
	w.string(r.Principal)
	w.string(r.Host)
	w.int(int64(r.Operation))
	w.int(int64(r.Permission))
}

// Fields shows what numbers mean by Kafka's names.
func (r aclRow) Fields() []Field {
	return []Field{
		{"type", r.Type.String()}, {"name", r.Name}, {"pattern", r.Pattern.Kind.String()}, {"principal", r.Principal},
		{"host", r.Host}, {"operation", r.Operation.String()}, {"permission", r.Permission.String()},
	}
}

func eachACL(s *State, yield func(row) bool) {
	s.ACLs.Each(func(b acls.Binding) bool { return yield(aclRow{b}) })
}

func loadACL(s *State, r *rowReader) {
	small := func() int8 {
		n := r.int()
		if n != int64(int8(n)) {
			r.fail(errRowForm)
		}
		return int8(n)
	}
	b := bindingOf(&journal.AclCreated{
		Type: small(), Name: r.string(), Pattern: small(), Principal: r.string(), Host: r.string(), Operation: small(), Permission: small(),
	})
	if why := b.Refusal(); why != "" {
		r.fail(fmt.Errorf("acl %v: %s", b, why))
		return
	}
	s.ACLs.put(b)
}

// checkACLs holds each ACL to what may be one, and the table's size to what it counts.
func (s *State) checkACLs() (err error) {
	bytes := int64(0)
	s.ACLs.Each(func(b acls.Binding) bool {
		bytes += BytesOfACL(b)
		if why := b.Refusal(); why != "" {
			err = fmt.Errorf("acl %v: %s", b, why)
		}
		return err == nil
	})
	if err == nil && bytes != s.ACLs.bytes {
		err = fmt.Errorf("bytes counted: acls %d; there are %d", s.ACLs.bytes, bytes)
	}
	return err
}
