"""Walks kafka-viewer, a user interface in Streamlit: its page is run as a browser would, its widgets are set and clicked.

It lists topics and shows messages and their number. It shows no groups.
"""

import os
import sys
from pathlib import Path

import kafka_viewer.ui
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from streamlit.testing.v1 import AppTest

PATIENCE = 60
SERVERS = os.environ["BOOTSTRAP"]
TOPIC, OTHER = "walk-kafka-viewer", "walk-kafka-viewer-2"


def check(what, holds, seen):
    print("PASS" if holds else "FAIL", what if holds else f"{what}: {seen}", flush=True)


def fill():
    admin = AdminClient({"bootstrap.servers": SERVERS})
    for made in admin.create_topics([NewTopic(TOPIC, 2), NewTopic(OTHER, 1)]).values():
        made.result()
    producer = Producer({"bootstrap.servers": SERVERS})
    for i in range(10):
        producer.produce(TOPIC, key=f"key-{i}", value=f'{{"order": {i}}}', partition=i % 2)
    producer.flush(PATIENCE)


def page():
    config = Path(os.environ["WORK"]) / "kafka-viewer.properties"
    config.write_text(f"kafka.bootstrap.servers={SERVERS}\n")
    sys.argv = ["ui", "--config", str(config)]
    return AppTest.from_file(kafka_viewer.ui.__file__, default_timeout=PATIENCE).run()


def labelled(widgets, label):
    return next(w for w in widgets if w.label == label)


def walk():
    fill()
    app = page()
    check("the page says that it is connected", "Status: Connected" in [s.value for s in app.subheader], [s.value for s in app.subheader])
    topics = labelled(app.selectbox, "Topic").options
    check("the topics are listed", {TOPIC, OTHER} <= set(topics), topics)
    labelled(app.selectbox, "Topic").set_value(TOPIC).run()
    numbers = {m.label: m.value for m in app.metric}
    check("the topic has its records and partitions", (numbers.get("Total Records"), numbers.get("Partitions")) == ("10", "2"), numbers)
    labelled(app.radio, "Loading mode").set_value("From beginning").run()
    labelled(app.button, "Load Messages").click().run()
    shown = "".join(c.value for c in app.code)
    check("its messages are shown", all(f'"order": {i}' in shown for i in range(10)), shown or [e.value for e in app.error])
    labelled(app.text_input, "Message Filter (optional)").set_value("order").run()
    labelled(app.radio, "Loading mode").set_value("Latest messages").run()
    labelled(app.button, "Load Messages").click().run()
    check("a filter finds the latest", len(app.code) == 10, [e.value for e in app.error] or len(app.code))
    check("the page has no error", not app.error and not app.exception, [e.value for e in [*app.error, *app.exception]])


walk()
