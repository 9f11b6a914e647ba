"""Logs the Python clients in over TLS, for the walk of security: logins.py CLIENT. See ../security/README.md."""

import asyncio
import io
import logging
import os
import ssl
import sys
import time

BOOTSTRAP, CA = os.environ["BOOTSTRAP"], os.environ["CA"]
PATIENCE = 20


class NotReadError(Exception):
    pass


def try_confluent(mechanism, user, password, topic, value):
    from confluent_kafka import Consumer, KafkaException, Producer

    errors = []
    conf = {
        "bootstrap.servers": BOOTSTRAP, "security.protocol": "SASL_SSL", "ssl.ca.location": CA, "log_level": 0,
        "sasl.mechanism": mechanism, "sasl.username": user, "sasl.password": password, "error_cb": errors.append,
    }  # fmt: skip
    producer = Producer(conf)
    producer.produce(topic, value, on_delivery=lambda e, _: errors.append(e) if e else None)
    end = time.monotonic() + PATIENCE
    while producer.flush(0.05) and not errors and time.monotonic() < end:
        pass
    if errors:
        producer.purge()
        raise KafkaException(errors[0])
    consumer = Consumer({**conf, "group.id": topic + "-confluent-kafka", "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    try:
        while time.monotonic() < end:
            m = consumer.poll(0.2)
            if m is not None and m.error():
                raise KafkaException(m.error())
            if m is not None and m.value() == value:
                return
    finally:
        consumer.close()
    raise NotReadError


def _python(mechanism, user, password):
    return {
        "bootstrap_servers": BOOTSTRAP, "security_protocol": "SASL_SSL", "ssl_context": ssl.create_default_context(cafile=CA),
        "sasl_mechanism": mechanism, "sasl_plain_username": user, "sasl_plain_password": password,
    }  # fmt: skip


def try_kafka_python(mechanism, user, password, topic, value):
    from kafka import KafkaConsumer, KafkaProducer, TopicPartition

    conf = _python(mechanism, user, password)
    producer = KafkaProducer(**conf, max_block_ms=8000, bootstrap_timeout_ms=4000)
    try:
        producer.send(topic, value).get(timeout=PATIENCE)
    finally:
        producer.close(timeout=0)
    consumer = KafkaConsumer(**conf, auto_offset_reset="earliest", consumer_timeout_ms=PATIENCE * 1000, group_id=None)
    consumer.assign([TopicPartition(topic, 0)])
    try:
        if not any(m.value == value for m in consumer):
            raise NotReadError
    finally:
        consumer.close()


async def _aiokafka(mechanism, user, password, topic, value):
    from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

    conf = _python(mechanism, user, password)
    async with AIOKafkaProducer(**conf) as producer:
        await producer.send_and_wait(topic, value)
    async with AIOKafkaConsumer(topic, **conf, auto_offset_reset="earliest") as consumer:
        async for m in consumer:
            if m.value == value:
                return


def try_aiokafka(*attempt):
    asyncio.run(asyncio.wait_for(_aiokafka(*attempt), PATIENCE))


CLIENTS = {"confluent-kafka": try_confluent, "kafka-python": try_kafka_python, "aiokafka": try_aiokafka}


def main(client):
    # kafka-python and aiokafka raise that no broker is there, and log why.
    logged = io.StringIO()
    logging.basicConfig(stream=logged, level=logging.WARNING)
    for n, line in enumerate(sys.stdin):
        logged.seek(0)
        logged.truncate()
        mechanism, user, password, topic = line.split()
        try:
            CLIENTS[client](mechanism, user, password, topic, f"{client}-{n}".encode())
            print("ok", flush=True)
        except Exception as e:
            print("refused:", " ".join(f"{e!r} {logged.getvalue()}".split()), flush=True)


main(sys.argv[1])
