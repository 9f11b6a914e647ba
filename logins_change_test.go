package doze

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// TestPasswordsChangeUnderLogins: while others try old and new passwords by every mechanism, a password that was set opens when the
// request is answered, the one before opens no more, and a user who is deleted is let in by none.
func TestPasswordsChangeUnderLogins(t *testing.T) {
	b, _ := startWithLogins(t, t.TempDir(), nil, map[string]string{"other": "other"})
	client, err := kgo.NewClient(kgo.SeedBrokers(b.Ready().Kafka[1]))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	admin := kadm.NewClient(client)
	ctx, cancel := context.WithCancel(t.Context())
	var noise sync.WaitGroup
	defer noise.Wait()
	defer cancel()
	for i := range 3 {
		noise.Go(func() {
			for n := i; ctx.Err() == nil; n++ {
				for _, m := range mechanismsOf("alice", fmt.Sprint("password-", n%6)) {
					_ = logIn(t, b.Addr(), m)
				}
			}
		})
	}
	opens := func(n int) bool {
		return logIn(t, b.Addr(), scram.Auth{User: "alice", Pass: fmt.Sprint("password-", n)}.AsSha512Mechanism()) == nil
	}
	for n := 1; n <= 6; n++ {
		set := kadm.UpsertSCRAM{User: "alice", Mechanism: kadm.ScramSha512, Iterations: 4096, Password: fmt.Sprint("password-", n)}
		if made, err := admin.AlterUserSCRAMs(ctx, nil, []kadm.UpsertSCRAM{set}); err != nil || !made.Ok() {
			t.Fatal(err, made)
		}
		if !opens(n) || opens(n-1) {
			t.Errorf("password %d opens: %v, the one before: %v", n, opens(n), opens(n-1))
		}
		if n%3 != 0 {
			continue
		}
		if gone, err := admin.AlterUserSCRAMs(ctx, []kadm.DeleteSCRAM{{User: "alice", Mechanism: kadm.ScramSha512}}, nil); err != nil || !gone.Ok() {
			t.Fatal(err, gone)
		}
		if opens(n) {
			t.Error("a user who is gone is let in")
		}
	}
}
