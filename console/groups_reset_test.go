package console

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func printRows(rows []resetRow) string {
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "%s/%d %d>%d", r.Topic, r.Partition, r.Before, r.After)
		if r.Skip {
			b.WriteString(" skip")
		}
		if r.Note != "" {
			b.WriteString(" (" + r.Note + ")")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestPlanReset(t *testing.T) {
	a, b, c := partition{"t", 0}, partition{"t", 1}, partition{"gone", 0}
	facts := resetFacts{
		Committed: map[partition]int64{a: 50, c: 7},
		Start:     map[partition]int64{a: 10, b: 0}, End: map[partition]int64{a: 100, b: 20},
		AtTime: map[partition]int64{a: 60, b: -1}, Other: map[partition]int64{a: 500},
	}
	const gone = "gone/0 7>-1 skip (there is no such partition)\n"
	for _, tc := range []struct {
		form resetForm
		want string
	}{
		{resetForm{Strategy: "earliest"}, "t/0 50>10\nt/1 -1>0\n"},
		{resetForm{Strategy: "latest"}, "t/0 50>100\nt/1 -1>20\n"},
		{resetForm{Strategy: "offset", Value: " 15 "}, "t/0 50>15\nt/1 -1>15\n"},
		{resetForm{Strategy: "offset", Value: "5"}, "t/0 50>10 (5 is before the log's start)\nt/1 -1>5\n"},
		{resetForm{Strategy: "shift", Value: "-9223372036854775808"}, "t/0 50>10 (-9223372036854775758 is before the log's start)\nt/1 -1>-1 skip (there is no offset to shift)\n"},
		{resetForm{Strategy: "shift", Value: "9223372036854775807"}, "t/0 50>100\nt/1 -1>-1 skip (there is no offset to shift)\n"},
		{resetForm{Strategy: "timestamp"}, "t/0 50>60\nt/1 -1>20 (no record is as late as that)\n"},
		{resetForm{Strategy: "copy"}, "t/0 50>100 (500 is after the log's end)\nt/1 -1>-1 skip (the other group has no offset here)\n"},
	} {
		rows, err := planReset(tc.form, []partition{a, b, c}, facts)
		if got := printRows(rows); err != nil || got != tc.want+gone {
			t.Errorf("%+v: %v\n%swant\n%s", tc.form, err, got, tc.want+gone)
		}
	}
	for _, form := range []resetForm{{}, {Strategy: "offset", Value: "-1"}, {Strategy: "offset"}, {Strategy: "shift", Value: "x"}, {Strategy: "<b>"}} {
		if rows, err := planReset(form, []partition{a}, facts); err == nil {
			t.Errorf("%+v: %s", form, printRows(rows))
		}
	}
}

func TestUndone(t *testing.T) {
	rows := undone([]resetRow{{Topic: "t", Before: 5, After: 1}, {Topic: "t", Partition: 1, Before: -1, After: 3}, {Topic: "t", Partition: 2, Before: 4, After: 4}})
	if got := printRows(rows); got != "t/0 1>5\n" {
		t.Error(got)
	}
}

func TestResetTime(t *testing.T) {
	for text, want := range map[string]int64{
		"1764511402115": 1764511402115, "2025-11-30T14:03:22.115Z": 1764511402115, "2025-11-30T15:03:22.115+01:00": 1764511402115,
		"2025-11-30T14:03:22.115": 1764511402115, " 2025-11-30 14:03:22.115 ": 1764511402115, "2025-11-30T14:03": 1764511380000, "0": 0,
	} {
		if got, err := parseResetTime(text); err != nil || got != want {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
}

func FuzzResetTime(f *testing.F) {
	f.Add("2025-11-30T14:03:22.115Z")
	f.Add("1764511402115")
	f.Fuzz(func(t *testing.T, text string) {
		if at, err := parseResetTime(text); err == nil && at < 0 {
			t.Fatalf("%q is %d", text, at)
		}
	})
}

func FuzzPartitions(f *testing.F) {
	f.Add("0,2-4")
	f.Add("0-2147483647")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parsePartitions(text)
		if err == nil && (len(got) > maxResetPartitions || !slices.IsSorted(got) || len(got) > 0 && got[0] < 0) {
			t.Fatalf("%q: %v", text, got)
		}
	})
}

// FuzzPlan: a plan that is taken prints to what is read the same.
func FuzzPlan(f *testing.F) {
	f.Add("5 1 0 orders\n-1 3 1 orders\n")
	f.Add("5 1 0 orders\n5 1 0 orders\n")
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := parsePlan(text)
		if err != nil {
			return
		}
		again, err := parsePlan(printPlan(rows))
		if err != nil || !slices.Equal(rows, again) {
			t.Fatalf("%q: %v, then %v, %v", text, rows, again, err)
		}
	})
}
