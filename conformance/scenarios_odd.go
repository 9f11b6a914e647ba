package conformance

import (
	"encoding/base64"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// oddScenarios ask for what no client asks for: every kind with every operation, bounds of numbers, names that are none.
func oddScenarios() []Scenario {
	of := func(name, claim string, run func(c *C), more ...string) Scenario {
		set := aclSet(append([]string{"super.users", "User:ANONYMOUS;User:admin", "delegation.token.secret.key", "a-master-key"}, more...)...)
		return Scenario{Name: "odd-" + name, Claim: claim, Part: 4, Logins: true, Fresh: true, Run: run, Set: set}
	}
	return []Scenario{
		of("acls", "Which principals, hosts, patterns, permissions, and which operation on which kind of resource an ACL may have.", runOddACLs),
		of("scram", "Iterations, mechanisms and names at their bounds; which answer a user gets who stands in a request more than once.", runOddScram),
		of("tokens", "Lifetimes, owners, renewers and HMACs that no client sends; a login by a token whose token goes away.", runOddTokens),
		of("quotas", "Names of addresses in every form that Java reads, values at their bounds for every key, matches that there are not.", runOddQuotas),
		of("timeouts", "Elections and reassignments that leave no time are REQUEST_TIMED_OUT; a list of reassignments is not.", runOddTimeouts),
		of("reauth", "What comes out of order while a session begins anew.", runOddReauth, "connections.max.reauth.ms", "60000"),
	}
}

func runOddACLs(c *C) {
	a := c.Conn("a")
	for _, p := range []string{"User:", "alice", "User", ":alice", "Group:x", "User:a:b", "", ":", "User:*", "*", " User:x", "User: x ", "user:x", "User:ünïcode"} {
		x := allow(2, "beyond-p", "read")
		x.Principal = p
		a.Do("principal "+p, 3, createACLs(x))
	}
	for _, h := range []string{"", "127.0.0.1", "*", "localhost", "::1", "999.1.1.1", "10.0.0.0/8", " * "} {
		x := allow(2, "beyond-h", "read")
		x.Host = h
		a.Do("host "+h, 3, createACLs(x))
	}
	for kind := int8(0); kind < 9; kind++ {
		for op := int8(1); op < 17; op++ {
			x := allow(2, "beyond-k", "read")
			x.ResourceType, x.Operation = kmsg.ACLResourceType(kind), kmsg.ACLOperation(op)
			if kind == 4 {
				x.ResourceName = "kafka-cluster"
			}
			if kind < 2 {
				continue
			}
			a.Do(fmt.Sprint("kind ", kind, " op ", op), 3, createACLs(x))
		}
	}
	for _, pattern := range []int8{2, 3, 4, 5, -1} {
		for _, name := range []string{"", "*", "a*", strings.Repeat("n", 300), "a b"} {
			x := allow(2, name, "read")
			x.ResourcePatternType = kmsg.ACLResourcePatternType(pattern)
			a.Do(fmt.Sprintf("pattern %d %.5q", pattern, name), 3, createACLs(x))
			x = allow(4, name, "read")
			x.ResourcePatternType = kmsg.ACLResourcePatternType(pattern)
			a.Do(fmt.Sprintf("cluster pattern %d %.5q", pattern, name), 3, createACLs(x))
		}
	}
	for _, perm := range []int8{1, 4, -1, 127} {
		x := allow(2, "beyond-x", "read")
		x.PermissionType = kmsg.ACLPermissionType(perm)
		a.Do(fmt.Sprint("permission ", perm), 3, createACLs(x))
	}
	a.Do("none", 3, createACLs())
	a.Do("no filters", 3, deleteACLs())
	one := allow(2, "beyond-twice", "read")
	a.Do("twice in one", 3, createACLs(one, one))
	time.Sleep(500 * time.Millisecond)
	a.Do("describe all", 3, anyACLs())
	f := anyACLs()
	f.ResourceName = kmsg.StringPtr("")
	a.Do("describe empty name", 3, f)
	f = anyACLs()
	f.Principal = kmsg.StringPtr("")
	a.Do("describe empty principal", 3, f)
	f = anyACLs()
	f.Principal = kmsg.StringPtr("alice")
	a.Do("describe bad principal", 3, f)
	f = anyACLs()
	f.Host = kmsg.StringPtr("")
	a.Do("describe empty host", 3, f)
	for _, v := range []int8{0, 1, 4, 9, -1} {
		f = anyACLs()
		f.ResourcePatternType = kmsg.ACLResourcePatternType(v)
		a.Do(fmt.Sprint("describe pattern ", v), 3, f)
		if v != 0 {
			a.Do(fmt.Sprint("delete pattern ", v), 3, deleteACLs(func() *kmsg.DescribeACLsRequest {
				g := anyACLs()
				g.ResourcePatternType = kmsg.ACLResourcePatternType(v)
				g.ResourceName = kmsg.StringPtr("nothing has this")
				return g
			}()))
		}
	}
	x := aclsAbout("beyond-twice", 3)
	a.Do("delete twice in one", 3, deleteACLs(x, x))
	a.Do("delete all", 3, deleteACLs(anyACLs()))
	a.Do("delete all again", 3, deleteACLs(anyACLs(), x))
}

func runOddScram(c *C) {
	a := c.Conn("a")
	del := func(name string, m int8) kmsg.AlterUserSCRAMCredentialsRequestDeletion {
		d := kmsg.NewAlterUserSCRAMCredentialsRequestDeletion()
		d.Name, d.Mechanism = name, m
		return d
	}
	ups := func(name string, m int8, it int32) kmsg.AlterUserSCRAMCredentialsRequestUpsertion {
		u := scram256.upsert(name, "x").Upsertions[0]
		u.Mechanism, u.Iterations = m, it
		return u
	}
	req := func(d []kmsg.AlterUserSCRAMCredentialsRequestDeletion, u ...kmsg.AlterUserSCRAMCredentialsRequestUpsertion) *kmsg.AlterUserSCRAMCredentialsRequest {
		r := kmsg.NewPtrAlterUserSCRAMCredentialsRequest()
		r.Deletions, r.Upsertions = d, u
		return r
	}
	type dels = []kmsg.AlterUserSCRAMCredentialsRequestDeletion
	a.Do("none", 0, req(nil))
	for _, it := range []int32{-1, 0, 4095, 4096, 16384, 16385, math.MaxInt32, math.MinInt32} {
		a.Do(fmt.Sprint("iterations ", it), 0, req(nil, ups("u", 1, it)))
	}
	for _, m := range []int8{0, 3, -1, 127} {
		a.Do(fmt.Sprint("mechanism ", m), 0, req(dels{del("u", m)}, ups("v", m, 4096)))
	}
	for _, name := range []string{"", " ", "a b", "a,b", "a=b", "ü", "*", "User:x", "\x00", strings.Repeat("n", 1000)} {
		a.Do(fmt.Sprintf("name %.5q", name), 0, req(dels{del(name+"-", 1)}, ups(name, 1, 4096)))
	}
	a.Do("both mechanisms", 0, req(nil, ups("b", 1, 4096), ups("b", 2, 4096)))
	a.Do("thrice", 0, req(dels{del("u", 1)}, ups("u", 1, 4096), ups("u", 2, 4096)))
	a.Do("bad then good", 0, req(dels{del("q", 1)}, ups("q", 1, 4096), ups("r", 1, 1), ups("r", 1, 4096), ups("s", 1, 4096), ups("s", 1, 1)))
	a.Do("unknown mechanism then good", 0, req(dels{del("t", 9)}, ups("t", 1, 4096), ups("w", 9, 4096), ups("w", 1, 4096)))
	a.Do("empty twice", 0, req(dels{del("", 1), del("", 1)}, ups("", 1, 4096)))
	time.Sleep(400 * time.Millisecond)
	desc := func(names ...string) *kmsg.DescribeUserSCRAMCredentialsRequest {
		r := kmsg.NewPtrDescribeUserSCRAMCredentialsRequest()
		for _, n := range names {
			u := kmsg.NewDescribeUserSCRAMCredentialsRequestUser()
			u.Name = n
			r.Users = append(r.Users, u)
		}
		return r
	}
	a.Do("all", 0, desc())
	empty := desc()
	empty.Users = []kmsg.DescribeUserSCRAMCredentialsRequestUser{}
	a.Do("empty list", 0, empty)
	a.Do("some", 0, desc("u", "u", "nobody", "", "s", "nobody"))
	a.Do("some", 0, desc(""))
	a.Do("some", 0, desc("", ""))
	a.Do("some", 0, desc("u", "s"))
	c.As("alice").Do("alter as alice", 0, req(dels{del("", 1), del("x", 9)}, ups("y", 1, 4096), ups("y", 1, 4096)))
	c.As("alice").Do("alter none as alice", 0, req(nil))
	c.As("alice").Do("describe as alice", 0, desc("u"))
}

func runOddTokens(c *C) {
	alice, bob := c.As("alice"), c.As("bob")
	for _, life := range []int64{math.MinInt64, -2, 0, 1, math.MaxInt64} {
		made(c, alice, fmt.Sprint("life ", life), createToken(life))
	}
	made(c, alice, "renewer empty", createToken(-1, ""))
	t := made(c, alice, "renewers", createToken(-1, "bob", "bob", "alice", "carol"))
	for _, p := range []int64{math.MinInt64, -7, math.MaxInt64} {
		renew(c, bob, fmt.Sprint("renew ", p), t, p)
	}
	for _, p := range []int64{1000000, math.MaxInt64} {
		expire(c, bob, fmt.Sprint("expire ", p), t, p)
	}
	long := append([]byte{}, t.HMAC...)
	alice.Do("hmac longer", 2, renewToken(append(long, 0), -1))
	alice.Do("hmac shorter", 2, renewToken(long[:len(long)-1], -1))
	alice.Do("hmac flipped", 2, expireToken(append([]byte{long[0] ^ 1}, long[1:]...), -1))
	alice.Do("hmac as text", 2, expireToken([]byte(base64.StdEncoding.EncodeToString(t.HMAC)), -1))
	r := createTokenFor("a:b", -1)
	alice.Do("owner with colon, without the right", 3, r)
	r = createTokenFor("carol", -1)
	r.OwnerPrincipalType = kmsg.StringPtr("")
	alice.Do("owner with empty type", 3, r)
	r = createTokenFor("carol", -1)
	r.OwnerPrincipalName = nil
	alice.Do("type without name", 3, r)
	r = createTokenFor("alice", -1)
	made(c, alice, "for oneself", r)
	r = createTokenFor("bob", -1)
	alice.Do("for bob without right", 3, r)
	d := describeTokens([]string{"alice", "alice"})
	d.Owners[1].PrincipalType = "Group"
	bob.Do("describe twice", 3, d)
	bob.Do("describe all", 3, describeTokens(nil))
	alice.Do("describe ones own", 3, describeTokens([]string{"alice"}))
	c.As("admin").Do("describe as super", 3, describeTokens([]string{"bob"}))
	conn := c.LoginConn("by token")
	tokenLogin(conn, scram256, t, base64.StdEncoding.EncodeToString(t.HMAC))
	conn.Do("handshake inside", 1, handshake("SCRAM-SHA-256"))
	conn.Do("acls", 3, anyACLs())
	conn.Do("describe by token", 3, describeTokens(nil))
	conn.Do("describe by token of nobody", 3, describeTokens([]string{}))
	expire(c, alice, "expire it", t, -1)
	conn.Do("metadata after its token went", 12, metadataFor("odd-none"))
}

func runOddQuotas(c *C) {
	a := c.Conn("a")
	for _, e := range [][]string{{"user", "a", "client-id", "b", "ip", "127.0.0.1"}, {"ip", "::1"}, {"ip", "[::1]"}, {"ip", "1.2.3"}, {"ip", "0x7f.1"}, {"ip", "127.0.0.1/8"}, {"ip", "::ffff:1.2.3.4"}, {"ip", "0:0:0:0:0:0:0:1"}, {"ip", "01.2.3.4"}, {"ip", "1.2.3.256"}, {"ip", "fe80::1%1"}, {"ip", ""}, {"ip", " 127.0.0.1"}, {"ip", "1"}, {"ip", "4294967295"}, {"ip", "4294967296"}, {"user", "*"}, {"user", " "}, {"user", "ü"}, {"client-id", "a/b c%"}, {"user", "User:x"}, {"USER", "x"}, {"clientid", "x"}, {"user", "<default>"}} {
		key := "producer_byte_rate"
		if e[0] == "ip" {
			key = "connection_creation_rate"
		}
		a.Do(fmt.Sprint("entity ", e), 1, alterQuotas(quotaEntry(quotaEntity(e...), setQuota(key, 10))))
		a.Do(fmt.Sprint("entity and a bad key ", e), 1, alterQuotas(quotaEntry(quotaEntity(e...), setQuota("nope", 10))))
	}
	for _, key := range []string{"producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate", "connection_creation_rate", "PRODUCER_BYTE_RATE", "", "leader.replication.throttled.rate"} {
		for _, value := range []float64{0, -1, 1e-9, 0.5, 1, 1.0000001, 1e18, 1e19, 1e308, math.Inf(1), math.Inf(-1), math.NaN(), 9223372036854775807, 4294967296, 2147483647, 2147483648} {
			for i, e := range [][]string{{"user", "u"}, {"ip", "127.0.0.9"}} {
				a.Do(fmt.Sprint(key, " ", value, " ", i), 1, alterQuotas(quotaEntry(quotaEntity(e...), setQuota(key, value))))
			}
		}
		a.Do("remove "+key, 1, alterQuotas(quotaEntry(quotaEntity("user", "u"), removeQuota(key))))
	}
	time.Sleep(300 * time.Millisecond)
	a.Do("describe all", 1, describeQuotas(false))
	for m := int8(-1); m < 4; m++ {
		for _, kind := range []string{"user", "client-id", "ip", "x", ""} {
			a.Do(fmt.Sprint("match ", m, kind), 1, describeQuotas(false, quotaPart(kind, m, "u")))
			a.Do(fmt.Sprint("match null ", m, kind), 1, describeQuotas(true, quotaPart(kind, m)))
		}
	}
	c.As("alice").Do("as alice", 1, alterQuotas(quotaEntry(quotaEntity("x", "y"), setQuota("nope", 1)), quotaEntry(quotaEntity("user", "y"), setQuota("nope", 1))))
	c.As("alice").Do("describe as alice", 1, describeQuotas(false, quotaPart("x", 9)))
}

func runOddTimeouts(c *C) {
	a := c.Conn("a")
	a.MakeTopic("odd-timeouts", 2)
	for _, timeout := range []int32{0, -1, math.MaxInt32, math.MinInt32} {
		elect := kmsg.NewPtrElectLeadersRequest()
		elect.TimeoutMillis = timeout
		elect.Topics = []kmsg.ElectLeadersRequestTopic{{Topic: "odd-timeouts", Partitions: []int32{0, 0, 1, 7, -1}}}
		a.Do(fmt.Sprint("elect, timeout ", timeout), 2, elect)
		elect.ElectionType = 9
		a.Do(fmt.Sprint("elect of an unknown type, timeout ", timeout), 2, elect)
		alter := kmsg.NewPtrAlterPartitionAssignmentsRequest()
		alter.TimeoutMillis = timeout
		for _, name := range []string{"odd-timeouts", "none", ""} {
			topic := kmsg.NewAlterPartitionAssignmentsRequestTopic()
			topic.Topic = name
			for _, replicas := range [][]int32{nil, {}, {1}, {-1}, {1, 2}, {1, 1}} {
				topic.Partitions = append(topic.Partitions, kmsg.AlterPartitionAssignmentsRequestTopicPartition{Partition: 1, Replicas: replicas})
			}
			alter.Topics = append(alter.Topics, topic)
		}
		a.Do(fmt.Sprint("reassign, timeout ", timeout), 1, alter)
		list := kmsg.NewPtrListPartitionReassignmentsRequest()
		list.TimeoutMillis = timeout
		a.Do(fmt.Sprint("list reassignments, timeout ", timeout), 0, list)
	}
}

func runOddReauth(c *C) {
	makeSCRAMUser(c, scram256, "alice", "alice-secret")
	again := func(name string, f func(n *Conn)) {
		n := c.LoginConn(name)
		n.Do("handshake", 1, handshake("PLAIN"))
		n.Do("authenticate", 2, token("\x00alice\x00alice-secret"))
		time.Sleep(1100 * time.Millisecond)
		f(n)
		n.Send("after", 12, metadataFor("odd-none")).Await()
		n.Close()
	}
	again("handshake v0 inside", func(n *Conn) {
		n.Do("handshake v0", 0, handshake("PLAIN"))
		n.Do("authenticate", 2, token("\x00alice\x00alice-secret"))
	})
	again("metadata in the middle", func(n *Conn) {
		n.Do("handshake", 1, handshake("PLAIN"))
		n.Do("metadata in the middle", 12, metadataFor("odd-none"))
		n.Do("authenticate", 2, token("\x00alice\x00alice-secret"))
	})
	again("versions in the middle", func(n *Conn) {
		n.Do("handshake", 1, handshake("PLAIN"))
		n.Send("versions in the middle", 3, saslVersions("x")).Only("ErrorCode").Await()
	})
	again("produce in the middle", func(n *Conn) {
		n.Do("handshake", 1, handshake("PLAIN"))
		n.Do("produce in the middle", 9, kmsg.NewPtrProduceRequest())
	})
	again("authenticate without handshake", func(n *Conn) {
		n.Do("authenticate", 2, token("\x00alice\x00alice-secret"))
	})
	again("handshake twice", func(n *Conn) {
		n.Do("handshake", 1, handshake("PLAIN"))
		n.Do("handshake", 1, handshake("PLAIN"))
	})
	again("wrong password", func(n *Conn) {
		n.Do("handshake", 1, handshake("PLAIN"))
		n.Do("authenticate", 2, token("\x00alice\x00x"))
	})
	again("garbage", func(n *Conn) {
		n.Do("handshake", 1, handshake("PLAIN"))
		n.Do("authenticate", 2, token("garbage"))
	})
	again("authenticate v0", func(n *Conn) {
		n.Do("handshake", 1, handshake("PLAIN"))
		n.Do("authenticate", 0, token("\x00alice\x00alice-secret"))
	})
	again("authenticate v3", func(n *Conn) {
		n.Do("handshake", 1, handshake("PLAIN"))
		n.Do("authenticate", 3, token("\x00alice\x00alice-secret"))
	})
	again("other mechanism, other user", func(n *Conn) {
		n.Do("handshake", 1, handshake("SCRAM-SHA-256"))
		n.Do("first", 2, token("n,,n=bob,r=once-"))
	})
	again("other mechanism", func(n *Conn) {
		n.Do("handshake", 1, handshake("SCRAM-SHA-256"))
		n.Do("first", 2, token("n,,n=alice,r=once-"))
	})
	again("handshake v2", func(n *Conn) {
		n.Do("handshake", 2, handshake("PLAIN"))
	})
	again("right", func(n *Conn) {
		n.Do("handshake", 1, handshake("PLAIN"))
		n.Do("authenticate", 1, token("\x00alice\x00alice-secret"))
		n.Do("metadata", 12, metadataFor("odd-none"))
		n.Do("at once again", 1, handshake("PLAIN"))
		n.Do("at once again, authenticate", 2, token("\x00alice\x00alice-secret"))
	})
}
