'use strict'
// The client matrix's story for Node clients, told once; a client's program hands main an object with these:
//   traits: {codecs, idempotent, noNullHeader}, what the library can do
//   createTopic(topic, n)   producer(codec, topic) -> {produce(records), once acknowledged; close()}
//   join(group, topic, sink(record, partition, offset)) -> {assigned(), commit(), close()}
//   topics() partitions(topic) ends(topic)   groups() group(group) -> [state, members]   committed(group, topic)
//   deleteGroup(group) deleteTopic(topic) close()
// Offsets are objects from partition to number.

const assert = require('node:assert')
const readline = require('node:readline')
const { isDeepStrictEqual } = require('node:util')
const { setTimeout: pause } = require('node:timers/promises')
const { PER_CODEC, records, streamed, Ledger } = require('./records')

const PARTITIONS = 4
const PATIENCE_MS = 60_000

const say = what => console.log(`PASS ${what}`)

/** Asks the runner for something done to the broker and waits until it is done. */
async function signal(what) {
  console.log(`@${what}`)
  const { value } = await answers.next()
  assert(value, `the runner did not answer @${what}`)
}
let answers

/** Waits until a condition holds; one that throws does not hold yet. */
async function until(what, holds, seen = () => '') {
  const deadline = Date.now() + PATIENCE_MS
  for (;;) {
    let error = ''
    try {
      if (await holds()) return
    } catch (e) {
      error = e
    }
    if (Date.now() > deadline) throw new Error(`${what}: not within ${PATIENCE_MS} ms: ${seen()} ${error}`)
    await pause(20)
  }
}

/** Sends one record after the other, each once the one before is acknowledged, until it is stopped. */
class Stream {
  constructor(producer, phase, ledger) {
    this.acked = this.failed = 0
    this.stopping = false
    this.ended = this.run(producer, phase, ledger)
  }

  async run(producer, phase, ledger) {
    for (let i = 0; !this.stopping; i++) {
      const r = streamed(phase, i)
      ledger.send([r])
      try {
        await producer.produce([r])
        this.acked++
      } catch (e) {
        console.error('stream:', e)
        ledger.forget(r)
        this.failed++
      }
      await pause(10) // a pace, so that a slow restart does not make a large log
    }
  }

  async more(n) {
    const goal = this.acked + n
    await until('records to be acknowledged', () => this.acked >= goal, () => `${this.acked} of ${goal}`)
  }

  async stop() {
    this.stopping = true
    await this.ended
  }
}

class Walk {
  constructor(client, name) {
    this.client = client
    this.codecs = client.traits.codecs
    this.topic = `walk-${name}`
    this.group = `group-${name}`
    this.ledger = new Ledger(client.traits)
    this.producers = {}
  }

  async tell() {
    await this.create()
    await this.produce()
    await this.join()
    await this.read()
    await this.interrupt('restart')
    await this.interrupt('kill')
    await this.leave()
    await this.resume()
    await this.describe()
    await this.delete()
    await this.client.close()
  }

  async create() {
    await this.client.createTopic(this.topic, PARTITIONS)
    await until('topic to have its partitions', async () => (await this.client.partitions(this.topic)) === PARTITIONS)
    say(`created topic ${this.topic} with ${PARTITIONS} partitions`)
  }

  async send(phase, codec) {
    const rs = records(phase, codec, this.client.traits)
    this.ledger.send(rs)
    await this.producers[codec].produce(rs)
  }

  async produce() {
    for (const codec of this.codecs) {
      this.producers[codec] = await this.client.producer(codec, this.topic)
      await this.send('first', codec)
    }
    say(`produced ${PER_CODEC} records with each of ${this.codecs.join(', ')}: keys, headers, nulls`)
  }

  member() {
    return this.client.join(this.group, this.topic, this.ledger.arrive.bind(this.ledger))
  }

  async share(...want) {
    const have = () => [this.a, this.b].slice(0, want.length).map(m => m.assigned())
    await until(`members to have ${want} partitions`, () => isDeepStrictEqual(have(), want), have)
  }

  async join() {
    this.a = await this.member()
    await this.share(PARTITIONS)
    say(`one member has all ${PARTITIONS} partitions`)
    this.b = await this.member()
    await this.share(2, 2)
    say('a second member joined: they have 2 each')
  }

  async arrivals() {
    try {
      await until('records to arrive', () => !this.ledger.missing(), () => `${this.ledger.missing()} missing`)
    } finally {
      this.ledger.check()
    }
  }

  /**
   * Has the members commit until the group's offsets are the ends of what arrived. Once may be too little: a member that was just
   * given a partition is not there yet, and commits where it is; one in a rebalance is refused.
   */
  async commit(...members) {
    const done = async () => {
      for (const m of members) await m.commit()
      return this.ledger.commit(await this.client.committed(this.group, this.topic))
    }
    const seen = () => JSON.stringify([this.ledger.committed, this.ledger.next])
    await until("the group's offsets to be what arrived", done, seen)
  }

  async read() {
    await this.arrivals()
    say(`all ${this.ledger.sent.size} records arrived as they were sent`)
    await this.commit(this.a, this.b)
    say('both members committed')
  }

  async interrupt(how) {
    const stream = new Stream(this.producers[this.codecs[0]], how, this.ledger)
    await stream.more(5)
    await signal(how)
    await stream.more(5)
    await stream.stop()
    for (const codec of this.codecs) await this.send(how, codec)
    await this.arrivals()
    const after = PER_CODEC * this.codecs.length
    say(
      `${how}: ${stream.acked} records acknowledged across it and ${after} after it arrived, ` +
        `nothing committed came again (${stream.failed} sends failed)`
    )
    await this.share(2, 2)
    await this.commit(this.a, this.b)
    say(`${how}: both members committed again`)
  }

  async leave() {
    await this.b.close()
    await this.share(PARTITIONS)
    say(`the second member left: the first has all ${PARTITIONS} partitions`)
    await this.commit(this.a)
    await this.a.close()
  }

  async resume() {
    await this.send('last', this.codecs[0])
    this.a = await this.member()
    await this.arrivals()
    say(`a new member got the ${PER_CODEC} new records and nothing else`)
    await this.commit(this.a)
  }

  async describe() {
    assert((await this.client.topics()).includes(this.topic), `${this.topic} is not listed`)
    const ends = await this.client.ends(this.topic)
    assert.deepStrictEqual(ends, this.ledger.next)
    say(`topic listed; its ends are the ${this.ledger.total()} records seen`)
    assert((await this.client.groups()).includes(this.group), `${this.group} is not listed`)
    await this.state('Stable', 1)
    assert.deepStrictEqual(await this.client.committed(this.group, this.topic), ends)
    await this.a.close()
    await this.state('Empty', 0)
    say('group listed and described, Stable then Empty; its offsets are the ends')
  }

  async state(state, members) {
    let seen
    const holds = async () => isDeepStrictEqual((seen = await this.client.group(this.group)), [state, members])
    await until(`group to be ${state}`, holds, () => seen)
  }

  async delete() {
    for (const p of Object.values(this.producers)) await p.close()
    await this.client.deleteGroup(this.group)
    await until('group to be gone', async () => !(await this.client.groups()).includes(this.group))
    say(`group ${this.group} deleted and no longer listed`)
    await this.client.deleteTopic(this.topic)
    await until('topic to be gone', async () => !(await this.client.topics()).includes(this.topic))
    say(`topic ${this.topic} deleted and no longer listed`)
  }
}

/** Runs the walk of the client that open(bootstrap) gives and ends the process. */
async function main(open) {
  answers = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]()
  process.on('unhandledRejection', e => console.error('unhandled rejection:', e))
  let code = 0
  try {
    await new Walk(await open(process.env.BOOTSTRAP), process.env.CLIENT).tell()
  } catch (e) {
    console.error(e)
    console.log(`FAIL ${String(e).replaceAll('\n', ' ')}`)
    code = 1
  }
  process.exit(code) // a member's timer must not hold a failed walk
}

module.exports = { PARTITIONS, main, until }
