package quotas

import "math"

// Windows is what a rate is measured over: Count windows of Size milliseconds, the last of them under way.
type Windows struct {
	Count int
	Size  int64
}

// rate is a sum over windows. A window begins with the first value after the end of the one before, so there may be gaps; one
// more is kept than is looked at, for the oldest still reaches into the time that counts.
type rate struct {
	windows []window
	current int
}

type window struct {
	start, last int64 // when it began, and when it last got a value
	sum         float64
}

func (r *rate) record(w Windows, value float64, now int64) {
	if len(r.windows) == 0 {
		r.windows = append(r.windows, window{start: now, last: now})
	}
	if now-r.windows[r.current].start >= w.Size {
		r.advance(w, now)
	}
	at := &r.windows[r.current]
	at.sum += value
	at.last = now
}

func (r *rate) advance(w Windows, now int64) {
	r.current = (r.current + 1) % (w.Count + 1)
	if r.current == len(r.windows) {
		r.windows = append(r.windows, window{})
	}
	r.windows[r.current] = window{start: now, last: now}
}

// measure gives the sum of what counts now, and the time that it is spread over.
func (r *rate) measure(w Windows, now int64) (sum float64, span int64) {
	if len(r.windows) == 0 {
		r.windows = append(r.windows, window{start: now, last: now})
	}
	oldest := int64(math.MaxInt64)
	for i := range r.windows {
		if now-r.windows[i].last >= int64(w.Count)*w.Size {
			r.windows[i] = window{start: now, last: now}
		}
		oldest = min(oldest, r.windows[i].start)
		sum += r.windows[i].sum
	}
	span = now - oldest
	// A client that has just begun is measured over all the windows that it will have: a first burst is no rate yet.
	if full, least := span/w.Size, int64(w.Count-1); full < least {
		span += (least - full) * w.Size
	}
	return sum, max(span, 1)
}

// excess is how long a client with this rate is to wait, ms, so that it comes down to the limit (units a second); 0 when it is
// within it.
func (r *rate) excess(w Windows, limit float64, now int64) int64 {
	sum, span := r.measure(w, now)
	value := sum / (float64(span) / 1000)
	if value <= limit {
		return 0
	}
	return round((value - limit) / limit * float64(span))
}

// round is Java's Math.round: halves go up, what is no number is 0, what is too large the largest.
func round(f float64) int64 {
	switch f = math.Floor(f + 0.5); {
	case math.IsNaN(f):
		return 0
	case f >= math.MaxInt64:
		return math.MaxInt64
	}
	return int64(f)
}
