// Package kafka starts a real Apache Kafka on this machine: one node, broker and controller in one, on loopback. Its
// jars come from the Maven registry through mvn; it needs java 17 or newer and mvn on the path.
//
// Jars and data lie in the directory that DOZE_KAFKA_HOME names, by default doze/kafka in the user's cache directory:
// libs-VERSION holds the jars of a release, node-NAME the data of a started node.
package kafka
