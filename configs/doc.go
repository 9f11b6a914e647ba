// Package configs is what Kafka 4.3.1 knows of configuration: every key of a topic, a broker, a group and a client-metrics
// subscription with its type, default, checks and synonyms; how a value is found through the layers; and the notations it
// comes in (a properties file, a container's environment).
//
// It is a leaf: it imports nothing of doze and holds no state. The command line, the handlers and the documents share it.
//
// The facts are those of a running Apache Kafka 4.3.1: tables from its definitions, texts of errors as its clients see them
// (testdata/refusals.json holds what it answered, and a test compares each). A table's documentation sentences are doze's own.
//
// Invariants:
//   - A [Def] never changes after the package is loaded.
//   - A value passes [Def.Parse] before it is stored in a journal; [Broker] and [Topic] rely on that and fall back to the
//     default where a stored value no longer fits.
//   - An error whose text a client sees is an [*Error]; its text is Kafka's.
package configs
