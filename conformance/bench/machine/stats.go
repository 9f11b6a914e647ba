//go:build linux

package machine

import "slices"

// Median returns the middle of the values, NaN-free input assumed; 0 of none.
func Median(values []float64) float64 { return Quantile(values, 0.5) }

// Quantile returns the smallest value that at least the share q of the values does not exceed.
func Quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	i := int(q*float64(len(sorted))+0.999999) - 1
	return sorted[min(max(i, 0), len(sorted)-1)]
}
