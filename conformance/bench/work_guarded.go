//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/conformance/bench/brokers"
	"doze/conformance/bench/load"
)

// guarded produces to a doze that asks its authorizer and measures quotas, and to one that does neither, in turns.
type guarded struct {
	s             *subject
	with, without *produce
}

const aclsOfGuarded = 1000

func newGuarded(s *subject) workload {
	one := func() *produce {
		other := *s
		return &produce{s: &other, batch: load.Batch(1, 100, time.Now().UnixMilli()), requests: s.size(5000, 30000)}
	}
	return &guarded{s: s, with: one(), without: one()}
}

func (w *guarded) prepare(ctx context.Context) error {
	for p, setup := range map[*produce]brokers.Setup{w.with: {Guarded: true}, w.without: {}} {
		var err error
		if p.s.broker, err = w.s.bench.startBroker(ctx, brokers.Doze, setup); err != nil {
			return err
		}
		if err := p.prepare(ctx); err != nil {
			return err
		}
	}
	w.s.bench.freezeOthers(w.with.s.broker)
	return guard(w.with.conn)
}

// guard makes ACLs, of which one lets the bench write, and quotas that nobody reaches.
func guard(c *load.Conn) error {
	acls := kmsg.NewPtrCreateACLsRequest()
	acls.Version = 3
	for i := range aclsOfGuarded - 1 {
		acls.Creations = append(acls.Creations, mayWrite(fmt.Sprintf("User:%d", i), fmt.Sprintf("%s-%d", "bench"[:1+i%5], i)))
	}
	acls.Creations = append(acls.Creations, mayWrite("User:ANONYMOUS", "bench-"))
	resp, err := c.Request(acls)
	if err != nil {
		return err
	}
	for _, r := range resp.(*kmsg.CreateACLsResponse).Results {
		if r.ErrorCode != 0 {
			return fmt.Errorf("create ACLs: error code %d", r.ErrorCode)
		}
	}
	quotas := kmsg.NewPtrAlterClientQuotasRequest()
	quotas.Version = 1
	quotas.Entries = append(quotas.Entries, kmsg.AlterClientQuotasRequestEntry{
		Entity: []kmsg.AlterClientQuotasRequestEntryEntity{{Type: "user"}},
		Ops:    []kmsg.AlterClientQuotasRequestEntryOp{{Key: "producer_byte_rate", Value: 1e12}, {Key: "request_percentage", Value: 1e6}},
	})
	if resp, err = c.Request(quotas); err != nil {
		return err
	}
	if code := resp.(*kmsg.AlterClientQuotasResponse).Entries[0].ErrorCode; code != 0 {
		return fmt.Errorf("set quotas: error code %d", code)
	}
	return nil
}

// mayWrite lets a principal write to topics whose name begins with a prefix.
func mayWrite(principal, prefix string) kmsg.CreateACLsRequestCreation {
	a := kmsg.NewCreateACLsRequestCreation()
	a.ResourceType, a.ResourceName, a.ResourcePatternType = kmsg.ACLResourceTypeTopic, prefix, kmsg.ACLResourcePatternTypePrefixed
	a.Principal, a.Host, a.Operation, a.PermissionType = principal, "*", kmsg.ACLOperationWrite, kmsg.ACLPermissionTypeAllow
	return a
}

func (w *guarded) measure(ctx context.Context) (sample, error) {
	values := sample{}
	for key, p := range map[string]*produce{"with": w.with, "without": w.without} {
		w.s.bench.freezeOthers(p.s.broker)
		of, err := p.measure(ctx)
		if err != nil {
			return values, err
		}
		values[key] = of["cpu"]
	}
	if values["without"] == 0 {
		return values, errors.New("no CPU was measured; take more requests")
	}
	return values, nil
}

func (w *guarded) close() {
	for _, p := range []*produce{w.with, w.without} {
		p.close()
		p.s.dropOwn()
	}
}
