"""The copy job of librdkafka: it copies until it is ended, and ends when it cannot go on."""

import os
import signal
import sys

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

# Every so many transactions one is aborted on purpose, so that there is something that must not be seen.
ABORT_EVERY = 10
PER = int(os.environ["PER"])
OUT = os.environ["OUT"]


def new_consumer():
    consumer = Consumer({
        "bootstrap.servers": os.environ["BOOTSTRAP"],
        "group.id": os.environ["GROUP"],
        "group.instance.id": "copier",
        "session.timeout.ms": 10000,
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "isolation.level": "read_committed",
        "reconnect.backoff.max.ms": 200,
    })
    consumer.subscribe([os.environ["IN"]])
    return consumer


def new_producer():
    # librdkafka 2.16 begins anew with its brokers when the only one is down, and then waits for ever for the group's
    # coordinator as it knew it before: the recovery is switched off.
    producer = Producer({
        "metadata.recovery.strategy": "none",
        "bootstrap.servers": os.environ["BOOTSTRAP"],
        "transactional.id": os.environ["GROUP"],
        "transaction.timeout.ms": 60000,
        "queue.buffering.max.messages": 1000000,
        "reconnect.backoff.max.ms": 200,
    })
    insist(producer.init_transactions)
    return producer


def insist(call, *args):
    """Calls again what failed but may be called again."""
    while True:
        try:
            return call(*args)
        except KafkaException as e:
            if not e.args[0].retriable():
                raise
            print("again after", e, flush=True)


def take(consumer):
    """Up to PER records; fewer when no more come within a moment."""
    return [m for m in consumer.consume(PER, 0.3) if m.error() is None]


def send(consumer, producer, records, abort):
    next_offsets = {}
    for m in records:
        value = (b"aborted copy of " if abort else b"copy of ") + m.value()
        producer.produce(OUT, partition=m.partition(), key=m.key(), value=value)
        next_offsets[(m.topic(), m.partition())] = m.offset() + 1
    offsets = [TopicPartition(t, p, o) for (t, p), o in next_offsets.items()]
    insist(producer.send_offsets_to_transaction, offsets, consumer.consumer_group_metadata())


def copy(consumer, producer, records, abort):
    """Copies records in one transaction; after an abort the next begins where this one did."""
    producer.begin_transaction()
    try:
        send(consumer, producer, records, abort)
        if not abort:
            insist(producer.commit_transaction)
            return
    except KafkaException as e:
        if not e.args[0].txn_requires_abort():
            raise
        print("abort after", e, flush=True)
    insist(producer.abort_transaction)
    for p in insist(consumer.committed, consumer.assignment(), 30):
        consumer.seek(TopicPartition(p.topic, p.partition, max(p.offset, 0)))


def main():
    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(True))
    consumer, producer = new_consumer(), new_producer()
    transactions = 0
    while not stop:
        records = take(consumer)
        if records:
            transactions += 1
            copy(consumer, producer, records, transactions % ABORT_EVERY == 3)
    consumer.close()


if __name__ == "__main__":
    try:
        main()
    except KafkaException as e:
        print("cannot go on:", e, flush=True)
        sys.exit(1)
