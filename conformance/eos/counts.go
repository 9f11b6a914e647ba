package eos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// wordsPerLine is how many words an input record has.
const wordsPerLine = 4

// Count runs the counting topology of Kafka Streams and judges what came of it: Messages words go in, some to a line, and
// for each word its counts come out one after the other, since the topology's cache is off.
func Count(ctx context.Context, opt Options) (*Report, error) {
	opt.Messages = max(1, opt.Messages/wordsPerLine)
	j, err := newJob(opt)
	if err != nil {
		return nil, err
	}
	defer j.log.Close()
	addr := opt.Broker.Addr()
	lines, words := countInput(opt.Seed, opt.Messages)
	if err := j.prepare(ctx, lines); err != nil {
		return nil, err
	}
	j.then = func(ctx context.Context) error { return j.awaitCounts(ctx, addr, len(lines)*wordsPerLine) }
	if err := j.run(ctx); err != nil {
		return j.report, err
	}
	return j.report, j.judgeCounted(ctx, addr, words)
}

// countInput is lines of words, and how often each word is in them.
func countInput(seed uint64, n int) ([]*kgo.Record, map[string]int) {
	random := rand.New(rand.NewPCG(seed, 3))
	words := map[string]int{}
	var lines []*kgo.Record
	for i := range n {
		var line []string
		for range wordsPerLine {
			word := fmt.Sprint("word", random.IntN(200))
			words[word]++
			line = append(line, word)
		}
		lines = append(lines, &kgo.Record{Partition: int32(i % partitions), Value: []byte(strings.Join(line, " "))})
	}
	return lines, words
}

// awaitCounts waits for the second half of the topology: the input is committed when its words are in the repartition topic.
// Fewer counts than are due are left to the judge.
func (j *job) awaitCounts(ctx context.Context, addr string, due int) error {
	came, moved := 0, time.Now()
	for time.Since(moved) < stall/3 {
		out, err := readAll(ctx, addr, j.out, kgo.ReadCommitted())
		if err != nil {
			return err
		}
		if n := count(out); n != came {
			came, moved = n, time.Now()
		}
		if came >= due {
			return nil
		}
		time.Sleep(500 * time.Millisecond)
	}
	return nil
}

func (j *job) judgeCounted(ctx context.Context, addr string, words map[string]int) error {
	out, err := readAll(ctx, addr, j.out, kgo.ReadCommitted())
	if err != nil {
		return err
	}
	all, err := readAll(ctx, addr, j.out, kgo.ReadUncommitted())
	if err != nil {
		return err
	}
	j.report.Aborted = count(all) - count(out)
	counts := map[string][]int64{}
	for _, list := range out {
		for _, r := range list {
			n, err := strconv.ParseInt(string(r.Value), 10, 64)
			if err != nil {
				j.report.Faults = append(j.report.Faults, fmt.Sprintf("word %s was counted as %q", r.Key, r.Value))
				continue
			}
			counts[string(r.Key)] = append(counts[string(r.Key)], n)
		}
	}
	j.report.Faults = append(j.report.Faults, judgeCounts(words, counts)...)
	return nil
}
