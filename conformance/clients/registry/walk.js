'use strict'
// What the walks of the Node clients share: claims, and a broker that a value is sent through. The registry is at the port after
// the broker's.

const { randomUUID } = require('node:crypto')
const { isDeepStrictEqual } = require('node:util')
const { Kafka, logLevel } = require('kafkajs')

const BOOTSTRAP = process.env.BOOTSTRAP
const URL = BOOTSTRAP.replace(/:(\d+)$/, (_, port) => `:${Number(port) + 1}`).replace(/^/, 'http://')
const PATIENCE_MS = 60_000

function claim(what, holds, shown = '') {
  console.log(`${holds ? 'PASS' : 'FAIL'} registry: ${what}${holds ? '' : ` ${shown}`}`)
}

/** same claims that a value is the one wanted. */
function same(what, got, want) {
  claim(what, isDeepStrictEqual(got, want), `got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`)
}

/** refused claims that a call fails with an error of which fields() makes what is wanted. */
async function refused(what, call, fields, want) {
  try {
    const got = await call
    claim(what, false, `got ${JSON.stringify(got)}`)
  } catch (e) {
    claim(what, isDeepStrictEqual(fields(e), want), `got ${JSON.stringify(fields(e))} (${e.stack}), want ${JSON.stringify(want)}`)
  }
}

/** Broker has a topic of one partition for each name, all read by one consumer. */
class Broker {
  static async open(topics) {
    const broker = new Broker()
    const kafka = new Kafka({ brokers: [BOOTSTRAP], logLevel: logLevel.WARN })
    const admin = kafka.admin()
    await admin.connect()
    await admin.createTopics({ topics: topics.map(topic => ({ topic, numPartitions: 1 })) })
    await admin.disconnect()
    broker.producer = kafka.producer()
    await broker.producer.connect()
    broker.consumer = kafka.consumer({ groupId: randomUUID(), maxWaitTimeInMs: 100 })
    broker.waiting = new Map()
    await broker.consumer.connect()
    await broker.consumer.subscribe({ topics, fromBeginning: true })
    await broker.consumer.run({ eachMessage: async ({ topic, message }) => broker.waiting.get(topic)(message.value) })
    return broker
  }

  /** through gives the bytes as they came back from the broker. */
  async through(topic, value) {
    const arrived = new Promise(resolve => this.waiting.set(topic, resolve))
    await this.producer.send({ topic, messages: [{ value }] })
    return arrived
  }

  async close() {
    await this.consumer.disconnect()
    await this.producer.disconnect()
  }
}

/** main runs the stories one after the other; one that throws is a claim that does not hold. */
async function main(topics, stories) {
  setTimeout(() => { claim('the walk ends in time', false); process.exit(1) }, PATIENCE_MS).unref()
  const broker = await Broker.open(topics)
  for (const [name, story] of Object.entries(stories)) {
    try {
      await story(broker)
    } catch (e) {
      claim(`${name} works`, false, e.stack)
    }
  }
  await broker.close()
}

module.exports = { URL, claim, main, refused, same }
