//go:build linux

// Package brokers starts what the bench compares, each as a process of its own on the broker's CPU: doze, a real Kafka,
// kfake, and the floor: a server of this program that does only the work no broker can avoid. All are known by their
// address alone; a broker counts as started when it has answered a Metadata request that names one broker.
package brokers
