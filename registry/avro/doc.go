// Package avro holds Avro schemas as Apache Avro for Java 1.12 holds them, because that is what Confluent's registry answers
// with: what parses, the canonical text (Java's Schema.toString), its normalised form, and the verdicts of Java's
// SchemaCompatibility with all their differences. Encoding and decoding are not here: see registry/serde.
//
// No Go library keeps documentation, properties and the order of everything, nor gives Java's verdicts; hence a model of our
// own. It is held to Java's answers: testdata has texts that Java printed, and the vectors of pairs are run where they are.
package avro
