package console

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// maxCursor bounds the partitions of a cursor.
const maxCursor = 10_000

// formatCursor writes offsets by partition as an address holds them: partition-offset with dots between. Runs of partitions at the
// same offset are written once: 0~5-100 are six partitions.
func formatCursor(at map[int32]int64) string {
	var b strings.Builder
	keys := sortedInts(at)
	for i := 0; i < len(keys); {
		j := i
		for j+1 < len(keys) && keys[j+1] == keys[j]+1 && at[keys[j+1]] == at[keys[i]] {
			j++
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		if j > i {
			fmt.Fprintf(&b, "%d~%d-%d", keys[i], keys[j], at[keys[i]])
		} else {
			fmt.Fprintf(&b, "%d-%d", keys[i], at[keys[i]])
		}
		i = j + 1
	}
	return b.String()
}

// parseCursor reads what formatCursor wrote.
//
//fuzz:parser class=http FuzzConsoleForms
func parseCursor(s string) (map[int32]int64, error) {
	at := map[int32]int64{}
	if s == "" {
		return at, nil
	}
	for part := range strings.SplitSeq(s, ".") {
		partitions, offset, ok := strings.Cut(part, "-")
		first, last, run := strings.Cut(partitions, "~")
		if !run {
			last = first
		}
		low, err1 := strconv.ParseUint(first, 10, 31)
		high, err2 := strconv.ParseUint(last, 10, 31)
		n, err3 := strconv.ParseInt(offset, 10, 64)
		if !ok || err1 != nil || err2 != nil || err3 != nil || n < 0 || high < low || high-low >= maxCursor || len(at) > maxCursor {
			return nil, badRequest("The address does not say where to go on: begin the search again")
		}
		for p := low; p <= high; p++ {
			at[int32(p)] = n
		}
	}
	return at, nil
}

// rangesOf says which offsets were looked at, of up to three partitions.
func rangesOf(from, to map[int32]int64, down bool) string {
	var said []string
	for _, p := range sortedInts(from) {
		low, high := from[p], to[p]
		if down {
			low, high = high, low
		}
		if low < high {
			said = append(said, fmt.Sprintf("partition %d: %s–%s", p, grouped(low), grouped(high-1)))
		}
	}
	if len(said) > 3 {
		said = append(said[:3], "and "+plural(len(said)-3, "more partition"))
	}
	return strings.Join(said, ", ")
}

// momentForms are the ways a time may be typed.
var momentForms = []string{"2006-01-02T15:04:05.999Z07:00", "2006-01-02T15:04:05.999", "2006-01-02T15:04", "2006-01-02 15:04:05.999", "2006-01-02 15:04", "2006-01-02"}

// parseMoment reads a time that a person typed, in his zone unless he names one, or milliseconds since 1970.
//
//fuzz:parser class=http FuzzConsoleForms
func parseMoment(s string, zone *time.Location) (time.Time, error) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return time.UnixMilli(n), nil
	}
	for _, form := range momentForms {
		if t, err := time.ParseInLocation(form, s, zone); err == nil {
			return t, nil
		}
	}
	return time.Time{}, badRequest("The time %q is none: write it as 2026-11-30 14:03:22.115, or as milliseconds since 1970", clip(s, 40))
}
