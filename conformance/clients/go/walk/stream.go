package walk

import (
	"fmt"
	"sync/atomic"
	"time"
)

// stream sends one record after the other, each once the one before is acknowledged, until stop is closed.
// acked counts what was acknowledged; ended gives the number of failed sends once the last one is answered.
func (s *story) stream(phase string) (stop chan struct{}, acked *atomic.Int64, ended chan int) {
	stop, acked, ended = make(chan struct{}), new(atomic.Int64), make(chan int, 1)
	codec := s.traits.Codecs[0]
	go func() {
		failed := 0
		pace := time.NewTicker(10 * time.Millisecond)
		defer pace.Stop()
		for i := 0; ; i++ {
			select {
			case <-stop:
				ended <- failed
				return
			case <-pace.C:
			}
			r := Record{Value: fmt.Appendf(nil, "%d", i), Headers: []Header{{"id", fmt.Appendf(nil, "%s/stream/%d", phase, i)}}}
			if err := s.send(codec, []Record{r}); err != nil {
				s.book.forget(r.ID())
				failed++
				continue
			}
			acked.Add(1)
		}
	}()
	return stop, acked, ended
}
