"""Walks aiokafka. It refuses to send a record with neither key nor value, and its admin client cannot delete a group."""

import asyncio
import threading

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

import walk
from records import Record

LOOP = asyncio.new_event_loop()


def run(coroutine):
    """Runs a coroutine on the loop, which has a thread of its own, and returns what it returns."""
    return asyncio.run_coroutine_threadsafe(coroutine, LOOP).result(walk.PATIENCE)


class _Producer:
    def __init__(self, bootstrap, codec, topic):
        self.bootstrap, self.codec, self.topic = bootstrap, None if codec == "none" else codec, topic
        run(self.start())

    async def start(self):
        # A batch that waits longer than this for a leader fails, and its sequence numbers are not given back: what follows is out
        # of order for any broker. A real Kafka has no leader while it restarts, which on a busy machine is more than the 40 s.
        self.producer = AIOKafkaProducer(
            bootstrap_servers=self.bootstrap, compression_type=self.codec, enable_idempotence=True, linger_ms=5,
            request_timeout_ms=600_000,
        )
        await self.producer.start()

    async def send(self, records):
        sends = [await self.producer.send(self.topic, key=r.key, value=r.value, headers=r.headers) for r in records]
        await asyncio.gather(*sends)

    def produce(self, records):
        run(self.send(records))

    def close(self):
        run(self.producer.stop())


class _Member:
    """A consumer in a task of its own, which also commits when asked, between two polls."""

    def __init__(self, bootstrap, group, topic, sink):
        self.stopping, self.asked = False, []
        run(self.start(bootstrap, group, topic))
        self.ended = asyncio.run_coroutine_threadsafe(self.poll(sink), LOOP)

    async def start(self, bootstrap, group, topic):
        self.consumer = AIOKafkaConsumer(
            topic, bootstrap_servers=bootstrap, group_id=group, auto_offset_reset="earliest", enable_auto_commit=False,
            session_timeout_ms=10000, heartbeat_interval_ms=300,
        )
        await self.consumer.start()

    async def poll(self, sink):
        while not self.stopping:
            for records in (await self.consumer.getmany(timeout_ms=50)).values():
                for r in records:
                    sink(Record(r.key, r.value, list(r.headers), r.partition, r.offset))
            while self.asked:
                await self.commit_now(self.asked.pop())
        await self.consumer.stop()

    async def commit_now(self, answer):
        try:
            await self.consumer.commit()
            answer.set_result(None)
        except Exception as e:
            answer.set_exception(e)

    async def ask(self):
        answer = LOOP.create_future()
        self.asked.append(answer)
        await answer

    def assigned(self):
        return len(self.consumer.assignment())

    def commit(self):
        run(self.ask())

    def close(self):
        self.stopping = True
        self.ended.result(walk.PATIENCE)


class _Transactor:
    def __init__(self, bootstrap, id, topic):
        self.topic = topic
        run(self.start(bootstrap, id))

    async def start(self, bootstrap, id):
        self.producer = AIOKafkaProducer(bootstrap_servers=bootstrap, transactional_id=id)
        await self.producer.start()

    async def send_now(self, values):
        for v in values:
            await self.producer.send_and_wait(self.topic, v.encode())

    def begin(self):
        run(self.producer.begin_transaction())

    def send(self, values):
        run(self.send_now(values))

    def end(self, commit):
        run(self.producer.commit_transaction() if commit else self.producer.abort_transaction())

    def close(self):
        run(self.producer.stop())


class Client(walk.Client):
    no_null_record = True
    deletes_groups = False

    def __init__(self, bootstrap):
        super().__init__(bootstrap)
        threading.Thread(target=LOOP.run_forever, daemon=True).start()
        run(self.start())

    async def start(self):
        self.admin = AIOKafkaAdminClient(bootstrap_servers=self.bootstrap)
        await self.admin.start()

    def create_topic(self, topic, n):
        answer = run(self.admin.create_topics([NewTopic(topic, n, 1)]))
        assert all(t[1] == 0 for t in answer.topic_errors), answer

    def producer(self, codec, topic):
        return _Producer(self.bootstrap, codec, topic)

    def join(self, group, topic, sink):
        return _Member(self.bootstrap, group, topic, sink)

    def transactor(self, id, topic):
        return _Transactor(self.bootstrap, id, topic)

    async def values_now(self, topic, committed, at_least):
        consumer = AIOKafkaConsumer(
            bootstrap_servers=self.bootstrap, isolation_level="read_committed" if committed else "read_uncommitted",
        )
        await consumer.start()
        try:
            consumer.assign([TopicPartition(topic, 0)])
            await consumer.seek_to_beginning()
            values = []
            while len(values) < at_least:
                values.append((await consumer.getone()).value.decode())
            return values
        finally:
            await consumer.stop()

    def values(self, topic, committed, at_least):
        return run(self.values_now(topic, committed, at_least))

    def topics(self):
        return set(run(self.admin.list_topics()))

    def partitions(self, topic):
        return len(run(self.admin.describe_topics([topic]))[0]["partitions"])

    def groups(self):
        return {g[0] for g in run(self.admin.list_consumer_groups())}

    def group(self, group):
        error, _, state, _, _, members, *_ = run(self.admin.describe_consumer_groups([group]))[0].groups[0]
        assert error == 0, error
        return state, len(members)

    def committed(self, group, topic):
        offsets = run(self.admin.list_consumer_group_offsets(group))
        return {tp.partition: o.offset for tp, o in offsets.items() if tp.topic == topic}

    async def ends_now(self, topic):
        consumer = AIOKafkaConsumer(bootstrap_servers=self.bootstrap)
        await consumer.start()
        try:
            return await consumer.end_offsets([TopicPartition(topic, p) for p in range(walk.PARTITIONS)])
        finally:
            await consumer.stop()

    def ends(self, topic):
        return {tp.partition: o for tp, o in run(self.ends_now(topic)).items()}

    def delete_topic(self, topic):
        answer = run(self.admin.delete_topics([topic]))
        assert all(t[1] == 0 for t in answer.topic_error_codes), answer

    def close(self):
        run(self.admin.close())


walk.main(Client)
