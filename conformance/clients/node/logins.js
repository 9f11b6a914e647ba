'use strict'
// Logs the Node clients in over TLS, for the walk of security: logins.js CLIENT. See ../security/README.md.

const { readFileSync } = require('node:fs')
const { createInterface } = require('node:readline')

const { BOOTSTRAP, CA } = process.env
const patience = 20_000
const ca = readFileSync(CA)

/** Fails when it takes too long, or when another promise fails first. */
const within = (work, failure) => {
  let timer
  const late = new Promise((resolve, reject) => { timer = setTimeout(() => reject(new Error('too late')), patience) })
  return Promise.race([work, failure, late]).finally(() => clearTimeout(timer))
}

async function kafkajs({ mechanism, username, password, topic, value }) {
  const { Kafka, logLevel } = require('kafkajs')
  const sasl = { mechanism: mechanism.toLowerCase(), username, password }
  const kafka = new Kafka({ brokers: [BOOTSTRAP], ssl: { ca: [ca] }, sasl, retry: { retries: 0 }, logLevel: logLevel.NOTHING })
  const producer = kafka.producer()
  const consumer = kafka.consumer({ groupId: `${topic}-kafkajs` })
  try {
    await producer.connect()
    await producer.send({ topic, messages: [{ value }] })
    await consumer.connect()
    await consumer.subscribe({ topic, fromBeginning: true })
    const crash = new Promise((resolve, reject) => consumer.on(consumer.events.CRASH, e => reject(e.payload.error)))
    const read = new Promise(resolve => consumer.run({ eachMessage: async ({ message }) => { if (`${message.value}` === value) resolve() } }))
    await within(read, crash)
  } finally {
    await producer.disconnect()
    await consumer.disconnect()
  }
}

async function platformatic({ mechanism, username, password, topic, value }) {
  const { Consumer, Producer } = require('@platformatic/kafka')
  const common = { bootstrapBrokers: [BOOTSTRAP], tls: { ca }, sasl: { mechanism, username, password }, retries: 0 }
  const producer = new Producer({ clientId: 'logins', ...common })
  const consumer = new Consumer({ clientId: 'logins', groupId: `${topic}-platformatic`, ...common })
  try {
    await producer.send({ messages: [{ topic, value: Buffer.from(value) }] })
    const stream = await consumer.consume({ topics: [topic], autocommit: true, mode: 'committed', fallbackMode: 'earliest', maxWaitTime: 100 })
    const failure = new Promise((resolve, reject) => stream.on('error', reject))
    await within(new Promise(resolve => stream.on('data', m => { if (`${m.value}` === value) resolve() })), failure)
  } finally {
    await producer.close(true).catch(() => {})
    await consumer.close(true).catch(() => {})
  }
}

/** An error and those that it wraps, in one line. */
function told(e) {
  if (!e) return ''
  return [e.name, e.message, e.apiId, told(e.cause), ...(e.errors ?? []).map(told)].filter(Boolean).join(' ').replace(/\s+/g, ' ')
}

async function main(client) {
  const attempt = { kafkajs, platformatic }[client]
  let n = 0
  for await (const line of createInterface({ input: process.stdin })) {
    const [mechanism, username, password, topic] = line.split(' ')
    try {
      await attempt({ mechanism, username, password, topic, value: `${client}-${n++}` })
      console.log('ok')
    } catch (e) {
      console.log('refused:', told(e))
    }
  }
  process.exit(0)
}

main(process.argv[2])
