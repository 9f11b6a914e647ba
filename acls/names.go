package acls

// ResourceType is what kind of thing an ACL is about; the numbers are the protocol's.
type ResourceType int8

// The types of resources. The first two are of filters only.
const (
	UnknownResource ResourceType = iota
	AnyResource
	Topic
	Group
	Cluster
	TransactionalID
	DelegationToken
	User
)

// PatternType is how the name of an ACL's resource is meant.
type PatternType int8

// The pattern types. The first three are of filters only: Match finds every ACL that bears on a name.
const (
	UnknownPattern PatternType = iota
	AnyPattern
	Match
	Literal
	Prefixed
)

// Operation is what somebody wants to do.
type Operation int8

// The operations. The first two are of filters only; All stands in an ACL for every operation.
const (
	UnknownOperation Operation = iota
	AnyOperation
	All
	Read
	Write
	Create
	Delete
	Alter
	Describe
	ClusterAction
	DescribeConfigs
	AlterConfigs
	IdempotentWrite
	CreateTokens
	DescribeTokens
	TwoPhaseCommit
)

// Permission is what an ACL does with those whom it matches.
type Permission int8

// The permissions. The first two are of filters only.
const (
	UnknownPermission Permission = iota
	AnyPermission
	Deny
	Allow
)

// ClusterName is the only name of a resource of type Cluster.
const ClusterName = "kafka-cluster"

// Wildcard stands for any name, any host, and as AnyPrincipal for anybody.
const (
	Wildcard     = "*"
	AnyPrincipal = "User:*"
)

var (
	resourceNames = [...]string{
		"UNKNOWN", "ANY", "TOPIC", "GROUP", "CLUSTER", "TRANSACTIONAL_ID", "DELEGATION_TOKEN", "USER",
	}
	patternNames   = [...]string{"UNKNOWN", "ANY", "MATCH", "LITERAL", "PREFIXED"}
	operationNames = [...]string{
		"UNKNOWN", "ANY", "ALL", "READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE", "CLUSTER_ACTION",
		"DESCRIBE_CONFIGS", "ALTER_CONFIGS", "IDEMPOTENT_WRITE", "CREATE_TOKENS", "DESCRIBE_TOKENS", "TWO_PHASE_COMMIT",
	}
	permissionNames = [...]string{"UNKNOWN", "ANY", "DENY", "ALLOW"}
)

// String is Kafka's name of the type; "UNKNOWN" for a number that it does not know, as with the other three.
func (t ResourceType) String() string { return nameOf(resourceNames[:], int8(t)) }

// String is Kafka's name of the pattern type.
func (t PatternType) String() string { return nameOf(patternNames[:], int8(t)) }

// String is Kafka's name of the operation.
func (o Operation) String() string { return nameOf(operationNames[:], int8(o)) }

// String is Kafka's name of the permission.
func (p Permission) String() string { return nameOf(permissionNames[:], int8(p)) }

func nameOf(names []string, number int8) string {
	if number < 0 || int(number) >= len(names) {
		return names[0]
	}
	return names[number]
}

// Operations are those that a type of resource has, for answers that list what the caller may do.
func Operations(t ResourceType) []Operation {
	switch t {
	case Topic:
		return []Operation{Read, Write, Create, Delete, Alter, Describe, DescribeConfigs, AlterConfigs}
	case Group:
		return []Operation{Read, Delete, Describe, DescribeConfigs, AlterConfigs}
	case Cluster:
		return []Operation{Create, Alter, Describe, ClusterAction, DescribeConfigs, AlterConfigs, IdempotentWrite}
	case TransactionalID:
		return []Operation{Write, Describe, TwoPhaseCommit}
	case DelegationToken:
		return []Operation{Describe}
	case User:
		return []Operation{CreateTokens, DescribeTokens}
	}
	return nil
}

// Bits gives the bit field of operations that the protocol has: bit n is operation n.
func Bits(operations ...Operation) int32 {
	bits := int32(0)
	for _, o := range operations {
		bits |= 1 << o
	}
	return bits
}
