package journal

// ConfigPair is one configuration value. Events carry them sorted by name.
type ConfigPair struct {
	Name  string `msgpack:"n"`
	Value string `msgpack:"v"`
}

// TopicCreated: the topic exists from here on, its partitions 0 to Partitions-1 empty.
type TopicCreated struct {
	ID         [16]byte     `msgpack:"i" field:"topicId"`
	Name       string       `msgpack:"n" field:"topic"`
	Partitions int32        `msgpack:"p"`
	Configs    []ConfigPair `msgpack:"c,omitempty"` // those given at creation
}

func (*TopicCreated) Kind() Kind { return 10 }

// TopicDeleted: the topic, its partitions and its configs are gone.
type TopicDeleted struct {
	ID [16]byte `msgpack:"i" field:"topicId"`
}

func (*TopicDeleted) Kind() Kind { return 11 }

// PartitionsAdded: the topic has Total partitions now.
type PartitionsAdded struct {
	ID    [16]byte `msgpack:"i" field:"topicId"`
	Total int32    `msgpack:"t"`
}

func (*PartitionsAdded) Kind() Kind { return 12 }

// RecordsDeleted: records of the partition below Before are not served any more (DeleteRecords).
type RecordsDeleted struct {
	Topic     [16]byte `msgpack:"i" field:"topicId"`
	Partition int32    `msgpack:"p"`
	Before    int64    `msgpack:"b"`
}

func (*RecordsDeleted) Kind() Kind { return 13 }
