package handlers

import (
	"errors"
	"io"
	"os"
	"slices"

	"doze/segments"
	"doze/shares"
)

// shareRecords is a part of what was read from a log: the record batches that have something to deliver.
type shareRecords struct {
	storedRecords
	from, n int64
}

func (s *shareRecords) Size() int64 { return s.n }

func (s *shareRecords) OS() (*os.File, int64) {
	f, pos := s.storedRecords.OS()
	return f, pos + s.from
}

// ReadAt reads stored bytes.
//
//fuzz:not-a-parser it copies stored bytes and looks at none
func (s *shareRecords) ReadAt(p []byte, off int64) (int, error) {
	if off >= s.n {
		return 0, io.EOF
	}
	if left := s.n - off; int64(len(p)) > left {
		n, err := s.storedRecords.ReadAt(p[:left], s.from+off)
		if err == nil {
			err = io.EOF
		}
		return n, err
	}
	return s.storedRecords.ReadAt(p, s.from+off)
}

// acquireFrom reads from one partition, whose lock is held, and acquires what may be delivered. It gives how many bytes were
// read for it.
func (f *shareFetching) acquireFrom(p *livePartition, limit, records int64, whole bool) (*shareResult, int64) {
	result := &shareResult{place: p.key.sharePlace}
	state, _ := f.broker.view()
	log := f.broker.partition(state, state.Topics.WithID(p.key.topic), p.key.partition)
	if log == nil {
		result.code, result.message = unknownTopicOrPartition, text(unknownTopicText)
		return result, 0
	}
	from := p.state.NextFetchOffset()
	span, err := log.Read(segments.Fetch{Offset: from, MaxBytes: int(limit), MinOneBatch: whole, ReadCommitted: f.committed})
	if err != nil {
		f.unread(p, log, err, result)
		return result, 0
	}
	read := int64(span.Len())
	stored := shareRecords{storedRecords: storedRecords{span}}
	batches, err := walkBatches(&stored.storedRecords, max(p.state.InFlightEnd(), from)+records)
	if err != nil {
		stored.Release()
		result.code = storageCode(errors.Join(segments.ErrStorage, err))
		return result, 0
	}
	result.ranges = p.state.Acquire(shares.Fetched{
		Member: f.key.member, From: from, Batches: logBatches(batches), Aborted: abortedBatches(batches, span.Aborted),
		MaxRecords: int(min(records, int64(f.req.MaxRecords))), BatchSize: int(f.req.BatchSize), Exact: f.req.ShareAcquireMode == 1,
		Now: f.broker.steady.NowMillis(),
	}, f.limits)
	f.broker.shares.watchLocks(p)
	if len(result.ranges) == 0 {
		stored.Release()
		return result, read
	}
	stored.cut(batches, result.ranges)
	result.records = &stored
	return result, read
}

// unread answers a partition whose log could not be read. When the log begins behind the group's place the group goes on
// where it begins, with the next fetch.
func (f *shareFetching) unread(p *livePartition, log *segments.Partition, err error, result *shareResult) {
	if !errors.Is(err, segments.ErrOffsetOutOfRange) {
		result.code = storageCode(err)
		return
	}
	offsets, err := log.Offsets()
	if err != nil {
		result.code = storageCode(err)
		return
	}
	next := p.state.Clone()
	next.MoveStart(offsets.LogStart)
	p.state = next
	f.broker.shares.changed(p)
}

// readBatch is the head of a record batch that was read.
type readBatch struct {
	shares.LogBatch
	at, size    int64
	producer    int64
	txn, marker bool
}

// walkBatches reads the heads of the whole batches of what was read, up to the first that begins behind an offset and one
// more.
func walkBatches(s *storedRecords, until int64) (all []readBatch, err error) {
	const head = 61 // of a batch, up to its first record
	window := make([]byte, 4096)
	have, base := 0, int64(0) // bytes of the window, and where it begins
	for at, end := int64(0), s.Size(); at+head <= end; {
		if at < base || at+head > base+int64(have) {
			n, err := s.ReadAt(window[:min(int64(len(window)), end-at)], at)
			if err != nil && !(errors.Is(err, io.EOF) && n >= head) {
				return nil, err
			}
			have, base = n, at
		}
		h, ok := segments.HeadOf(window[at-base : have])
		if !ok || h.Size < head || at+int64(h.Size) > end {
			break
		}
		all = append(all, readBatch{
			LogBatch: shares.LogBatch{Base: h.BaseOffset, Last: h.LastOffset()}, at: at, size: int64(h.Size),
			producer: h.ProducerID, txn: h.Transactional(), marker: h.Control(),
		})
		if h.BaseOffset > until {
			break
		}
		at += int64(h.Size)
	}
	return all, nil
}

func logBatches(batches []readBatch) []shares.LogBatch {
	all := make([]shares.LogBatch, len(batches))
	for i := range batches {
		all[i] = batches[i].LogBatch
	}
	return all
}

// abortedBatches picks the batches of aborted transactions. A transaction begins with its first offset and ends with its
// producer's next marker.
func abortedBatches(batches []readBatch, txns []segments.AbortedTxn) (all []shares.LogBatch) {
	if len(txns) == 0 {
		return nil
	}
	txns = slices.Clone(txns)
	slices.SortFunc(txns, func(a, b segments.AbortedTxn) int { return int(min(max(a.FirstOffset-b.FirstOffset, -1), 1)) })
	open := map[int64]bool{}
	for _, b := range batches {
		for len(txns) > 0 && txns[0].FirstOffset <= b.Last {
			open[txns[0].ProducerID] = true
			txns = txns[1:]
		}
		switch {
		case b.marker:
			delete(open, b.producer)
		case b.txn && open[b.producer]:
			all = append(all, b.LogBatch)
		}
	}
	return all
}

// cut leaves the batches from the first to the last acquired offset. What was read with one whole batch only stays as it is,
// as in Kafka, with the beginning of another that may follow.
func (s *shareRecords) cut(batches []readBatch, ranges []shares.Range) {
	s.n = s.storedRecords.Size()
	if len(batches) < 2 {
		return
	}
	first, last := ranges[0].First, ranges[len(ranges)-1].Last
	from, to := batches[0], batches[0]
	for _, b := range batches[1:] {
		switch {
		case b.Base <= first:
			from, to = b, b
		case b.Base <= last:
			to = b
		}
	}
	s.from, s.n = from.at, to.at+to.size-from.at
}
