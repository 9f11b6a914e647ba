package main

import (
	"context"

	"github.com/confluentinc/confluent-kafka-go/v2/schemaregistry"
)

func (t *teller) evolves(ctx context.Context) {
	first := t.info(t.first)
	id := must(t.client().Register(t.subject, first, false))
	t.same("a schema that is registered again keeps its id", must(t.client().Register(t.subject, first, false)), id)
	t.same("a schema is looked up", must(t.client().GetID(t.subject, first, false)), id)
	old := t.send(ctx, writing{id: id}, "O", `{"a":7}`)
	t.same("a value of a schema by its id comes back", a(must(t.read(old, "O", false))), 7.0)
	t.same("its record names the schema", idOf(old), id)
	t.same("an incompatible schema is told", must(t.client().TestSubjectCompatibility(t.subject, t.info(t.wrong))), false)
	_, err := t.client().Register(t.subject, t.info(t.wrong), false)
	t.refused("and refused with 40901", err, 40901)
	_, err = t.client().Register(t.subject, t.info(t.broken), false)
	t.refused("what is no schema is refused with 42201", err, 42201)
	next := must(t.client().Register(t.subject, t.info(t.second), false))
	t.same("a schema evolves", must(t.client().GetAllVersions(t.subject)), []int{1, 2})
	both := t.send(ctx, writing{latest: true}, "O", `{"a":8,"b":"x"}`)
	t.same("use.latest.version names the latest", idOf(both), next)
	t.same("and writes by it", must(t.read(both, "O", false)), decoded([]byte(`{"a":8,"b":"x"}`)))
	t.same("use.latest.version reads what an older one wrote", a(must(t.read(old, "O", true))), 7.0)
	t.removes(old, both)
}

func a(v any) any { return v.(map[string]any)["a"] }

// removes takes away the first version, then the subject, softly and for good: what can be read of the records follows.
func (t *teller) removes(old, both []byte) {
	_, err := t.client().DeleteSubjectVersion(t.subject, 1, true)
	t.refused("what is not soft-deleted cannot be deleted", err, 40407)
	t.same("a version is soft-deleted", must(t.client().DeleteSubjectVersion(t.subject, 1, false)), 1)
	_, err = t.client().GetSchemaMetadata(t.subject, 1)
	t.refused("then it is 40402", err, 40402)
	t.same("with deleted it is still there", must(t.client().GetSchemaMetadataIncludeDeleted(t.subject, 1, true)).Version, 1)
	t.same("and its records can be read", a(must(t.read(old, "O", false))), 7.0)
	t.same("a version is deleted for good", must(t.client().DeleteSubjectVersion(t.subject, 1, true)), 1)
	_, err = t.read(old, "O", false)
	t.refused("then its records are 40403", err, 40403)
	_, err = t.client().DeleteSubject(t.subject, true)
	t.refused("a subject that is not soft-deleted cannot be", err, 40405)
	t.same("a subject is soft-deleted", must(t.client().DeleteSubject(t.subject, false)), []int{2})
	_, err = t.client().GetLatestSchemaMetadata(t.subject)
	t.refused("then it is 40401", err, 40401)
	t.same("and its records can be read too", a(must(t.read(both, "O", false))), 8.0)
	t.same("a subject is deleted for good", must(t.client().DeleteSubject(t.subject, true)), []int{2})
	_, err = t.read(both, "O", false)
	t.refused("then all its records are 40403", err, 40403)
}

const order = `{"item":{"n":7}}`

func (t *teller) refers(ctx context.Context) {
	must(t.client().Register(t.part, t.info(t.item), false))
	_, err := t.client().Register(t.subject, t.info(t.order, schemaregistry.Reference{Name: t.itemName, Subject: t.part, Version: 9}), false)
	t.refused("a reference to nothing is refused", err, 42201)
	reference := schemaregistry.Reference{Name: t.itemName, Subject: t.part, Version: 1}
	must(t.client().Register(t.subject, t.info(t.order, reference), false))
	t.same("references are kept", must(t.client().GetLatestSchemaMetadata(t.subject)).References, []schemaregistry.Reference{reference})
	record := t.send(ctx, writing{latest: true}, "Order", order)
	t.same("a value of two schemas comes back", must(t.read(record, "Order", false)), decoded([]byte(order)))
	_, err = t.client().DeleteSubjectVersion(t.part, 1, false)
	t.refused("what is referred to cannot be deleted", err, 42206)
	must(t.client().DeleteSubject(t.subject, false))
	must(t.client().DeleteSubject(t.subject, true))
	t.same("but after what refers to it", must(t.client().DeleteSubject(t.part, false)), []int{1})
	must(t.client().DeleteSubject(t.part, true))
}

// registers lets the serializer register the schema that it makes of a type; that of Protobuf registers what it imports, too.
func (t *teller) registers(ctx context.Context) {
	record := t.send(ctx, writing{register: true}, "Order", order)
	t.same("a serializer registers", must(t.read(record, "Order", false)), decoded([]byte(order)))
	t.same("the record names what it registered", idOf(record), must(t.client().GetLatestSchemaMetadata(t.subject)).ID)
}
