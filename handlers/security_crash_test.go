package handlers

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/acls"
	"doze/disk"
	"doze/projections"
)

// securityStep is a request of a crash test that makes or takes away what holds clients: code is what it was answered,
// holds whether its mark is in a state.
type securityStep struct {
	mark string
	does bool // makes it; false takes it away
	code func(c *testConn) int16
}

// The marks: an ACL alone, two ACLs of one request, a quota, and another of the same client beside it.
var securitySteps = []securityStep{
	{"User:a", true, func(c *testConn) int16 { return c.tryACLs("User:a") }},
	{"client=10", true, func(c *testConn) int16 { return c.tryQuota("producer_byte_rate", 10) }},
	{"User:b", true, func(c *testConn) int16 { return c.tryACLs("User:b", "User:c") }},
	{"User:a", false, func(c *testConn) int16 { return c.dropACLs("User:a") }},
	{"client=20", true, func(c *testConn) int16 { return c.tryQuota("producer_byte_rate", 20) }},
	{"client=20", false, func(c *testConn) int16 { return c.tryQuota("producer_byte_rate", 0) }},
	{"User:b", false, func(c *testConn) int16 { return c.dropACLs("") }},
}

func (c *testConn) tryACLs(principals ...string) int16 {
	req := kmsg.NewPtrCreateACLsRequest()
	for _, p := range principals {
		req.Creations = append(req.Creations, aclFor(p))
	}
	return request[*kmsg.CreateACLsResponse](c, req, 3).Results[0].ErrorCode
}

// dropACLs deletes those of a principal, or all.
func (c *testConn) dropACLs(principal string) int16 {
	req := kmsg.NewPtrDeleteACLsRequest()
	f := kmsg.NewDeleteACLsRequestFilter()
	f.ResourceType, f.ResourcePatternType, f.Operation, f.PermissionType = 1, 1, 1, 1
	if principal != "" {
		f.Principal = &principal
	}
	req.Filters = append(req.Filters, f)
	return request[*kmsg.DeleteACLsResponse](c, req, 3).Results[0].ErrorCode
}

// tryQuota sets a quota of the client id "app", or takes it away with 0.
func (c *testConn) tryQuota(key string, value float64) int16 {
	req := kmsg.NewPtrAlterClientQuotasRequest()
	e := kmsg.NewAlterClientQuotasRequestEntry()
	part, name := kmsg.NewAlterClientQuotasRequestEntryEntity(), "app"
	part.Type, part.Name = "client-id", &name
	op := kmsg.NewAlterClientQuotasRequestEntryOp()
	op.Key, op.Value, op.Remove = key, value, value == 0
	e.Entity, e.Ops = append(e.Entity, part), append(e.Ops, op)
	req.Entries = append(req.Entries, e)
	return request[*kmsg.AlterClientQuotasResponse](c, req, 1).Entries[0].ErrorCode
}

// TestPermissionsAndQuotasSurviveACrashAnywhere stops the disk at every operation of making and taking away ACLs and quotas,
// crashes, and starts again. What was acknowledged holds; what was not holds as a whole or not at all.
func TestPermissionsAndQuotasSurviveACrashAnywhere(t *testing.T) {
	crashAnywhere(t, len(securitySteps), crashSecurityAt)
}

// crashAnywhere has a story stop at the nth operation of its disk, for every n and each kind of loss, until it comes to its end before
// that. least is how many operations it has at least.
func crashAnywhere(t *testing.T, least int, story func(t *testing.T, n int, where string, how disk.Loss) (fired bool)) {
	t.Helper()
	for n := 0; ; n++ {
		for i, how := range []disk.Loss{disk.PowerLoss(), disk.KillProcess(), disk.TornPowerLoss(uint64(n))} {
			if story(t, n, fmt.Sprintf("operation %d, loss %d", n, i), how) {
				continue
			}
			if n < least {
				t.Fatalf("only %d operations", n)
			}
			return
		}
	}
}

func crashSecurityAt(t *testing.T, n int, where string, how disk.Loss) (fired bool) {
	b := &testBroker{t: t, fs: disk.NewMem(), clock: &manualClock{}, boot: "boot", props: guardedProps("super.users", "User:ANONYMOUS")}
	b.clock.now.Store(day)
	b.start()
	c := b.connect()
	stop := &disk.Fault{After: n, Err: disk.EIO, Persistent: true}
	b.fs.Inject(stop)
	acknowledged := 0
	for _, step := range securitySteps {
		if step.code(c) == none {
			acknowledged++
			continue
		}
		break // the disk is gone for good
	}
	fired = b.fs.Fired(stop) > 0
	again := b.crashed(how)
	again.start()
	defer again.abandon()
	state, _ := again.store.View()
	seen := securityMarks(state)
	// The request that was not acknowledged may have happened too.
	if with, without := marksAfter(acknowledged+1), marksAfter(acknowledged); seen != with && seen != without {
		t.Errorf("%s: after %d acknowledged requests there is %s, not %s or %s", where, acknowledged, seen, without, with)
	}
	return fired
}

// marksAfter is what there is after the first steps.
func marksAfter(steps int) string {
	var a, b bool
	quota := 0
	for _, s := range securitySteps[:min(steps, len(securitySteps))] {
		switch s.mark {
		case "User:a":
			a = s.does
		case "User:b":
			b = s.does
		case "client=10":
			quota = 10
		case "client=20":
			quota = 0
			if s.does {
				quota = 20
			}
		}
	}
	return marks(a, b, b, quota)
}

func marks(a, b, c bool, quota int) string {
	return fmt.Sprintf("ACLs of a, b, c %v %v %v, a quota of %d", a, b, c, quota)
}

// securityMarks is the same of a state.
func securityMarks(state *projections.State) string {
	has := map[string]bool{}
	state.ACLs.Each(func(b acls.Binding) bool { has[b.Principal] = true; return true })
	quota := 0
	state.Quotas.Each(func(q projections.ClientQuota) bool {
		_, err := fmt.Sscan(q.Value, &quota)
		return err == nil
	})
	return marks(has["User:a"], has["User:b"], has["User:c"], quota)
}
