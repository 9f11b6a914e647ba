package eos

import (
	"fmt"
	"maps"
	"slices"
)

// maxFaults bounds what a judge says of one partition or word: the first faults tell what is wrong.
const maxFaults = 10

// Transformed is what the copy job makes of a value.
func Transformed(value string) string { return "copy of " + value }

// judgeCopy compares the values of a topic's partitions with those of its copy.
func judgeCopy(in, out map[int32][]string) []string {
	var faults []string
	for _, partition := range slices.Sorted(maps.Keys(union(in, out))) {
		faults = append(faults, judgePartition(partition, in[partition], out[partition])...)
	}
	return faults
}

func union[V any](a, b map[int32]V) map[int32]bool {
	all := map[int32]bool{}
	for k := range a {
		all[k] = true
	}
	for k := range b {
		all[k] = true
	}
	return all
}

// judgePartition says what is missing, what is there twice, what nobody sent, and where the order is another.
func judgePartition(partition int32, in, out []string) []string {
	found := faults{where: fmt.Sprintf("partition %d", partition)}
	want := map[string]bool{}
	for _, value := range in {
		want[Transformed(value)] = true
	}
	seen := map[string]int{}
	for at, value := range out {
		before, again := seen[value]
		switch {
		case !want[value]:
			found.add("%q at place %d was never sent, or was aborted", value, at)
		case again:
			found.add("%q is there twice: at places %d and %d", value, before, at)
		}
		seen[value] = at
	}
	last := -1
	for i, value := range in {
		at, there := seen[Transformed(value)]
		switch {
		case !there:
			found.add("%q, record %d, was not copied", value, i)
		case at < last:
			found.add("%q, record %d, stands at place %d, before the record that was sent before it", value, i, at)
		}
		if there {
			last = at
		}
	}
	return found.list
}

// judgeCounts compares the counts that came out for each word, in their order, with how often the word went in.
func judgeCounts(words map[string]int, counts map[string][]int64) []string {
	var all []string
	for _, word := range slices.Sorted(maps.Keys(words)) {
		found := faults{where: fmt.Sprintf("word %s", word)}
		for i, count := range counts[word] {
			if count != int64(i+1) {
				found.add("count %d stands where %d is due", count, i+1)
			}
		}
		if n := len(counts[word]); n != words[word] {
			found.add("it was counted %d times and is there %d times", n, words[word])
		}
		all = append(all, found.list...)
	}
	for _, word := range slices.Sorted(maps.Keys(counts)) {
		if words[word] == 0 {
			all = append(all, fmt.Sprintf("word %s was counted and is not there", word))
		}
	}
	return all
}

// faults are those of one place; after the first few there is a remark that there are more.
type faults struct {
	where string
	list  []string
}

func (f *faults) add(format string, args ...any) {
	switch {
	case len(f.list) < maxFaults:
		f.list = append(f.list, f.where+": "+fmt.Sprintf(format, args...))
	case len(f.list) == maxFaults:
		f.list = append(f.list, f.where+": and more")
	}
}
