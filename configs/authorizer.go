package configs

import "strings"

// Properties that Kafka's authorizer has beside the broker's own. Kafka takes them, and describes them as it does every property
// that it does not know: without type and value.
const (
	AuthorizerClass = "authorizer.class.name" // the broker's own: which authorizer, "" for none
	SuperUsers      = "super.users"
	AllowIfNoACL    = "allow.everyone.if.no.acl.found"
)

// IsAuthorizerKey says whether a key is one of the authorizer's.
func IsAuthorizerKey(name string) bool { return name == SuperUsers || name == AllowIfNoACL }

// BrokerKeyActs says whether something in doze depends on a broker's key: one of the table, of the authorizer, or of a listener or
// one of its mechanisms, which does what the key without them does.
func BrokerKeyActs(name string) bool {
	if d, known := BrokerKeys.Lookup(name); known {
		return d.Acts
	}
	if key, ok := listenerKey(name); ok {
		d, known := BrokerKeys.Lookup(key)
		if !known {
			_, key, _ := strings.Cut(key, ".")
			d, known = BrokerKeys.Lookup(key)
		}
		return known && d.Acts
	}
	return IsAuthorizerKey(name)
}

// DocOfOther is the sentence about a broker's key that the table does not have.
func DocOfOther(name string) string {
	switch {
	case name == SuperUsers:
		return "Who may do everything, whatever the ACLs say."
	case name == AllowIfNoACL:
		return "Whether everybody may do everything on a resource that no ACL names."
	case IsListenerKey(name):
		return "What the key without the listener's name does, for this listener."
	}
	return "Kept and described for clients; nothing in doze depends on it."
}
