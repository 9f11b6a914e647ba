// Package registry is a schema registry that clients of Confluent Schema Registry cannot tell from it (release 8.1.5, and what newer
// clients ask for). It holds nothing: what is true are the tables of projections that journal events fold into, so ids and
// versions come from the state and every change has its cause in the journal.
//
//	r := registry.New(registry.Options{Store: store})
//	http.Serve(listener, r)
//
// A request goes to its handler by the table of routes (routes.go). Reads look at one published view. A change works out on a view
// what is heavy (parsing, compatibility), then decides inside the store's loop, where it looks again at what it relied on and
// starts over when that has changed (plan.go). Handlers return [*Error], which one place writes as Confluent's error body.
//
// What a schema says is in the packages avro, jsonschema and protobuf; models.go puts them behind one interface.
package registry
