package console

import (
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// aclQuestion is "would this principal be allowed to do that?".
type aclQuestion struct {
	Principal, Host string
	Operation       kmsg.ACLOperation
	Type            kmsg.ACLResourceType
	Name            string
}

// aclRules is what decides beside the ACLs, as the broker's configs tell it. A broker need not describe all of it.
type aclRules struct {
	Authorizer   string // authorizer.class.name; "" when the broker asks nobody
	SuperUsers   []string
	AllowIfNoACL string // allow.everyone.if.no.acl.found: "true", "false", "" when the broker does not say
}

// aclVerdict answers a question: in words, and with the ACLs that decide.
type aclVerdict struct {
	Allowed bool
	Unsure  bool // what decides is not told by the broker
	Why     string
	By      []kadm.DescribedACL
}

// judge answers in the order of Kafka's authorizer: super users, denials, permissions, then what holds for a resource without
// any ACL. It is worked out from what the broker describes; the broker itself is not asked.
func judge(q aclQuestion, rules aclRules, acls []kadm.DescribedACL) aclVerdict {
	if rules.Authorizer == "" {
		return aclVerdict{Allowed: true, Why: "The broker has no authorizer: everybody may do everything."}
	}
	if slices.Contains(rules.SuperUsers, q.Principal) {
		return aclVerdict{Allowed: true, Why: q.Principal + " is a super user."}
	}
	onResource := matching(acls, q.onResource)
	if by := matching(onResource, q.denied); len(by) > 0 {
		return aclVerdict{Why: "Denied. A denial wins over every permission.", By: by}
	}
	if by := matching(onResource, q.allowed); len(by) > 0 {
		return aclVerdict{Allowed: true, Why: "Allowed.", By: by}
	}
	if len(onResource) > 0 {
		return aclVerdict{Why: fmt.Sprintf("Refused: %d of the ACLs name this resource, and none of them allows it.", len(onResource))}
	}
	return judgeUnnamed(rules)
}

// judgeUnnamed is the verdict on a resource that no ACL names.
func judgeUnnamed(rules aclRules) aclVerdict {
	const unnamed = "No ACL names this resource, and allow.everyone.if.no.acl.found "
	switch rules.AllowIfNoACL {
	case "true":
		return aclVerdict{Allowed: true, Why: unnamed + "is true."}
	case "false":
		return aclVerdict{Why: unnamed + "is false."}
	}
	return aclVerdict{Unsure: true, Why: unnamed + "decides, which this broker does not describe. Kafka's default is false: refused."}
}

func matching(acls []kadm.DescribedACL, keep func(kadm.DescribedACL) bool) []kadm.DescribedACL {
	var out []kadm.DescribedACL
	for _, a := range acls {
		if keep(a) {
			out = append(out, a)
		}
	}
	return out
}

func (q aclQuestion) onResource(a kadm.DescribedACL) bool {
	if a.Type != q.Type {
		return false
	}
	switch a.Pattern {
	case kmsg.ACLResourcePatternTypeLiteral:
		return a.Name == q.Name || a.Name == "*"
	case kmsg.ACLResourcePatternTypePrefixed:
		return strings.HasPrefix(q.Name, a.Name)
	}
	return false
}

func (q aclQuestion) concerns(a kadm.DescribedACL) bool {
	return (a.Principal == q.Principal || a.Principal == "User:*") && (a.Host == "*" || a.Host == q.Host)
}

func (q aclQuestion) denied(a kadm.DescribedACL) bool {
	return a.Permission == kmsg.ACLPermissionTypeDeny && q.concerns(a) && (a.Operation == kmsg.ACLOperationAll || a.Operation == q.Operation)
}

func (q aclQuestion) allowed(a kadm.DescribedACL) bool {
	return a.Permission == kmsg.ACLPermissionTypeAllow && q.concerns(a) &&
		(a.Operation == kmsg.ACLOperationAll || a.Operation == q.Operation || slices.Contains(impliedBy[q.Operation], a.Operation))
}

// impliedBy is which permissions carry another with them: who may read, write, delete or alter a thing may describe it.
var impliedBy = map[kmsg.ACLOperation][]kmsg.ACLOperation{
	kmsg.ACLOperationDescribe:        {kmsg.ACLOperationRead, kmsg.ACLOperationWrite, kmsg.ACLOperationDelete, kmsg.ACLOperationAlter},
	kmsg.ACLOperationDescribeConfigs: {kmsg.ACLOperationAlterConfigs},
}

// aclTwoPhaseCommit is the operation of KIP-939, which the client has no name for.
const aclTwoPhaseCommit kmsg.ACLOperation = 15
