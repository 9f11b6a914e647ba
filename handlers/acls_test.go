package handlers

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/acls"
	"doze/journal"
	"doze/projections"
)

// guardedProps are those of a broker with an authorizer, in which whoever is not named may do nothing.
func guardedProps(more ...string) map[string]string {
	props := map[string]string{
		"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer", "allow.everyone.if.no.acl.found": "false",
		"auto.create.topics.enable": "false",
	}
	for i := 0; i+1 < len(more); i += 2 {
		props[more[i]] = more[i+1]
	}
	return props
}

// aclFor lets a principal read a group that nobody uses.
func aclFor(principal string) kmsg.CreateACLsRequestCreation {
	a := kmsg.NewCreateACLsRequestCreation()
	a.ResourceType, a.ResourceName, a.ResourcePatternType = 3, "unused", 3
	a.Principal, a.Host, a.Operation, a.PermissionType = principal, "*", 3, 3
	return a
}

func (c *testConn) createACLs(list ...kmsg.CreateACLsRequestCreation) {
	req := kmsg.NewPtrCreateACLsRequest()
	req.Creations = list
	for i, r := range request[*kmsg.CreateACLsResponse](c, req, 3).Results {
		if r.ErrorCode != none {
			c.t.Fatalf("ACL %d: code %d %s", i, r.ErrorCode, *r.ErrorMessage)
		}
	}
}

func (c *testConn) countACLs() (n int) {
	req := kmsg.NewPtrDescribeACLsRequest()
	req.ResourceType, req.ResourcePatternType, req.Operation, req.PermissionType = 1, 1, 1, 1
	for _, r := range request[*kmsg.DescribeACLsResponse](c, req, 3).Resources {
		n += len(r.ACLs)
	}
	return n
}

// TestACLsOutliveARestart, and hold at once.
func TestACLsOutliveARestart(t *testing.T) {
	b := startTestBroker(t, guardedProps("super.users", "User:ANONYMOUS"))
	c := b.connect()
	c.createACLs(aclFor("User:a"), aclFor("User:b"), aclFor("User:a"))
	if n := c.countACLs(); n != 2 {
		t.Fatalf("%d ACLs", n)
	}
	b.restart()
	if n := b.connect().countACLs(); n != 2 {
		t.Fatalf("%d ACLs after a restart", n)
	}
}

// TestTooManyACLs: one request changes 10,000 at most, and all or nothing.
func TestTooManyACLs(t *testing.T) {
	b := startTestBroker(t, guardedProps("super.users", "User:ANONYMOUS"))
	c := b.connect()
	req := kmsg.NewPtrCreateACLsRequest()
	for i := range maxACLChanges + 1 {
		req.Creations = append(req.Creations, aclFor(fmt.Sprintf("User:%d", i)))
	}
	resp := request[*kmsg.CreateACLsResponse](c, req, 3)
	if code := resp.Results[0].ErrorCode; code != policyViolation || c.countACLs() != 0 {
		t.Fatalf("code %d, %d ACLs", code, c.countACLs())
	}
	c.createACLs(req.Creations[:maxACLChanges]...)
	c.createACLs(req.Creations[maxACLChanges:]...)
	del := kmsg.NewPtrDeleteACLsRequest()
	f := kmsg.NewDeleteACLsRequestFilter()
	f.ResourceType, f.ResourcePatternType, f.Operation, f.PermissionType = 1, 1, 1, 1
	del.Filters = append(del.Filters, f)
	if code := request[*kmsg.DeleteACLsResponse](c, del, 3).Results[0].ErrorCode; code != invalidRequest || c.countACLs() != maxACLChanges+1 {
		t.Fatalf("code %d, %d ACLs", code, c.countACLs())
	}
	long := aclFor("User:" + string(make([]byte, maxName)))
	req.Creations = []kmsg.CreateACLsRequestCreation{long}
	if code := request[*kmsg.CreateACLsResponse](c, req, 3).Results[0].ErrorCode; code != invalidRequest {
		t.Fatalf("a name that is too long: code %d", code)
	}
}

// TestNobodyMayDoAnythingByDefault: without a super user and with the door shut, every API that asks for something refuses.
func TestNobodyMayDoAnythingByDefault(t *testing.T) {
	b := startTestBroker(t, guardedProps())
	c := b.connect()
	if code := c.produce("orders", 1, batch(1, day, -1, -1, -1)).ErrorCode; code != topicAuthorizationFailed {
		t.Errorf("Produce: code %d", code)
	}
	req := kmsg.NewPtrCreateACLsRequest()
	req.Creations = append(req.Creations, aclFor("User:ANONYMOUS"))
	if code := request[*kmsg.CreateACLsResponse](c, req, 3).Results[0].ErrorCode; code != clusterAuthorizationFailed {
		t.Errorf("CreateAcls: code %d", code)
	}
}

// BenchmarkAccess is what one Produce pays for its question with 1,000 ACLs.
func BenchmarkAccess(b *testing.B) {
	for name, props := range map[string]map[string]string{"none": {}, "1000 ACLs": guardedProps("super.users", "User:admin", "allow.everyone.if.no.acl.found", "true")} {
		b.Run(name, func(b *testing.B) {
			broker := startTestBroker(b, props)
			c := broker.connect()
			if len(props) > 0 {
				thousandACLs(c)
			}
			c.createTopic("orders", 1)
			values := batch(10, day, -1, -1, -1)
			b.ResetTimer()
			for b.Loop() {
				if p := c.produce("orders", 1, values); p.ErrorCode != none {
					b.Fatal(p.ErrorCode)
				}
			}
		})
	}
}

// thousandACLs are those of many users, and one that lets whoever does not log in write.
func thousandACLs(c *testConn) {
	var list []kmsg.CreateACLsRequestCreation
	for i := range 1_000 {
		a := aclFor(fmt.Sprintf("User:u%d", i%50))
		a.ResourceType, a.ResourceName, a.Operation = 2, fmt.Sprintf("team-%d-orders-%d", i%40, i), 4
		a.ResourcePatternType = kmsg.ACLResourcePatternType(3 + i%2)
		list = append(list, a)
	}
	own := aclFor("User:ANONYMOUS")
	own.ResourceType, own.ResourceName, own.Operation, own.ResourcePatternType = 2, "ord", 2, 4
	c.createACLs(append(list, own)...)
}

// TestACLLimits: what a broker holds of ACLs, and what one request may hold against them, is bounded.
func TestACLLimits(t *testing.T) {
	full := projections.New()
	binding := acls.Binding{Pattern: acls.Pattern{Type: acls.Topic, Name: "t", Kind: acls.Literal}}
	if no := roomForACL(full, binding); no != nil {
		t.Fatal(*no.message)
	}
	binding.Name = strings.Repeat("x", maxACLBytes)
	if no := roomForACL(full, binding); no == nil || no.code != policyViolation {
		t.Errorf("an ACL of 64 MiB: %v", no)
	}
	b := startTestBroker(t, guardedProps("super.users", "User:ANONYMOUS"))
	c := b.connect()
	c.createACLs(aclFor("User:a"))
	d := aclDeletion{filters: make([]acls.Filter, maxACLWork+1), room: maxAnswerBytes}
	err := b.store.Update(t.Context(), journal.Timed("test"), func(tx *tx) { d.decide(tx); tx.Drop() })
	if !errors.Is(err, journal.ErrDropped) || d.refused == nil || d.refused.code != invalidRequest {
		t.Errorf("too many filters: %v, %v", err, d.refused)
	}
}
