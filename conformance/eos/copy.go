package eos

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Copy runs the copy job and judges what came of it.
func Copy(ctx context.Context, opt Options) (*Report, error) {
	j, err := newJob(opt)
	if err != nil {
		return nil, err
	}
	defer j.log.Close()
	addr := opt.Broker.Addr()
	if err := j.prepare(ctx, copyInput(opt.Messages)); err != nil {
		return nil, err
	}
	if err := j.run(ctx); err != nil {
		return j.report, err
	}
	return j.report, j.judgeCopied(ctx, addr)
}

// copyInput is records whose values tell their partition and place.
func copyInput(n int) []*kgo.Record {
	var list []*kgo.Record
	for i := range n {
		partition := int32(i % partitions)
		list = append(list, &kgo.Record{
			Partition: partition, Key: fmt.Append(nil, "key ", i%97), Value: fmt.Appendf(nil, "%d-%d", partition, i/partitions),
		})
	}
	return list
}

func (j *job) judgeCopied(ctx context.Context, addr string) error {
	in, err := readAll(ctx, addr, j.in, kgo.ReadCommitted())
	if err != nil {
		return err
	}
	out, err := readAll(ctx, addr, j.out, kgo.ReadCommitted())
	if err != nil {
		return err
	}
	all, err := readAll(ctx, addr, j.out, kgo.ReadUncommitted())
	if err != nil {
		return err
	}
	j.report.Aborted = count(all) - count(out)
	j.report.Faults = judgeCopy(values(in), values(out))
	if j.progress != int64(j.opt.Messages) {
		j.report.Faults = append(j.report.Faults, fmt.Sprintf("the group committed up to %d of %d records", j.progress, j.opt.Messages))
	}
	return nil
}

func count(records map[int32][]*kgo.Record) int {
	n := 0
	for _, list := range records {
		n += len(list)
	}
	return n
}
