package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/twmb/avro"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sr"
)

// begin is when the first record was written: the pictures in docs show the same times whenever they are taken.
var begin = time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)

func (f *filler) topics(ctx context.Context) error {
	for _, t := range []struct {
		name       string
		partitions int32
		configs    map[string]*string
	}{
		{"orders", 6, map[string]*string{"retention.ms": text("-1")}},
		{"payments", 3, map[string]*string{"retention.ms": text("-1"), "min.insync.replicas": text("1")}},
		{"customers", 1, map[string]*string{"cleanup.policy": text("compact")}},
		{"clicks", 2, map[string]*string{"retention.ms": text("-1"), "compression.type": text("zstd")}},
		{"orders.dlq", 1, map[string]*string{"retention.ms": text("-1")}}, {"shipments", 1, map[string]*string{"retention.ms": text("-1")}},
		{"hostile", 1, map[string]*string{"retention.ms": text("-1")}},
	} {
		if t.name == "hostile" && !f.withHostile {
			continue
		}
		if _, err := f.admin.CreateTopic(ctx, t.partitions, 1, t.configs, t.name); err != nil {
			return fmt.Errorf("create topic %s: %w", t.name, err)
		}
	}
	return nil
}

func text(s string) *string { return &s }

// The schema of orders, as it grew.
var orderSchemas = []string{
	`{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"id","type":"long"},{"name":"customer","type":"string"}]}`,
	`{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"id","type":"long"},{"name":"customer","type":"string"},{"name":"total","type":"double","default":0}]}`,
	`{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"id","type":"long"},{"name":"customer","type":"string"},{"name":"total","type":"double","default":0},{"name":"note","type":["null","string"],"default":null}]}`,
}

const (
	paymentSchema  = `{"$schema":"http://json-schema.org/draft-07/schema#","title":"Payment","type":"object","properties":{"order":{"type":"integer"},"amount":{"type":"number"},"currency":{"type":"string"}},"required":["order","amount"]}`
	addressSchema  = "syntax = \"proto3\";\npackage shop;\n\nmessage Address {\n  string street = 1;\n  string city = 2;\n}\n"
	customerSchema = "syntax = \"proto3\";\npackage shop;\n\nimport \"address.proto\";\n\nmessage Customer {\n  int64 id = 1;\n  string name = 2;\n  Address home = 3;\n}\n"
)

func (f *filler) schemas(ctx context.Context) error {
	for _, s := range orderSchemas {
		if _, err := f.registry.CreateSchema(ctx, "orders-value", sr.Schema{Schema: s}); err != nil {
			return fmt.Errorf("register orders-value: %w", err)
		}
	}
	for _, s := range []struct {
		subject string
		schema  sr.Schema
	}{
		{"payments-value", sr.Schema{Schema: paymentSchema, Type: sr.TypeJSON}},
		{"address", sr.Schema{Schema: addressSchema, Type: sr.TypeProtobuf}},
		{"customers-value", sr.Schema{Schema: customerSchema, Type: sr.TypeProtobuf, References: []sr.SchemaReference{{Name: "address.proto", Subject: "address", Version: 1}}}},
		{"retired-value", sr.Schema{Schema: `"string"`}},
	} {
		if _, err := f.registry.CreateSchema(ctx, s.subject, s.schema); err != nil {
			return fmt.Errorf("register %s: %w", s.subject, err)
		}
	}
	_, err := f.registry.DeleteSubject(ctx, "retired-value", sr.SoftDelete)
	return err
}

// records writes what applications would, and what consoles get wrong: large numbers, nulls, tombstones, repeated headers.
func (f *filler) records(ctx context.Context) error {
	var all []*kgo.Record
	orders, err := f.orders(ctx)
	if err != nil {
		return err
	}
	all = append(all, orders...)
	for i := range 40 {
		all = append(all,
			&kgo.Record{Topic: "payments", Key: fmt.Appendf(nil, "payment-%d", i), Value: fmt.Appendf(nil, `{"order":%d,"amount":%d.50,"currency":"EUR","big":9007199254740993}`, 9007199254740993+int64(i), i)},
			&kgo.Record{Topic: "clicks", Value: fmt.Appendf(nil, `{"page":"/shop/%d","at":%d,"nested":{"list":[1,2,3],"deep":{"deeper":{"deepest":true}}}}`, i, begin.UnixMilli())},
		)
	}
	all = append(all,
		&kgo.Record{Topic: "customers", Key: []byte("customer-1"), Value: []byte("Ada")},
		&kgo.Record{Topic: "customers", Key: []byte("customer-1"), Value: nil},
		&kgo.Record{Topic: "customers", Key: []byte{}, Value: []byte{}},
		&kgo.Record{Topic: "customers", Key: []byte("bytes"), Value: []byte{0, 1, 2, 0xff, 0xfe}},
		&kgo.Record{Topic: "orders.dlq", Key: []byte("order-7"), Value: []byte("not an order"), Headers: headers("error", "schema mismatch", "error", "again", "traceparent", trace)},
	)
	for i, r := range all {
		r.Timestamp = begin.Add(time.Duration(i) * 1234 * time.Millisecond)
	}
	if err := f.client.ProduceSync(ctx, all...).FirstErr(); err != nil {
		return fmt.Errorf("produce: %w", err)
	}
	return f.transactions(ctx)
}

const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

func headers(pairs ...string) []kgo.RecordHeader {
	var out []kgo.RecordHeader
	for i := 0; i+1 < len(pairs); i += 2 {
		out = append(out, kgo.RecordHeader{Key: pairs[i], Value: []byte(pairs[i+1])})
	}
	return out
}

// orders are records of the schema's third version, as a serializer writes them.
func (f *filler) orders(ctx context.Context) ([]*kgo.Record, error) {
	latest, err := f.registry.SchemaByVersion(ctx, "orders-value", 3)
	if err != nil {
		return nil, err
	}
	schema, err := avro.Parse(latest.Schema.Schema)
	if err != nil {
		return nil, fmt.Errorf("read the schema of orders: %w", err)
	}
	var out []*kgo.Record
	for i := range 60 {
		value, err := schema.Encode(map[string]any{"id": int64(9007199254740993 + i), "customer": fmt.Sprintf("customer-%d", i%7), "total": float64(i) * 9.99, "note": nil})
		if err != nil {
			return nil, fmt.Errorf("encode an order: %w", err)
		}
		prefixed := append([]byte{0, byte(latest.ID >> 24), byte(latest.ID >> 16), byte(latest.ID >> 8), byte(latest.ID)}, value...)
		out = append(out, &kgo.Record{Topic: "orders", Key: fmt.Appendf(nil, "order-%d", i), Value: prefixed, Headers: headers("traceparent", trace, "source", "shop")})
	}
	return out, nil
}

// transactions leaves a committed, an aborted and an open one.
func (f *filler) transactions(ctx context.Context) error {
	for i, end := range []kgo.TransactionEndTry{kgo.TryCommit, kgo.TryAbort} {
		if err := f.transaction(ctx, fmt.Sprintf("shop-%d", i), func(cl *kgo.Client) error { return cl.EndTransaction(ctx, end) }); err != nil {
			return err
		}
	}
	return f.transaction(ctx, "shop-open", func(*kgo.Client) error { return nil })
}

func (f *filler) transaction(ctx context.Context, id string, end func(*kgo.Client) error) error {
	cl, err := f.newClient("shop", kgo.TransactionalID(id))
	if err != nil {
		return err
	}
	if err := cl.BeginTransaction(); err != nil {
		return err
	}
	value, err := json.Marshal(map[string]string{"transaction": id})
	if err != nil {
		return err
	}
	if err := cl.ProduceSync(ctx, &kgo.Record{Topic: "shipments", Key: []byte(id), Value: value}).FirstErr(); err != nil {
		return fmt.Errorf("produce in transaction %s: %w", id, err)
	}
	return end(cl) // the client stays open: closing it would abort
}
