package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
)

// position is a place in every partition of a topic, as --from, --until and --to name it.
type position struct {
	kind   string // beginning, end, offset, back, time, current
	number int64  // offset; records before the end; milliseconds since 1970
}

// positionForms is what a person may write.
const positionForms = "beginning, end, an OFFSET, -N for N before the end, a time such as 2026-01-31T12:00:00Z, or 10m for ten minutes ago"

// parsePosition reads one.
//
//fuzz:parser class=config FuzzPosition
func parsePosition(s string, now time.Time) (position, error) {
	switch s {
	case "beginning", "oldest", "start":
		return position{kind: "beginning"}, nil
	case "end", "newest", "now":
		return position{kind: "end"}, nil
	case "current":
		return position{kind: "current"}, nil
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		if strings.HasPrefix(s, "-") {
			return position{"back", -n}, checkBack(n)
		}
		return position{"offset", n}, nil
	}
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil && t.UnixMilli() >= 0 {
		return position{"time", t.UnixMilli()}, nil
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return position{"time", now.Add(-d).UnixMilli()}, nil
	}
	return position{}, fmt.Errorf("%q is no position; write %s", s, positionForms)
}

func checkBack(n int64) error {
	if n == -1<<63 {
		return fmt.Errorf("%d is out of range; write %s", n, positionForms)
	}
	return nil
}

// offsets are a position's offsets in the partitions of topics, within what the logs have.
func (p position) offsets(ctx context.Context, admin *administrator, committed bool, topics ...string) (map[string]map[int32]int64, error) {
	starts, err := admin.ListStartOffsets(ctx, topics...)
	if err != nil {
		return nil, err
	}
	ends, err := listEnds(ctx, admin, committed, topics)
	if err != nil {
		return nil, err
	}
	var times kadm.ListedOffsets
	if p.kind == "time" {
		if times, err = admin.ListOffsetsAfterMilli(ctx, p.number, topics...); err != nil {
			return nil, err
		}
	}
	all := map[string]map[int32]int64{}
	var failed error
	ends.Each(func(end kadm.ListedOffset) {
		start, _ := starts.Lookup(end.Topic, end.Partition)
		after, _ := times.Lookup(end.Topic, end.Partition)
		if end.Err != nil && failed == nil {
			failed = fmt.Errorf("find offsets of %s partition %d: %w", end.Topic, end.Partition, end.Err)
		}
		if all[end.Topic] == nil {
			all[end.Topic] = map[int32]int64{}
		}
		all[end.Topic][end.Partition] = p.within(start.Offset, end.Offset, after.Offset)
	})
	return all, failed
}

func listEnds(ctx context.Context, admin *administrator, committed bool, topics []string) (kadm.ListedOffsets, error) {
	if committed {
		return admin.ListCommittedOffsets(ctx, topics...)
	}
	return admin.ListEndOffsets(ctx, topics...)
}

// within is the offset for a log from start to end, in which after is the first offset at the position's time, if there is one.
func (p position) within(start, end, after int64) int64 {
	switch p.kind {
	case "beginning":
		return start
	case "offset":
		return min(max(p.number, start), end)
	case "back":
		return max(end-p.number, start)
	case "time":
		if after >= 0 {
			return after
		}
	}
	return end
}
