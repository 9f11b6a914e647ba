'use strict'
// The records of the walk, as the README's table says, and the ledger of what became of them.
// A record is {key, value, headers}, with null for Kafka's null and headers as [name, value] in order.

const { isDeepStrictEqual } = require('node:util')

const PER_CODEC = 24

const bytes = text => Buffer.from(text)
const idOf = record => record.headers.find(([name]) => name === 'id')?.[1].toString() ?? ''

function headers(id, codec, traits) {
  const nulls = traits.noNullHeader ? [] : [['null', null]]
  return [
    ['id', bytes(id)], ['codec', bytes(codec)], ['empty', bytes('')], ...nulls,
    ['twice', bytes('1')], ['twice', bytes('2')], ['bytes', Buffer.from([0, 0xff])],
  ]
}

function record(phase, codec, i, traits) {
  const id = `${phase}/${codec}/${i}`
  const key = `key-${i}`
  const value = `value of ${id}`
  const kinds = [[key, value], [null, value], [key, null], [null, null], ['', ''], [key, value + 'x'.repeat(3000)]]
  const [k, v] = kinds[i % 6].map(text => (text === null ? null : bytes(text)))
  return { key: k, value: v, headers: headers(id, codec, traits) }
}

const records = (phase, codec, traits) => Array.from({ length: PER_CODEC }, (_, i) => record(phase, codec, i, traits))

function streamed(phase, i) {
  const id = bytes(`${phase}/stream/${i}`)
  return { key: null, value: id, headers: [['id', id]] }
}

/** How what arrived differs from what was sent, or undefined. */
function difference(got, sent) {
  const name = ['key', 'value', 'headers'].find(name => !isDeepStrictEqual(got[name], sent[name]))
  return name && `another ${name} than was sent`
}

/** What was sent, what arrived, what is committed. */
class Ledger {
  constructor(traits) {
    this.idempotent = traits.idempotent
    this.sent = new Map()
    this.arrived = new Map()
    this.next = {}
    this.committed = {}
    this.faults = []
  }

  send(records) {
    for (const r of records) this.sent.set(idOf(r), r)
  }

  /** Drops a record whose send failed: it may or may not be in the log. */
  forget(record) {
    this.sent.delete(idOf(record))
  }

  arrive(r, partition, offset) {
    const id = idOf(r)
    const place = `${partition}@${offset}`
    const due = this.next[partition] ?? 0
    if (offset < (this.committed[partition] ?? 0)) this.faults.push(`${id} at ${place} came again though it is committed`)
    if (offset > due) this.faults.push(`${id} at ${place}: ${due} was due`)
    this.next[partition] = Math.max(due, offset + 1)
    this.arrived.set(id, (this.arrived.get(id) ?? new Set()).add(place))
    const sent = this.sent.get(id)
    const differs = sent && difference(r, sent)
    if (differs) this.faults.push(`${id}: ${differs}`)
  }

  /** Notes the group's committed offsets; tells whether they are the ends of what arrived. */
  commit(offsets) {
    Object.assign(this.committed, offsets)
    return isDeepStrictEqual(offsets, this.next)
  }

  missing() {
    return [...this.sent.keys()].filter(id => !this.arrived.has(id)).length
  }

  total() {
    return Object.values(this.next).reduce((a, b) => a + b, 0)
  }

  check() {
    if (this.idempotent) {
      for (const [id, at] of this.arrived) if (at.size > 1) this.faults.push(`${id} is in the log at ${[...at].join(', ')}`)
    }
    if (this.faults.length) throw new Error(`${this.faults.length} faults, first: ${this.faults[0]}`)
  }
}

module.exports = { PER_CODEC, records, streamed, Ledger }
