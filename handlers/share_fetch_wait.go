package handlers

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/acls"
	"doze/projections"
	"doze/segments"
	"doze/shares"
)

// shareResult is what one partition answers.
type shareResult struct {
	place   sharePlace
	code    int16
	message *string
	records *shareRecords // nil without
	ranges  []shares.Range

	ackCode    int16
	ackMessage *string
	leader     int32 // epoch, for errors of leadership
}

func (r *shareResult) size() int64 {
	if r.records == nil {
		return 0
	}
	return r.records.Size()
}

func (r *shareResult) release() {
	if r.records != nil {
		r.records.Release()
		r.records = nil
	}
}

// shareFetching is one ShareFetch that looks for records.
type shareFetching struct {
	broker  *Broker
	key     shareMemberKey
	req     *kmsg.ShareFetchRequest
	places  []sharePlace
	results []*shareResult
	refused int16 // as a whole
	may     access
	wait    time.Duration

	read      []sharePlace // that can be read
	committed bool
	limits    shares.Limits
	minBytes  int64
	maxBytes  int64
}

// run finds the results, and has the request's acknowledgements done, those that are not refused: after the records are acquired
// when there are some at once, else before the wait for them. Kafka takes acknowledgements first, but what they release comes back
// only when that is written, which is after the records are acquired.
func (f *shareFetching) run(ctx context.Context, acknowledge func()) {
	if !f.begin() {
		acknowledge()
		return
	}
	ready := f.enough()
	if ready {
		f.acquire()
	}
	acknowledge()
	if !ready {
		f.await(ctx)
		f.judgeAnew()
		f.acquire()
	}
}

// judgeAnew looks at the permissions again after a wait: who has lost one gets nothing of what came meanwhile.
func (f *shareFetching) judgeAnew() {
	state, _ := f.broker.view()
	if f.may = f.may.at(state); !f.may.may(acls.Read, acls.Group, f.key.group) {
		f.refused, f.read = groupAuthorizationFailed, nil
	}
	may, not := permitted(f.may, acls.Read, acls.Topic, f.read, func(p sharePlace) string { return nameOfTopic(state, "", p.topic, true) })
	for _, place := range not {
		f.fail(place, topicAuthorizationFailed, nil)
	}
	f.read = may
}

// begin says whether there is anything to read.
func (f *shareFetching) begin() bool {
	if f.req.IsRenewAck {
		return false
	}
	b := f.broker
	state, _ := b.view()
	f.sort(state)
	if len(f.read) == 0 {
		return false
	}
	if f.req.ShareAcquireMode < 0 || f.req.ShareAcquireMode > 1 {
		f.refused = unknownServerError
		return false
	}
	if f.req.MaxRecords <= 0 || f.req.MaxBytes == 0 {
		return false
	}
	f.committed, f.limits = onlyCommitted(state, f.key.group), b.shareLimits(state, f.key.group)
	f.maxBytes = int64(min(f.req.MaxBytes, b.fetchMaxBytes))
	f.minBytes = min(int64(f.req.MinBytes), f.maxBytes)
	f.read = rotated(f.read, f.req.ShareSessionEpoch)
	f.takeUp()
	return len(f.read) > 0
}

// sort tells partitions that are not there from those to read.
func (f *shareFetching) sort(state *projections.State) {
	for _, place := range f.places {
		topic := state.Topics.WithID(place.topic)
		switch {
		case topic == nil:
			f.fail(place, unknownTopicID, nil)
		case !f.may.may(acls.Read, acls.Topic, topic.Name):
			f.fail(place, topicAuthorizationFailed, nil)
		case place.partition < 0 || place.partition >= topic.Partitions:
			f.fail(place, unknownTopicOrPartition, nil)
		default:
			f.read = append(f.read, place)
		}
	}
}

func (f *shareFetching) fail(place sharePlace, code int16, message *string) {
	f.results = append(f.results, &shareResult{place: place, code: code, message: message})
}

// takeUp brings the share partitions to life; those that cannot be have errors.
func (f *shareFetching) takeUp() {
	var ready []sharePlace
	for _, place := range f.read {
		p, refused := f.broker.shares.take(sharePartitionKey{f.key.group, place})
		if refused != nil {
			f.fail(place, refused.code, refused.message)
			continue
		}
		p.mu.Unlock()
		ready = append(ready, place)
	}
	f.read = ready
}

// await waits until there is enough to answer, or the wait is over.
func (f *shareFetching) await(ctx context.Context) {
	if f.wait <= 0 || f.enough() {
		return
	}
	w := segments.NewWaiter()
	defer f.watch(w)()
	deadline := time.NewTimer(f.wait)
	defer deadline.Stop()
	for !f.enough() { // what came before the watch is seen by the first round
		select {
		case <-w.C:
		case <-deadline.C:
			return
		case <-ctx.Done():
			f.read = nil // nobody would get what is acquired now
			return
		}
	}
}

// watch has w notified of what may end the wait.
func (f *shareFetching) watch(w *segments.Waiter) (unwatch func()) {
	state, _ := f.broker.view()
	var undo []func()
	for _, place := range f.read {
		if log := f.broker.partition(state, state.Topics.WithID(place.topic), place.partition); log != nil {
			log.Watch(w)
			undo = append(undo, func() { log.Unwatch(w) })
		}
		if p := f.broker.shares.known(sharePartitionKey{f.key.group, place}); p != nil {
			p.watch(w)
			p.mu.Unlock()
			undo = append(undo, func() { p.unwatch(w) })
		}
	}
	return func() {
		for _, end := range undo {
			end()
		}
	}
}

// enough says whether the partitions that may give something have min_bytes, or one of them an error.
func (f *shareFetching) enough() bool {
	type reading struct {
		place sharePlace
		from  int64
	}
	var may []reading
	for _, place := range f.read {
		if p := f.broker.shares.known(sharePartitionKey{f.key.group, place}); p != nil {
			if p.state.CanAcquire(f.limits) {
				may = append(may, reading{place, p.state.NextFetchOffset()})
			}
			p.mu.Unlock()
		}
	}
	total := int64(0)
	for i, at := range may {
		n, failed := f.available(at.place, at.from, f.share(i, len(may)))
		if failed {
			return true
		}
		total += n
	}
	return len(may) > 0 && total >= f.minBytes
}

// share is how many of the bytes asked for the ith of n partitions may give: as many as any other.
func (f *shareFetching) share(i, n int) int64 {
	each, rest := f.maxBytes/int64(n), f.maxBytes%int64(n)
	switch {
	case each == 0 && int64(i) < rest:
		return 1
	case each > 0 && i == 0:
		return each + rest
	}
	return each
}

// available counts the bytes from an offset on, up to a limit; failed: the log cannot be read there.
func (f *shareFetching) available(place sharePlace, from, limit int64) (n int64, failed bool) {
	state, _ := f.broker.view()
	log := f.broker.partition(state, state.Topics.WithID(place.topic), place.partition)
	if log == nil {
		return 0, true
	}
	span, err := log.Read(segments.Fetch{Offset: from, MaxBytes: int(limit), MinOneBatch: true, ReadCommitted: f.committed})
	if err != nil {
		return 0, true
	}
	defer span.Release()
	return min(int64(span.Len()), limit), false
}

// acquire reads what there is and acquires it, partition by partition.
func (f *shareFetching) acquire() {
	left, records, n := f.maxBytes, int64(f.req.MaxRecords), 0
	var may []*livePartition
	for _, place := range f.read {
		if p := f.broker.shares.known(sharePartitionKey{f.key.group, place}); p != nil {
			if p.state.CanAcquire(f.limits) {
				may = append(may, p)
			}
			p.mu.Unlock()
		}
	}
	for i, p := range may {
		p.mu.Lock()
		if p.gone {
			p.mu.Unlock()
			continue
		}
		result, read := f.acquireFrom(p, min(f.share(i, len(may)), left), records, n == 0)
		p.mu.Unlock()
		f.results = append(f.results, result)
		left = max(left-read, 0)
		if read > 0 {
			n++
		}
		for _, r := range result.ranges {
			records -= r.Last - r.First + 1
		}
	}
}
