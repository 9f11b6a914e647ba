package main

import (
	"context"
	"flag"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:21100", "")
	n := flag.Int("n", 1000, "txns")
	par := flag.Int("p", 1, "producers")
	flag.Parse()
	ctx := context.Background()
	cl, _ := kgo.NewClient(kgo.SeedBrokers(*addr))
	adm := kadm.NewClient(cl)
	topic := fmt.Sprintf("txc-%d", time.Now().UnixNano())
	if _, err := adm.CreateTopic(ctx, 8, 1, nil, topic); err != nil {
		panic(err)
	}
	var wg sync.WaitGroup
	var failed atomic.Int64
	start := time.Now()
	for p := range *par {
		wg.Add(1)
		go func() {
			defer wg.Done()
			pc, err := kgo.NewClient(kgo.SeedBrokers(*addr), kgo.TransactionalID(fmt.Sprintf("txc-id-%s-%d", topic, p)), kgo.DefaultProduceTopic(topic),
				kgo.ProducerLinger(0))
			if err != nil {
				panic(err)
			}
			defer pc.Close()
			for i := range *n {
				if err := pc.BeginTransaction(); err != nil {
					panic(err)
				}
				if err := pc.ProduceSync(ctx, kgo.StringRecord(fmt.Sprint(p, "-", i))).FirstErr(); err != nil {
					panic(err)
				}
				commit := kgo.TryCommit
				if i%10 == 9 {
					commit = kgo.TryAbort
				}
				if err := pc.EndTransaction(ctx, commit); err != nil {
					panic(err)
				}
			}
		}()
	}
	wg.Wait()
	took := time.Since(start)
	fmt.Printf("%d producers, %d txns each: %.0f/s failed %d\n", *par, *n, float64(*n**par)/took.Seconds(), failed.Load())
	cc, _ := kgo.NewClient(kgo.SeedBrokers(*addr), kgo.ConsumeTopics(topic), kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	got := 0
	want := *par * (*n - *n/10)
	deadline, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for got < want {
		f := cc.PollFetches(deadline)
		if f.IsClientClosed() || deadline.Err() != nil {
			break
		}
		got += f.NumRecords()
	}
	fmt.Println("read committed", got, "want", want)
}
