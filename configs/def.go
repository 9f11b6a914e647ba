package configs

import (
	"slices"
	"strings"
)

// Type is the type of a config's value, numbered as DescribeConfigs answers it.
type Type int8

// The types, in the numbers of DescribeConfigs. A listener's or plug-in's own key has no known type.
const (
	Unknown Type = iota
	Boolean
	String
	Int
	Short
	Long
	Double
	List
	Class
	Password
)

var typeNames = [...]string{"UNKNOWN", "BOOLEAN", "STRING", "INT", "SHORT", "LONG", "DOUBLE", "LIST", "CLASS", "PASSWORD"}

// String is the type's name in Kafka's messages.
func (t Type) String() string { return typeNames[t] }

// Update says how a broker's key changes while the broker runs.
type Update uint8

// A read-only key takes a restart; a cluster-wide one changes for one broker or, by the resource named "", for all; a
// per-broker one only for one broker.
const (
	ReadOnly Update = iota
	ClusterWide
	PerBroker
)

// Def is one key of one kind of resource. Null says that the key has no default value; Required that it has none and a
// broker of Kafka does not start without it.
type Def struct {
	Name     string
	Type     Type
	Default  string
	Null     bool
	Required bool
	Update   Update // of broker keys; the keys of other resources always change
	Internal bool   // taken and acting, but never described
	Acts     bool   // whether it changes what doze does; the rest is kept and answered

	// KafkaDefault is Kafka's default where doze chose another; "" where they agree.
	KafkaDefault string

	check check
	bag   bool // a list that keeps what it holds twice
}

// Sensitive says that the value is never answered.
func (d *Def) Sensitive() bool { return d.Type == Password }

// Table is the keys of one kind of resource, in name order.
type Table struct {
	defs   []Def
	docs   func() map[string]string // by name, sentences of doze's own; made when first asked for
	unused string                   // is added to the sentences of keys that do not act
}

// The four kinds of resource that have keys.
var (
	TopicKeys         = &Table{defs: topicDefs, docs: topicDocs}
	BrokerKeys        = &Table{defs: brokerDefs, docs: brokerDocs, unused: actless}
	GroupKeys         = &Table{defs: groupDefs, docs: groupDocs}
	ClientMetricsKeys = &Table{defs: clientMetricsDefs, docs: clientMetricsDocs}
)

// Lookup finds a key by its exact name.
func (t *Table) Lookup(name string) (*Def, bool) {
	i, found := slices.BinarySearchFunc(t.defs, name, func(d Def, name string) int { return strings.Compare(d.Name, name) })
	if !found {
		return nil, false
	}
	return &t.defs[i], true
}

// Doc is one or two sentences about a key; "" for one that is not of this table.
func (t *Table) Doc(d *Def) string {
	doc := t.docs()[d.Name]
	if doc != "" && !d.Acts {
		doc += t.unused
	}
	return doc
}

// All are the keys in name order, internal ones among them. The caller does not change them.
func (t *Table) All() []Def { return t.defs }

// Nearest is the known name that is closest to a mistyped one; "" when none is close.
func (t *Table) Nearest(name string) string {
	return Nearest(name, func(yield func(string) bool) {
		for i := range t.defs {
			if !t.defs[i].Internal && !yield(t.defs[i].Name) {
				return
			}
		}
	})
}

// splitList takes a list apart as Kafka's config type does: at commas, without the blanks around them; a blank text is the
// empty list.
func splitList(s string) []string {
	s = javaTrim(s)
	if s == "" {
		return nil
	}
	parts := strings.Split(s, ",")
	for i, p := range parts {
		// Only blanks next to a comma go: the text's own ends were trimmed above.
		parts[i] = strings.Trim(p, " \t\n\v\f\r")
	}
	return parts
}

// javaTrim removes what Java's String.trim removes: everything up to and including the space character at both ends.
func javaTrim(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return r <= ' ' })
}
