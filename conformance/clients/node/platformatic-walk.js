'use strict'
// Walks @platformatic/kafka. It has zstd only where Node has, from 22.15 on.
//
// Version 1.35 does not get over every restart by itself, with any broker: a heartbeat that ran out of retries is the last one, and
// a Fetch answer with tagged fields, as one that names the new leader epoch is, is misread. So a member joins again after the
// one, and opens its stream again after the other.

const { Admin, Consumer, Producer } = require('@platformatic/kafka')
const { zstdCompressSync } = require('node:zlib')
const { main, until } = require('./walk')

const byPartition = (partitions, index, offset) => Object.fromEntries(partitions.map(p => [p[index], Number(p[offset])]))

class Member {
  constructor(consumer, topic, sink) {
    Object.assign(this, { consumer, topic, sink, positions: new Map(), closing: false })
    consumer.on('consumer:group:join', () => this.lose())
    consumer.on('consumer:heartbeat:error', ({ error }) => this.mend('a heartbeat', error, () => consumer.joinGroup()))
    consumer.on('error', error => console.error('consumer:', error))
  }

  /** Opens the stream of messages, and another one when it ends by an error. */
  async open() {
    const options = { topics: [this.topic], autocommit: false, mode: 'committed', fallbackMode: 'earliest', maxWaitTime: 100 }
    const stream = await this.consumer.consume(options)
    stream.on('data', m => this.take(m))
    stream.on('error', error => this.mend('the stream', error, () => this.open()))
  }

  mend(what, error, again) {
    console.error(`${what} failed:`, error)
    const mended = async () => this.closing || (await again(), true)
    until(`${what} to work again`, mended).catch(console.error)
  }

  /**
   * Forgets where it was in partitions that it has no more; in the others the stream goes on without reading again. What a fetch
   * that was out meanwhile brings of the former is no position: it would be committed when the partition comes back.
   */
  lose() {
    for (const partition of this.positions.keys()) if (!this.parts().includes(partition)) this.positions.delete(partition)
  }

  take(m) {
    // The maps keep a header that comes twice: their keys are Buffers, told apart by identity.
    const headers = [...m.headers].map(([name, value]) => [name.toString(), value ?? null])
    const offset = Number(m.offset)
    this.sink({ key: m.key ?? null, value: m.value ?? null, headers }, m.partition, offset)
    if (this.parts().includes(m.partition)) this.positions.set(m.partition, offset + 1)
  }

  parts() {
    return this.consumer.assignments?.find(a => a.topic === this.topic)?.partitions ?? []
  }

  assigned() {
    return this.parts().length
  }

  async commit() {
    const mine = [...this.positions].filter(([partition]) => this.parts().includes(partition))
    const offsets = mine.map(([partition, offset]) => ({ topic: this.topic, partition, offset: BigInt(offset), leaderEpoch: -1 }))
    if (offsets.length) await this.consumer.commit({ offsets })
  }

  close() {
    this.closing = true
    return this.consumer.close(true)
  }
}

class Client {
  traits = { codecs: ['none', 'gzip', 'snappy', 'lz4', ...(zstdCompressSync ? ['zstd'] : [])], idempotent: true }

  constructor(bootstrap) {
    this.options = { clientId: 'walk', bootstrapBrokers: [bootstrap], retries: 2000, retryDelay: 100 }
    this.admin = new Admin(this.options)
  }

  async createTopic(topic, partitions) {
    await this.admin.createTopics({ topics: [topic], partitions, replicas: 1 })
  }

  async producer(compression, topic) {
    const producer = new Producer({ ...this.options, idempotent: true, compression })
    const message = r => ({ topic, key: r.key, value: r.value, headers: new Map(r.headers.map(([name, value]) => [Buffer.from(name), value])) })
    return { produce: records => producer.send({ messages: records.map(message) }), close: () => producer.close() }
  }

  async join(groupId, topic, sink) {
    const options = { ...this.options, retries: 30, groupId, sessionTimeout: 10_000, heartbeatInterval: 300 }
    const member = new Member(new Consumer(options), topic, sink)
    await member.open()
    return member
  }

  topics() {
    return this.admin.listTopics()
  }

  async partitions(topic) {
    return (await this.admin.metadata({ topics: [topic], forceUpdate: true })).topics.get(topic).partitionsCount
  }

  async ends(topic) {
    const partitions = Array.from({ length: 4 }, (_, partitionIndex) => ({ partitionIndex, timestamp: -1n }))
    const [listed] = await this.admin.listOffsets({ topics: [{ name: topic, partitions }] })
    return byPartition(listed.partitions, 'partitionIndex', 'offset')
  }

  async groups() {
    return [...(await this.admin.listGroups()).keys()]
  }

  async group(group) {
    const g = (await this.admin.describeGroups({ groups: [group] })).get(group)
    return [g.state[0] + g.state.slice(1).toLowerCase(), g.members.size]
  }

  async committed(group, topic) {
    const [listed] = await this.admin.listConsumerGroupOffsets({ groups: [group] })
    return byPartition(listed.topics.find(t => t.name === topic)?.partitions ?? [], 'partitionIndex', 'committedOffset')
  }

  async deleteGroup(group) {
    await this.admin.deleteGroups({ groups: [group] })
  }

  async deleteTopic(topic) {
    await this.admin.deleteTopics({ topics: [topic] })
  }

  close() {
    return this.admin.close()
  }
}

main(bootstrap => new Client(bootstrap))
