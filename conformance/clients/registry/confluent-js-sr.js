'use strict'
// Walks @confluentinc/schemaregistry: one story, told with each of the three kinds of schema. Records go through the broker with kafkajs.

const { create, createFileRegistry, createRegistry } = require('@bufbuild/protobuf')
const { FieldDescriptorProto_Label, FieldDescriptorProto_Type, FileDescriptorProtoSchema } = require('@bufbuild/protobuf/wkt')
const sr = require('@confluentinc/schemaregistry')
const { URL, claim, main, refused, same } = require('./walk')

/** client has no cache of what another one did. */
const client = () => new sr.SchemaRegistryClient({ baseURLs: [URL], maxRetries: 0 })
const error = e => [e.status, e.errorCode]
const LATEST = { autoRegisterSchemas: false, useLatestVersion: true }

const avro = {
  type: 'AVRO',
  first: '{"type":"record","name":"O","fields":[{"name":"a","type":"int"}]}',
  second: '{"type":"record","name":"O","fields":[{"name":"a","type":"int"},{"name":"b","type":"string","default":"none"}]}',
  wrong: '{"type":"record","name":"O","fields":[{"name":"a","type":"string"}]}',
  broken: '{"type":"record"}',
  part: ['shop.Item', '{"type":"record","name":"Item","namespace":"shop","fields":[{"name":"n","type":"int"}]}'],
  whole: '{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"item","type":"shop.Item"}]}',
  value: (_, fields) => fields,
  writer: conf => new sr.AvroSerializer(client(), sr.SerdeType.VALUE, conf),
  reader: (conf = {}) => new sr.AvroDeserializer(client(), sr.SerdeType.VALUE, conf),
}

const object = properties => JSON.stringify({
  $schema: 'http://json-schema.org/draft-07/schema#', title: 'O', type: 'object', additionalProperties: false, properties,
})

const json = {
  type: 'JSON',
  first: object({ a: { type: 'integer' } }),
  second: object({ a: { type: 'integer' }, b: { type: 'string' } }),
  wrong: object({ a: { type: 'boolean' } }),
  broken: '{"type":7}',
  part: ['item.json', object({ n: { type: 'integer' } })],
  whole: object({ item: { $ref: 'item.json' } }),
  value: (_, fields) => fields,
  writer: conf => new sr.JsonSerializer(client(), sr.SerdeType.VALUE, { ...conf, validate: true }),
  reader: (conf = {}) => new sr.JsonDeserializer(client(), sr.SerdeType.VALUE, { ...conf, validate: true }),
}

function descriptors() {
  const { INT32, MESSAGE, STRING } = FieldDescriptorProto_Type
  const label = FieldDescriptorProto_Label.OPTIONAL
  const file = (name, message, field, dependency = []) =>
    create(FileDescriptorProtoSchema, { name, package: 'shop', syntax: 'proto3', dependency, messageType: [{ name: message, field }] })
  const item = file('item.proto', 'Item', [{ name: 'n', number: 1, type: INT32, label }])
  const order = file('order.proto', 'Order', [{ name: 'item', number: 1, type: MESSAGE, typeName: '.shop.Item', label }], ['item.proto'])
  const o = file('o.proto', 'O', [{ name: 'a', number: 1, type: INT32, label }, { name: 'b', number: 2, type: STRING, label }])
  const known = new Map([item, order, o].map(f => [f.name, f]))
  return ['o.proto', 'order.proto'].map(name => createFileRegistry(known.get(name), dependency => known.get(dependency)))
}

const files = descriptors()
const message = name => files.map(f => f.getMessage(`shop.${name}`)).find(Boolean)
const proto = (imports, ...lines) => ['syntax = "proto3";', 'package shop;', ...imports.map(i => `import "${i}";`), ...lines].join('\n')

const protobuf = {
  type: 'PROTOBUF',
  first: proto([], 'message O { int32 a = 1; }'),
  second: proto([], 'message O { int32 a = 1; string b = 2; }'),
  wrong: proto([], 'message O { string a = 1; }'),
  broken: 'message {',
  part: ['item.proto', proto([], 'message Item { int32 n = 1; }')],
  whole: proto(['item.proto'], 'message Order { Item item = 1; }'),
  value: (name, fields) => create(message(name), fields),
  writer: conf => new sr.ProtobufSerializer(client(), sr.SerdeType.VALUE, { ...conf, registry: createRegistry(...files) }),
  reader: (conf = {}) => new sr.ProtobufDeserializer(client(), sr.SerdeType.VALUE, conf),
}

/** plain leaves of a message what a reader of the walk cares for. */
const plain = v => JSON.parse(JSON.stringify(v, (key, value) => (key.startsWith('$') ? undefined : value)))
const topic = kind => `js-${kind.type.toLowerCase()}`

async function send(broker, kind, conf, name, fields) {
  return broker.through(topic(kind), await kind.writer(conf).serialize(topic(kind), kind.value(name, fields)))
}

async function read(kind, bytes, conf) {
  return plain(await kind.reader(conf).deserialize(topic(kind), bytes))
}

async function evolves(broker, kind) {
  const { type: schemaType } = kind
  const subject = `${topic(kind)}-value`
  const says = what => `${schemaType}: ${what}`
  const id = await client().register(subject, { schemaType, schema: kind.first })
  same(says('a schema that is registered again keeps its id'), await client().register(subject, { schemaType, schema: kind.first }), id)
  same(says('a schema is looked up'), await client().getId(subject, { schemaType, schema: kind.first }), id)
  const old = await broker.through(topic(kind), await kind.writer({ useSchemaId: id }).serialize(topic(kind), kind.value('O', { a: 7 })))
  same(says('a value of a schema by its id comes back'), (await read(kind, old)).a, 7)
  same(says('its record names the schema'), old.readInt32BE(1), id)
  const incompatible = { schemaType, schema: kind.wrong }
  same(says('an incompatible schema is told'), await client().testSubjectCompatibility(subject, incompatible), false)
  await refused(says('and refused with 40901'), client().register(subject, incompatible), error, [409, 40901])
  const invalid = client().register(subject, { schemaType, schema: kind.broken })
  await refused(says('what is no schema is refused with 42201'), invalid, error, [422, 42201])
  const next = await client().register(subject, { schemaType, schema: kind.second })
  same(says('a schema evolves'), await client().getAllVersions(subject), [1, 2])
  const both = await send(broker, kind, LATEST, 'O', { a: 8, b: 'x' })
  same(says('use.latest.version writes the latest'), [both.readInt32BE(1), await read(kind, both)], [next, { a: 8, b: 'x' }])
  same(says('use.latest.version reads what an older one wrote'), (await read(kind, old, LATEST)).a, 7)
  await removes(kind, subject, says, old, both)
}

/** removes takes away the first version, then the subject, softly and for good: what can be read of the records follows. */
async function removes(kind, subject, says, old, both) {
  await refused(says('what is not soft-deleted cannot be deleted'), client().deleteSubjectVersion(subject, 1, true), error, [404, 40407])
  same(says('a version is soft-deleted'), await client().deleteSubjectVersion(subject, 1), 1)
  await refused(says('then it is 40402'), client().getSchemaMetadata(subject, 1), error, [404, 40402])
  same(says('with deleted it is still there'), (await client().getSchemaMetadata(subject, 1, true)).version, 1)
  same(says('and its records can be read'), (await read(kind, old)).a, 7)
  same(says('a version is deleted for good'), await client().deleteSubjectVersion(subject, 1, true), 1)
  await refused(says('then its records are 40403'), read(kind, old), error, [404, 40403])
  await refused(says('a subject that is not soft-deleted cannot be'), client().deleteSubject(subject, true), error, [404, 40405])
  same(says('a subject is soft-deleted'), await client().deleteSubject(subject), [2])
  await refused(says('then it is 40401'), client().getLatestSchemaMetadata(subject), error, [404, 40401])
  same(says('and its records can be read too'), await read(kind, both), { a: 8, b: 'x' })
  same(says('a subject is deleted for good'), await client().deleteSubject(subject, true), [2])
  await refused(says('then all its records are 40403'), read(kind, both), error, [404, 40403])
}

async function refers(broker, kind) {
  const { type: schemaType, part: [name, schema] } = kind
  const subject = `${topic(kind)}-value`
  const part = `${topic(kind)}-part`
  const says = what => `${schemaType}: ${what}`
  await client().register(part, { schemaType, schema })
  const references = [{ name, subject: part, version: 1 }]
  const none = [{ name, subject: part, version: 9 }]
  await refused(says('a reference to nothing is refused'), client().register(subject, { schemaType, schema: kind.whole, references: none }), error, [422, 42201])
  await client().register(subject, { schemaType, schema: kind.whole, references })
  same(says('references are kept'), (await client().getLatestSchemaMetadata(subject)).references, references)
  const bytes = await send(broker, kind, LATEST, 'Order', { item: kind.type === 'PROTOBUF' ? kind.value('Item', { n: 7 }) : { n: 7 } })
  same(says('a value of two schemas comes back'), await read(kind, bytes), { item: { n: 7 } })
  await refused(says('what is referred to cannot be deleted'), client().deleteSubjectVersion(part, 1), error, [422, 42206])
  await client().deleteSubject(subject)
  await client().deleteSubject(subject, true)
  same(says('but after what refers to it'), await client().deleteSubject(part), [1])
  await client().deleteSubject(part, true)
}

/** registers lets the serializer register, which makes a schema of the value; that of Protobuf registers what it imports, too. */
async function registers(broker, kind) {
  const fields = kind.type === 'PROTOBUF' ? { item: kind.value('Item', { n: 7 }) } : { item: { n: 7 } }
  const bytes = await send(broker, kind, { autoRegisterSchemas: true }, 'Order', fields)
  same(`${kind.type}: a serializer registers`, await read(kind, bytes), { item: { n: 7 } })
  const made = await client().getLatestSchemaMetadata(`${topic(kind)}-value`)
  same(`${kind.type}: its schema is the one that the record names`, made.id, bytes.readInt32BE(1))
  if (kind.type === 'PROTOBUF') claim('PROTOBUF: what it imports is registered', (await client().getAllSubjects()).includes('item.proto'))
}

const stories = {}
const kinds = [avro, json, protobuf]
for (const kind of kinds) {
  for (const story of [evolves, refers, registers]) stories[`${kind.type} ${story.name}`] = broker => story(broker, kind)
}
main(kinds.map(topic), stories)
