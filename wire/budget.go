package wire

import (
	"container/list"
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrMemory closes a connection whose request needs more memory than there is for all of them, or waited too long for it.
var ErrMemory = errors.New("no memory for the request")

// budget is memory that all connections share. Takers wait in order of arrival; a taker takes once and in full, so that
// no two can wait for each other.
type budget struct {
	size     int64
	patience time.Duration
	starved  func() // called again and again while somebody waits; may be nil

	mu    sync.Mutex
	free  int64
	queue list.List // of *taker
}

type taker struct {
	n     int64
	ready chan struct{}
}

func newBudget(size int64, patience time.Duration) *budget {
	return &budget{size: size, free: size, patience: patience}
}

// take reserves n bytes, waiting for others to put theirs back, until done is closed at most.
func (b *budget) take(n int64, done <-chan struct{}) error {
	if n > b.size {
		return fmt.Errorf("take %d bytes of a budget of %d: %w", n, b.size, ErrMemory)
	}
	b.mu.Lock()
	if b.queue.Len() == 0 && b.free >= n {
		b.free -= n
		b.mu.Unlock()
		return nil
	}
	t := &taker{n: n, ready: make(chan struct{})}
	at := b.queue.PushBack(t)
	b.mu.Unlock()
	if b.wait(t, done) {
		return nil
	}
	return b.giveUp(t, at)
}

// wait says whether a taker got its bytes in time.
func (b *budget) wait(t *taker, done <-chan struct{}) bool {
	timer := time.NewTimer(b.patience)
	defer timer.Stop()
	tick := time.NewTicker(b.patience / 40)
	defer tick.Stop()
	for {
		select {
		case <-t.ready:
			return true
		case <-timer.C:
			return false
		case <-done:
			return false
		case <-tick.C:
			if b.starved != nil {
				b.starved()
			}
		}
	}
}

// giveUp leaves the queue, unless the bytes were given in the same moment.
func (b *budget) giveUp(t *taker, at *list.Element) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-t.ready:
		return nil
	default:
	}
	b.queue.Remove(at)
	b.serve()
	return fmt.Errorf("wait for %d bytes: %w", t.n, ErrMemory)
}

func (b *budget) put(n int64) {
	if n == 0 {
		return
	}
	b.mu.Lock()
	b.free += n
	b.serve()
	b.mu.Unlock()
}

// serve gives to the first in the queue as long as there is enough. The lock is held.
func (b *budget) serve() {
	for e := b.queue.Front(); e != nil; e = b.queue.Front() {
		t := e.Value.(*taker)
		if b.free < t.n {
			return
		}
		b.free -= t.n
		b.queue.Remove(e)
		close(t.ready)
	}
}
