package main

import (
	"context"
	"errors"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

func init() {
	scriptCommands["may"] = may
	scriptCommands["grant"] = grant
}

// clientOf is a client of a user, "NAME:PASSWORD", or of nobody, "-".
func clientOf(ts *testscript.TestScript, address, user string, more ...kgo.Opt) *kgo.Client {
	opts := append([]kgo.Opt{kgo.SeedBrokers(address)}, more...)
	if name, password, logsIn := strings.Cut(user, ":"); logsIn {
		opts = append(opts, kgo.SASL(scram.Auth{User: name, Pass: password}.AsSha256Mechanism()))
	}
	client, err := kgo.NewClient(opts...)
	ts.Check(err)
	return client
}

// may ADDR USER TOPIC holds that the user may write to the topic, which is made; "! may" that it is refused for want of a
// permission, and not for another reason.
func may(ts *testscript.TestScript, neg bool, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	client := clientOf(ts, args[0], args[1], kgo.DefaultProduceTopic(args[2]), kgo.AllowAutoTopicCreation(), kgo.DisableIdempotentWrite())
	defer client.Close()
	err := client.ProduceSync(ctx, kgo.StringRecord("x")).FirstErr()
	if neg && !errors.Is(err, kerr.TopicAuthorizationFailed) || !neg && err != nil {
		ts.Fatalf("%s on %s: %v", args[1], args[2], err)
	}
}

// grant ADDR USER PRINCIPAL TOPIC lets the principal do everything with the topic; "! grant" holds that the user may not say so.
func grant(ts *testscript.TestScript, neg bool, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	client := clientOf(ts, args[0], args[1])
	defer client.Close()
	acl := kadm.NewACLs().Allow(args[2]).AllowHosts().Topics(args[3]).Operations(kadm.OpAll).ResourcePatternType(kadm.ACLPatternLiteral)
	results, err := kadm.NewClient(client).CreateACLs(ctx, acl)
	ts.Check(err)
	for _, r := range results {
		if neg && !errors.Is(r.Err, kerr.ClusterAuthorizationFailed) || !neg && r.Err != nil {
			ts.Fatalf("%s: %v", args[1], r.Err)
		}
	}
}
