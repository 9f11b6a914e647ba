package handlers

import (
	"cmp"
	"slices"
)

// inJavaOrder orders strings, each there once and in the order in which they were put in, as a java.util.HashMap iterates over
// them: texts of Kafka's coordinator list names in that order. put is how many were put in before some were taken out again.
func inJavaOrder(names []string, put int) []string {
	buckets := uint32(16)
	for put*4 > int(buckets)*3 {
		buckets *= 2
	}
	ordered := slices.Clone(names)
	slices.SortStableFunc(ordered, func(a, b string) int { return cmp.Compare(javaBucket(a, buckets), javaBucket(b, buckets)) })
	return ordered
}
