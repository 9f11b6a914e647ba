package console

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// partition names a partition of a topic.
type partition struct {
	Topic string
	Index int32
}

// resetForm is what a person asks for: which partitions of a group, and where each is to go.
type resetForm struct {
	Topic      string // "" is every partition that the group has an offset for
	Partitions string // of the topic: "0,2-4"; "" is all
	Strategy   string // one of resetStrategies
	Value      string // an offset, a time, a shift
	From       string // the group to copy from
}

// resetStrategies are the ways to say where offsets go, with what a person reads.
var resetStrategies = []choice{
	{"earliest", "earliest: the first record that is still there"},
	{"latest", "latest: only what comes from now on"},
	{"offset", "an offset"},
	{"timestamp", "the first record at or after a time"},
	{"shift", "some records forward or back (-10)"},
	{"copy", "where another group is"},
}

// choice is an option of a select: its value and what is shown.
type choice struct{ Value, Label string }

// resetFacts is what is true of the partitions in scope when a plan is made.
type resetFacts struct {
	Committed  map[partition]int64 // of the group
	Start, End map[partition]int64 // of the log, the end as a read_committed consumer sees it
	AtTime     map[partition]int64 // for strategy timestamp: -1 when no record is as late as that
	Other      map[partition]int64 // for strategy copy
}

// resetRow is one partition of a plan.
type resetRow struct {
	Topic         string
	Partition     int32
	Before, After int64 // -1: none
	Start, End    int64
	Note          string // why After is not what was asked for, or why the row is left out
	Skip          bool
}

// Moves is how far the row's offset goes.
func (r resetRow) Moves() int64 {
	if r.Before < 0 {
		return 0
	}
	return r.After - r.Before
}

// planReset works out where each partition goes. Nothing is changed by it: a person sees the plan, and what he agrees to is what
// the plan says.
func planReset(form resetForm, scope []partition, facts resetFacts) ([]resetRow, error) {
	target, err := form.target(facts)
	if err != nil {
		return nil, err
	}
	rows := make([]resetRow, 0, len(scope))
	for _, p := range scope {
		row := resetRow{Topic: p.Topic, Partition: p.Index, Before: valueOr(facts.Committed, p, -1)}
		start, known := facts.Start[p]
		if !known {
			row.Skip, row.Note, row.After, row.Start, row.End = true, "there is no such partition", -1, -1, -1
			rows = append(rows, row)
			continue
		}
		row.Start, row.End = start, facts.End[p]
		row.After, row.Note, row.Skip = target(row, p)
		if !row.Skip {
			row.clamp()
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// clamp keeps the target within the log, as Kafka's own tool does.
func (r *resetRow) clamp() {
	switch {
	case r.After < r.Start:
		r.Note = join(r.Note, fmt.Sprintf("%d is before the log's start", r.After))
		r.After = r.Start
	case r.After > r.End:
		r.Note = join(r.Note, fmt.Sprintf("%d is after the log's end", r.After))
		r.After = r.End
	}
}

func join(note, more string) string {
	if note == "" {
		return more
	}
	return note + "; " + more
}

// target is the strategy as a function of a row: where it goes, a note, and whether it is left out.
func (f resetForm) target(facts resetFacts) (func(resetRow, partition) (int64, string, bool), error) {
	switch f.Strategy {
	case "earliest":
		return func(r resetRow, _ partition) (int64, string, bool) { return r.Start, "", false }, nil
	case "latest":
		return func(r resetRow, _ partition) (int64, string, bool) { return r.End, "", false }, nil
	case "offset":
		n, err := parseOffset(f.Value)
		return func(resetRow, partition) (int64, string, bool) { return n, "", false }, err
	case "shift":
		n, err := parseShift(f.Value)
		return func(r resetRow, _ partition) (int64, string, bool) { return shifted(r, n) }, err
	case "timestamp":
		return func(r resetRow, p partition) (int64, string, bool) {
			if at := valueOr(facts.AtTime, p, -1); at >= 0 {
				return at, "", false
			}
			return r.End, "no record is as late as that", false
		}, nil
	case "copy":
		return func(r resetRow, p partition) (int64, string, bool) {
			if at := valueOr(facts.Other, p, -1); at >= 0 {
				return at, "", false
			}
			return -1, "the other group has no offset here", true
		}, nil
	}
	return nil, fmt.Errorf("choose a strategy: %q is none", f.Strategy)
}

// shifted moves an offset and stays within 64 bits.
func shifted(r resetRow, n int64) (int64, string, bool) {
	if r.Before < 0 {
		return -1, "there is no offset to shift", true
	}
	sum := r.Before + n
	if n > 0 && sum < r.Before {
		return r.End, "", false
	}
	return sum, "", false
}

func valueOr(m map[partition]int64, p partition, other int64) int64 {
	if v, ok := m[p]; ok {
		return v
	}
	return other
}

// parseOffset reads an offset to go to.
//
//fuzz:not-a-parser one whole number, by strconv
func parseOffset(text string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("read offset %q: give a whole number from 0", text)
	}
	return n, nil
}

// parseShift reads how far to go, forward or back.
//
//fuzz:not-a-parser one whole number, by strconv
func parseShift(text string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read shift %q: give a whole number, such as -100", text)
	}
	return n, nil
}

// resetTimes are the notations of a time: with a zone, as a browser's field sends it (UTC), and milliseconds.
var resetTimes = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999", "2006-01-02T15:04", "2006-01-02 15:04:05.999", "2006-01-02"}

// parseResetTime reads a time as milliseconds. A time without a zone is UTC.
//
//fuzz:parser class=http FuzzResetTime
func parseResetTime(text string) (int64, error) {
	text = strings.TrimSpace(text)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 {
		return n, nil
	}
	for _, layout := range resetTimes {
		if at, err := time.Parse(layout, text); err == nil && at.UnixMilli() >= 0 {
			return at.UnixMilli(), nil
		}
	}
	return 0, fmt.Errorf("read time %q: give it as 2026-11-30T14:03:22.115Z, or in milliseconds since 1970", text)
}

// maxResetPartitions is the most partitions of one reset.
const maxResetPartitions = 10_000

// parsePartitions reads "0,2-4" as numbers in order, each once; nothing is all partitions and gives nil.
//
//fuzz:parser class=http FuzzPartitions
func parsePartitions(text string) ([]int32, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	var out []int32
	for part := range strings.SplitSeq(text, ",") {
		first, last, ranged := strings.Cut(strings.TrimSpace(part), "-")
		from, err := strconv.ParseInt(strings.TrimSpace(first), 10, 32)
		to := from
		if err == nil && ranged {
			to, err = strconv.ParseInt(strings.TrimSpace(last), 10, 32)
		}
		if err != nil || from < 0 || to < from {
			return nil, fmt.Errorf("read partitions %q: give numbers and ranges, such as 0,2-4", text)
		}
		if int64(len(out))+to-from+1 > maxResetPartitions {
			return nil, fmt.Errorf("read partitions: more than %d", maxResetPartitions)
		}
		for n := from; n <= to; n++ {
			out = append(out, int32(n))
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// A plan travels through the browser as text, one partition a line: "BEFORE AFTER PARTITION TOPIC". Topics have neither blanks
// nor ends of lines. It is only numbers that a person could have typed himself, so it needs no signature.

// printPlan is the plan as text; rows that are left out are not in it.
func printPlan(rows []resetRow) string {
	var b strings.Builder
	for _, r := range rows {
		if !r.Skip {
			fmt.Fprintf(&b, "%d %d %d %s\n", r.Before, r.After, r.Partition, r.Topic)
		}
	}
	return b.String()
}

// parsePlan reads a plan again.
//
//fuzz:parser class=http FuzzPlan
func parsePlan(text string) ([]resetRow, error) {
	var rows []resetRow
	seen := map[partition]bool{}
	for line := range strings.Lines(text) {
		row, err := parsePlanRow(strings.TrimRight(line, "\r\n"))
		if err != nil {
			return nil, err
		}
		at := partition{row.Topic, row.Partition}
		if seen[at] || len(rows) == maxResetPartitions {
			return nil, fmt.Errorf("read plan: partition %d of %q stands in it twice, or there are more than %d", row.Partition, row.Topic, maxResetPartitions)
		}
		seen[at] = true
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("read plan: no partition in it")
	}
	return rows, nil
}

// parsePlanRow reads a line of a plan.
//
//fuzz:parser class=http FuzzPlan
func parsePlanRow(line string) (resetRow, error) {
	fields := strings.SplitN(line, " ", 4)
	if len(fields) != 4 || fields[3] == "" {
		return resetRow{}, fmt.Errorf("read plan: no partition in %q", line)
	}
	before, err1 := strconv.ParseInt(fields[0], 10, 64)
	after, err2 := strconv.ParseInt(fields[1], 10, 64)
	index, err3 := strconv.ParseInt(fields[2], 10, 32)
	if err1 != nil || err2 != nil || err3 != nil || before < -1 || after < 0 || index < 0 {
		return resetRow{}, fmt.Errorf("read plan: %q is not three numbers and a topic", line)
	}
	return resetRow{Topic: fields[3], Partition: int32(index), Before: before, After: after}, nil
}

// undone is the plan that takes another back; partitions that had no offset before are not in it.
func undone(rows []resetRow) []resetRow {
	var out []resetRow
	for _, r := range rows {
		if r.Before >= 0 && r.Before != r.After {
			out = append(out, resetRow{Topic: r.Topic, Partition: r.Partition, Before: r.After, After: r.Before})
		}
	}
	return out
}
