package configs

import "iter"

// nearestMax bounds the names that Nearest compares: longer ones are nobody's typing error.
const nearestMax = 256

// Nearest is the candidate that the fewest changed, added, dropped or swapped letters away from name; "" when even that one
// differs in more than a third of its letters.
func Nearest(name string, candidates iter.Seq[string]) string {
	best, distance := "", len(name)/3+1
	if len(name) > nearestMax {
		return ""
	}
	for c := range candidates {
		if d := editDistance(name, c, distance); d < distance {
			best, distance = c, d
		}
	}
	return best
}

// editDistance counts the changes between a and b; it may stop at limit when there are no fewer.
func editDistance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
