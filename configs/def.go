package configs

import "strings"

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
	Doc      string // one or two sentences of doze's own

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
	byName map[string]*Def
}

// The four kinds of resource that have keys.
var (
	TopicKeys         = newTable(topicDefs, topicDocs, "")
	BrokerKeys        = newTable(brokerDefs, brokerDocs, actless)
	GroupKeys         = newTable(groupDefs, groupDocs, "")
	ClientMetricsKeys = newTable(clientMetricsDefs, clientMetricsDocs, "")
)

// newTable makes a table; unused is added to the sentences of keys that do not act.
func newTable(defs []Def, docs map[string]string, unused string) *Table {
	t := &Table{defs: defs, byName: make(map[string]*Def, len(defs))}
	for i := range defs {
		d := &defs[i]
		d.Doc = docs[d.Name]
		if !d.Acts {
			d.Doc += unused
		}
		t.byName[d.Name] = d
	}
	return t
}

// Lookup finds a key by its exact name.
func (t *Table) Lookup(name string) (*Def, bool) {
	d, ok := t.byName[name]
	return d, ok
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
