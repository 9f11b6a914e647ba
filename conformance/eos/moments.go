package eos

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"
)

// victim is who is killed.
type victim string

const (
	theBroker victim = "broker"
	theJob    victim = "job"
)

// moment is when one is killed: so long after so many input records were committed.
type moment struct {
	victim   victim
	progress int64
	delay    time.Duration
}

// maxDelay is long enough for a moment to fall anywhere into a transaction.
const maxDelay = 300 * time.Millisecond

// moments spreads kills over a job of so many records.
func moments(seed uint64, records int64, broker, job int) []moment {
	random := rand.New(rand.NewPCG(seed, 2))
	var list []moment
	for i := range broker + job {
		m := moment{theBroker, random.Int64N(records*9/10 + 1), time.Duration(random.Int64N(int64(maxDelay)))}
		if i >= broker {
			m.victim = theJob
		}
		list = append(list, m)
	}
	slices.SortStableFunc(list, func(a, b moment) int { return cmp.Compare(a.progress, b.progress) })
	return list
}
