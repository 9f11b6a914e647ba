package conformance

import (
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// aclSet are the properties of a broker with an authorizer: who comes without a login is a super user, as the broker itself is.
func aclSet(more ...string) map[string]string {
	set := shareSet(
		"authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
		"super.users", "User:ANONYMOUS", "allow.everyone.if.no.acl.found", "false",
	)
	for i := 0; i+1 < len(more); i += 2 {
		set[more[i]] = more[i+1]
	}
	return set
}

// Numbers of ACLs in the protocol.
const (
	aclTopic, aclGroup, aclCluster, aclTxn = 2, 3, 4, 5
	aclLiteral, aclPrefixed                = 3, 4
	aclDeny, aclAllow                      = 2, 3
	aclAny, aclMatch                       = 1, 2
)

// aclOps are the operations by their names in scripts, in order.
var aclOps = []string{"", "", "all", "read", "write", "create", "delete", "alter", "describe", "cluster-action",
	"describe-configs", "alter-configs", "idempotent-write", "create-tokens", "describe-tokens", "two-phase-commit"}

func aclOp(name string) kmsg.ACLOperation {
	for i, n := range aclOps {
		if n == name {
			return kmsg.ACLOperation(i)
		}
	}
	panic("no operation " + name)
}

// allow lets bob do an operation on a resource.
func allow(kind int8, name, op string) kmsg.CreateACLsRequestCreation {
	c := kmsg.NewCreateACLsRequestCreation()
	c.ResourceType, c.ResourceName, c.ResourcePatternType = kmsg.ACLResourceType(kind), name, aclLiteral
	c.Principal, c.Host, c.Operation, c.PermissionType = "User:bob", "*", aclOp(op), aclAllow
	return c
}

func deny(kind int8, name, op string) kmsg.CreateACLsRequestCreation {
	c := allow(kind, name, op)
	c.PermissionType = aclDeny
	return c
}

// elsewhereOnly is an ACL for another host.
func elsewhereOnly(c kmsg.CreateACLsRequestCreation) kmsg.CreateACLsRequestCreation {
	c.Host = "10.11.12.13"
	return c
}

func prefixed(c kmsg.CreateACLsRequestCreation) kmsg.CreateACLsRequestCreation {
	c.ResourcePatternType = aclPrefixed
	return c
}

// anyACLs is a filter that everything passes.
func anyACLs() *kmsg.DescribeACLsRequest {
	req := kmsg.NewPtrDescribeACLsRequest()
	req.ResourceType, req.ResourcePatternType, req.Operation, req.PermissionType = aclAny, aclAny, aclAny, aclAny
	return req
}

// SetACLs makes these the only ACLs, and waits until broker and controller know them. It is no step of the recording.
func (c *C) SetACLs(list ...kmsg.CreateACLsRequestCreation) {
	admin, err := dial(c.Addr())
	if err != nil {
		c.Fatalf("set ACLs: %w", err)
	}
	defer admin.conn.Close()
	c.aclPhase++
	probe := allow(aclTopic, fmt.Sprintf("probe-%d", c.aclPhase), "create")
	probe.Principal = "User:alice"
	del := kmsg.NewPtrDeleteACLsRequest()
	f := kmsg.NewDeleteACLsRequestFilter()
	f.ResourceType, f.ResourcePatternType, f.Operation, f.PermissionType = aclAny, aclAny, aclAny, aclAny
	del.Version, del.Filters = 3, append(del.Filters, f)
	create := kmsg.NewPtrCreateACLsRequest()
	create.Version, create.Creations = 3, append(list, probe)
	var deleted kmsg.DeleteACLsResponse
	var created kmsg.CreateACLsResponse
	if err = admin.ask(del, &deleted); err == nil {
		err = admin.ask(create, &created)
	}
	if err != nil {
		c.Fatalf("set ACLs: %w", err)
	}
	for i, r := range created.Results {
		if r.ErrorCode != 0 {
			c.Fatalf("set ACL %d: code %d", i, r.ErrorCode)
		}
	}
	c.awaitACLs(admin, len(create.Creations), probe.ResourceName)
}

// awaitACLs waits for as many ACLs at the broker, and until the controller lets alice create the probe.
func (c *C) awaitACLs(admin *socket, count int, probe string) {
	alice, err := dial(c.loginAddr())
	if err == nil {
		defer alice.conn.Close()
		err = alice.loginPlain("alice", Users["alice"])
	}
	if err != nil {
		c.Fatalf("set ACLs: %w", err)
	}
	all := anyACLs()
	all.Version = 3
	create := createTopic(probe, 1)
	create.Version, create.ValidateOnly = 7, true
	for until := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		var have kmsg.DescribeACLsResponse
		var probed kmsg.CreateTopicsResponse
		if err := admin.ask(all, &have); err != nil {
			c.Fatalf("wait for ACLs: %w", err)
		}
		if err := alice.ask(create, &probed); err != nil {
			c.Fatalf("wait for ACLs: %w", err)
		}
		n := 0
		for _, r := range have.Resources {
			n += len(r.ACLs)
		}
		if n == count && probed.Topics[0].ErrorCode == 0 {
			return
		}
		if time.Now().After(until) {
			c.Fatalf("wait for %d ACLs: there are %d, the probe has code %d", count, n, probed.Topics[0].ErrorCode)
		}
	}
}

// byCase are names of resources that differ by what bob may do: with prefix t, t-none, t-all, t-deny, t-host and one for each
// operation. The ACLs are those of t.
func byCase(kind int8, prefix string, ops ...string) (names []string, list []kmsg.CreateACLsRequestCreation) {
	named := func(of string) string { return prefix + "-" + of }
	names = []string{named("none"), named("all"), named("deny"), named("host")}
	list = append(list, allow(kind, named("all"), "all"),
		allow(kind, named("deny"), "all"), deny(kind, named("deny"), "all"),
		elsewhereOnly(allow(kind, named("host"), "all")))
	for _, op := range ops {
		names = append(names, named(op))
		list = append(list, allow(kind, named(op), op))
	}
	return names, list
}

var (
	topicOps = strings.Fields("read write create delete alter describe describe-configs alter-configs")
	groupOps = strings.Fields("read delete describe describe-configs alter-configs")
	txnOps   = strings.Fields("write describe two-phase-commit")
)
