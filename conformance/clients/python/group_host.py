"""A process with members of a group in it (librdkafka), each a thread of its own; how it talks stands in ../go/groups/hosts.go."""

import os
import sys
import threading
import time

from confluent_kafka import Consumer, KafkaException

TOPIC = os.environ["TOPIC"]
told = threading.Lock()


class Member:
    def __init__(self, kind, name, instance):
        self.name, self.leaving, self.places, self.error = name, False, {}, None
        config = {
            "bootstrap.servers": os.environ["BOOTSTRAP"], "group.id": os.environ["GROUP"], "auto.offset.reset": "earliest",
            "enable.auto.commit": False, "enable.auto.offset.store": False, "error_cb": self.erred,
        }
        if kind == "consumer":
            config |= {"group.protocol": "consumer"}
        else:
            config |= {"session.timeout.ms": 6000, "heartbeat.interval.ms": 300}
        if instance != "-":
            config |= {"group.instance.id": instance}
        self.config = config
        threading.Thread(target=self.run, daemon=True).start()

    def tell(self, what, *words):
        with told:
            print(time.time_ns(), self.name, what, *words, flush=True)

    def erred(self, error):
        """Hears of errors that end the member; others pass."""
        if error.fatal() or error.name() in ("_FATAL", "UNRELEASED_INSTANCE_ID"):
            self.error = error

    def run(self):
        try:
            while not self.read():
                time.sleep(0.5)
            self.tell("left", self.name)
        except Exception as e:
            print(f"{self.name}: {e!r}", file=sys.stderr)
            self.tell("failed", repr(e))

    def read(self):
        """Reads until the member is to leave; False: its instance id is not free yet."""
        self.error = None
        consumer = Consumer(self.config)
        consumer.subscribe([TOPIC], on_assign=self.assigned, on_revoke=self.revoked, on_lost=self.lost)
        try:
            while not self.leaving:
                messages = consumer.consume(100, 0.1)
                if self.error:
                    if "instance" in str(self.error).lower():
                        return False
                    raise KafkaException(self.error)
                for m in messages:
                    if m.error():
                        self.erred(m.error())
                        continue
                    self.tell("record", m.partition(), m.offset())
                    consumer.store_offsets(m)
                    self.places[m.partition()] = m.offset() + 1
                self.commit(consumer)
        finally:
            consumer.close()
        return True

    def commit(self, consumer):
        """Commits all that was handed out. What fails is committed after the next poll, if the partition is still there."""
        if not self.places:
            return
        try:
            done = consumer.commit(asynchronous=False)
        except KafkaException as e:
            if e.args[0].name() == "_NO_OFFSET":
                self.places = {}
            return
        kept = {p.partition: p.offset for p in done if not p.error}
        if kept:
            self.tell("committed", *[f"{p}:{o}" for p, o in kept.items()])
        self.places = {}

    def assigned(self, _, parts):
        self.change("assigned", parts)

    def revoked(self, consumer, parts):
        self.commit(consumer)
        self.change("revoked", parts)

    def lost(self, _, parts):
        self.places = {}
        self.change("lost", parts)

    def change(self, what, parts):
        if parts:
            self.tell(what, *[p.partition for p in parts])


def main():
    kind, members = sys.argv[1], {}
    print(time.time_ns(), "- ready -", flush=True)
    for line in sys.stdin:
        words = line.split()
        if words[0] == "join":
            members[words[1]] = Member(kind, words[1], words[2])
        elif words[0] == "leave":
            members.pop(words[1]).leaving = True


main()
