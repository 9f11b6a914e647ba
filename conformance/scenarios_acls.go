package conformance

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// aclScenarios show the APIs of ACLs, and what an ACL does.
func aclScenarios() []Scenario {
	return inACLPart([]Scenario{
		{
			Name:  "acls-crud",
			Claim: "An ACL that is created is described and, once, deleted; created again it is no error and there once; DescribeAcls groups by resource; DeleteAcls answers what each filter met.",
			Fresh: true,
			Run:   runACLs,
		},
		{
			Name:  "acls-filters",
			Claim: "A filter's name and pattern type ANY, LITERAL or PREFIXED find ACLs of just that name, MATCH finds those that bear on it: the name, its prefixes and the wildcard.",
			Fresh: true,
			Run:   runACLFilters,
		},
		{
			Name:  "acls-refused",
			Claim: "An ACL that cannot be is refused for itself with a text, beside others of the request that are made; numbers that mean nothing close the connection.",
			Fresh: true,
			Run:   runACLsRefused,
		},
		{
			Name:  "acls-without-authorizer",
			Claim: "Without an authorizer the three APIs answer SECURITY_DISABLED with a text.",
			Set:   map[string]string{},
			Run:   runACLsDisabled,
		},
		{
			Name:  "acls-rules",
			Claim: "Deny counts before allow, a prefix and the wildcard count as the name does, another host's ACL does not; operations imply DESCRIBE and DESCRIBE_CONFIGS in allows only; an ACL that is gone permits no more, nor does one made again after it.",
			Fresh: true,
			Run:   runACLRules,
		},
		{
			Name:  "acls-open",
			Claim: "With allow.everyone.if.no.acl.found everybody may do everything on a resource that no ACL names, and on one that an ACL names only what ACLs say.",
			Set:   aclSet("allow.everyone.if.no.acl.found", "true"),
			Fresh: true,
			Run:   runACLsOpen,
		},
		{
			Name:  "acls-gone-while-waiting",
			Claim: "What is appended after a permission is gone is delivered by Kafka to a Fetch that has waited since before; the next Fetch is refused.",
			Fresh: true,
			Run:   runACLsGone,
		},
	})
}

// inACLPart gives scenarios the part, the logins and the properties that those of ACLs have. Some need no login: the one who
// comes without is the super user.
func inACLPart(list []Scenario) []Scenario {
	withoutLogins := []string{"acls-crud", "acls-filters", "acls-refused", "acls-without-authorizer"}
	for i := range list {
		if list[i].Set == nil {
			list[i].Set = aclSet()
		}
		list[i].Part, list[i].Logins = 4, !slices.Contains(withoutLogins, list[i].Name)
	}
	return list
}

func createACLs(list ...kmsg.CreateACLsRequestCreation) *kmsg.CreateACLsRequest {
	req := kmsg.NewPtrCreateACLsRequest()
	req.Creations = list
	return req
}

func deleteACLs(filters ...*kmsg.DescribeACLsRequest) *kmsg.DeleteACLsRequest {
	req := kmsg.NewPtrDeleteACLsRequest()
	for _, f := range filters {
		req.Filters = append(req.Filters, kmsg.DeleteACLsRequestFilter{
			ResourceType: f.ResourceType, ResourceName: f.ResourceName, ResourcePatternType: f.ResourcePatternType,
			Principal: f.Principal, Host: f.Host, Operation: f.Operation, PermissionType: f.PermissionType,
		})
	}
	return req
}

// aclsAbout are ACLs of a topic's name, found by a pattern type.
func aclsAbout(name string, pattern kmsg.ACLResourcePatternType) *kmsg.DescribeACLsRequest {
	req := anyACLs()
	req.ResourceType, req.ResourceName, req.ResourcePatternType = aclTopic, &name, pattern
	return req
}

// describeUntil waits until as many ACLs pass a filter.
func describeUntil(n *Conn, step string, version int16, req *kmsg.DescribeACLsRequest, count int) {
	AskUntil(n, step, version, req, func(r *kmsg.DescribeACLsResponse) bool {
		have := 0
		for _, of := range r.Resources {
			have += len(of.ACLs)
		}
		return have == count
	})
}

func runACLs(c *C) {
	admin := c.Conn("admin")
	describeUntil(admin, "nothing yet", 3, anyACLs(), 0)
	read, write := allow(aclTopic, "orders", "read"), allow(aclTopic, "orders", "write")
	team := prefixed(deny(aclGroup, "team-", "all"))
	admin.Do("create two of one topic and one of groups", 3, createACLs(read, write, team))
	describeUntil(admin, "all", 3, anyACLs(), 3)
	admin.Do("create one again, and one twice", 3, createACLs(read, allow(aclCluster, "kafka-cluster", "alter"), allow(aclCluster, "kafka-cluster", "alter")))
	for version := int16(1); version <= 3; version++ {
		describeUntil(admin, "all, by version", version, anyACLs(), 4)
	}
	user := allow(7, "User:carol", "create-tokens")
	admin.Do("of a user", 3, createACLs(user))
	byAlice := anyACLs()
	byAlice.Principal = kmsg.StringPtr("User:alice")
	onlyDeny := anyACLs()
	onlyDeny.PermissionType = aclDeny
	describeUntil(admin, "of another principal", 3, byAlice, 0)
	describeUntil(admin, "denies", 3, onlyDeny, 1)
	admin.Do("delete by filters that meet the same, and nothing", 3, deleteACLs(aclsAbout("orders", aclAny), aclsAbout("orders", aclLiteral), aclsAbout("none", aclAny)))
	describeUntil(admin, "after the deletion", 3, anyACLs(), 3)
	admin.Do("delete again", 2, deleteACLs(aclsAbout("orders", aclAny)))
	admin.Do("delete all", 1, deleteACLs(anyACLs()))
	describeUntil(admin, "nothing any more", 3, anyACLs(), 0)
	admin.Do("create again what was deleted", 1, createACLs(read))
	describeUntil(admin, "it is back", 1, anyACLs(), 1)
	admin.Do("create nothing", 3, createACLs())
	admin.Do("delete by no filter", 3, deleteACLs())
}

func runACLFilters(c *C) {
	admin := c.Conn("admin")
	admin.Do("create", 3, createACLs(
		allow(aclTopic, "orders", "read"), allow(aclTopic, "orders-eu", "read"), prefixed(allow(aclTopic, "ord", "read")), prefixed(allow(aclTopic, "orders", "write")),
		allow(aclTopic, "*", "describe"), allow(aclGroup, "orders", "read"), deny(aclTopic, "orders", "write"), elsewhereOnly(allow(aclTopic, "orders", "alter")),
	))
	describeUntil(admin, "all", 3, anyACLs(), 8)
	for _, pattern := range []kmsg.ACLResourcePatternType{aclAny, aclMatch, aclLiteral, aclPrefixed} {
		admin.Do("about orders by "+pattern.String(), 3, aclsAbout("orders", pattern))
		admin.Do("about * by "+pattern.String(), 3, aclsAbout("*", pattern))
		unnamed := anyACLs()
		unnamed.ResourcePatternType = pattern
		admin.Do("about any by "+pattern.String(), 3, unnamed)
	}
	exact := aclsAbout("orders", aclLiteral)
	exact.Principal, exact.Host, exact.Operation, exact.PermissionType = kmsg.StringPtr("User:bob"), kmsg.StringPtr("*"), aclOp("read"), aclAllow
	admin.Do("just one", 3, exact)
	host := anyACLs()
	host.Host = kmsg.StringPtr("10.11.12.13")
	admin.Do("of a host", 3, host)
	all := anyACLs()
	all.Operation = aclOp("all")
	admin.Do("of the operation ALL", 3, all)
	admin.Do("delete by MATCH", 3, deleteACLs(aclsAbout("orders-eu", aclMatch)))
	describeUntil(admin, "what is left", 3, anyACLs(), 4)
}

func runACLsRefused(c *C) {
	admin := c.Conn("admin")
	with := func(edit func(*kmsg.CreateACLsRequestCreation)) kmsg.CreateACLsRequestCreation {
		a := allow(aclTopic, "orders", "read")
		edit(&a)
		return a
	}
	admin.Do("wrong ones beside good ones", 3, createACLs(
		allow(aclCluster, "other", "alter"), allow(aclTopic, "", "read"), allow(aclCluster, "", "alter"),
		with(func(a *kmsg.CreateACLsRequestCreation) { a.Principal = "bob" }),
		with(func(a *kmsg.CreateACLsRequestCreation) { a.Principal = "" }),
		with(func(a *kmsg.CreateACLsRequestCreation) { a.Principal, a.Host = "Group:x:y", "" }),
		allow(aclTopic, "orders", "create-tokens"), allow(aclGroup, "a b", "write"),
		prefixed(allow(aclCluster, "kafka-cluster", "alter")),
	))
	for name, edit := range []func(*kmsg.CreateACLsRequestCreation){
		func(a *kmsg.CreateACLsRequestCreation) { a.ResourceType = aclAny },
		func(a *kmsg.CreateACLsRequestCreation) { a.ResourcePatternType = aclAny },
		func(a *kmsg.CreateACLsRequestCreation) { a.ResourcePatternType = aclMatch },
		func(a *kmsg.CreateACLsRequestCreation) { a.Operation = aclAny },
		func(a *kmsg.CreateACLsRequestCreation) { a.PermissionType = aclAny },
	} {
		admin.Do(fmt.Sprintf("what only filters have, %d, beside a good one", name), 3, createACLs(with(edit), allow(aclTopic, "never", "read")))
	}
	describeUntil(admin, "what was made", 3, anyACLs(), 4)
	unknown := []kmsg.CreateACLsRequestCreation{
		with(func(a *kmsg.CreateACLsRequestCreation) { a.ResourceType = 0 }),
		with(func(a *kmsg.CreateACLsRequestCreation) { a.ResourceType = 99 }),
		with(func(a *kmsg.CreateACLsRequestCreation) { a.ResourcePatternType = 5 }),
		with(func(a *kmsg.CreateACLsRequestCreation) { a.Operation = 16 }),
		with(func(a *kmsg.CreateACLsRequestCreation) { a.PermissionType = 0 }),
	}
	for _, a := range unknown {
		admin.Do("create with an unknown number", 3, createACLs(a))
	}
	for _, edit := range []func(*kmsg.DescribeACLsRequest){
		func(f *kmsg.DescribeACLsRequest) { f.ResourceType = 0 },
		func(f *kmsg.DescribeACLsRequest) { f.ResourcePatternType = 9 },
		func(f *kmsg.DescribeACLsRequest) { f.Operation = 0 },
		func(f *kmsg.DescribeACLsRequest) { f.PermissionType = 4 },
	} {
		f := anyACLs()
		edit(f)
		admin.Do("describe by an unknown number", 3, f)
		admin.Do("delete by an unknown number", 3, deleteACLs(aclsAbout("none", aclAny), f))
	}
	describeUntil(admin, "nothing was deleted", 3, anyACLs(), 4)
}

func runACLsDisabled(c *C) {
	n := c.Conn("a")
	n.Do("describe", 3, anyACLs())
	n.Do("create", 3, createACLs(allow(aclTopic, "orders", "read"), allow(aclTopic, "", "read")))
	n.Do("delete", 3, deleteACLs(anyACLs(), anyACLs()))
}

func runACLRules(c *C) {
	admin, bob := c.Conn("admin"), c.As("bob")
	for _, name := range []string{"rules-a", "rules-ab", "rules-b"} {
		admin.NewTopic(name, 1)
	}
	see := func(step string) { // what bob may describe, and the operations that he is told
		req := metadataFor("rules-a", "rules-ab", "rules-b")
		req.IncludeTopicAuthorizedOperations = true
		bob.Send(step, 9, req).Only("Topics.ErrorCode", "Topics.Topic", "Topics.AuthorizedOperations").Await()
	}
	c.SetACLs()
	see("nothing")
	c.SetACLs(allow(aclTopic, "rules-a", "read"), allow(aclTopic, "rules-ab", "alter-configs"), allow(aclTopic, "rules-b", "alter"))
	see("what is implied")
	c.SetACLs(prefixed(allow(aclTopic, "rules-a", "all")), deny(aclTopic, "rules-ab", "read"))
	see("a prefix and a deny")
	c.SetACLs(allow(aclTopic, "*", "all"), prefixed(deny(aclTopic, "rules-a", "write")), deny(aclTopic, "rules-b", "all"))
	see("the wildcard and denies")
	c.SetACLs(prefixed(allow(aclTopic, "*", "all")), deny(aclTopic, "*", "describe"))
	see("a prefix of a star is no wildcard, a deny of DESCRIBE on the wildcard")
	c.SetACLs(elsewhereOnly(allow(aclTopic, "rules-a", "all")), allow(aclTopic, "rules-b", "describe"), elsewhereOnly(deny(aclTopic, "rules-b", "describe")))
	see("another host")
	here, anybody, other, group := allow(aclTopic, "rules-a", "describe"), allow(aclTopic, "rules-ab", "describe"), allow(aclTopic, "rules-b", "describe"), allow(aclTopic, "rules-b", "read")
	here.Host, anybody.Principal, other.Principal, group.Principal = "127.0.0.1", "User:*", "User:alice", "Group:bob"
	c.SetACLs(here, anybody, other, group)
	see("this host, anybody, others")
	c.SetACLs(deny(aclTopic, "rules-a", "read"), allow(aclTopic, "rules-a", "describe"), deny(aclTopic, "rules-ab", "all"), allow(aclTopic, "rules-ab", "all"))
	see("a deny of READ denies no DESCRIBE")
	c.SetACLs(allow(aclTopic, "rules-a", "all"))
	see("all of one")
	admin.Do("one is deleted", 3, deleteACLs(aclsAbout("rules-a", aclLiteral)))
	describeUntil(admin, "it is gone", 3, aclsAbout("rules-a", aclLiteral), 0)
	see("nothing again")
	c.SetACLs(allow(aclTopic, "rules-a", "all"))
	see("all of one again")
}

func runACLsOpen(c *C) {
	admin, bob := c.Conn("admin"), c.As("bob")
	for _, name := range []string{"open-free", "open-taken", "open-pre"} {
		admin.NewTopic(name, 1)
	}
	taken, pre := allow(aclTopic, "open-taken", "read"), prefixed(elsewhereOnly(allow(aclTopic, "open-p", "read")))
	taken.Principal = "User:alice"
	c.SetACLs(taken, pre, deny(aclTopic, "open-new", "create"))
	see := metadataFor("open-free", "open-taken", "open-pre", "open-made", "open-new")
	see.IncludeTopicAuthorizedOperations, see.IncludeClusterAuthorizedOperations = true, true
	see.AllowAutoTopicCreation = false
	bob.Send("what bob sees", 9, see).Only("Topics.ErrorCode", "Topics.Topic", "Topics.AuthorizedOperations", "AuthorizedOperations").Await()
	create := createTopic("open-new", 1)
	bob.Do("the cluster has no ACL", 4, create)
	wild := deny(aclTopic, "*", "read")
	wild.Principal = "User:carol"
	c.SetACLs(wild)
	bob.Send("a wildcard names every topic", 9, see).Only("Topics.ErrorCode", "Topics.Topic", "Topics.AuthorizedOperations", "AuthorizedOperations").Await()
}

func runACLsGone(c *C) {
	admin, bob := c.Conn("admin"), c.As("bob")
	for _, v := range []int16{12, 18} {
		t := admin.NewTopic(fmt.Sprintf("gone-%d", v), 2)
		c.SetACLs(allow(aclTopic, t.name, "read"))
		req := fetchFrom(t, 0, 0)
		req.MinBytes, req.MaxWaitMillis = 1, int32(muchTooLong.Milliseconds())
		waits := bob.Send("waits, "+vn(v), v, req)
		waits.Parked()
		c.SetACLs()
		admin.Store("store", t, Values("x"))
		waits.Await()
		bob.Do("asks again, "+vn(v), v, fetchFrom(t, 0, 0))
	}
}
