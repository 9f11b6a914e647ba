package segments

import "path"

// RetentionRules are a topic's settings that deletion goes by; -1 for no bound.
type RetentionRules struct {
	Bytes int64 // retention.bytes
	Ms    int64 // retention.ms
}

// Expired finds the offset up to which records have outlived their retention: whole segments from the first on, as many as
// the log has more bytes than it may, and then those whose largest timestamp (without any: whose last write) is too old.
// The log's start means none.
//
// As in Kafka the segment that is written counts too. When all are due it is ended here, so that deleting the records
// before the offset deletes it. When it cannot be ended, say on a full disk, those before it go.
func (p *Partition) Expired(r RetentionRules, now int64) (before int64, err error) {
	before, written, err := p.expired(r, now)
	if p.mended(err) {
		before, written, err = p.expired(r, now)
	}
	if err != nil || written < 0 {
		return before, p.storage(err)
	}
	if err := p.Roll(now); err != nil {
		return written, nil // what failed was reported
	}
	return before, nil
}

// expired also gives the first offset of the segment that is written when all are due, else -1.
func (p *Partition) expired(r RetentionRules, now int64) (before, written int64, err error) {
	infos, err := p.segmentInfos()
	if err != nil || len(infos) == 0 {
		return 0, -1, err
	}
	all := false
	if infos[len(infos)-1].Bytes == 0 { // the empty one that is written stays
		infos = infos[:len(infos)-1]
	} else {
		all = true
	}
	n := overSize(infos, r.Bytes)
	for r.Ms >= 0 && n < len(infos) {
		at, err := p.writtenAt(infos[n], now)
		if err != nil {
			return 0, -1, err
		}
		if now-at <= r.Ms {
			break
		}
		n++
	}
	switch {
	case n == 0:
		return 0, -1, nil
	case all && n == len(infos):
		return infos[n-1].End, infos[n-1].Base, nil
	}
	return infos[n-1].End, -1, nil
}

// overSize is how many segments may go so that what is left is not smaller than the bound.
func overSize(infos []SegmentInfo, bytes int64) (n int) {
	if bytes < 0 {
		return 0
	}
	over := -bytes
	for _, s := range infos {
		over += s.Bytes
	}
	for n < len(infos) && over-infos[n].Bytes >= 0 {
		over -= infos[n].Bytes
		n++
	}
	return n
}

// writtenAt is the largest timestamp of a segment, or the time of its last write when no record has one.
func (p *Partition) writtenAt(s SegmentInfo, now int64) (int64, error) {
	if s.MaxTimestamp >= 0 {
		return s.MaxTimestamp, nil
	}
	info, err := p.dir.fs.Stat(path.Join(p.path, segmentName(s.Base, "log")))
	if err != nil || info.ModTime().IsZero() {
		return now, nil // deleted or replaced since: the next look sees what there is
	}
	return info.ModTime().UnixMilli(), nil
}

// Rolled tells whether a partition has segments beside the one that is written, without opening it.
func (d *Dir) Rolled(id ID) bool {
	if p := d.Known(id); p != nil && p.opened.Load() {
		p.mu.Lock()
		defer p.mu.Unlock()
		return len(p.segments) > 1
	}
	if _, single := d.single.Load(id); single {
		return false
	}
	bases, err := listBases(d.fs, path.Join(d.root, id.String()), "log")
	if err == nil && len(bases) <= 1 {
		d.single.Store(id, true) // nothing changes before it is opened
		return false
	}
	return true
}
