"""The records of the walk, as the README's table says, and the ledger of what became of them."""

import threading
from dataclasses import dataclass, field

PER_CODEC = 24


@dataclass
class Record:
    """What is sent and what arrives; None is Kafka's null. Headers are (name, bytes or None) in order."""

    key: bytes | None
    value: bytes | None
    headers: list = field(default_factory=list)
    partition: int = -1
    offset: int = -1

    def id(self):
        return next((v.decode() for k, v in self.headers if k == "id"), "")

    def difference(self, sent):
        """How self differs from what was sent, or None."""
        for name in ("key", "value", "headers"):
            got, want = getattr(self, name), getattr(sent, name)
            if got != want:
                return f"{name} {str(got)[:80]}, sent {str(want)[:80]}"
        return None


def record(phase, codec, i, traits):
    id = f"{phase}/{codec}/{i}"
    key, value = f"key-{i}".encode(), f"value of {id}".encode()
    headers = [("id", id.encode()), ("codec", codec.encode()), ("empty", b"")]
    headers += [] if traits.no_null_header else [("null", None)]
    headers += [("twice", b"1"), ("twice", b"2"), ("bytes", b"\x00\xff")]
    kinds = [(key, value), (None, value), (key, None), (None, None), (b"", b""), (key, value + b"x" * 3000)]
    key, value = kinds[2 if i % 6 == 3 and traits.no_null_record else i % 6]
    return Record(key, value, headers)


def records(phase, codec, traits):
    return [record(phase, codec, i, traits) for i in range(PER_CODEC)]


def streamed(phase, i):
    id = f"{phase}/stream/{i}".encode()
    return Record(None, id, [("id", id)])


class Ledger:
    """What was sent, what arrived, what is committed. Members write to it from their own threads."""

    def __init__(self, idempotent):
        self.lock = threading.Lock()
        self.idempotent = idempotent
        self.sent, self.arrived, self.next, self.committed, self.faults = {}, {}, {}, {}, []

    def send(self, records):
        with self.lock:
            self.sent.update((r.id(), r) for r in records)

    def forget(self, record):
        """Drops a record whose send failed: it may or may not be in the log."""
        with self.lock:
            del self.sent[record.id()]

    def arrive(self, r):
        with self.lock:
            due = self.next.get(r.partition, 0)
            where = f"{r.id()} at {r.partition}@{r.offset}"
            if r.offset < self.committed.get(r.partition, 0):
                self.faults.append(f"{where} came again, though it is committed")
            if r.offset > due:
                self.faults.append(f"{where}: {due} was due")
            self.next[r.partition] = max(due, r.offset + 1)
            self.arrived.setdefault(r.id(), set()).add((r.partition, r.offset))
            sent = self.sent.get(r.id())
            difference = sent and r.difference(sent)
            if difference:
                self.faults.append(f"{r.id()}: {difference}")

    def commit(self, offsets):
        """Notes the group's committed offsets; tells whether they are the ends of what arrived."""
        with self.lock:
            self.committed.update(offsets)
            return offsets == self.next

    def missing(self):
        with self.lock:
            return len(self.sent.keys() - self.arrived.keys())

    def total(self):
        with self.lock:
            return sum(self.next.values())

    def check(self):
        with self.lock:
            if self.idempotent:
                self.faults += [f"{id} is in the log at {at}" for id, at in self.arrived.items() if len(at) > 1]
            assert not self.faults, f"{len(self.faults)} faults, first: {self.faults[0]}"
