"""The client matrix's story for Python clients, told once; a client's program subclasses Client and calls main."""

import os
import sys
import threading
import time
import traceback

from records import PER_CODEC, Ledger, records, streamed

PARTITIONS = 4
PATIENCE = 60


class Client:
    """One client library. What it cannot do, it says in these attributes."""

    codecs = ["none", "gzip", "snappy", "lz4", "zstd"]
    idempotent = True
    no_null_header = False
    no_null_record = False  # one with neither key nor value
    deletes_groups = True

    def __init__(self, bootstrap):
        self.bootstrap = bootstrap

    # create_topic(topic, n)   producer(codec, topic) -> .produce(records) until acknowledged, .close()
    # join(group, topic, sink) -> .assigned(), .commit(), .close()
    # topics() partitions(topic) ends(topic)   groups() group(group) -> (state, members) committed(group, topic)
    # delete_group(group) delete_topic(topic) close()
    # transactor(id, topic) -> .begin(), .send(values) until acknowledged, .end(commit), .close(); takes the id
    # values(topic, committed, at_least): what a reader gets of a topic of one partition


def say(what):
    print(f"PASS {what}", flush=True)


def signal(what):
    """Asks the runner for something done to the broker and waits until it is done."""
    print(f"@{what}", flush=True)
    assert sys.stdin.readline(), f"the runner did not answer @{what}"


def until(what, holds, seen=lambda: ""):
    """Waits until a condition holds; one that raises does not hold yet."""
    deadline = time.monotonic() + PATIENCE
    while True:
        error = None
        try:
            if holds():
                return
        except Exception as e:
            error = e
        assert time.monotonic() < deadline, f"{what}: not within {PATIENCE} s: {seen()} {error!r}"
        time.sleep(0.02)


class Stream:
    """Sends one record after the other, each once the one before is acknowledged, until it is stopped."""

    def __init__(self, producer, phase, ledger):
        self.producer, self.phase, self.ledger = producer, phase, ledger
        self.acked = self.failed = 0
        self.stopping = False
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        i = 0
        while not self.stopping:
            r = streamed(self.phase, i)
            i += 1
            self.ledger.send([r])
            try:
                self.producer.produce([r])
                self.acked += 1
            except Exception as e:
                print(f"stream: {e!r}", file=sys.stderr)
                self.ledger.forget(r)
                self.failed += 1
            time.sleep(0.01)  # a pace, so that a slow restart does not make a large log

    def more(self, n):
        goal = self.acked + n
        until("records to be acknowledged", lambda: self.acked >= goal, lambda: f"{self.acked} of {goal}")

    def stop(self):
        self.stopping = True
        self.thread.join()


class Walk:
    def __init__(self, client, name):
        self.client = client
        self.topic, self.group = f"walk-{name}", f"group-{name}"
        self.ledger = Ledger(client.idempotent)
        self.producers = {}

    def tell(self):
        self.create()
        self.produce()
        self.join()
        self.read()
        self.interrupt("restart")
        self.interrupt("kill")
        self.leave()
        self.resume()
        self.transactions()
        self.describe()
        self.delete()
        self.client.close()

    def create(self):
        self.client.create_topic(self.topic, PARTITIONS)
        until("topic to have its partitions", lambda: self.client.partitions(self.topic) == PARTITIONS)
        say(f"created topic {self.topic} with {PARTITIONS} partitions")

    def send(self, phase, codec):
        rs = records(phase, codec, self.client)
        self.ledger.send(rs)
        self.producers[codec].produce(rs)

    def produce(self):
        for codec in self.client.codecs:
            self.producers[codec] = self.client.producer(codec, self.topic)
            self.send("first", codec)
        say(f"produced {PER_CODEC} records with each of {', '.join(self.client.codecs)}: keys, headers, nulls")

    def member(self):
        return self.client.join(self.group, self.topic, self.ledger.arrive)

    def share(self, *want):
        members = [self.a, self.b][: len(want)]
        have = lambda: tuple(m.assigned() for m in members)
        until(f"members to have {want} partitions", lambda: have() == want, have)

    def join(self):
        self.a = self.member()
        self.b = None
        self.share(PARTITIONS)
        say(f"one member has all {PARTITIONS} partitions")
        self.b = self.member()
        self.share(2, 2)
        say("a second member joined: they have 2 each")

    def arrivals(self):
        try:
            until("records to arrive", lambda: self.ledger.missing() == 0, lambda: f"{self.ledger.missing()} missing")
        finally:
            self.ledger.check()

    def commit(self, *members):
        """Has the members commit until the group's offsets are the ends of what arrived. Once may be too little: a member
        that was just given a partition is not there yet, and commits where it is; one in a rebalance is refused."""

        def done():
            for m in members:
                m.commit()
            return self.ledger.commit(self.client.committed(self.group, self.topic))

        until("the group's offsets to be what arrived", done, lambda: f"{self.ledger.committed} of {self.ledger.next}")

    def read(self):
        self.arrivals()
        say(f"all {len(self.ledger.sent)} records arrived as they were sent")
        self.commit(self.a, self.b)
        say("both members committed")

    def interrupt(self, how):
        stream = Stream(self.producers[self.client.codecs[0]], how, self.ledger)
        stream.more(5)
        signal(how)
        stream.more(5)
        stream.stop()
        for codec in self.client.codecs:
            self.send(how, codec)
        self.arrivals()
        say(
            f"{how}: {stream.acked} records acknowledged across it and {PER_CODEC * len(self.client.codecs)} after it arrived, "
            f"nothing committed came again ({stream.failed} sends failed)"
        )
        self.share(2, 2)
        self.commit(self.a, self.b)
        say(f"{how}: both members committed again")

    def leave(self):
        self.b.close()
        self.share(PARTITIONS)
        say(f"the second member left: the first has all {PARTITIONS} partitions")
        self.commit(self.a)
        self.a.close()

    def resume(self):
        self.send("last", self.client.codecs[0])
        self.a = self.member()
        self.arrivals()
        say(f"a new member got the {PER_CODEC} new records and nothing else")
        self.commit(self.a)

    def transact(self, producer, commit, *values):
        producer.begin()
        producer.send(values)
        producer.end(commit)

    def see(self, topic, committed, everything):
        for level, want in ((True, committed), (False, everything)):
            got = self.client.values(topic, level, len(want))
            assert got == want, f"read {topic}, committed {level}: {got}, due {want}"

    def transactions(self):
        """Commits and aborts, and takes a transactional id from the one that has it."""
        topic = f"{self.topic}-transactions"
        self.client.create_topic(topic, 1)
        first = self.client.transactor(topic, topic)
        self.transact(first, True, "a1", "a2")
        self.transact(first, False, "b1", "b2")
        self.transact(first, True, "c1")
        self.see(topic, ["a1", "a2", "c1"], ["a1", "a2", "b1", "b2", "c1"])
        say("transactions: committed records are read, aborted ones by a read_uncommitted reader only")
        first.begin()
        first.send(["d1"])
        second = self.client.transactor(topic, topic)
        self.transact(second, True, "e1")
        try:
            first.end(True)
        except Exception as e:
            print(f"fenced: {e!r}", file=sys.stderr)
        else:
            raise AssertionError("the producer whose transactional id was taken could commit")
        self.see(topic, ["a1", "a2", "c1", "e1"], ["a1", "a2", "b1", "b2", "c1", "d1", "e1"])
        say("transactions: the producer whose id was taken cannot commit, and its records are not read")
        first.close()
        second.close()

    def describe(self):
        topics = self.client.topics()
        assert self.topic in topics, f"{self.topic} is not among {topics}"
        ends = self.client.ends(self.topic)
        assert ends == self.ledger.next, f"ends {ends}, seen {self.ledger.next}"
        say(f"topic listed; its ends are the {self.ledger.total()} records seen")
        groups = self.client.groups()
        assert self.group in groups, f"{self.group} is not among {groups}"
        self.state("Stable", 1)
        committed = self.client.committed(self.group, self.topic)
        assert committed == ends, f"committed {committed}, ends {ends}"
        self.a.close()
        self.state("Empty", 0)
        say("group listed and described, Stable then Empty; its offsets are the ends")

    def state(self, state, members):
        seen = lambda: self.client.group(self.group)
        until(f"group to be {state}", lambda: seen() == (state, members), seen)

    def delete(self):
        for p in self.producers.values():
            p.close()
        if self.client.deletes_groups:
            self.client.delete_group(self.group)
            until("group to be gone", lambda: self.group not in self.client.groups())
            say(f"group {self.group} deleted and no longer listed")
        self.client.delete_topic(self.topic)
        until("topic to be gone", lambda: self.topic not in self.client.topics())
        say(f"topic {self.topic} deleted and no longer listed")


def main(client):
    code = 0
    try:
        Walk(client(os.environ["BOOTSTRAP"]), os.environ["CLIENT"]).tell()
    except BaseException as e:
        traceback.print_exc()
        print(f"FAIL {e!r}", flush=True)
        code = 1
    os._exit(code)  # a member's thread must not hold a failed walk
