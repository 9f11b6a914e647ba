package doze_test

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"doze"
)

// A broker for one test: on a free port, in a temporary directory that goes with it.
func Example() {
	broker, err := doze.New(doze.Options{
		Ephemeral: true,
		Listeners: []doze.Listener{{Address: "127.0.0.1:0"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer broker.Close()
	go broker.Run(context.Background())

	client, err := kgo.NewClient(kgo.SeedBrokers(broker.Addr()), kgo.AllowAutoTopicCreation(), kgo.ConsumeTopics("greetings"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	ctx := context.Background()
	if err := client.ProduceSync(ctx, &kgo.Record{Topic: "greetings", Value: []byte("hello")}).FirstErr(); err != nil {
		fmt.Println(err)
		return
	}
	client.PollFetches(ctx).EachRecord(func(r *kgo.Record) { fmt.Println(string(r.Value)) })
	// Output: hello
}
