package eos

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// partitions of each topic of a job.
const partitions = 4

func client(addr string, opts ...kgo.Opt) (*kgo.Client, error) {
	return kgo.NewClient(append(opts, kgo.SeedBrokers(addr))...)
}

// makeTopics creates the topics of a job, of so many partitions.
func makeTopics(ctx context.Context, addr string, names ...string) error {
	cl, err := client(addr)
	if err != nil {
		return err
	}
	defer cl.Close()
	made, err := kadm.NewClient(cl).CreateTopics(ctx, partitions, 1, nil, names...)
	if err != nil {
		return fmt.Errorf("create topics %v: %w", names, err)
	}
	for _, t := range made {
		if t.Err != nil && !errors.Is(t.Err, kerr.TopicAlreadyExists) {
			return fmt.Errorf("create topic %s: %w", t.Topic, t.Err)
		}
	}
	return nil
}

// fill writes records and waits until all are acknowledged.
func fill(ctx context.Context, addr, topic string, records []*kgo.Record) error {
	cl, err := client(addr, kgo.DefaultProduceTopic(topic), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		return err
	}
	defer cl.Close()
	if err := cl.ProduceSync(ctx, records...).FirstErr(); err != nil {
		return fmt.Errorf("write the input: %w", err)
	}
	return nil
}

// readAll reads a topic to its end as a reader of this isolation level, partition by partition.
func readAll(ctx context.Context, addr, topic string, level kgo.IsolationLevel) (map[int32][]*kgo.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	cl, err := client(addr, kgo.ConsumeTopics(topic), kgo.FetchIsolationLevel(level), kgo.KeepControlRecords(),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		return nil, err
	}
	defer cl.Close()
	list := kadm.NewClient(cl).ListEndOffsets
	if level == kgo.ReadCommitted() {
		list = kadm.NewClient(cl).ListCommittedOffsets
	}
	ends, err := list(ctx, topic)
	if err != nil {
		return nil, fmt.Errorf("list the ends of %s: %w", topic, err)
	}
	open := map[int32]int64{}
	ends.Each(func(o kadm.ListedOffset) {
		if o.Offset > 0 {
			open[o.Partition] = o.Offset
		}
	})
	all := map[int32][]*kgo.Record{}
	for len(open) > 0 {
		fetches := cl.PollFetches(ctx)
		if ctx.Err() != nil {
			return nil, fmt.Errorf("read %s: partitions %v were not read to their ends: %w", topic, open, ctx.Err())
		}
		fetches.EachPartition(func(p kgo.FetchTopicPartition) { takeRecords(p, all, open) })
	}
	return all, nil
}

// takeRecords keeps a partition's records, and strikes it off when it is read to its end. The last record of a log that
// transactions wrote is a marker: it comes only to a reader that keeps control records.
func takeRecords(p kgo.FetchTopicPartition, all map[int32][]*kgo.Record, open map[int32]int64) {
	for _, r := range p.Records {
		if !r.Attrs.IsControl() {
			all[p.Partition] = append(all[p.Partition], r)
		}
		if end, ok := open[p.Partition]; ok && r.Offset >= end-1 {
			delete(open, p.Partition)
		}
	}
}

// values are those of records.
func values(records map[int32][]*kgo.Record) map[int32][]string {
	all := map[int32][]string{}
	for partition, list := range records {
		for _, r := range list {
			all[partition] = append(all[partition], string(r.Value))
		}
	}
	return all
}

// committed sums the offsets that a group has committed for a topic. A broker that is down answers nothing.
func committed(ctx context.Context, adm *kadm.Client, group, topic string) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	offsets, err := adm.FetchOffsets(ctx, group)
	if err != nil {
		return 0, err
	}
	sum := int64(0)
	offsets.Each(func(o kadm.OffsetResponse) {
		if o.Topic == topic && o.Err == nil && o.At > 0 {
			sum += o.At
		}
	})
	return sum, nil
}

// setTransactionVersion changes the feature by which clients choose the protocol of transactions.
func setTransactionVersion(ctx context.Context, addr string, level int16) error {
	cl, err := client(addr)
	if err != nil {
		return err
	}
	defer cl.Close()
	return changeFeature(ctx, cl, level)
}
