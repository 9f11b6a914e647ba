package main

import (
	"context"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// security sets quotas, and ACLs and users where the broker serves them.
func (f *filler) security(ctx context.Context) error {
	_, err := f.admin.AlterClientQuotas(ctx, []kadm.AlterClientQuotaEntry{
		{Entity: kadm.ClientQuotaEntity{{Type: "user", Name: text("alice")}}, Ops: []kadm.AlterClientQuotaOp{{Key: "producer_byte_rate", Value: 10 << 20}, {Key: "consumer_byte_rate", Value: 20 << 20}}},
		{Entity: kadm.ClientQuotaEntity{{Type: "client-id"}}, Ops: []kadm.AlterClientQuotaOp{{Key: "request_percentage", Value: 5000}}},
	})
	if err != nil {
		return err
	}
	served, err := f.admin.ApiVersions(ctx)
	if err != nil {
		return err
	}
	for _, of := range []struct {
		key kmsg.Key
		do  func(context.Context) error
	}{{kmsg.CreateACLs, f.acls}, {kmsg.AlterUserSCRAMCredentials, f.users}} {
		for _, v := range served {
			if _, _, ok := v.KeyVersions(of.key.Int16()); ok {
				if err := of.do(ctx); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (f *filler) acls(ctx context.Context) error {
	alice := kadm.NewACLs().Allow("User:alice").AllowHosts("*").Topics("orders").Groups("billing").Operations(kadm.OpRead).ResourcePatternType(kadm.ACLPatternLiteral)
	mallory := kadm.NewACLs().Deny("User:mallory").DenyHosts("*").Topics("pay").Operations(kadm.OpWrite).ResourcePatternType(kadm.ACLPatternPrefixed)
	for _, b := range []*kadm.ACLBuilder{alice, mallory} {
		if _, err := f.admin.CreateACLs(ctx, b); err != nil {
			return err
		}
	}
	for n := range hostileTexts {
		if !f.withHostile {
			break
		}
		s := hostileText(n)
		b := kadm.NewACLs().Allow("User:" + s).AllowHosts("*").Topics("orders").Groups(s).Operations(kadm.OpRead).ResourcePatternType(kadm.ACLPatternLiteral)
		if _, err := f.admin.CreateACLs(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

func (f *filler) users(ctx context.Context) error {
	var all []kadm.UpsertSCRAM
	for n := range 20 {
		if !f.withHostile {
			break
		}
		all = append(all, kadm.UpsertSCRAM{User: hostileText(n), Mechanism: kadm.ScramSha256, Iterations: 4096, Password: "secret"})
	}
	all = append(all, kadm.UpsertSCRAM{User: "alice", Mechanism: kadm.ScramSha512, Iterations: 4096, Password: "secret"})
	_, err := f.admin.AlterUserSCRAMs(ctx, nil, all)
	return err
}
