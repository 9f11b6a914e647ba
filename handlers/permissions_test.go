package handlers

import (
	"context"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/wire"
)

// TestEveryAPIHasARowOfPermissions: an API that nobody thought of would be open to everybody.
func TestEveryAPIHasARowOfPermissions(t *testing.T) {
	for _, row := range apis {
		if _, known := permissionOf(row.key); !known {
			t.Errorf("%s (%d) has no row in permissions", kmsg.NameForKey(row.key), row.key)
		}
	}
	if !slices.IsSortedFunc(permissions, func(a, b permission) int { return int(a.key) - int(b.key) }) {
		t.Error("permissions are not in the order of keys")
	}
}

// TestEveryRefusalHasAnAnswer: what is asked before a handler is refused in the API's own form, at every version.
func TestEveryRefusalHasAnAnswer(t *testing.T) {
	for _, row := range permissions {
		if row.needs == nil {
			if row.refuse != nil {
				t.Errorf("%s has a refusal for nothing", kmsg.NameForKey(row.key))
			}
			continue
		}
		body := kmsg.RequestForKey(row.key)
		for version := range body.MaxVersion() + 1 {
			body.SetVersion(version)
			r := &wire.Request{Key: row.key, Version: version, Body: body}
			for _, n := range row.needs(body) {
				resp := row.refuse(r, n)
				if resp.Key() != row.key || resp.GetVersion() != version {
					t.Errorf("%s v%d is refused with %T v%d", kmsg.NameForKey(row.key), version, resp, resp.GetVersion())
				}
			}
		}
	}
}

// TestWithoutAuthorizerNothingStandsBeforeAHandler: who has no authorizer pays nothing.
func TestWithoutAuthorizerNothingStandsBeforeAHandler(t *testing.T) {
	called := false
	handle := func(context.Context, *wire.Request) (wire.Reply, error) { called = true; return nil, nil }
	b := &Broker{}
	guarded := b.guard(29, handle)
	if _, err := guarded(context.Background(), nil); err != nil || !called {
		t.Error("the handler was not called")
	}
	if a := b.access(nil); a.guarded() || !a.mayCluster(5) || a.clusterOperations() != 1<<5|1<<7|1<<8|1<<9|1<<10|1<<11|1<<12 {
		t.Error("somebody may not do everything")
	}
}
