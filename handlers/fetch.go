package handlers

import (
	"context"
	"os"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/acls"
	"doze/projections"
	"doze/segments"
	"doze/wire"
)

// Fetch (key 1), v4-v18: stored batches from an offset on, byte for byte.
//
//	v4  isolation level, last stable offset, aborted transactions      v5  log start
//	v7  sessions (KIP-227)            v9  the client's leader epoch is checked (KIP-320)
//	v10 zstd batches                  v11 preferred read replica: there is none
//	v12 a diverging epoch is told     v13 topics by id (KIP-516)
//	v16 the current leader in errors of leadership
//
// The answer is sent at once when it has min_bytes or an error, or when nothing was asked for; else after max_wait_ms, or
// when enough was appended. The first batch of the first partition that has one is sent whole whatever the limits say.
func (b *Broker) fetch(ctx context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.FetchRequest)
	switch {
	case len(req.Rack) > maxName:
		return b.refuseFetch(r, failedFetch(req, invalidRequest)), nil
	case req.IsolationLevel < 0 || req.IsolationLevel > 1:
		return b.refuseFetch(r, failedFetch(req, unknownServerError)), nil
	}
	c := b.sessions.open(req)
	if c.code != none {
		if throttled := b.throttleFetch(r, req, c, nil); throttled != nil {
			return throttled, nil
		}
		return encodeFetch(req.Version, fetchAnswer{code: c.code}), nil
	}
	want := fetchWants{
		minBytes: int64(min(req.MinBytes, req.MaxBytes)), maxBytes: int64(min(req.MaxBytes, b.fetchMaxBytes)),
		committed: req.IsolationLevel == 1, follower: fetchReplica(req) >= 0, version: req.Version, may: b.access(r),
	}
	want.within(b.fetchRoom(r, want.follower))
	results := inAnswerOrder(b.fetchWhenReady(ctx, c.partitions, want, withinSession(r.Conn, req.MaxWaitMillis)))
	if !want.follower {
		if throttled := b.throttleFetch(r, req, c, results); throttled != nil {
			return throttled, nil
		}
	}
	session, included := b.sessions.answer(c, results)
	answer := fetchAnswer{session: session, results: included, leader: leader{id: b.nodeID}}
	if !want.follower { // which knows the brokers
		answer.leader.host, answer.leader.port = r.Conn.Advertised()
	}
	return encodeFetch(req.Version, answer), nil
}

// failedFetch refuses a request as a whole: before v13 in every partition too.
func failedFetch(req *kmsg.FetchRequest, code int16) fetchAnswer {
	answer := fetchAnswer{code: code}
	if req.Version >= 13 {
		return answer
	}
	for _, p := range askedPartitions(req) {
		answer.results = append(answer.results, unreadPartition(p, code))
	}
	return answer
}

// unreadPartition answers a partition whose log was not asked.
func unreadPartition(p *fetchPartition, code int16) fetchResult {
	return fetchResult{
		partition: p, name: p.topic, code: code, highWatermark: -1, lastStable: -1, logStart: -1, leaderEpoch: -1,
		aborted: []segments.AbortedTxn{},
	}
}

// inAnswerOrder sorts results as Kafka does: partitions that are there, then unknown ids, then what is unknown otherwise.
func inAnswerOrder(results []fetchResult) []fetchResult {
	rank := func(r fetchResult) int {
		switch r.code {
		case unknownTopicID:
			return 1
		case unknownTopicOrPartition, topicAuthorizationFailed:
			return 2
		}
		return 0
	}
	slices.SortStableFunc(results, func(a, b fetchResult) int { return rank(a) - rank(b) })
	return results
}

// fetchReplica is the id of the broker that fetches, negative for a consumer.
func fetchReplica(req *kmsg.FetchRequest) int32 {
	if req.Version >= 15 {
		return req.ReplicaState.ID
	}
	return req.ReplicaID
}

// fetchWants is what all partitions of a request share.
type fetchWants struct {
	minBytes, maxBytes int64
	committed          bool
	follower           bool // says that it is a broker
	version            int16
	may                access
}

// fetchResult is what one partition answers.
type fetchResult struct {
	partition     *fetchPartition
	name          string // resolved, for an answer by name
	code          int16
	records       *storedRecords // nil without records
	highWatermark int64
	lastStable    int64
	logStart      int64
	aborted       []segments.AbortedTxn // nil unless committed records are read
	diverged      bool
	epoch         int32 // diverging: the epoch and its end
	epochEnd      int64
	leaderEpoch   int32 // current, for errors of leadership
}

func (f *fetchResult) size() int64 {
	if f.records == nil {
		return 0
	}
	return f.records.Size()
}

func (f *fetchResult) release() {
	if f.records != nil {
		f.records.Release()
		f.records = nil
	}
}

// storedRecords is a span of a log as wire sends it: from file to socket where the system can do that.
type storedRecords struct{ segments.Span }

func (s *storedRecords) Size() int64 { return int64(s.Len()) }

func (s *storedRecords) OS() (*os.File, int64) {
	f, pos := s.Section()
	return f.OS(), pos
}

// fetchWhenReady reads, and reads again whenever one of the partitions has moved, until there is enough to answer or the
// wait is over.
func (b *Broker) fetchWhenReady(ctx context.Context, partitions []*fetchPartition, want fetchWants, wait time.Duration) []fetchResult {
	results, unknown, ready := b.fetchOnce(partitions, want)
	if ready || wait <= 0 || len(partitions) == 0 {
		return results
	}
	waiter := segments.NewWaiter()
	logs := b.watch(partitions, waiter)
	defer func() {
		for _, log := range logs {
			log.Unwatch(waiter)
		}
	}()
	// What was appended between the first read and the watch is seen by the first round here.
	deadline := time.NewTimer(wait)
	defer deadline.Stop()
	for {
		releaseAll(results)
		var nowUnknown int
		if results, nowUnknown, ready = b.fetchOnce(partitions, want); ready || nowUnknown > unknown {
			return results
		}
		select {
		case <-waiter.C:
		case <-deadline.C:
			return results
		case <-ctx.Done():
			return results
		}
	}
}

func releaseAll(results []fetchResult) {
	for i := range results {
		results[i].release()
	}
}

func (b *Broker) watch(partitions []*fetchPartition, waiter *segments.Waiter) []*segments.Partition {
	state, _ := b.view()
	var logs []*segments.Partition
	for _, p := range partitions {
		if log := b.partition(state, p.find(state.Topics), p.number); log != nil {
			log.Watch(waiter)
			logs = append(logs, log)
		}
	}
	return logs
}

// find is the topic that the partition belongs to; nil when there is none.
func (p *fetchPartition) find(topics projections.Topics) *projections.Topic {
	if p.topicID != (projections.ID{}) {
		return topics.WithID(p.topicID)
	}
	return topics.Named(p.topic)
}

// fetchOnce reads every partition as far as the limits go and tells whether that is an answer already. It counts those that
// are not there: the request waits for the others.
func (b *Broker) fetchOnce(partitions []*fetchPartition, want fetchWants) (results []fetchResult, unknown int, ready bool) {
	state, _ := b.view()
	want.may = want.may.at(state) // who has waited may have lost what he came with
	results = make([]fetchResult, len(partitions))
	left, total, failed := want.maxBytes, int64(0), false
	for i, p := range partitions {
		result := &results[i]
		*result = b.fetchPartition(state, p, want, left, total == 0)
		total += result.size()
		left = max(0, left-result.size())
		if result.unknown() {
			unknown++
			continue
		}
		failed = failed || result.code != none || result.diverged
	}
	return results, unknown, failed || total >= want.minBytes || unknown == len(partitions)
}

// unknown tells whether there is no such partition, or none for the caller.
func (f *fetchResult) unknown() bool {
	return f.code == unknownTopicID || f.code == unknownTopicOrPartition || f.code == topicAuthorizationFailed
}

// mayRead says whether the caller may read a topic; one who says that it is a broker must be allowed what brokers do.
func (w *fetchWants) mayRead(topic string) bool {
	if w.follower {
		return w.may.mayCluster(acls.ClusterAction)
	}
	return w.may.may(acls.Read, acls.Topic, topic)
}

// nameIn is the topic's name, as the state or the request has it.
func (p *fetchPartition) nameIn(topic *projections.Topic) string {
	if topic != nil {
		return topic.Name
	}
	return p.topic
}

// fetchPartition reads one partition; whole says that its first batch is sent even above the limits.
func (b *Broker) fetchPartition(state *projections.State, p *fetchPartition, want fetchWants, left int64, whole bool) fetchResult {
	topic := p.find(state.Topics)
	log := b.partition(state, topic, p.number)
	switch {
	case topic == nil && want.version >= 13:
		return unreadPartition(p, unknownTopicID)
	case want.may.guarded() && !want.mayRead(p.nameIn(topic)):
		return unreadPartition(p, topicAuthorizationFailed)
	case log == nil:
		return unreadPartition(p, unknownTopicOrPartition)
	}
	result := fetchResult{partition: p, highWatermark: -1, lastStable: -1, logStart: -1}
	result.name = topic.Name
	result.leaderEpoch = topic.LeaderEpoch(p.number, state.Starts)
	if result.code = checkLeaderEpoch(p.currentEpoch, result.leaderEpoch); result.code != none {
		return result
	}
	if want.follower { // there is none
		result.code = notLeaderOrFollower
		if p.currentEpoch >= 0 {
			result.code = unknownLeaderEpoch
		}
		return result
	}
	if b.diverges(log, p, &result) {
		return result
	}
	b.readInto(log, p, want, left, whole, &result)
	return result
}

// diverges tells a client whose last record is of an epoch that ended elsewhere where that epoch ends (KIP-595, v12+). An
// epoch that never was is out of range.
func (b *Broker) diverges(log *segments.Partition, p *fetchPartition, result *fetchResult) bool {
	if p.lastEpoch < 0 {
		return false
	}
	epoch, end, err := log.EndOfEpoch(p.lastEpoch)
	switch {
	case err != nil || epoch == p.lastEpoch && end >= p.offset:
		return false
	case epoch < 0:
		result.code = offsetOutOfRange
		return true
	}
	result.diverged, result.epoch, result.epochEnd = true, epoch, end
	if offsets, err := log.Offsets(); err == nil {
		result.highWatermark, result.lastStable, result.logStart = offsets.HighWatermark, offsets.LastStable, offsets.LogStart
	}
	return true
}

func (b *Broker) readInto(log *segments.Partition, p *fetchPartition, want fetchWants, left int64, whole bool, result *fetchResult) {
	most := min(int64(p.maxBytes), left)
	span, err := log.Read(segments.Fetch{
		Offset: p.offset, MaxBytes: int(most), MinOneBatch: whole, ReadCommitted: want.committed,
	})
	if most < 0 && err == nil && p.offset < span.HighWatermark { // Kafka's log does not take it
		span.Release()
		result.code = unknownServerError
		return
	}
	if err != nil {
		result.code = readCode(err, want.version)
		return
	}
	result.highWatermark, result.lastStable, result.logStart = span.HighWatermark, span.LastStable, span.LogStart
	if want.committed {
		if result.aborted = span.Aborted; result.aborted == nil {
			result.aborted = []segments.AbortedTxn{} // present even when there are none
		}
	}
	if span.Len() > 0 {
		result.records = &storedRecords{span}
	}
}
