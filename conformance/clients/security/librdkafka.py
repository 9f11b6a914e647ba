"""Produce a record and consume it, with the settings given as NAME=VALUE; exits with 1 when that does not work.

A token of OAUTHBEARER comes in OAUTH_TOKEN.
"""

import os
import sys
import time
import uuid

from confluent_kafka import Consumer, Producer


def main(servers, settings):
    conf = {"bootstrap.servers": servers, **dict(s.split("=", 1) for s in settings)}
    if token := os.environ.get("OAUTH_TOKEN"):
        conf["oauth_cb"] = lambda _: (token, time.time() + 600)
    topic = "secured-" + uuid.uuid4().hex
    delivered = []
    producer = Producer({"message.timeout.ms": 15000, **conf})
    producer.produce(topic, b"value", on_delivery=lambda err, _: delivered.append(err))
    producer.flush(20)
    if delivered != [None]:
        return 1
    consumer = Consumer({**conf, "group.id": topic, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    for _ in range(30):
        message = consumer.poll(1)
        if message is not None and message.error() is None:
            consumer.close()
            return 0 if message.value() == b"value" else 1
    return 1


sys.exit(main(sys.argv[1], sys.argv[2:]))
