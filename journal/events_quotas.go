package journal

// QuotaPart is one part of who a quota is for.
type QuotaPart struct {
	Type    string `msgpack:"t"` // user, client-id or ip
	Name    string `msgpack:"n"`
	Default bool   `msgpack:"d"` // holds for all that have no quota of their own; Name is "" then
}

// QuotaValue is one quota. Value is the shortest decimal text that gives the number back: events hold no floats, and people
// read it.
type QuotaValue struct {
	Key   string `msgpack:"k"` // producer_byte_rate, ...
	Value string `msgpack:"v"`
}

// ClientQuotasAltered: quotas of one entity were set or removed (AlterClientQuotas). Parts are sorted by type, values and
// removed keys by key.
type ClientQuotasAltered struct {
	Entity  []QuotaPart  `msgpack:"e,omitempty"`
	Set     []QuotaValue `msgpack:"s,omitempty"`
	Removed []string     `msgpack:"r,omitempty"`
}

func (*ClientQuotasAltered) Kind() Kind { return 120 }
