"""Walks confluent-kafka (librdkafka)."""

import os
import queue
import threading

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

import walk
from records import Record


class _Producer:
    def __init__(self, config, topic):
        self.producer, self.topic = Producer(config), topic

    def produce(self, records):
        answers = []
        for r in records:
            self.producer.produce(
                self.topic, key=r.key, value=r.value, headers=r.headers, on_delivery=lambda e, _: answers.append(e)
            )
        left = self.producer.flush(walk.PATIENCE)
        errors = [e for e in answers if e]
        if errors or left:
            raise KafkaException(errors[0] if errors else f"{left} records not delivered")

    def close(self):
        self.producer.flush()


class _Member:
    """A consumer in a thread of its own, which also commits when asked."""

    def __init__(self, config, topic, sink):
        self.consumer = Consumer(config)
        self.parts, self.stopping = set(), False
        self.asked = queue.SimpleQueue()
        self.consumer.subscribe([topic], on_assign=self.gain, on_revoke=self.lose, on_lost=self.lose)
        self.thread = threading.Thread(target=self.run, args=(sink,), daemon=True)
        self.thread.start()

    def gain(self, _, parts):
        self.parts |= {p.partition for p in parts}

    def lose(self, _, parts):
        self.parts -= {p.partition for p in parts}

    def run(self, sink):
        while not self.stopping:
            m = self.consumer.poll(0.05)
            if m is not None and not m.error():
                sink(Record(m.key(), m.value(), m.headers() or [], m.partition(), m.offset()))
            if not self.asked.empty():
                self.commit_now(self.asked.get())

    def assigned(self):
        return len(self.parts)

    def commit_now(self, answer):
        try:
            self.consumer.commit(asynchronous=False)
        except KafkaException as e:
            if e.args[0].name() != "_NO_OFFSET":  # nothing new since the last one
                return answer.put(e)
        answer.put(None)

    def commit(self):
        answer = queue.SimpleQueue()
        self.asked.put(answer)
        error = answer.get(timeout=walk.PATIENCE)
        if error:
            raise error

    def close(self):
        self.stopping = True
        self.thread.join()
        self.consumer.close()


class _Transactor(_Producer):
    def __init__(self, bootstrap, id, topic):
        super().__init__({"bootstrap.servers": bootstrap, "transactional.id": id}, topic)
        self.producer.init_transactions(walk.PATIENCE)

    def begin(self):
        self.producer.begin_transaction()

    def send(self, values):
        self.produce([Record(None, v.encode()) for v in values])

    def end(self, commit):
        (self.producer.commit_transaction if commit else self.producer.abort_transaction)(walk.PATIENCE)

    def close(self):
        pass  # one that was fenced has nothing that could be flushed


class Client(walk.Client):
    def open_admin(self):
        """A fresh AdminClient. One that saw Kafka's only broker leave the metadata, as it does in a shutdown, keeps the group
        coordinator it has dropped, and its group calls time out for ever (librdkafka 2.16 against Apache Kafka 4.3.1).
        Each caller keeps it in a name: an answer that is under way needs it alive."""
        return AdminClient({"bootstrap.servers": self.bootstrap})

    def create_topic(self, topic, n):
        admin = self.open_admin()
        admin.create_topics([NewTopic(topic, n, 1)])[topic].result()

    def producer(self, codec, topic):
        return _Producer(
            {"bootstrap.servers": self.bootstrap, "compression.codec": codec, "enable.idempotence": True, "linger.ms": 5},
            topic,
        )

    def join(self, group, topic, sink):
        config = {
            "bootstrap.servers": self.bootstrap, "group.id": group, "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
        if os.environ.get("GROUP_PROTOCOL") == "consumer":  # KIP-848: timeouts are the broker's
            config |= {"group.protocol": "consumer"}
        else:
            config |= {"session.timeout.ms": 10000, "heartbeat.interval.ms": 300}
        return _Member(config, topic, sink)

    def transactor(self, id, topic):
        return _Transactor(self.bootstrap, id, topic)

    def values(self, topic, committed, at_least):
        consumer = Consumer({
            "bootstrap.servers": self.bootstrap, "group.id": "values", "enable.auto.commit": False,
            "isolation.level": "read_committed" if committed else "read_uncommitted",
        })
        consumer.assign([TopicPartition(topic, 0, 0)])
        values = []

        def enough():
            values.extend(m.value().decode() for m in consumer.consume(100, 0.1) if not m.error())
            return len(values) >= at_least

        walk.until("values to arrive", enough, lambda: values)
        consumer.close()
        return values

    def topics(self):
        admin = self.open_admin()
        return set(admin.list_topics(timeout=walk.PATIENCE).topics)

    def partitions(self, topic):
        admin = self.open_admin()
        return len(admin.list_topics(topic, timeout=walk.PATIENCE).topics[topic].partitions)

    def groups(self):
        admin = self.open_admin()
        return {g.group_id for g in admin.list_consumer_groups().result().valid}

    def group(self, group):
        admin = self.open_admin()
        g = admin.describe_consumer_groups([group])[group].result()
        return g.state.name.title(), len(g.members)

    def committed(self, group, topic):
        admin = self.open_admin()
        asked = [ConsumerGroupTopicPartitions(group)]
        offsets = admin.list_consumer_group_offsets(asked)[group].result().topic_partitions
        return {p.partition: p.offset for p in offsets if p.topic == topic}

    def ends(self, topic):
        admin = self.open_admin()
        asked = {TopicPartition(topic, p): OffsetSpec.latest() for p in range(walk.PARTITIONS)}
        return {tp.partition: f.result().offset for tp, f in admin.list_offsets(asked).items()}

    def delete_group(self, group):
        admin = self.open_admin()
        admin.delete_consumer_groups([group])[group].result()

    def delete_topic(self, topic):
        admin = self.open_admin()
        admin.delete_topics([topic])[topic].result()

    def close(self):
        pass


walk.main(Client)
