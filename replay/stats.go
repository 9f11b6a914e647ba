package replay

import (
	"fmt"
	"io"

	"doze/journal"
)

// stats counts events by kind and by hour.
type stats struct {
	kinds map[journal.Kind]*count
	hours []hour
}

type count struct{ events, bytes int64 }

type hour struct {
	at      int64 // its beginning, ms
	entries int64
	count
}

const hourMs = 3_600_000

// maxHours bounds the list: more than a year of hours with entries. What comes later counts to the last.
const maxHours = 10_000

func newStats() *stats { return &stats{kinds: map[journal.Kind]*count{}} }

func (s *stats) add(entry *journal.Entry, shown []int, sizes []int) {
	at := entry.At - entry.At%hourMs
	if n := len(s.hours); n == 0 || s.hours[n-1].at != at && n < maxHours {
		s.hours = append(s.hours, hour{at: at})
	}
	h := &s.hours[len(s.hours)-1]
	h.entries++
	for _, i := range shown {
		kind := entry.Events[i].Kind()
		c := s.kinds[kind]
		if c == nil {
			c = &count{}
			s.kinds[kind] = c
		}
		c.events++
		c.bytes += int64(sizes[i])
		h.events++
		h.bytes += int64(sizes[i])
	}
}

func (s *stats) print(w io.Writer, asJSON bool) {
	kindLine, hourLine := "%-24s %12d events %14d bytes\n", "%s %12d entries %12d events %14d bytes\n"
	if asJSON {
		kindLine = `{"kind":%q,"events":%d,"bytes":%d}` + "\n"
		hourLine = `{"hour":%q,"entries":%d,"events":%d,"bytes":%d}` + "\n"
	}
	for _, kind := range journal.Kinds() {
		if c := s.kinds[kind]; c != nil {
			fmt.Fprintf(w, kindLine, kind.Name(), c.events, c.bytes)
		}
	}
	for _, h := range s.hours {
		fmt.Fprintf(w, hourLine, Time(h.at), h.entries, h.events, h.bytes)
	}
}
