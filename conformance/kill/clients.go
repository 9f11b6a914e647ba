package kill

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

func createTopic(ctx context.Context, addr string) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(addr))
	if err != nil {
		return err
	}
	defer client.Close()
	if _, err := kadm.NewClient(client).CreateTopic(ctx, partitions, 1, nil, topic); err != nil {
		return fmt.Errorf("create topic %s: %w", topic, err)
	}
	return nil
}

// The clients try again at once, so that little of a broker's short life is lost.
func impatient() []kgo.Opt {
	return []kgo.Opt{
		kgo.RetryBackoffFn(func(int) time.Duration { return 5 * time.Millisecond }),
		kgo.MetadataMinAge(10 * time.Millisecond), kgo.DialTimeout(time.Second),
	}
}

// produceUntil writes numbered records with an idempotent producer until ctx ends, and then waits for the answers that are
// out.
func produceUntil(ctx context.Context, addr string, worker int, h *history) {
	client, err := kgo.NewClient(append(impatient(), kgo.SeedBrokers(addr), kgo.DefaultProduceTopic(topic),
		kgo.MaxBufferedRecords(200), kgo.ProducerLinger(0), kgo.UnknownTopicRetries(-1))...)
	if err != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.fault("producer: %v", err)
		return
	}
	defer client.Close()
	for i := 0; ctx.Err() == nil; i++ {
		value := fmt.Sprintf("%d-%d", worker, i)
		record := &kgo.Record{Key: []byte(fmt.Sprint(i % 64)), Value: []byte(value)}
		client.Produce(context.Background(), record, func(r *kgo.Record, err error) {
			h.produced(value, place{r.Partition, r.Offset}, err)
		})
		if i%20 == 0 {
			time.Sleep(time.Millisecond) // a rate that a broker in short lives can bear
		}
	}
	flush, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := client.Flush(flush); err != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.fault("producer %d: records were not answered within a minute of quiet: %v", worker, err)
	}
}

// consumeUntil reads as a member of the group until ctx ends, and commits what it has read after every poll.
func consumeUntil(ctx context.Context, addr string, h *history) {
	client, err := kgo.NewClient(append(impatient(), kgo.SeedBrokers(addr), kgo.ConsumeTopics(topic), kgo.ConsumerGroup(group),
		kgo.DisableAutoCommit(), kgo.BlockRebalanceOnPoll(), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))...)
	if err != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.fault("consumer: %v", err)
		return
	}
	defer client.Close()
	for ctx.Err() == nil {
		fetches := client.PollFetches(ctx)
		fetches.EachRecord(func(r *kgo.Record) { h.read(string(r.Value), place{r.Partition, r.Offset}) })
		commitRead(ctx, client, fetches, h)
		client.AllowRebalance()
	}
}

func commitRead(ctx context.Context, client *kgo.Client, fetches kgo.Fetches, h *history) {
	next := map[int32]int64{}
	fetches.EachRecord(func(r *kgo.Record) { next[r.Partition] = r.Offset + 1 })
	if len(next) == 0 {
		return
	}
	limited, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := client.CommitRecords(limited, fetches.Records()...); err != nil {
		return // not acknowledged: the records may be read again
	}
	for partition, offset := range next {
		h.commit(partition, offset)
	}
}

// readAll reads the whole topic.
func readAll(ctx context.Context, addr string) (map[int32][]stored, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	client, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		return nil, err
	}
	defer client.Close()
	ends, err := kadm.NewClient(client).ListEndOffsets(ctx, topic)
	if err != nil {
		return nil, fmt.Errorf("list end offsets: %w", err)
	}
	log, missing := map[int32][]stored{}, int64(0)
	ends.Each(func(o kadm.ListedOffset) { missing += o.Offset })
	for missing > 0 {
		fetches := client.PollFetches(ctx)
		if ctx.Err() != nil {
			return nil, fmt.Errorf("read the topic back: %d records did not come: %w", missing, ctx.Err())
		}
		fetches.EachRecord(func(r *kgo.Record) {
			log[r.Partition] = append(log[r.Partition], stored{r.Offset, string(r.Value)})
			missing--
		})
	}
	return log, nil
}
