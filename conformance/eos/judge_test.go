package eos

import (
	"slices"
	"testing"
)

// A good copy has no fault, and every way of spoiling it is found: a judge that finds nothing proves nothing.
func TestTheJudgeFindsEverySpoiledCopy(t *testing.T) {
	good := func() (in, out map[int32][]string) {
		in = map[int32][]string{0: {"a", "b", "c"}, 1: {"d"}, 2: nil}
		out = map[int32][]string{0: {"copy of a", "copy of b", "copy of c"}, 1: {"copy of d"}}
		return in, out
	}
	if in, out := good(); len(judgeCopy(in, out)) > 0 {
		t.Fatalf("a good copy has faults: %q", judgeCopy(in, out))
	}
	spoil := map[string]func(out map[int32][]string){
		"the last record lost":           func(out map[int32][]string) { out[0] = out[0][:2] },
		"the first record lost":          func(out map[int32][]string) { out[0] = out[0][1:] },
		"a record in the middle lost":    func(out map[int32][]string) { out[0] = slices.Delete(out[0], 1, 2) },
		"a record twice":                 func(out map[int32][]string) { out[0] = append(out[0], "copy of c") },
		"a transaction twice":            func(out map[int32][]string) { out[0] = append(out[0], out[0]...) },
		"a record twice, side by side":   func(out map[int32][]string) { out[0] = slices.Insert(out[0], 1, "copy of a") },
		"two records changed over":       func(out map[int32][]string) { out[0][0], out[0][1] = out[0][1], out[0][0] },
		"a record in another partition":  func(out map[int32][]string) { out[1] = append(out[1], out[0][2]); out[0] = out[0][:2] },
		"an aborted record":              func(out map[int32][]string) { out[0] = append(out[0], "aborted copy of c") },
		"a record that is not copied":    func(out map[int32][]string) { out[0][1] = "b" },
		"a record where there were none": func(out map[int32][]string) { out[2] = []string{"copy of x"} },
		"a partition that nobody made":   func(out map[int32][]string) { out[9] = []string{"copy of a"} },
		"an empty partition":             func(out map[int32][]string) { out[1] = nil },
		"nothing copied":                 func(out map[int32][]string) { clear(out) },
	}
	for name, corrupt := range spoil {
		in, out := good()
		corrupt(out)
		if len(judgeCopy(in, out)) == 0 {
			t.Errorf("%s was not found", name)
		}
	}
}

func TestTheJudgeFindsEverySpoiledCount(t *testing.T) {
	good := func() (words map[string]int, counts map[string][]int64) {
		return map[string]int{"a": 3, "b": 1}, map[string][]int64{"a": {1, 2, 3}, "b": {1}}
	}
	if words, counts := good(); len(judgeCounts(words, counts)) > 0 {
		t.Fatalf("good counts have faults: %q", judgeCounts(words, counts))
	}
	spoil := map[string]func(counts map[string][]int64){
		"a word not counted":        func(counts map[string][]int64) { delete(counts, "b") },
		"the last not counted":      func(counts map[string][]int64) { counts["a"] = counts["a"][:2] },
		"one counted twice":         func(counts map[string][]int64) { counts["a"] = []int64{1, 2, 2, 3} },
		"one counted too often":     func(counts map[string][]int64) { counts["b"] = []int64{1, 2} },
		"a count left out":          func(counts map[string][]int64) { counts["a"] = []int64{1, 3} },
		"a store that was lost":     func(counts map[string][]int64) { counts["a"] = []int64{1, 2, 1} },
		"a word that is not there":  func(counts map[string][]int64) { counts["c"] = []int64{1} },
		"counts in another order":   func(counts map[string][]int64) { counts["a"] = []int64{2, 1, 3} },
		"counts of another word":    func(counts map[string][]int64) { counts["a"], counts["b"] = counts["b"], counts["a"] },
		"nothing counted":           func(counts map[string][]int64) { clear(counts) },
		"a count of nothing before": func(counts map[string][]int64) { counts["b"] = []int64{0, 1} },
	}
	for name, corrupt := range spoil {
		words, counts := good()
		corrupt(counts)
		if len(judgeCounts(words, counts)) == 0 {
			t.Errorf("%s was not found", name)
		}
	}
}

func TestMomentsAreThoseOfTheSeed(t *testing.T) {
	a, b := moments(7, 1000, 5, 5), moments(7, 1000, 5, 5)
	if !slices.Equal(a, b) {
		t.Error("one seed gives two lists of moments")
	}
	if slices.Equal(a, moments(8, 1000, 5, 5)) {
		t.Error("two seeds give the same moments")
	}
	kills := map[victim]int{}
	for i, m := range a {
		kills[m.victim]++
		if m.progress >= 1000 || i > 0 && m.progress < a[i-1].progress {
			t.Errorf("moment %d is at %d of 1000, after %d", i, m.progress, a[max(i-1, 0)].progress)
		}
	}
	if kills[theBroker] != 5 || kills[theJob] != 5 {
		t.Errorf("5 kills of each were asked for, and there are %v", kills)
	}
}
