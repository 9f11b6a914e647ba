package projections

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"doze/journal"
)

// registryEvents furnish every table of the registry.
var registryEvents = []journal.Event{
	&journal.SchemaRegistered{Subject: "common", Version: 1, ID: 1, GUID: [16]byte{1}, Type: "AVRO", Schema: `"string"`},
	&journal.SchemaRegistered{
		Subject: "orders-value", Version: 1, ID: 2, GUID: [16]byte{2}, Type: "JSON", Schema: "{}", Metadata: "{}", RuleSet: "{}",
		References: []journal.SchemaReference{{Name: "c", Subject: "common", Version: 1}},
	},
	&journal.SchemaRegistered{Subject: "orders-value", Version: 2, ID: 1, GUID: [16]byte{1}, Type: "AVRO", Schema: `"string"`},
	&journal.SchemaRegistered{
		Subject: ":.lab:s", Version: 1, ID: 1, GUID: [16]byte{2}, Type: "JSON", Schema: "{}",
		References: []journal.SchemaReference{{Name: "c", Subject: "t", Version: 1}},
	},
	&journal.SchemaVersionsDeleted{Subject: "orders-value", Versions: []int32{1}},
	&journal.RegistryConfigSet{Compatibility: "FULL"},
	&journal.RegistryConfigSet{Scope: "orders-value", Alias: "common", Normalize: journal.SwitchOn},
	&journal.RegistryModeSet{Scope: ":.lab:", Mode: "IMPORT"},
	&journal.AssociationSet{ResourceID: "r1", ResourceType: "topic", Of: "value", Namespace: "lkc", Name: "orders", Subject: "common", GUID: [16]byte{8}, Created: 5},
	&journal.AssociationSet{ResourceID: "r1", ResourceType: "topic", Of: "key", Namespace: "lkc", Name: "orders", Subject: ":.lab:s", GUID: [16]byte{9}, Strong: true, Frozen: true, Created: 5},
}

func TestSubjectsAndContexts(t *testing.T) {
	for subject, want := range map[string][2]string{
		"a": {".", "a"}, ":.c:a": {".c", "a"}, ":.:a": {".", "a"}, ":.c": {".c", ""}, ":.c:": {".c", ""}, ":c:a": {".", ":c:a"}, ":*:a": {"*", "a"}, "": {".", ""},
	} {
		if context, name := SplitSubject(subject); context != want[0] || name != want[1] {
			t.Errorf("%q is %q in %q, want %v", subject, name, context, want)
		}
	}
	for _, q := range [][3]string{{".", "a", "a"}, {".c", "a", ":.c:a"}, {".c", ":.d:a", ":.d:a"}, {".", ":.d:a", ":.d:a"}} {
		if got := QualifyReference(q[0], q[1]); got != q[2] {
			t.Errorf("%q in %s is %q, want %q", q[1], q[0], got, q[2])
		}
	}
}

func TestRegistryFold(t *testing.T) {
	s := furnished(t)
	r := s.Registry
	if v, ok := r.Latest("orders-value"); !ok || v.Version != 2 || v.ID != 1 {
		t.Errorf("latest is %+v", v)
	}
	if r.WithGUID(".", ID{2}).ID != 2 || r.WithGUID(".lab", ID{2}).ID != 1 || r.WithGUID(".", ID{3}) != nil {
		t.Error("guids do not lead to ids")
	}
	var uses []string
	r.UsesOf(".", 1, func(v SchemaVersion) bool { uses = append(uses, fmt.Sprint(v.Subject, v.Version)); return true })
	if strings.Join(uses, " ") != "common1 orders-value2" {
		t.Errorf("uses of id 1: %v", uses)
	}
	apply(t, s, &journal.SchemaVersionsDeleted{Subject: "orders-value", Versions: []int32{1}, Permanent: true})
	if s.Registry.Schema(".", 2) != nil || s.Registry.referrers.Len() != 1 {
		t.Error("id 2 outlives its last version")
	}
	apply(t, s, &journal.SchemaVersionsDeleted{Subject: ":.lab:s", Versions: []int32{1}})
	apply(t, s, &journal.SchemaVersionsDeleted{Subject: ":.lab:s", Versions: []int32{1}, Permanent: true}, &journal.RegistryContextDeleted{Context: ".lab"})
	if c, _ := s.Registry.Context(".lab"); c.Listed || c.LastID != 1 {
		t.Errorf("the deleted context is %+v", c)
	}
	apply(t, s, &journal.RegistryConfigDeleted{}, &journal.RegistryModeDeleted{Scope: ":.lab:"})
	foldAssociations(t, s)
	if err := s.Check(); err != nil {
		t.Error(err)
	}
}

func TestRegistryRefusesWhatDoesNotFit(t *testing.T) {
	for i, e := range []journal.Event{
		&journal.SchemaRegistered{Subject: "x", Version: 0, ID: 9},
		&journal.SchemaRegistered{Subject: ":.:x", Version: 1, ID: 9},
		&journal.SchemaRegistered{Subject: "x", Version: 1, ID: 1, GUID: [16]byte{7}},
		&journal.SchemaVersionsDeleted{Subject: "x", Versions: []int32{1}},
		&journal.SchemaVersionsDeleted{Subject: "common", Versions: []int32{1}, Permanent: true},
		&journal.SchemaVersionsDeleted{Subject: "orders-value", Versions: []int32{1}},
		&journal.RegistryConfigDeleted{Scope: "x"},
		&journal.RegistryModeDeleted{Scope: "x"},
		&journal.RegistryModeSet{Scope: "x"},
		&journal.RegistryContextDeleted{Context: ".lab"},
		&journal.RegistryContextDeleted{Context: ".none"},
		&journal.AssociationSet{ResourceID: "", ResourceType: "topic", Of: "value", Subject: "x"},
		&journal.AssociationSet{ResourceID: "r", ResourceType: "topic", Of: "value", Subject: ":.:x"},
		&journal.AssociationDeleted{ResourceID: "r2", ResourceType: "topic", Of: "value"},
	} {
		if err := furnished(t).Apply(1, 1, e); err == nil {
			t.Errorf("event %d, %T, is folded", i, e)
		}
	}
}

func TestCheckFindsABrokenRegistry(t *testing.T) {
	for want, spoil := range map[string]func(r *Registry){
		"bytes counted":     func(r *Registry) { r.bytes++ },
		"is of no version":  func(r *Registry) { r.putSchema(&Schema{Context: ".", ID: 5}) },
		"which is not":      func(r *Registry) { r.schemas.Delete(&Schema{Context: ".", ID: 1}) },
		"by its guid":       func(r *Registry) { r.guids.Delete(schemaGUID{ID{1}, r.Schema(".", 1)}) },
		"no referrer":       func(r *Registry) { r.referrers = newRegistry().referrers },
		"is no use":         func(r *Registry) { r.uses.Delete(schemaUse{".", 1, "common", 1}) },
		"which gave out":    func(r *Registry) { r.contexts.Delete(RegistryContext{Name: ".lab"}) },
		"should be":         func(r *Registry) { r.putVersion(SchemaVersion{Subject: ":.:x", Version: 1, ID: 1}) },
		"2 associations":    func(r *Registry) { r.owned.bySubject = newAssociations().bySubject },
		"versions, 5 uses;": func(r *Registry) { r.uses.ReplaceOrInsert(schemaUse{".", 9, "x", 1}) },
	} {
		s := furnished(t)
		spoil(&s.Registry)
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: found %v", want, err)
		}
	}
}

// 100,000 schemas of 500 bytes take less than 150 MiB.
func TestSchemasAreSmall(t *testing.T) {
	const n, bound = 20_000, 1_500
	before := heap()
	s := New()
	for i := range n {
		apply(t, s, &journal.SchemaRegistered{
			Subject: fmt.Sprintf("topic-%d-value", i), Version: 1, ID: int32(i + 1), GUID: [16]byte{byte(i), byte(i >> 8), byte(i >> 16)},
			Type: "AVRO", Schema: fmt.Sprintf("%0500d", i),
		})
	}
	if each := (heap() - before) / n; each > bound {
		t.Errorf("%d bytes a schema", each)
	}
	runtime.KeepAlive(s)
}

func foldAssociations(t *testing.T, s *State) {
	t.Helper()
	apply(t, s, &journal.AssociationSet{ResourceID: "r1", ResourceType: "topic", Of: "value", Namespace: "lkc", Name: "orders", Subject: "orders-value", GUID: [16]byte{8}, Created: 5})
	list := func(each func(func(*Association) bool)) string {
		var found []string
		each(func(a *Association) bool { found = append(found, a.Of+"="+a.Subject); return true })
		return strings.Join(found, " ")
	}
	if got := list(func(y func(*Association) bool) { s.Registry.AssociationsOf("r1", y) }); got != "key=:.lab:s value=orders-value" {
		t.Errorf("the resource has %s", got)
	}
	if got := list(func(y func(*Association) bool) { s.Registry.AssociationsNamed("orders", y) }); got != "key=:.lab:s value=orders-value" {
		t.Errorf("the name has %s", got)
	}
	if got := list(func(y func(*Association) bool) { s.Registry.AssociationsWith("common", y) }); got != "" {
		t.Errorf("the subject of before has %s", got)
	}
	apply(t, s, &journal.AssociationDeleted{ResourceID: "r1", ResourceType: "topic", Of: "key"})
	if got := list(s.Registry.Associations); got != "value=orders-value" {
		t.Errorf("left are %s", got)
	}
}
