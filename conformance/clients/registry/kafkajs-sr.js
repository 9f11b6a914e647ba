'use strict'
// Walks @kafkajs/confluent-schema-registry with the three kinds of schema. It deletes nothing and keeps no error code but the HTTP
// status: the walk deletes by plain requests, and tries what the client then sees. Its "latest" is getLatestSchemaId.
//
// It registers in two steps: it asks for the subject's level of compatibility, and sets one when there is none.

const { COMPATIBILITY, SchemaRegistry, SchemaType } = require('@kafkajs/confluent-schema-registry')
const { URL, main, refused, same } = require('./walk')

/** client has no cache of what another one did. */
const client = options => new SchemaRegistry({ host: URL, retry: { retries: 0 } }, options)
const status = e => e.status
const plain = v => JSON.parse(JSON.stringify(v))

const avro = {
  type: SchemaType.AVRO,
  first: '{"type":"record","name":"O","namespace":"shop","fields":[{"name":"a","type":"int"}]}',
  second: '{"type":"record","name":"O","namespace":"shop","fields":[{"name":"a","type":"int"},{"name":"b","type":"string","default":"none"}]}',
  wrong: '{"type":"record","name":"O","namespace":"shop","fields":[{"name":"a","type":"string"}]}',
  part: ['shop.Item', '{"type":"record","name":"Item","namespace":"shop","fields":[{"name":"n","type":"int"}]}'],
  whole: '{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"item","type":"shop.Item"}]}',
}

const object = (properties, more = {}) => JSON.stringify({ ...more, title: 'O', type: 'object', additionalProperties: false, properties })

const json = {
  type: SchemaType.JSON,
  first: object({ a: { type: 'integer' } }),
  second: object({ a: { type: 'integer' }, b: { type: 'string' } }),
  wrong: object({ a: { type: 'boolean' } }),
  part: ['item.json', object({ n: { type: 'integer' } }, { $id: 'item.json' })],
  whole: object({ item: { $ref: 'item.json' } }),
}

const proto = (...lines) => ['syntax = "proto3";', 'package shop;', ...lines].join('\n')

const protobuf = {
  type: SchemaType.PROTOBUF,
  first: proto('message O { int32 a = 1; }'),
  second: proto('message O { int32 a = 1; string b = 2; }'),
  wrong: proto('message O { string a = 1; }'),
  part: ['item.proto', proto('message Item { int32 n = 1; }')],
  whole: proto('import "item.proto";', 'message Order { Item item = 1; }'),
}

const topic = kind => `kafkajs-${kind.type.toLowerCase()}`

/** remove deletes by a plain request, which the client has none of. */
async function remove(path) {
  const answer = await fetch(`${URL}/subjects/${path}`, { method: 'DELETE' })
  const body = await answer.json()
  return body.error_code ?? body
}

async function evolves(broker, kind) {
  const { type } = kind
  const subject = `${topic(kind)}-value`
  const says = what => `${type}: ${what}`
  const { id } = await client().register({ type, schema: kind.first }, { subject })
  same(says('a schema that is registered again keeps its id'), (await client().register({ type, schema: kind.first }, { subject })).id, id)
  same(says('a schema is looked up'), await client().getRegistryIdBySchema(subject, { type, schema: kind.first }), id)
  const old = await broker.through(topic(kind), await client().encode(id, { a: 7 }))
  same(says('a value comes back'), plain(await client().decode(old)), { a: 7 })
  await refused(says('an incompatible schema is refused with 409'), client().register({ type, schema: kind.wrong }, { subject }), status, 409)
  const level = client().register({ type, schema: kind.second }, { subject, compatibility: COMPATIBILITY.FULL })
  await refused(says('the level that was set is the one it finds'), level, e => e.name, 'ConfluentSchemaRegistryCompatibilityError')
  const next = await client().register({ type, schema: kind.second }, { subject })
  const latest = await client().getLatestSchemaId(subject)
  same(says('a schema evolves, and is the latest'), [latest, await client().getRegistryId(subject, 2)], [next.id, next.id])
  const both = await broker.through(topic(kind), await client().encode(latest, { a: 8, b: 'x' }))
  same(says('the latest writes'), plain(await client().decode(both)), { a: 8, b: 'x' })
  if (type === SchemaType.AVRO) {
    const readerSchema = await client().getSchema(latest)
    same(says('the latest reads what an older one wrote'), plain(await client().decode(old, { AVRO: { readerSchema } })), { a: 7, b: 'none' })
  }
  await removes(subject, says, old, both)
}

async function removes(subject, says, old, both) {
  same(says('a version is soft-deleted'), await remove(`${subject}/versions/1`), 1)
  await refused(says('then it is 404'), client().getRegistryId(subject, 1), status, 404)
  same(says('and its records can be read'), (await client().decode(old)).a, 7)
  same(says('a version is deleted for good'), await remove(`${subject}/versions/1?permanent=true`), 1)
  await refused(says('then its records are 404'), client().decode(old), status, 404)
  same(says('a subject that is not soft-deleted cannot be'), await remove(`${subject}?permanent=true`), 40405)
  same(says('a subject is soft-deleted'), await remove(subject), [2])
  await refused(says('then it has no latest'), client().getLatestSchemaId(subject), status, 404)
  same(says('and its records can be read too'), plain(await client().decode(both)), { a: 8, b: 'x' })
  same(says('a subject is deleted for good'), await remove(`${subject}?permanent=true`), [2])
  await refused(says('then all its records are 404'), client().decode(both), status, 404)
}

async function refers(broker, kind) {
  const { type, part: [name, schema] } = kind
  const subject = `${topic(kind)}-order`
  const part = `${topic(kind)}-part`
  const says = what => `${type}: ${what}`
  await client().register({ type, schema }, { subject: part })
  const whole = { type, schema: kind.whole, references: [{ name, subject: part, version: 1 }] }
  const none = { ...whole, references: [{ name, subject: part, version: 9 }] }
  await refused(says('a reference to nothing is refused'), client().register(none, { subject }), status, 404)
  const { id } = await client().register(whole, { subject })
  const bytes = await broker.through(topic(kind), await client().encode(id, { item: { n: 7 } }))
  same(says('a value of two schemas comes back'), plain(await client().decode(bytes)), { item: { n: 7 } })
  same(says('what is referred to cannot be deleted'), await remove(part), 42206)
  await remove(subject)
  same(says('but after what refers to it'), [await remove(`${subject}?permanent=true`), await remove(part)], [[1], [1]])
}

const stories = {}
const kinds = [avro, json, protobuf]
for (const kind of kinds) {
  for (const story of [evolves, refers]) stories[`${kind.type} ${story.name}`] = broker => story(broker, kind)
}
main(kinds.map(topic), stories)
