package console_test

import (
	"context"
	"time"

	"doze/console/inside"
)

// hostileName is a name that breaks out of whatever does not escape it.
const hostileName = `"><script>alert(1)</script><img src=x onerror=alert(2)>'` + "`" + `{{.}}</textarea></title>javascript:alert(3)` + "\x00\u202e\n"

// fakeTraffic has one request whose every text is the same.
type fakeTraffic struct{ text string }

func (f fakeTraffic) request() inside.Request {
	return inside.Request{
		ID: 7, At: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC), Took: 1500 * time.Microsecond, Sent: 2 * time.Second, Client: f.text, Software: f.text,
		Principal: f.text, Address: f.text, Conn: 3, Correlation: 4, Key: 1, API: f.text, Version: 17, Asked: f.text, Got: f.text, In: 10, Out: 20, Error: f.text,
		Topics: []string{f.text}, Groups: []string{f.text},
	}
}

func (f fakeTraffic) Requests(q inside.RequestFilter) inside.RequestPage {
	if q.API == "nothing" {
		return inside.RequestPage{Newest: 7, Kept: 1}
	}
	return inside.RequestPage{Requests: []inside.Request{f.request()}, Next: 7, Newest: 7, Oldest: 7, Kept: 1, Lost: 6}
}

func (f fakeTraffic) Open(id uint64) (inside.OpenRequest, bool) {
	if id < 6 || id > 8 {
		return inside.OpenRequest{}, false
	}
	lines := []inside.Line{{Name: f.text, Value: f.text}, {Depth: 1, Name: "authBytes", Value: "(hidden)"}}
	return inside.OpenRequest{Request: f.request(), AskedFields: lines, GotFields: lines, Note: f.text}, true
}

func (f fakeTraffic) Find(conn uint64, correlation int32, api int16, at int64) uint64 { return 7 }

func (f fakeTraffic) GroupEvents(group string) []inside.GroupEvent {
	if group == "empty" {
		return nil
	}
	return []inside.GroupEvent{
		{Request: 7, At: time.UnixMilli(1), API: f.text, Client: f.text, Member: f.text, Asked: f.text, Got: f.text, Error: f.text, Times: 3},
		{Request: 1, At: time.UnixMilli(1), API: "Heartbeat", Times: 1},
	}
}

// fakeJournal has entries, states and changes whose every text is the same.
type fakeJournal struct {
	text string
	err  error
}

func (f fakeJournal) Head() inside.Head {
	return inside.Head{First: 1, Last: 12, LastAt: 1_700_000_000_000, Read: 6, Begun: 1}
}

func (f fakeJournal) entry(seq uint64) inside.Entry {
	event := inside.Event{Kind: f.text, Area: "topics", Text: f.text, Fields: []inside.Line{{Name: f.text, Value: f.text}}}
	for _, kind := range []string{"topic", "group", "subject", "transaction", "user", f.text} {
		event.Things = append(event.Things, inside.Thing{Kind: kind, Name: f.text})
	}
	said := event
	said.Words = f.text
	return inside.Entry{
		Seq: seq, At: 1_700_000_000_000, Bytes: 99, More: 3, Events: []inside.Event{event, said, event, event, event},
		Cause: inside.Cause{API: f.text, Key: 1, Conn: 3, Correlation: 4, Client: f.text, Principal: f.text},
	}
}

func (f fakeJournal) Entries(_ context.Context, q inside.EntryFilter) (inside.EntryPage, error) {
	switch q.Kind {
	case "nothing":
		return inside.EntryPage{Scanned: 5}, f.err
	case "later":
		return inside.EntryPage{Scanned: 200_000, Next: 3, Enough: true}, f.err
	}
	timer := f.entry(4)
	timer.Cause = inside.Cause{Key: -1, Timer: f.text}
	return inside.EntryPage{Entries: []inside.Entry{f.entry(5), timer}, Next: 4, Scanned: 2}, f.err
}

func (f fakeJournal) Entry(_ context.Context, seq uint64) (inside.Entry, error) {
	return f.entry(seq), f.err
}

func (f fakeJournal) Strips(_ context.Context, from, to uint64, columns int) (inside.Strips, error) {
	counts := []int{0, 1, 100, 0, 9, 0, 0, 0, 1}
	return inside.Strips{From: from, To: to, FromAt: 1, ToAt: 2, Columns: []inside.Column{{First: 1, Last: 6, Counts: counts}, {First: 7, Last: 12, Counts: make([]int, 9)}}}, f.err
}

func (f fakeJournal) State(_ context.Context, seq uint64) (inside.State, error) {
	return fakeState{f.text, seq}, f.err
}

func (f fakeJournal) Changes(_ context.Context, from, to uint64) (inside.Changes, error) {
	fields := []inside.FieldChange{{Name: f.text, Old: f.text, New: f.text}, {Name: "since", Old: "1700000000000", New: "1700000001000", Time: true}}
	table := inside.TableChanges{Table: "topics", Created: 1, Deleted: 1, Changed: 1, More: 4}
	for _, what := range []string{"created", "deleted", "changed"} {
		table.Changes = append(table.Changes, inside.Change{What: what, Key: f.text, Fields: fields, Seq: 5, Cause: f.entry(5).Cause})
	}
	if from == to {
		return inside.Changes{From: from, To: to}, f.err
	}
	return inside.Changes{From: from, To: to, FromAt: 1, ToAt: 2, Tables: []inside.TableChanges{table}, Note: f.text}, f.err
}

func (f fakeJournal) Lag(_ context.Context, group string) (inside.LagHistory, error) {
	if group == "empty" {
		return inside.LagHistory{}, f.err
	}
	points := []inside.LagPoint{{Seq: 3, At: 1, Committed: 5, End: 9, Known: true}, {Seq: 4, At: 2, Committed: 7, End: 9}}
	return inside.LagHistory{Series: []inside.LagSeries{{Topic: f.text, Partition: 1, Points: points}, {Topic: "one", Points: points[:1]}}, More: 2, Since: 1, Note: f.text}, f.err
}

type fakeState struct {
	text string
	seq  uint64
}

func (f fakeState) Seq() uint64 { return f.seq }
func (f fakeState) At() int64   { return 1_700_000_000_000 }
func (f fakeState) Release()    {}

func (f fakeState) Tables() []inside.TableSize {
	return []inside.TableSize{{Name: "topics", Rows: 1200}, {Name: "groups", Rows: -1}}
}

func (f fakeState) Rows(_ context.Context, q inside.RowQuery) (inside.Rows, error) {
	if q.Contains == "nothing" {
		return inside.Rows{}, nil
	}
	return inside.Rows{
		Columns: []string{"group", "state", "since", "generation", "schema"}, Times: []bool{false, false, true, false, false},
		Rows: [][]string{{f.text, f.text, "1700000000000", "17", f.text}, {"g", "s", "-1", "x", ""}}, More: true,
	}, nil
}

// fakeTelemetry has a client whose every text is the same.
type fakeTelemetry struct{ text string }

func (f fakeTelemetry) client() inside.Client {
	return inside.Client{ID: "abc", ClientID: f.text, Software: f.text, Principal: f.text, Address: f.text, First: time.UnixMilli(1), Last: time.UnixMilli(2), Pushes: 3, Interval: 5 * time.Second, Ended: true, Metrics: 4}
}

func (f fakeTelemetry) Clients() []inside.Client {
	nameless := f.client()
	nameless.ClientID = ""
	return []inside.Client{f.client(), nameless}
}

func (f fakeTelemetry) Client(id string) (inside.ClientMetrics, bool) {
	points := []inside.Point{{At: 1000, Value: 1}, {At: 2000, Value: 11}, {At: 3000, Value: 5}, {At: 4000, Value: 6.5}}
	return inside.ClientMetrics{Client: f.client(), More: 7, Series: []inside.Series{
		{Name: f.text, Labels: f.text, Unit: f.text, Points: points}, {Name: "sent", Sum: true, Points: points}, {Name: "none"}, {Name: "flat", Points: []inside.Point{{At: 1, Value: 3}, {At: 1, Value: 3}}},
	}}, id == "abc"
}

func (fakeTelemetry) Pushes() uint64 { return 3 }
