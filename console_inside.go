package doze

import (
	"context"
	"errors"
	"strings"
	"time"

	"doze/clientmetrics"
	"doze/console"
	"doze/console/inside"
	"doze/handlers"
	"doze/timeline"
	"doze/traffic"
)

// openInside makes what shows a console the inside of the broker. Without a console there is none of it: no observer of traffic,
// nobody who wants clients' telemetry, nothing that reads the journal.
func (b *Broker) openInside() error {
	if b.consoleListener == nil {
		return nil
	}
	_, last := b.store.View()
	b.timeline = timeline.New(timeline.Options{FS: b.fs, Dir: journalDir, Store: b.store, Begun: last, End: b.endAsOf})
	b.onClose(b.timeline.Close)
	b.traffic = traffic.New(b.timeline.TopicName, throughConsole)
	b.clientMetrics = clientmetrics.New()
	b.opt.Telemetry = withSink(b.opt.Telemetry, b.clientMetrics)
	return nil
}

// withSink has pushes of clients told to the console, beside whoever else wants them.
func withSink(wanted *handlers.Telemetry, sink handlers.TelemetrySink) *handlers.Telemetry {
	if wanted == nil {
		return handlers.ConsoleTelemetry(sink)
	}
	both := *wanted
	both.Sink = sinks{sink, wanted.Sink}
	return &both
}

// sinks tells two sinks what one is told.
type sinks [2]handlers.TelemetrySink

// Push tells both; either may refuse it.
func (s sinks) Push(p handlers.TelemetryPush) error { return errors.Join(s[0].Push(p), s[1].Push(p)) }

// endAsOf is a partition's end as of an entry of the journal.
func (b *Broker) endAsOf(topic [16]byte, partition int32, seq uint64) (end int64, known, ok bool) {
	log := b.handlers.Log(topic, partition)
	if log == nil {
		return 0, false, false
	}
	end, known, err := log.EndAsOf(seq)
	return end, known, err == nil
}

// insideOf gives a console what it can see of this broker only.
func (b *Broker) insideOf(o *console.Options) {
	o.Traffic, o.Journal, o.Telemetry, o.Recent = b.traffic, b.timeline, b.clientMetrics, recentNews{b.timeline}
}

// recentNews is what happened lately, of the journal.
type recentNews struct{ timeline *timeline.Timeline }

// Recent are the last n happenings, newest first.
func (n recentNews) Recent(most int) []console.Happening {
	var all []console.Happening
	for _, e := range n.timeline.Recent(context.Background(), most) {
		for _, event := range e.Events {
			if event.Words == "" || len(all) == most {
				continue
			}
			all = append(all, console.Happening{Seq: e.Seq, At: time.UnixMilli(e.At), What: event.Words, Who: whoDid(e.Cause), Href: console.PageOf(event)})
		}
	}
	return all
}

// whoDid is who caused an entry, in words; empty: the broker itself.
func whoDid(c inside.Cause) string {
	if c.API == "" {
		return ""
	}
	return strings.TrimSuffix(c.API+" of "+c.Client, " of ")
}
