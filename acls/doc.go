// Package acls says who may do what: ACLs as Kafka has them, and the question that an authorizer answers.
//
// A Binding is one ACL: a pattern of resources (a type and a literal name, a prefix, or "*") and an entry (a principal, a
// host, an operation, allow or deny). A Set holds many, immutable and indexed, so that Authorize costs some hundred
// nanoseconds with thousands of ACLs and allocates nothing. Rules are what the broker was started with: super users, and
// what holds for a resource that no ACL names.
//
// The order of a decision: a super user may do anything; a deny that matches refuses; an allow that matches permits; a
// resource without any ACL is left to Rules; all else is refused.
//
// The package is pure: no clock, no journal, no network. Package projections keeps the bindings, handlers asks.
package acls
