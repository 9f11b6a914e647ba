package segments

import (
	"errors"
	"fmt"
	"os"
)

// badIndex says that a segment's index cannot be used.
type badIndex struct {
	s   *segment
	err error
}

func (e *badIndex) Error() string { return "index of segment " + e.s.index.name + ": " + e.err.Error() }
func (e *badIndex) Unwrap() error { return e.err }

// mended tells whether err was a damaged index that is whole again now, so that the caller may try once more.
func (p *Partition) mended(err error) bool {
	if !errors.Is(err, errBadEntry) {
		return false
	}
	p.write.Lock()
	defer p.write.Unlock()
	return p.mendLocked(err)
}

// mendLocked is mended for a caller that holds write.
func (p *Partition) mendLocked(err error) bool {
	bad := (*badIndex)(nil)
	if !errors.As(err, &bad) || !errors.Is(err, errBadEntry) {
		return false
	}
	err = p.rebuildIndex(bad.s)
	if damage := (*Damage)(nil); errors.As(err, &damage) {
		p.dir.report(Report{Partition: p.id, Damage: damage})
		p.mu.Lock()
		p.damage = fmt.Errorf("partition %s: %w: %w", p.id, ErrStorage, damage)
		p.mu.Unlock()
	}
	return err == nil
}

// rebuildIndex makes the index of a segment anew from its log. Stamps of entries that can still be read are kept. The
// caller holds write.
func (p *Partition) rebuildIndex(s *segment) error {
	if err := p.flushIndex(s, 0, 0); err != nil {
		return err
	}
	copied := segment{base: s.base, log: s.log, index: s.index, size: s.size, flushed: s.flushed}
	o := opening{p: p, producers: producers{}, end: s.base}
	r := recovery{opening: &o, s: &copied, fileHas: s.flushed}
	var err error
	if r.log, err = s.log.acquire(); err != nil {
		return err
	}
	defer s.log.release()
	if r.index, err = s.index.acquireWith(os.O_RDWR | os.O_CREATE); err != nil {
		return err
	}
	defer s.index.release()
	if _, err := r.index.WriteAt(indexHeader(s.base), 0); err != nil {
		return err
	}
	if err := r.openScan(); err != nil {
		return err
	}
	defer r.scan.close()
	if err := r.readLog(); err != nil {
		return err
	}
	if err := r.writeIndex(); err != nil {
		return err
	}
	if r.scan.pos != s.size {
		return r.damaged(r.scan.pos, fmt.Sprintf("no whole batch here; the log has %d bytes", s.size))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s.flushed, s.tail, s.known = r.entries-len(r.held), r.held, false
	return nil
}
