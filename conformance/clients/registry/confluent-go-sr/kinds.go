package main

import (
	"encoding/json"

	"github.com/confluentinc/confluent-kafka-go/v2/schemaregistry"
	"github.com/confluentinc/confluent-kafka-go/v2/schemaregistry/serde"
	"github.com/confluentinc/confluent-kafka-go/v2/schemaregistry/serde/avrov2"
	"github.com/confluentinc/confluent-kafka-go/v2/schemaregistry/serde/jsonschema"
	"github.com/confluentinc/confluent-kafka-go/v2/schemaregistry/serde/protobuf"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// writing is how a serializer finds its schema.
type writing struct {
	register, latest bool
	id               int
}

func (w writing) config() serde.SerializerConfig {
	c := serde.NewSerializerConfig()
	c.AutoRegisterSchemas, c.UseLatestVersion = w.register, w.latest
	if w.id > 0 {
		c.UseSchemaID = w.id
	}
	return *c
}

func reading(latest bool) serde.DeserializerConfig {
	c := serde.NewDeserializerConfig()
	c.UseLatestVersion = latest
	return *c
}

// kind is a kind of schema: its texts, and how its values are made from JSON, written, read, and shown as JSON.
type kind struct {
	name                         string
	first, second, wrong, broken string
	itemName, item, order        string
	value                        func(message, text string) any
	text                         func(value any) ([]byte, error)
	writer                       func(schemaregistry.Client, writing) (serde.Serializer, error)
	reader                       func(c schemaregistry.Client, latest bool) (serde.Deserializer, error)
}

func kinds() []kind { return []kind{avroKind(), jsonKind(), protobufKind()} }

// O is the message that evolves.
type O struct {
	A int    `avro:"a" json:"a"`
	B string `avro:"b" json:"b,omitempty"`
}

// Item is a part of Order.
type Item struct {
	N int `avro:"n" json:"n"`
}

// Order refers to Item.
type Order struct {
	Item Item `avro:"item" json:"item"`
}

func structOf(message, text string) any {
	var v any = &O{}
	if message == "Order" {
		v = &Order{}
	}
	if err := json.Unmarshal([]byte(text), v); err != nil {
		panic(ending{err})
	}
	return v
}

func avroKind() kind {
	record := func(name, fields string) string {
		return `{"type":"record","name":"` + name + `","namespace":"shop","fields":[` + fields + `]}`
	}
	return kind{
		name: "AVRO", value: structOf, text: json.Marshal,
		first:  record("O", `{"name":"a","type":"int"}`),
		second: record("O", `{"name":"a","type":"int"},{"name":"b","type":"string","default":"none"}`),
		wrong:  record("O", `{"name":"a","type":"string"}`), broken: `{"type":"record"}`,
		itemName: "shop.Item", item: record("Item", `{"name":"n","type":"int"}`), order: record("Order", `{"name":"item","type":"shop.Item"}`),
		writer: func(c schemaregistry.Client, w writing) (serde.Serializer, error) {
			return avrov2.NewSerializer(c, serde.ValueSerde, &avrov2.SerializerConfig{SerializerConfig: w.config()})
		},
		reader: func(c schemaregistry.Client, latest bool) (serde.Deserializer, error) {
			return avrov2.NewDeserializer(c, serde.ValueSerde, &avrov2.DeserializerConfig{DeserializerConfig: reading(latest)})
		},
	}
}

func jsonKind() kind {
	object := func(properties string) string {
		return `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","additionalProperties":false,"properties":{` + properties + `}}`
	}
	return kind{
		name: "JSON", value: structOf, text: json.Marshal,
		first: object(`"a":{"type":"integer"}`), second: object(`"a":{"type":"integer"},"b":{"type":"string"}`),
		wrong: object(`"a":{"type":"boolean"}`), broken: `{"type":7}`,
		itemName: "item.json", item: object(`"n":{"type":"integer"}`), order: object(`"item":{"$ref":"item.json"}`),
		writer: func(c schemaregistry.Client, w writing) (serde.Serializer, error) {
			return jsonschema.NewSerializer(c, serde.ValueSerde, &jsonschema.SerializerConfig{SerializerConfig: w.config(), EnableValidation: true})
		},
		reader: func(c schemaregistry.Client, latest bool) (serde.Deserializer, error) {
			return jsonschema.NewDeserializer(c, serde.ValueSerde, &jsonschema.DeserializerConfig{DeserializerConfig: reading(latest), EnableValidation: true})
		},
	}
}

func protobufKind() kind {
	const head = "syntax = \"proto3\";\npackage shop;\n"
	messages := map[string]protoreflect.MessageDescriptor{}
	for _, d := range descriptors() {
		m := d.Messages().Get(0)
		messages[string(m.Name())] = m
	}
	return kind{
		name: "PROTOBUF",
		value: func(message, text string) any {
			m := dynamicpb.NewMessage(messages[message])
			if err := protojson.Unmarshal([]byte(text), m); err != nil {
				panic(ending{err})
			}
			return m
		},
		text:   func(v any) ([]byte, error) { return protojson.Marshal(v.(proto.Message)) },
		first:  head + "message O { int32 a = 1; }",
		second: head + "message O { int32 a = 1; string b = 2; }",
		wrong:  head + "message O { string a = 1; }", broken: "message {",
		itemName: "item.proto", item: head + "message Item { int32 n = 1; }",
		order: head + "import \"item.proto\";\nmessage Order { Item item = 1; }",
		writer: func(c schemaregistry.Client, w writing) (serde.Serializer, error) {
			return protobuf.NewSerializer(c, serde.ValueSerde, &protobuf.SerializerConfig{SerializerConfig: w.config()})
		},
		reader: func(c schemaregistry.Client, latest bool) (serde.Deserializer, error) {
			return protobuf.NewDeserializer(c, serde.ValueSerde, &protobuf.DeserializerConfig{DeserializerConfig: reading(latest)})
		},
	}
}

// descriptors are the files of the messages that a generator would have made.
func descriptors() (files []protoreflect.FileDescriptor) {
	field := func(name string, number int32, t descriptorpb.FieldDescriptorProto_Type, of *string) *descriptorpb.FieldDescriptorProto {
		label := descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL
		return &descriptorpb.FieldDescriptorProto{Name: &name, Number: &number, Type: &t, Label: &label, TypeName: of}
	}
	file := func(name, message string, imports []string, fields ...*descriptorpb.FieldDescriptorProto) *descriptorpb.FileDescriptorProto {
		return &descriptorpb.FileDescriptorProto{
			Name: &name, Package: proto.String("shop"), Syntax: proto.String("proto3"), Dependency: imports,
			MessageType: []*descriptorpb.DescriptorProto{{Name: &message, Field: fields}},
		}
	}
	const number, text, message = descriptorpb.FieldDescriptorProto_TYPE_INT32, descriptorpb.FieldDescriptorProto_TYPE_STRING, descriptorpb.FieldDescriptorProto_TYPE_MESSAGE
	for _, d := range []*descriptorpb.FileDescriptorProto{
		file("o.proto", "O", nil, field("a", 1, number, nil), field("b", 2, text, nil)),
		file("item.proto", "Item", nil, field("n", 1, number, nil)),
		file("order.proto", "Order", []string{"item.proto"}, field("item", 1, message, proto.String(".shop.Item"))),
	} {
		made := must(protodesc.NewFile(d, protoregistry.GlobalFiles))
		if err := protoregistry.GlobalFiles.RegisterFile(made); err != nil {
			panic(ending{err})
		}
		files = append(files, made)
	}
	return files
}
