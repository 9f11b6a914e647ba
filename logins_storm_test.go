package doze

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/sasl"
)

// BenchmarkLoginStorm shows what a client that is logged in waits for its answers (p99, in microseconds) while nobody logs in,
// and while 1,000 clients log in by SCRAM. The clients of the storm keep their salted password, as Kafka's do not: what is
// measured is the broker, not their hashing beside it.
//
//	go test . -run XXX -bench LoginStorm -benchtime 1x
func BenchmarkLoginStorm(b *testing.B) {
	broker, _ := startWithLogins(b, b.TempDir(), nil, map[string]string{"alice": "alice-secret"})
	client, err := kgo.NewClient(kgo.SeedBrokers(broker.Addr()), kgo.SASL(mechanismsOf("alice", "alice-secret")["PLAIN"]))
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	for b.Loop() {
		quiet := p99(b, client, nil)
		done := make(chan struct{})
		go func() {
			defer close(done)
			storm(b, broker.Addr(), 1000)
		}()
		b.ReportMetric(float64(quiet.Microseconds()), "quiet-us")
		b.ReportMetric(float64(p99(b, client, done).Microseconds()), "storm-us")
		<-done
	}
}

// p99 asks 2,000 times, or until done.
func p99(b *testing.B, client *kgo.Client, done <-chan struct{}) time.Duration {
	var took []time.Duration
	for len(took) < 2000 || done != nil {
		select {
		case <-done:
			done = nil
		default:
		}
		began := time.Now()
		if _, err := kmsg.NewPtrMetadataRequest().RequestWith(context.Background(), client); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took[len(took)*99/100]
}

func storm(b *testing.B, addr string, clients int) {
	const bare = "n=alice,r=abc"
	var all sync.WaitGroup
	var once sync.Once
	var salted []byte
	for range clients {
		all.Go(func() {
			c := dialRaw(b, addr)
			defer c.Close()
			c.login(b, bare, func(server string) string {
				final, err := sasl.SHA256.ProofOf(func(salt []byte, iterations int32) ([]byte, error) {
					var err error
					once.Do(func() { salted, err = sasl.SHA256.Salted("alice-secret", salt, iterations) })
					return salted, err
				}, bare, server)
				if err != nil {
					b.Error(err)
				}
				return final
			})
		})
	}
	all.Wait()
}
