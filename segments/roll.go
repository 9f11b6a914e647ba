package segments

import (
	"context"
	"errors"
)

// Roll ends the segment that is written, when it has anything, and puts the log and what is known of its producers on disk.
// The next batch goes to a new segment, as if the time for it had come.
func (p *Partition) Roll(now int64) error {
	if err := p.roll(now); err != nil {
		return p.storage(err)
	}
	p.mu.Lock()
	end := p.end
	p.mu.Unlock()
	if err := p.SyncTo(context.Background(), end); err != nil {
		return err
	}
	return p.storage(p.syncAndFinish())
}

func (p *Partition) roll(now int64) error {
	p.write.Lock()
	defer p.write.Unlock()
	if err := p.writable(); err != nil {
		return err
	}
	n := len(p.segments)
	if n == 0 || p.segments[n-1].size == 0 {
		return nil
	}
	active := p.segments[n-1]
	err := p.learn(active)
	if p.mendLocked(err) {
		err = p.learn(active)
	}
	if err != nil {
		return err
	}
	s, err := p.createSegment(p.end, now)
	if err != nil {
		p.tell(Writing, err)
		return errors.Join(ErrStorage, err)
	}
	p.addSegment(active, s)
	return nil
}
