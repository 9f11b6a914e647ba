package journal

// ConfigsAltered: dynamic configs of one resource were set or removed, by AlterConfigs or IncrementalAlterConfigs.
type ConfigsAltered struct {
	ResourceType int8         `msgpack:"t"` // Kafka's ConfigResource.Type: 2 topic, 4 broker, 16 client metrics, 32 group
	Resource     string       `msgpack:"n"` // its name; "" is the default of all brokers
	Set          []ConfigPair `msgpack:"s,omitempty"`
	Removed      []string     `msgpack:"r,omitempty"`
}

func (*ConfigsAltered) Kind() Kind { return 20 }
