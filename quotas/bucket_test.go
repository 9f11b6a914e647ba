package quotas

import (
	"math"
	"testing"
)

// TestABucketOutlivesOddLimits: quotas may be any number, none, or infinite; the limit that comes after is held to.
func TestABucketOutlivesOddLimits(t *testing.T) {
	w := Windows{Count: 11, Size: 1000}
	for _, odd := range []float64{math.NaN(), math.Inf(1), math.MaxFloat64, math.SmallestNonzeroFloat64, 1e-300} {
		var b bucket
		b.at = 1
		for now := int64(2); now < 5; now++ { // some at the same time
			b.take(w, odd, 1, now)
			b.take(w, odd, 1, now)
		}
		b.take(w, 1, 0, 1_000_000)
		if most := b.most(w, 1); b.tokens != most {
			t.Errorf("after %g: %g tokens, not %g", odd, b.tokens, most)
		}
		b.take(w, 1, 100, 1_000_000)
		if debt := b.debt(w, 1, 1_000_000); debt != 89_000 {
			t.Errorf("after %g: a debt of %d ms", odd, debt)
		}
	}
}
