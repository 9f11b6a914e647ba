"""Walks kafka-python. It refuses to send a header that is null, and a record with neither key nor value."""

import queue
import threading

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import OffsetSpec

import walk
from records import Record


class _Producer:
    def __init__(self, bootstrap, codec, topic):
        self.topic = topic
        self.producer = KafkaProducer(
            bootstrap_servers=bootstrap, compression_type=None if codec == "none" else codec, linger_ms=5,
            reconnect_backoff_max_ms=1000,
        )

    def produce(self, records):
        answers = [self.producer.send(self.topic, key=r.key, value=r.value, headers=r.headers) for r in records]
        for a in answers:
            a.get(timeout=walk.PATIENCE)

    def close(self):
        self.producer.close()


class _Member:
    """A consumer in a thread of its own, which also commits when asked: KafkaConsumer is for one thread."""

    def __init__(self, bootstrap, group, topic, sink):
        self.consumer = KafkaConsumer(
            topic, bootstrap_servers=bootstrap, group_id=group, auto_offset_reset="earliest", enable_auto_commit=False,
            session_timeout_ms=10000, heartbeat_interval_ms=300, reconnect_backoff_max_ms=1000,
        )
        self.parts, self.stopping = 0, False
        self.asked = queue.SimpleQueue()
        self.thread = threading.Thread(target=self.run, args=(sink,), daemon=True)
        self.thread.start()

    def run(self, sink):
        while not self.stopping:
            for records in self.consumer.poll(timeout_ms=50).values():
                for r in records:
                    sink(Record(r.key, r.value, list(r.headers), r.partition, r.offset))
            self.parts = len(self.consumer.assignment())
            if not self.asked.empty():
                self.commit_now(self.asked.get())
        self.consumer.close()

    def assigned(self):
        return self.parts

    def commit_now(self, answer):
        try:
            self.consumer.commit()
            answer.put(None)
        except Exception as e:
            answer.put(e)

    def commit(self):
        answer = queue.SimpleQueue()
        self.asked.put(answer)
        error = answer.get(timeout=walk.PATIENCE)
        if error:
            raise error

    def close(self):
        self.stopping = True
        self.thread.join()


class _Transactor:
    def __init__(self, bootstrap, id, topic):
        self.topic = topic
        self.producer = KafkaProducer(bootstrap_servers=bootstrap, transactional_id=id, reconnect_backoff_max_ms=1000)
        self.producer.init_transactions()

    def begin(self):
        self.producer.begin_transaction()

    def send(self, values):
        for a in [self.producer.send(self.topic, v.encode()) for v in values]:
            a.get(timeout=walk.PATIENCE)

    def end(self, commit):
        if commit:
            self.producer.commit_transaction()
        else:
            self.producer.abort_transaction()

    def close(self):
        self.producer.close()


class Client(walk.Client):
    no_null_header = no_null_record = True

    def __init__(self, bootstrap):
        super().__init__(bootstrap)
        self.admin = KafkaAdminClient(bootstrap_servers=bootstrap, reconnect_backoff_max_ms=1000)

    def create_topic(self, topic, n):
        self.admin.create_topics({topic: {"num_partitions": n, "replication_factor": 1}})

    def producer(self, codec, topic):
        return _Producer(self.bootstrap, codec, topic)

    def join(self, group, topic, sink):
        return _Member(self.bootstrap, group, topic, sink)

    def transactor(self, id, topic):
        return _Transactor(self.bootstrap, id, topic)

    def values(self, topic, committed, at_least):
        consumer = KafkaConsumer(
            bootstrap_servers=self.bootstrap, isolation_level="read_committed" if committed else "read_uncommitted",
        )
        consumer.assign([TopicPartition(topic, 0)])
        consumer.seek_to_beginning()
        values = []

        def enough():
            for records in consumer.poll(timeout_ms=100).values():
                values.extend(r.value.decode() for r in records)
            return len(values) >= at_least

        walk.until("values to arrive", enough, lambda: values)
        consumer.close()
        return values

    def topics(self):
        return set(self.admin.list_topics())

    def partitions(self, topic):
        return len(self.admin.describe_topics([topic])[0]["partitions"])

    def groups(self):
        return {g["group_id"] for g in self.admin.list_groups()}

    def group(self, group):
        g = self.admin.describe_groups([group])[group]
        return g["group_state"], len(g["members"])

    def committed(self, group, topic):
        offsets = self.admin.list_group_offsets(group)[group]
        return {tp.partition: o.offset for tp, o in offsets.items() if tp.topic == topic}

    def ends(self, topic):
        asked = {TopicPartition(topic, p): OffsetSpec.LATEST for p in range(walk.PARTITIONS)}
        return {tp.partition: o.offset for tp, o in self.admin.list_partition_offsets(asked).items()}

    def delete_group(self, group):
        answer = self.admin.delete_groups([group])
        assert answer == {group: "OK"}, answer

    def delete_topic(self, topic):
        self.admin.delete_topics([topic])

    def close(self):
        self.admin.close()


walk.main(Client)
