"""Confluent's Python client against the schema registry beside the broker: all three serializers, through the broker.

It talks to run as every program of the matrix does: PASS and FAIL lines. The registry is at the port after the broker's.
"""

import os
import uuid

from confluent_kafka import Consumer, Producer
from confluent_kafka.schema_registry import Schema, SchemaReference, SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.error import SchemaRegistryError
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, timestamp_pb2  # noqa: F401

BOOTSTRAP = os.environ["BOOTSTRAP"]
HOST, PORT = BOOTSTRAP.rsplit(":", 1)
URL = f"http://{HOST}:{int(PORT) + 1}"
PATIENCE = 60

PRODUCER = Producer({"bootstrap.servers": BOOTSTRAP})


def claim(what, holds, shown=""):
    print(f"{'PASS' if holds else 'FAIL'} registry: {what} {shown if not holds else ''}".rstrip(), flush=True)


def client():
    """A client without a cache of what another one did."""
    return SchemaRegistryClient({"url": URL})


def on(topic):
    return SerializationContext(topic, MessageField.VALUE)


def through(topic, value):
    """The value after it went through the broker."""
    PRODUCER.produce(topic, value=value)
    PRODUCER.flush(PATIENCE)
    consumer = Consumer({"bootstrap.servers": BOOTSTRAP, "group.id": str(uuid.uuid4()), "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    try:
        for _ in range(PATIENCE):
            message = consumer.poll(1)
            if message is not None and not message.error():
                return message.value()
    finally:
        consumer.close()
    raise RuntimeError("nothing arrived")


def avro():
    sr = client()
    text = '{"type":"record","name":"O","fields":[{"name":"a","type":"int"}]}'
    more = '{"type":"record","name":"O","fields":[{"name":"a","type":"int"},{"name":"b","type":["null","string"],"default":null}]}'
    other = '{"type":"record","name":"O","fields":[{"name":"b","type":"string"}]}'
    write, read = AvroSerializer(sr, text), AvroDeserializer(client())
    claim("an Avro value comes back", read(through("avro", write({"a": 7}, on("avro"))), on("avro")) == {"a": 7})
    try:
        sr.register_schema("avro-value", Schema(other, "AVRO"))
        claim("an incompatible schema is refused", False)
    except SchemaRegistryError as e:
        claim("an incompatible schema is refused", e.http_status_code == 409, e)
    claim("a schema is compatible with itself", sr.test_compatibility("avro-value", Schema(text, "AVRO")))
    sr.register_schema("avro-value", Schema(more, "AVRO"))
    claim("a schema evolves", sr.get_versions("avro-value") == [1, 2])
    latest = AvroSerializer(client(), conf={"auto.register.schemas": False, "use.latest.version": True})
    value = {"a": 7, "b": "x"}
    claim("the latest version is used", read(latest(value, on("avro")), on("avro")) == value)


def json():
    text = '{"$schema":"http://json-schema.org/draft-07/schema#","title":"O","type":"object","properties":{"a":{"type":"integer"}}}'
    write = JSONSerializer(text, client(), lambda o, _: o)
    read = JSONDeserializer(text, lambda o, _: o, client())
    claim("a JSON value comes back", read(through("json", write({"a": 7}, on("json"))), on("json")) == {"a": 7})


def file_of(name, imports, build):
    d = descriptor_pb2.FileDescriptorProto(name=name, package="shop", syntax="proto3", dependency=imports)
    build(d)
    pool = descriptor_pool.Default()
    pool.Add(d)
    return pool.FindFileByName(name)


FIELD = descriptor_pb2.FieldDescriptorProto


def field(message, name, number, kind, type_name=None, label=FIELD.LABEL_OPTIONAL):
    message.field.add(name=name, number=number, type=kind, type_name=type_name, label=label)


def item(d):
    field(d.message_type.add(name="Item"), "n", 1, FIELD.TYPE_INT32)


def order(d):
    """A second message of the file, with a message of another file, of a known file, and a map."""
    d.message_type.add(name="First")
    m = d.message_type.add(name="Order")
    field(m, "item", 1, FIELD.TYPE_MESSAGE, ".shop.Item")
    field(m, "at", 2, FIELD.TYPE_MESSAGE, ".google.protobuf.Timestamp")
    entry = m.nested_type.add(name="TagsEntry")
    entry.options.map_entry = True
    field(entry, "key", 1, FIELD.TYPE_STRING)
    field(entry, "value", 2, FIELD.TYPE_STRING)
    field(m, "tags", 3, FIELD.TYPE_MESSAGE, ".shop.Order.TagsEntry", FIELD.LABEL_REPEATED)


def protobuf():
    file_of("item.proto", [], item)
    file = file_of("order.proto", ["item.proto", "google/protobuf/timestamp.proto"], order)
    kind = message_factory.GetMessageClass(file.message_types_by_name["Order"])
    value = kind()
    value.item.n, value.at.seconds, value.tags["a"] = 7, 9, "b"
    conf, sr = {"use.deprecated.format": False}, client()
    write, read = ProtobufSerializer(kind, sr, conf), ProtobufDeserializer(kind, conf, client())
    claim("a Protobuf value comes back", read(through("proto", write(value, on("proto"))), on("proto")) == value)
    claim("also through one client", ProtobufDeserializer(kind, conf, sr)(write(value, on("proto")), on("proto")) == value)
    claim("what it refers to is registered", {"item.proto", "proto-value"} <= set(sr.get_subjects()))
    latest = ProtobufSerializer(kind, client(), conf | {"auto.register.schemas": False, "use.latest.version": True})
    claim("the latest version is used for Protobuf", read(latest(value, on("proto")), on("proto")) == value)


def administration():
    sr = client()
    sr.register_schema("ref", Schema('{"type":"record","name":"R","namespace":"n","fields":[]}', "AVRO"))
    uses = Schema('{"type":"record","name":"U","namespace":"n","fields":[{"name":"r","type":"R"}]}', "AVRO", [SchemaReference("n.R", "ref", 1)])
    number = sr.register_schema("uses", uses)
    claim("references are kept", client().get_schema(number).references[0].subject == "ref")
    sr.set_compatibility(subject_name="ref", level="FULL")
    claim("a level is set", sr.get_compatibility("ref") == "FULL")
    sr.delete_subject("uses")
    sr.delete_subject("uses", permanent=True)
    claim("a subject is deleted", "uses" not in sr.get_subjects())
    try:
        sr.get_latest_version("none")
        claim("an unknown subject is 40401", False)
    except SchemaRegistryError as e:
        claim("an unknown subject is 40401", e.error_code == 40401, e)


for walk in (avro, json, protobuf, administration):
    try:
        walk()
    except Exception as e:  # noqa: BLE001: whatever happens is a claim that does not hold
        claim(f"{walk.__name__} works", False, repr(e))
