// Command doze is a Kafka for development: doze serve runs the broker, the other commands look at it.
//
// Settings come from four places, each winning over those before it: the defaults, the file doze.toml, the environment
// (KAFKA_* as Kafka's container images take it, then DOZE_*), and the command line (a --properties file, then the flags).
// Where a flag and a Kafka property name the same setting, they are one setting: the place decides which counts, and two
// different values in one place are an error.
package main
