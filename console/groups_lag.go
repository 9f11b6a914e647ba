package console

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kadm"
)

// addOffsets gives groups their offsets and lag: one OffsetFetch for all but share groups, whose offsets their own API tells, and
// one ListOffsets for each end of the logs. What cannot be learned is said in the group; it is no error.
func (g groupReader) addOffsets(ctx context.Context, groups []*group) {
	var plain, share []string
	for _, one := range groups {
		if one.Kind == shareGroup {
			share = append(share, one.Name)
		} else {
			plain = append(plain, one.Name)
		}
	}
	committed := g.committed(ctx, plain, share)
	topics := map[string]bool{}
	for _, one := range groups {
		of := committed[one.Name]
		one.Offsets, one.OffsetsError = of.offsets, of.problem
		one.addUncommitted()
		for _, o := range one.Offsets {
			topics[o.Topic] = true
		}
	}
	logs := g.logs(ctx, sortedKeys(topics))
	for _, one := range groups {
		one.addLogs(logs)
	}
	g.countRecords(ctx, groups, logs.topics)
	for _, one := range groups {
		one.sum()
	}
}

// committedOffsets is what a group has committed, or why that is not known.
type committedOffsets struct {
	offsets []groupOffset
	problem string
}

func (g groupReader) committed(ctx context.Context, plain, share []string) map[string]committedOffsets {
	out := map[string]committedOffsets{}
	for name, f := range g.admin.FetchManyOffsets(ctx, plain...) {
		of := committedOffsets{}
		if f.Err != nil {
			of.problem = fmt.Sprintf("The group's offsets cannot be read: %v", f.Err)
		}
		for _, o := range f.Fetched.Sorted() {
			if o.At >= 0 || o.Err != nil {
				of.offsets = append(of.offsets, groupOffset{Topic: o.Topic, Partition: o.Partition, Committed: o.At, Metadata: o.Metadata, Problem: problemText(o.Err), Lag: -1})
			}
		}
		out[name] = of
	}
	if len(share) == 0 {
		return out
	}
	described, err := g.admin.DescribeShareGroupOffsets(ctx, share...)
	for _, name := range share {
		of := committedOffsets{}
		d, ok := described[name]
		if !ok || d.Err != nil {
			of.problem = fmt.Sprintf("The group's start offsets cannot be read: %v", cmp.Or(d.Err, err))
		}
		for _, o := range d.Offsets.Sorted() {
			of.offsets = append(of.offsets, groupOffset{Topic: o.Topic, Partition: o.Partition, Committed: o.StartOffset, Problem: problemText(o.Err), Lag: o.Lag})
		}
		out[name] = of
	}
	return out
}

func problemText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// addUncommitted adds the partitions that members read and nothing was committed for, and says who reads each.
func (g *group) addUncommitted() {
	have := map[partition]int{}
	for i, o := range g.Offsets {
		have[partition{o.Topic, o.Partition}] = i
	}
	if g.Kind == streamsGroup { // its tasks are partitions of subtopologies, not of topics
		return
	}
	for _, m := range g.Members {
		for _, t := range m.Assigned {
			for _, p := range t.Partitions {
				i, ok := have[partition{t.Topic, p}]
				if !ok {
					i = len(g.Offsets)
					have[partition{t.Topic, p}] = i
					g.Offsets = append(g.Offsets, groupOffset{Topic: t.Topic, Partition: p, Committed: -1, Lag: -1})
				}
				if o := &g.Offsets[i]; o.Member == "" {
					o.Member = m.Client + " at " + m.Host
				} else {
					o.Member += ", " + m.Client + " at " + m.Host
				}
			}
		}
	}
	slices.SortFunc(g.Offsets, func(a, b groupOffset) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
}

// topicLogs is where the logs of topics begin and end.
type topicLogs struct {
	topics     kadm.TopicDetails
	start, end kadm.ListedOffsets
}

func (g groupReader) logs(ctx context.Context, topics []string) topicLogs {
	if len(topics) == 0 {
		return topicLogs{}
	}
	// What failed is missing in the answers, and shown as unknown.
	meta, err := g.metadata(ctx, topics...)
	if err != nil {
		return topicLogs{}
	}
	logs, _ := g.logsOf(ctx, meta.Topics, true)
	return logs
}

func listedOffset(of kadm.ListedOffsets, topic string, partition int32) int64 {
	if o, ok := of.Lookup(topic, partition); ok && o.Err == nil {
		return o.Offset
	}
	return -1
}

func (g *group) addLogs(logs topicLogs) {
	for i := range g.Offsets {
		o := &g.Offsets[i]
		o.Start, o.End = listedOffset(logs.start, o.Topic, o.Partition), listedOffset(logs.end, o.Topic, o.Partition)
		if o.End < 0 {
			o.Problem = cmp.Or(o.Problem, "the partition is not there or cannot be read")
			continue
		}
		o.Behind = o.Committed >= 0 && o.Committed < o.Start
		if g.Kind != shareGroup && o.Committed >= 0 {
			o.Lag = max(0, o.End-max(o.Committed, o.Start))
		}
	}
}

// sum adds the partitions' lag up.
func (g *group) sum() {
	g.Lag, g.LagPartial = 0, g.OffsetsError != ""
	for _, o := range g.Offsets {
		if o.Lag >= 0 {
			g.Lag += o.Lag
		} else {
			g.LagPartial = true
		}
	}
}
