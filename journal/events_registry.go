package journal

// SchemaReference is the name by which a schema refers to a version of a subject.
type SchemaReference struct {
	Name    string `msgpack:"n"`
	Subject string `msgpack:"s"`
	Version int32  `msgpack:"v"`
}

// SchemaRegistered: the subject has the version from here on, and the version is the schema with that id in the subject's
// context. A version that was there is replaced (IMPORT). The guid is the MD5 of text, references, metadata and rule set:
// what is registered again has the same. Metadata and RuleSet are JSON with sorted keys, empty when there are none.
type SchemaRegistered struct {
	Subject    string            `msgpack:"s"` // with its context, as ":.context:name"
	Version    int32             `msgpack:"v"`
	ID         int32             `msgpack:"i"`
	GUID       [16]byte          `msgpack:"g"`
	Type       string            `msgpack:"t"` // AVRO, JSON, PROTOBUF
	Schema     string            `msgpack:"x"` // the canonical text
	References []SchemaReference `msgpack:"r,omitempty"`
	Metadata   string            `msgpack:"m,omitempty"`
	RuleSet    string            `msgpack:"u,omitempty"`
}

func (*SchemaRegistered) Kind() Kind { return 140 }

// SchemaVersionsDeleted: the versions are hidden, or gone when Permanent. An id is gone with its last version.
type SchemaVersionsDeleted struct {
	Subject   string  `msgpack:"s"`
	Versions  []int32 `msgpack:"v,omitempty"`
	Permanent bool    `msgpack:"p"`
}

func (*SchemaVersionsDeleted) Kind() Kind { return 141 }

// Values of switches in a registry's config.
const (
	SwitchUnset uint8 = iota
	SwitchOff
	SwitchOn
)

// RegistryConfigSet: this is the config of the scope now, in place of what it was. What is empty is not set.
type RegistryConfigSet struct {
	Scope              string `msgpack:"s,omitempty"` // empty: global; ":.context:"; or a subject
	Compatibility      string `msgpack:"c,omitempty"`
	Policy             string `msgpack:"p,omitempty"`
	Group              string `msgpack:"g,omitempty"`
	Alias              string `msgpack:"a,omitempty"`
	AliasForDeks       string `msgpack:"ad,omitempty"`
	Normalize          uint8  `msgpack:"n,omitempty"`
	ValidateFields     uint8  `msgpack:"vf,omitempty"`
	ValidateNewSchemas uint8  `msgpack:"vn,omitempty"`
	ValidateRules      uint8  `msgpack:"vr,omitempty"`
	DefaultMetadata    string `msgpack:"dm,omitempty"` // JSON with sorted keys, as are the next three
	OverrideMetadata   string `msgpack:"om,omitempty"`
	DefaultRuleSet     string `msgpack:"dr,omitempty"`
	OverrideRuleSet    string `msgpack:"or,omitempty"`
}

func (*RegistryConfigSet) Kind() Kind { return 142 }

// RegistryConfigDeleted: the scope has no config of its own any more.
type RegistryConfigDeleted struct {
	Scope string `msgpack:"s,omitempty"`
}

func (*RegistryConfigDeleted) Kind() Kind { return 143 }

// RegistryModeSet: the scope is in the mode: READWRITE, READONLY, READONLY_OVERRIDE, IMPORT or FORWARD.
type RegistryModeSet struct {
	Scope string `msgpack:"s,omitempty"`
	Mode  string `msgpack:"m"`
}

func (*RegistryModeSet) Kind() Kind { return 144 }

// RegistryModeDeleted: the scope has no mode of its own any more.
type RegistryModeDeleted struct {
	Scope string `msgpack:"s,omitempty"`
}

func (*RegistryModeDeleted) Kind() Kind { return 145 }

// RegistryContextDeleted: the context, which holds no subject, is not listed any more. Its ids go on counting where they were.
type RegistryContextDeleted struct {
	Context string `msgpack:"c"`
}

func (*RegistryContextDeleted) Kind() Kind { return 146 }

// AssociationSet: the subject is that of keys or values of a resource from here on, in place of what that kind of the resource had.
type AssociationSet struct {
	ResourceID   string   `msgpack:"i"`
	ResourceType string   `msgpack:"t"` // topic
	Of           string   `msgpack:"k"` // key, value
	Namespace    string   `msgpack:"ns"`
	Name         string   `msgpack:"n"`
	Subject      string   `msgpack:"s"` // with its context
	GUID         [16]byte `msgpack:"g"`
	Strong       bool     `msgpack:"st"` // the resource owns the subject
	Frozen       bool     `msgpack:"f"`
	Created      int64    `msgpack:"c"` // ms; when the kind of the resource first had one
}

func (*AssociationSet) Kind() Kind { return 147 }

// AssociationDeleted: keys or values of the resource have no subject of their own any more.
type AssociationDeleted struct {
	ResourceID   string `msgpack:"i"`
	ResourceType string `msgpack:"t"`
	Of           string `msgpack:"k"`
}

func (*AssociationDeleted) Kind() Kind { return 148 }
