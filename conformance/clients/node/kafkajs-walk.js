'use strict'
// Walks kafkajs. It brings gzip alone and takes the other codecs as plugins; it cannot send a null header.
//
// Version 2.2.4 chooses a partition anew when it retries, with any broker: a record without a key whose acknowledgement was lost is
// then in the log twice, and a later one is taken for its repetition and lost. So the walk gives these records their partition.

const zstd = require('@bokuweb/zstd-wasm')
const { lz4Compress, lz4Decompress } = require('@platformatic/wasm-utils')
const { CompressionCodecs, CompressionTypes, Kafka, logLevel } = require('kafkajs')
const snappy = require('kafkajs-snappy')
const { PARTITIONS, main } = require('./walk')

const TYPES = {
  none: CompressionTypes.None, gzip: CompressionTypes.GZIP, snappy: CompressionTypes.Snappy, lz4: CompressionTypes.LZ4,
  zstd: CompressionTypes.ZSTD,
}

async function installCodecs() {
  await zstd.init()
  const codec = (compress, decompress) => () => ({
    compress: async encoder => Buffer.from(compress(encoder.buffer)),
    decompress: async buffer => Buffer.from(decompress(buffer)),
  })
  CompressionCodecs[CompressionTypes.Snappy] = snappy
  CompressionCodecs[CompressionTypes.LZ4] = codec(lz4Compress, lz4Decompress)
  CompressionCodecs[CompressionTypes.ZSTD] = codec(zstd.compress, zstd.decompress)
}

/** kafkajs has headers as an object, with an array for a name that comes more than once. */
function toHeaders(pairs) {
  const all = {}
  for (const [name, value] of pairs) all[name] = name in all ? [all[name], value].flat() : value
  return all
}

const fromHeaders = all => Object.entries(all).flatMap(([name, value]) => [value].flat().map(one => [name, one]))
const byPartition = offsets => Object.fromEntries(offsets.map(o => [o.partition, Number(o.offset)]))

class Member {
  constructor(consumer, topic, sink) {
    Object.assign(this, { consumer, topic, sink, parts: [], positions: new Map() })
  }

  async start() {
    this.consumer.on(this.consumer.events.GROUP_JOIN, ({ payload }) => this.gain(payload.memberAssignment[this.topic] ?? []))
    await this.consumer.connect()
    await this.consumer.subscribe({ topics: [this.topic], fromBeginning: true })
    await this.consumer.run({ autoCommit: false, eachMessage: async ({ partition, message }) => this.take(partition, message) })
  }

  gain(parts) {
    this.parts = parts
    this.positions.clear()
  }

  take(partition, m) {
    const offset = Number(m.offset)
    this.sink({ key: m.key, value: m.value, headers: fromHeaders(m.headers) }, partition, offset)
    this.positions.set(partition, offset + 1)
  }

  assigned() {
    return this.parts.length
  }

  async commit() {
    const mine = [...this.positions].filter(([partition]) => this.parts.includes(partition))
    const offsets = mine.map(([partition, offset]) => ({ topic: this.topic, partition, offset: String(offset) }))
    if (offsets.length) await this.consumer.commitOffsets(offsets)
  }

  close() {
    return this.consumer.disconnect()
  }
}

class Client {
  traits = { codecs: Object.keys(TYPES), idempotent: true, noNullHeader: true }

  static async open(bootstrap) {
    await installCodecs()
    const client = new Client()
    client.kafka = new Kafka({ brokers: [bootstrap], logLevel: logLevel.WARN, retry: { initialRetryTime: 100, maxRetryTime: 1000, retries: 50 } })
    client.admin = client.kafka.admin()
    await client.admin.connect()
    return client
  }

  async createTopic(topic, n) {
    await this.admin.createTopics({ topics: [{ topic, numPartitions: n }] })
  }

  async producer(codec, topic) {
    const producer = this.kafka.producer({ idempotent: true, maxInFlightRequests: 1 })
    await producer.connect()
    let turn = 0
    const partition = r => (r.key === null ? { partition: turn++ % PARTITIONS } : {})
    const messages = records => records.map(r => ({ key: r.key, value: r.value, headers: toHeaders(r.headers), ...partition(r) }))
    return {
      produce: records => producer.send({ topic, compression: TYPES[codec], acks: -1, messages: messages(records) }),
      close: () => producer.disconnect(),
    }
  }

  async join(groupId, topic, sink) {
    const consumer = this.kafka.consumer({ groupId, sessionTimeout: 10_000, heartbeatInterval: 300, maxWaitTimeInMs: 100 })
    const member = new Member(consumer, topic, sink)
    await member.start()
    return member
  }

  topics() {
    return this.admin.listTopics()
  }

  async partitions(topic) {
    return (await this.admin.fetchTopicMetadata({ topics: [topic] })).topics[0].partitions.length
  }

  async ends(topic) {
    return byPartition(await this.admin.fetchTopicOffsets(topic))
  }

  async groups() {
    return (await this.admin.listGroups()).groups.map(g => g.groupId)
  }

  async group(group) {
    const g = (await this.admin.describeGroups([group])).groups[0]
    return [g.state, g.members.length]
  }

  async committed(groupId, topic) {
    const [{ partitions }] = await this.admin.fetchOffsets({ groupId, topics: [topic] })
    return byPartition(partitions.filter(p => Number(p.offset) >= 0))
  }

  async deleteGroup(group) {
    await this.admin.deleteGroups([group])
  }

  async deleteTopic(topic) {
    await this.admin.deleteTopics({ topics: [topic] })
  }

  close() {
    return this.admin.disconnect()
  }
}

main(Client.open)
