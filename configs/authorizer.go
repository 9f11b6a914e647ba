package configs

// Properties that Kafka's authorizer has beside the broker's own: they are taken, and never described, as in Kafka.
const (
	AuthorizerClass = "authorizer.class.name" // the broker's own: which authorizer, "" for none
	SuperUsers      = "super.users"
	AllowIfNoACL    = "allow.everyone.if.no.acl.found"
)

// IsAuthorizerKey says whether a key is one of the authorizer's.
func IsAuthorizerKey(name string) bool { return name == SuperUsers || name == AllowIfNoACL }
