package handlers

import (
	"bytes"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// allowedToRead is an ACL that lets bob read.
func allowedToRead(kind kmsg.ACLResourceType, name string) kmsg.CreateACLsRequestCreation {
	a := aclFor("User:bob")
	a.ResourceType, a.ResourceName = kind, name
	return a
}

// deleteACLs takes from everybody whatever they may do on a type of resource.
func (c *testConn) deleteACLs(kind kmsg.ACLResourceType) {
	c.t.Helper()
	req := kmsg.NewPtrDeleteACLsRequest()
	f := kmsg.NewDeleteACLsRequestFilter()
	f.ResourceType, f.ResourcePatternType, f.Operation, f.PermissionType = kind, 1, 1, 1
	req.Filters = append(req.Filters, f)
	if r := request[*kmsg.DeleteACLsResponse](c, req, 3).Results[0]; r.ErrorCode != none || len(r.MatchingACLs) == 0 {
		c.t.Fatalf("delete ACLs: code %d, %d met", r.ErrorCode, len(r.MatchingACLs))
	}
}

// readers is a broker with a topic that bob may read, alone and in a share group.
func readers(t *testing.T) (b *testBroker, admin *testConn) {
	b = startTestBroker(t, guardedProps("super.users", "User:ANONYMOUS"))
	admin = b.connect()
	admin.createTopic("orders", 1)
	admin.createACLs(allowedToRead(2, "orders"), allowedToRead(3, "sharing"))
	return b, admin
}

// until waits for a condition.
func until(t *testing.T, what string, met func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !met(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(what)
		}
	}
}

// waiting says whether a goroutine is inside a method, by its name.
func waiting(method string) bool {
	var stacks bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&stacks, 1)
	return strings.Contains(stacks.String(), method)
}

// TestFetchWaitsForWhatItMayRead: what comes after a permission is gone is not delivered to who has waited for it.
func TestFetchWaitsForWhatItMayRead(t *testing.T) {
	b, admin := readers(t)
	bob := b.connectAs("bob")
	req := fetchRequest("orders", 0, 1, 60_000)
	bob.send(req)
	until(t, "the fetch does not wait", func() bool { return waiting("fetchWhenReady") })
	admin.deleteACLs(2)
	admin.produce("orders", 1, batch(1, day, -1, -1, -1))
	p := bob.receive(req).(*kmsg.FetchResponse).Topics[0].Partitions[0]
	if p.ErrorCode != topicAuthorizationFailed || len(p.RecordBatches) > 0 || p.HighWatermark != -1 {
		t.Errorf("code %d, %d bytes, high watermark %d", p.ErrorCode, len(p.RecordBatches), p.HighWatermark)
	}
}

// TestShareFetchWaitsForWhatItMayRead: that of the topic or of the group, and nothing is acquired.
func TestShareFetchWaitsForWhatItMayRead(t *testing.T) {
	for name, kind := range map[string]kmsg.ACLResourceType{"topic": 2, "group": 3} {
		t.Run(name, func(t *testing.T) {
			b, admin := readers(t)
			bob := b.connectAs("bob")
			id := topicIDOf(admin, "orders")
			if code := shareFrom(admin, "sharing", "orders", 0); code != none {
				t.Fatal(code)
			}
			req := shareFetchRequest("sharing", "m", id, 0)
			req.Version, req.MaxWaitMillis = 2, 60_000
			bob.send(req)
			until(t, "the fetch does not wait", func() bool { return waiting("(*shareFetching).await") })
			admin.deleteACLs(kind)
			admin.produce("orders", 1, batch(1, day, -1, -1, -1))
			resp := bob.receive(req).(*kmsg.ShareFetchResponse)
			if kind == 3 {
				if resp.ErrorCode != groupAuthorizationFailed || len(resp.Topics) > 0 {
					t.Errorf("%+v", resp)
				}
				return
			}
			if p := resp.Topics[0].Partitions[0]; p.ErrorCode != topicAuthorizationFailed || len(p.Records) > 0 || len(p.AcquiredRecords) > 0 {
				t.Errorf("%+v", p)
			}
		})
	}
}

// TestFetchWaitsWithinItsSession: a wait of a minute ends with the session of a second, with nothing.
func TestFetchWaitsWithinItsSession(t *testing.T) {
	b, admin := readers(t)
	admin.createACLs(allowedToRead(2, "orders"))
	b.reauth = time.Second
	bob := b.connectAs("bob")
	req := fetchRequest("orders", 0, 1, 60_000)
	bob.send(req)
	p := bob.receive(req).(*kmsg.FetchResponse).Topics[0].Partitions[0]
	if p.ErrorCode != none || len(p.RecordBatches) > 0 {
		t.Errorf("code %d, %d bytes", p.ErrorCode, len(p.RecordBatches))
	}
	bob.send(req)
	if _, err := bob.frame(); err == nil {
		t.Error("the next request is answered")
	}
}
