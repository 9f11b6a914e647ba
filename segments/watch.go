package segments

import "slices"

// Waiter wakes a long poll. It is level-like: a notification that comes before the receive stays until it is received,
// so whoever first watches and then looks never misses what came in between.
type Waiter struct {
	// C gets a value after something changed in a watched partition since the last receive.
	C chan struct{}
}

// NewWaiter makes a waiter, for any number of partitions.
func NewWaiter() *Waiter { return &Waiter{C: make(chan struct{}, 1)} }

// Notify wakes who waits, as a watched partition does.
func (w *Waiter) Notify() {
	select {
	case w.C <- struct{}{}:
	default: // one is waiting already
	}
}

// Watch notifies w from now on when batches are appended, the log's start or last stable offset moves, or the partition
// is removed. It opens nothing.
func (p *Partition) Watch(w *Waiter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiters = append(p.waiters, w)
	if p.removed {
		w.Notify()
	}
}

// Unwatch ends one Watch.
func (p *Partition) Unwatch(w *Waiter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.waiters, w); i >= 0 {
		last := len(p.waiters) - 1
		p.waiters[i] = p.waiters[last]
		p.waiters[last] = nil
		p.waiters = p.waiters[:last]
	}
}

func (p *Partition) notifyLocked() {
	for _, w := range p.waiters {
		w.Notify()
	}
}
