// Package walk is the client matrix's story for Go clients, told once: a client's program implements Client and calls Main.
// The story and the records are in the README of the client matrix.
package walk

import "context"

// Traits are what a client cannot do; the story leaves that out.
type Traits struct {
	Codecs       []string // compressions, "none" among them
	Idempotent   bool     // its producer can be idempotent, and then no record may be in the log twice
	NoNullHeader bool     // it cannot send a header whose value is null
	EmptyIsNull  bool     // it hands out an empty key, value or header as a null one
}

// Client is one Kafka client library.
type Client interface {
	Traits() Traits
	CreateTopic(ctx context.Context, topic string, partitions int) error
	// Producer sends with one compression, each Produce returning once all its records are acknowledged.
	Producer(codec, topic string) (Producer, error)
	// Join starts a member that hands every record to sink, from the earliest offset where nothing is committed.
	Join(group, topic string, sink func(Record)) (Member, error)

	Topics(ctx context.Context) ([]string, error)
	Partitions(ctx context.Context, topic string) (int, error)
	Groups(ctx context.Context) ([]string, error)
	// Group describes a group: its state as Kafka names it, and how many members it has.
	Group(ctx context.Context, group string) (state string, members int, err error)
	Committed(ctx context.Context, group, topic string) (map[int32]int64, error)
	Ends(ctx context.Context, topic string) (map[int32]int64, error)
	DeleteGroup(ctx context.Context, group string) error
	DeleteTopic(ctx context.Context, topic string) error
	Close()
}

// Producer sends records to one topic.
type Producer interface {
	Produce(ctx context.Context, records []Record) error
	Close()
}

// Member is one member of a consumer group, polling on its own.
type Member interface {
	// Assigned is how many partitions it has now.
	Assigned() int
	// Commit commits what was handed to the sink so far and returns when the broker has acknowledged it.
	Commit(ctx context.Context) error
	// Close leaves the group.
	Close()
}
