package segments

import "fmt"

// DeleteRecords moves the log's start up to the offset before (-1: to the high watermark) and deletes the segments that
// lie wholly below it. An offset above the high watermark or below 0 is ErrOffsetOutOfRange; one at or below the log's
// start changes nothing. The start is kept by the journal: after a restart Config.LogStart has it.
func (p *Partition) DeleteRecords(before int64) (logStart int64, err error) {
	p.shape.Lock()
	defer p.shape.Unlock()
	p.write.Lock()
	defer p.write.Unlock()
	if err := p.writable(); err != nil {
		return 0, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if before == -1 {
		before = p.end
	}
	if before < 0 || before > p.end {
		return p.start, fmt.Errorf("delete records before %d of %d: %w", before, p.end, ErrOffsetOutOfRange)
	}
	if before <= p.start {
		return p.start, nil
	}
	p.start = before
	p.config.LogStart = before
	p.epochs.cut(before)
	p.dropBefore(before)
	p.notifyLocked()
	return p.start, nil
}

// SegmentInfo describes a segment, for retention and for people.
type SegmentInfo struct {
	Base         int64
	End          int64 // next offset
	Bytes        int64
	MaxTimestamp int64 // -1: none
	Active       bool  // the one that is written
}

// Segments lists the segments in the order of offsets. Retention deletes records before the End of the last segment that
// is to go.
func (p *Partition) Segments() ([]SegmentInfo, error) {
	out, err := p.segmentInfos()
	if p.mended(err) {
		out, err = p.segmentInfos()
	}
	return out, p.storage(err)
}

func (p *Partition) segmentInfos() ([]SegmentInfo, error) {
	if err := p.ready(); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]SegmentInfo, 0, len(p.segments))
	for i, s := range p.segments {
		if err := s.learn(); err != nil {
			return nil, err
		}
		info := SegmentInfo{Base: s.base, End: p.end, Bytes: s.size, MaxTimestamp: s.maxTime, Active: true}
		if i+1 < len(p.segments) {
			info.End, info.Active = p.segments[i+1].base, false
		}
		out = append(out, info)
	}
	return out, p.usable()
}
