package protobuf

// File is a .proto file as a tree.
type File struct {
	Syntax   string // "proto2", "proto3", an edition, or empty: not said
	Edition  bool
	Package  string
	Imports  []string
	Public   []string // imports that are public
	Options  []Option
	Messages []*Message
	Enums    []*Enum
	Extends  []Extend
	Services []Service
}

// Message is a message type.
type Message struct {
	Name       string
	Reserved   []Values
	Options    []Option
	Fields     []*Field // not those of oneofs
	OneOfs     []OneOf
	Groups     []Group
	Extensions []Values
	Extends    []Extend
	Messages   []*Message
	Enums      []*Enum
}

// Enum is an enum type.
type Enum struct {
	Name      string
	Reserved  []Values
	Options   []Option
	Constants []Constant
}

// Constant is one value of an enum.
type Constant struct {
	Name    string
	Tag     int64
	Options []Option
}

// Field is a field of a message, a oneof, a group or an extension.
type Field struct {
	Label    string // required, optional, repeated or empty
	Type     string // as it was written; "map<K, V>"
	Name     string
	Tag      int64
	Default  *string
	JSONName *string
	Options  []Option // without default and json_name
}

// OneOf is a oneof.
type OneOf struct {
	Name    string
	Options []Option
	Fields  []*Field
	Groups  []Group
}

// Group is a group of proto2.
type Group struct {
	Label, Name string
	Tag         int64
	Fields      []*Field
}

// Extend adds fields to a message.
type Extend struct {
	Name   string
	Fields []*Field
}

// Values are reserved numbers and names, or numbers for extensions.
type Values struct {
	Items   []Value
	Options []Option // of extensions
}

// Value is a name, a number (From is To), or a range.
type Value struct {
	Name     string
	From, To int64
	Range    bool // written as a range
}

const maxTag = 536870911

// Service is a service.
type Service struct {
	Name    string
	Options []Option
	Methods []Method
}

// Method is a method of a service.
type Method struct {
	Name                      string
	Input, Output             string
	InputStream, OutputStream bool
	Options                   []Option
}

// OptionKind is what the value of an option is.
type OptionKind uint8

const (
	OptionString OptionKind = iota
	OptionBool
	OptionEnum
	OptionNumber
	OptionNested // the option of an option: (a).b
	OptionMap
	OptionList
)

// Option is an option with its value; also an entry of an option that is a map, and an element of one that is a list.
type Option struct {
	Name      string
	Extension bool // written in parentheses
	Kind      OptionKind
	Text      string   // of a string, bool, enum or number
	Items     []Option // of a map: entries by Name; of a list: elements; of a nested one: that one
}
