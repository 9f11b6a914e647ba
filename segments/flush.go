package segments

import (
	"context"
	"time"
)

// flushDue syncs what was appended when it has become as much as may be unsynced (flush.messages), as Kafka does before it
// answers, and sees to it that it is synced in time (flush.ms). The caller holds write.
func (p *Partition) flushDue() error {
	most, within := p.config.FlushMessages, time.Duration(min(p.config.FlushMs, 1000))*time.Millisecond
	p.mu.Lock()
	due := most > 0 && p.end-p.synced >= most
	later := !due && within > 0 && within < p.dir.opt.SyncEvery && !p.flushing
	p.flushing = p.flushing || later
	end := p.end
	p.mu.Unlock()
	if due {
		return p.SyncTo(context.Background(), end)
	}
	if later {
		time.AfterFunc(within, p.flushLater)
	}
	return nil
}

func (p *Partition) flushLater() {
	p.mu.Lock()
	p.flushing = false
	end := p.end
	p.mu.Unlock()
	_ = p.SyncTo(context.Background(), end) // what fails is latched, and the next append is told
}
