package timeline

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"doze/console/inside"
	"doze/journal"
)

// Bounds of a page of entries.
const (
	maxPage    = 500
	maxScanned = 200_000
	maxLooking = 2 * time.Second
)

// Entry gives one entry (inside.Journal).
func (t *Timeline) Entry(ctx context.Context, seq uint64) (inside.Entry, error) {
	var found inside.Entry
	if seq == 0 {
		return found, t.notThere(seq)
	}
	if err := t.catchUp(ctx); err != nil {
		return found, err
	}
	err := t.visit(ctx, seq-1, func(e *journal.Entry, at journal.Place) bool {
		if e.Seq == seq {
			found = t.told(e, at)
		}
		return false
	})
	if err == nil && found.Seq == 0 {
		err = t.notThere(seq)
	}
	return found, err
}

// NotThereError says that an entry is not in the journal, or not any more.
type NotThereError struct{ Seq, First, Last uint64 }

func (e *NotThereError) Error() string {
	return fmt.Sprintf("entry %d is not in the journal, which has entries %d to %d", e.Seq, e.First, e.Last)
}

// NotThere tells it from other errors.
func (*NotThereError) NotThere() bool { return true }

func (t *Timeline) notThere(seq uint64) error {
	head := t.Head()
	return &NotThereError{seq, head.First, head.Last}
}

// search is a page on its way.
type search struct {
	t     *Timeline
	f     inside.EntryFilter
	kinds kindSet
	any   bool // kind
	limit int
	end   time.Time
	page  inside.EntryPage
}

// Entries gives the entries that the filter lets through (inside.Journal).
func (t *Timeline) Entries(ctx context.Context, f inside.EntryFilter) (inside.EntryPage, error) {
	if err := t.catchUp(ctx); err != nil {
		return inside.EntryPage{}, err
	}
	s := &search{t: t, f: f, limit: min(max(f.Limit, 0), maxPage), end: time.Now().Add(maxLooking)}
	if s.limit == 0 {
		s.limit = 100
	}
	s.kinds, s.any = kindsOf(f)
	if s.f.Before == 0 {
		s.f.Before = ^uint64(0)
	}
	marks := t.index.between(f.After, s.f.Before)
	if !f.Oldest {
		slices.Reverse(marks)
	}
	return s.page, s.all(ctx, marks)
}

// all scans the marks, a few at first and more at a time as long as the page is not full.
func (s *search) all(ctx context.Context, marks []mark) error {
	for n := 1; len(marks) > 0; n = min(2*n, maxAtOnce) {
		for len(marks) > 0 && !s.passesMark(&marks[0]) {
			marks = marks[1:]
		}
		part := marks[:min(n, len(marks))]
		for i := range part {
			if !s.passesMark(&part[i]) {
				part = part[:i]
				break
			}
		}
		if len(part) == 0 {
			continue
		}
		marks = marks[len(part):]
		first, last := &part[0], &part[len(part)-1]
		if !s.f.Oldest {
			first, last = last, first
		}
		if done, err := s.scan(ctx, first, last); done || err != nil {
			return err
		}
	}
	return nil
}

// maxAtOnce bounds the marks that are scanned in one go.
const maxAtOnce = 256

// often are kinds that come so often that nobody calls one of them news.
var often = []journal.Kind{3, 31, 33, 41, 43, 47, 51, 52, 53, 55, 58, 59, 60, 61, 62, 63, 64, 67, 69, 70, 71, 76, 78, 79, 80, 81, 91, 92, 93, 94, 95, 96}

// recentLooks is how long news are looked for.
const recentLooks = 200 * time.Millisecond

// Recent are the last entries with news, newest first: nothing of commits, heartbeats and steps in between.
func (t *Timeline) Recent(ctx context.Context, n int) []inside.Entry {
	ctx, cancel := context.WithTimeout(ctx, recentLooks)
	defer cancel()
	if t.catchUp(ctx) != nil {
		return nil
	}
	s := &search{t: t, f: inside.EntryFilter{Before: ^uint64(0)}, limit: min(n, maxPage), end: time.Now().Add(recentLooks)}
	for _, k := range journal.Kinds() {
		if !slices.Contains(often, k) {
			s.kinds.add(k)
		}
	}
	marks := t.index.between(0, ^uint64(0))
	slices.Reverse(marks)
	if s.all(context.WithoutCancel(ctx), marks) != nil {
		return nil
	}
	return s.page.Entries
}

// passesMark says whether entries of a mark may pass.
func (s *search) passesMark(m *mark) bool {
	return (s.any || m.kinds.meets(s.kinds)) && (s.f.From == 0 || m.lastAt >= s.f.From) && (s.f.To == 0 || m.place.At <= s.f.To)
}

// hit is an entry that passes.
type hit struct {
	entry *journal.Entry
	at    journal.Place
}

// scan looks at the entries of the marks from first to last. done: the page is full, or it took long enough.
func (s *search) scan(ctx context.Context, first, last *mark) (done bool, err error) {
	room := s.limit - len(s.page.Entries)
	var hits []hit
	more := false
	err = s.t.visit(ctx, max(first.place.Seq, s.f.After), func(e *journal.Entry, at journal.Place) bool {
		if e.Seq > last.last || e.Seq >= s.f.Before {
			return false
		}
		s.page.Scanned++
		if !s.passes(e) {
			return true
		}
		if len(hits) == room {
			more = true
			if s.f.Oldest || room == 0 {
				return false
			}
			hits = append(hits[:0], hits[1:]...) // the newest are wanted
		}
		hits = append(hits, hit{e, at})
		return true
	})
	if err != nil {
		return true, err
	}
	if !s.f.Oldest {
		slices.Reverse(hits)
	}
	for _, h := range hits {
		s.page.Entries = append(s.page.Entries, s.t.told(h.entry, h.at))
	}
	switch {
	case more:
		s.page.Next = s.page.Entries[s.limit-1].Seq
	case s.page.Scanned > maxScanned || time.Now().After(s.end):
		s.page.Enough = true
		if s.page.Next = first.place.Seq + 1; s.f.Oldest {
			s.page.Next = last.last
		}
	default:
		return false, nil
	}
	return true, nil
}

// passes says whether an entry passes: its cause, its time, and one of its events.
func (s *search) passes(e *journal.Entry) bool {
	f, c := &s.f, &e.Cause
	switch {
	case f.From > 0 && e.At < f.From, f.To > 0 && e.At > f.To:
		return false
	case f.Client != "" && (c.API < 0 || c.ClientID != f.Client), f.Principal != "" && c.Principal != f.Principal:
		return false
	case f.Conn > 0 && (c.API < 0 || c.Conn != f.Conn || c.Correlation != f.Corr):
		return false
	}
	return slices.ContainsFunc(e.Events, s.passesEvent)
}

func (s *search) passesEvent(event journal.Event) bool {
	if !s.any {
		var k kindSet
		k.add(event.Kind())
		if !k.meets(s.kinds) {
			return false
		}
	}
	if s.f.Topic == "" && s.f.Group == "" && s.f.Text == "" {
		return true
	}
	if s.f.Text != "" && !strings.Contains(strings.ToLower(journal.Line(withoutSecrets(event))), strings.ToLower(s.f.Text)) {
		return false
	}
	if s.f.Topic == "" && s.f.Group == "" {
		return true
	}
	if commit, ok := event.(*journal.OffsetsCommitted); ok {
		return (s.f.Group == "" || commit.Group == s.f.Group) &&
			(s.f.Topic == "" || slices.ContainsFunc(commit.Offsets, func(o journal.CommittedOffset) bool { return o.Topic == s.f.Topic }))
	}
	fields := journal.Fields(event)
	return (s.f.Topic == "" || s.mentions(fields, "topic", s.f.Topic) || ofResource(fields, 2, s.f.Topic)) &&
		(s.f.Group == "" || s.mentions(fields, "group", s.f.Group) || ofResource(fields, 32, s.f.Group))
}

// mentions says whether a field of the name, at any depth, has the value; topics also by their id, and in lists of topics.
func (s *search) mentions(fields []journal.Field, name, value string) bool {
	return slices.ContainsFunc(fields, func(f journal.Field) bool { return s.isOrHolds(f.Name, f.Value, name, value) })
}

func (s *search) isOrHolds(field string, v any, name, value string) bool {
	switch v := v.(type) {
	case []journal.Field:
		return s.mentions(v, name, value)
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return s.isOrHolds(field, item, name, value) })
	case [16]byte:
		topic, known := s.t.TopicName(v)
		return name == "topic" && known && topic == value
	case string:
		return v == value && (field == name || name == "topic" && field == "topics")
	}
	return false
}

// ofResource says whether the fields alter configs of a resource.
func ofResource(fields []journal.Field, kind int64, name string) bool {
	isKind, named := false, false
	for _, f := range fields {
		isKind = isKind || f.Name == "resourceType" && asInt(f.Value) == kind
		named = named || f.Name == "resource" && f.Value == name
	}
	return isKind && named
}
