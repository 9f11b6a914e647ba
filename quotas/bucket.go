package quotas

import "math"

// bucket holds tokens: it fills at the limit's rate, up to what the limit gives in all windows, and may be overdrawn by one
// request, which those after it pay for.
type bucket struct {
	tokens float64
	at     int64 // when it was last filled; 0: never, so it is full at first
}

func (b *bucket) fill(w Windows, limit float64, now int64) {
	b.tokens = min(b.most(w, limit), b.tokens+limit*(float64(now-b.at)/1000))
	if math.IsNaN(b.tokens) { // by a limit that is no number, or infinite: the next one begins anew
		b.tokens = b.most(w, limit)
	}
	b.at = now
}

func (b *bucket) most(w Windows, limit float64) float64 {
	return float64(w.Count) * (float64(w.Size) / 1000) * limit
}

// take takes tokens, overdrawn or not.
func (b *bucket) take(w Windows, limit, n float64, now int64) {
	b.fill(w, limit, now)
	b.tokens = min(b.most(w, limit), b.tokens-n)
}

// debt is how long it takes until the bucket is no longer overdrawn, ms; 0 when it is not.
func (b *bucket) debt(w Windows, limit float64, now int64) int64 {
	b.fill(w, limit, now)
	if b.tokens >= 0 {
		return 0
	}
	return round(-b.tokens / limit * 1000)
}
