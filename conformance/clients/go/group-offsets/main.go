// Command group-offsets prints a group's committed offsets of a topic, "partition offset" a line in order of partition,
// for clients that cannot ask for them.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(group, topic string) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(os.Getenv("BOOTSTRAP")))
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	offsets, err := kadm.NewClient(client).FetchOffsets(ctx, group)
	if err != nil {
		return err
	}
	for _, o := range offsets.Sorted() {
		if o.Topic == topic {
			fmt.Println(o.Partition, o.At)
		}
	}
	return offsets.Error()
}
