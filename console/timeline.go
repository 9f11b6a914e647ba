package console

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"doze/console/inside"
)

func (c *Console) timelineRoutes() []route {
	return []route{
		{pattern: "GET /timeline", do: timelinePage, past: statePage},
		{pattern: "GET /timeline/now", do: func(r *request) (answer, error) { return timelineNow(r) }},
		{pattern: "GET /timeline/entries/{seq}", do: entryPage},
		{pattern: "GET /timeline/state", do: statePage, past: statePage},
		{pattern: "GET /timeline/changes", do: changesPage},
		{pattern: "GET /timeline/changes.txt", do: changesText},
		{pattern: "GET /timeline/groups/{group}", do: groupHistory, past: groupHistory},
		{pattern: "GET /timeline/groups/{group}/requests", do: groupRequests},
		{pattern: "GET /timeline/groups/{group}/lag", do: groupLag},
	}
}

// journal is what the pages of the timeline ask.
func (r *request) journal() (inside.Journal, error) {
	if r.c.opt.Journal == nil {
		return nil, r.noInside("The timeline")
	}
	return r.c.opt.Journal, nil
}

// notThere is what an error of the journal says of an entry that it does not have.
type notThere interface{ NotThere() bool }

// asPast explains an error about an entry.
func asPast(err error) error {
	var gone notThere
	if errors.As(err, &gone) {
		return problem{Status: http.StatusNotFound, Message: err.Error(), Hint: "Entries stay as long as journal-retention says, 7 days unless it was set."}
	}
	return err
}

// timelineView is the dot of the template "timeline".
type timelineView struct {
	Live    *liveView
	Filter  inside.EntryFilter
	From    string // times, as they were typed
	To      string
	Areas   []string
	Plain   bool
	HasPast bool
	Newest  string
}

// timelineList is the dot of the template "timeline-now".
type timelineList struct {
	Head     inside.Head
	Strips   *stripsView
	Rows     []entryRow
	Older    string
	Scanned  int
	Enough   bool
	Reading  int // percent of the journal that is read; 100: all
	Filtered bool
}

// timeLayouts are what a person may type for a time; without a zone it is in the one that the page shows.
var timeLayouts = []string{"2006-01-02T15:04:05.999Z07:00", "2006-01-02T15:04:05.999", "2006-01-02T15:04", "2006-01-02 15:04:05.999 UTC", "2006-01-02 15:04:05.999", "2006-01-02 15:04", "2006-01-02"}

// typedTime reads a time that a person typed, as ms; 0 when there is none.
func (r *request) typedTime(name string) (int64, error) {
	text := r.query(name)
	if text == "" {
		return 0, nil
	}
	for _, layout := range timeLayouts {
		if t, err := time.ParseInLocation(layout, text, r.loc); err == nil {
			return t.UnixMilli(), nil
		}
	}
	return 0, badRequest("%q is no time: write it as 2026-11-30 14:03:22.115", clip(text, 60))
}

func entryFilter(r *request) (inside.EntryFilter, error) {
	before, _ := strconv.ParseUint(r.query("before"), 10, 64)
	f := inside.EntryFilter{
		Area: clip(r.query("area"), 40), Kind: clip(r.query("kind"), 80), Topic: clip(r.query("topic"), maxText), Group: clip(r.query("group"), maxText),
		Client: clip(r.query("client"), maxText), Principal: clip(r.query("principal"), maxText), Text: clip(r.query("q"), 200), Before: before,
		Limit: r.number("limit", 50, 1, 500),
	}
	var err1, err2 error
	f.From, err1 = r.typedTime("from")
	f.To, err2 = r.typedTime("to")
	return f, errors.Join(err1, err2)
}

func timelinePage(r *request) (answer, error) {
	now, err := timelineNow(r)
	if err != nil {
		return nil, err
	}
	view, err := now.view(r, "/timeline/now")
	if err != nil {
		return nil, err
	}
	f, _ := entryFilter(r)
	data := timelineView{
		Live: view, Filter: f, From: r.query("from"), To: r.query("to"), Areas: inside.Areas, HasPast: f.Before > 0, Newest: r.changed("before", ""),
	}
	data.Plain = now.Data.(timelineList).Filtered
	data.Plain = !data.Plain
	return page{Title: "Timeline", Nav: "timeline", Name: "timeline", Data: data}, nil
}

func timelineNow(r *request) (live, error) {
	j, err := r.journal()
	if err != nil {
		return live{}, err
	}
	f, err := entryFilter(r)
	if err != nil {
		return live{}, err
	}
	found, err := j.Entries(r.Context(), f)
	if err != nil {
		return live{}, asPast(err)
	}
	list := timelineList{Head: j.Head(), Scanned: found.Scanned, Enough: found.Enough, Reading: 100}
	if h := list.Head; h.Read < h.Last {
		list.Reading = int(100 * h.Read / h.Last)
	}
	if list.Strips, err = stripsOf(r, j, list.Head); err != nil {
		return live{}, err
	}
	for _, e := range found.Entries {
		list.Rows = append(list.Rows, rowOfEntry(r, e))
	}
	if found.Next > 0 {
		list.Older = withQuery("/timeline", "before", strconv.FormatUint(found.Next, 10), "area", f.Area, "kind", f.Kind, "topic", f.Topic, "group", f.Group,
			"client", f.Client, "principal", f.Principal, "q", f.Text, "from", r.query("from"), "to", r.query("to"))
	}
	f.Before, f.Limit = 0, 0
	list.Filtered = f != inside.EntryFilter{}
	return live{ID: "timeline-now", Name: "timeline-now", Data: list}, nil
}

// entryRow is one entry in a list.
type entryRow struct {
	Seq     uint64
	At      time.Time
	Href    string
	Who     string // who caused it
	Request string // the page of the request; empty: it is not kept
	Events  []eventRow
	More    int
}

// maxRowEvents bounds the events of an entry that a list shows.
const maxRowEvents = 4

// eventRow is one event of an entry.
type eventRow struct {
	Area, Kind string
	Words      string // what happened
	Text       string // its fields in a line, where there are no words
	Things     []thingLink
}

// thingLink is something that an event is about, with its page.
type thingLink struct{ Kind, Name, Href string }

func rowOfEntry(r *request, e inside.Entry) entryRow {
	row := entryRow{Seq: e.Seq, At: time.UnixMilli(e.At), Href: entryPath(e.Seq), Who: whoCaused(e.Cause), Request: requestOf(r, e)}
	for i, event := range e.Events {
		if i == maxRowEvents {
			row.More = len(e.Events) - i
			break
		}
		row.Events = append(row.Events, rowOfEvent(event))
	}
	row.More += e.More
	return row
}

func rowOfEvent(event inside.Event) eventRow {
	row := eventRow{Area: event.Area, Kind: event.Kind, Words: event.Words, Text: event.Text}
	for _, thing := range event.Things {
		if href := thingPath(thing); href != "" {
			row.Things = append(row.Things, thingLink{thing.Kind, thing.Name, href})
		}
	}
	return row
}

func entryPath(seq uint64) string { return path("timeline", "entries", strconv.FormatUint(seq, 10)) }

// whoCaused is the cause of an entry in words.
func whoCaused(c inside.Cause) string {
	switch {
	case c.API == "" && c.Timer == "":
		return "the broker"
	case c.API == "":
		return "the broker: " + c.Timer
	case c.Client == "":
		return c.API
	}
	return c.API + " by " + c.Client
}

// requestOf is the page of the request that caused an entry; empty: it is not kept.
func requestOf(r *request, e inside.Entry) string {
	j, t := r.c.opt.Journal, r.c.opt.Traffic
	if t == nil || e.Cause.API == "" || e.Seq <= j.Head().Begun {
		return ""
	}
	if id := t.Find(e.Cause.Conn, e.Cause.Correlation, e.Cause.Key, e.At); id > 0 {
		return requestPath(id)
	}
	return ""
}

// thingPath is the page of something that an event is about; empty: it has none.
func thingPath(t inside.Thing) string {
	switch t.Kind {
	case "topic":
		return path("topics", t.Name)
	case "group":
		return path("timeline", "groups", t.Name)
	case "subject":
		return path("schemas", "subjects", t.Name)
	case "transaction":
		return withQuery("/timeline", "area", "transactions", "q", t.Name)
	}
	return ""
}

// PageOf is the page of what an event is about; empty: there is none.
func PageOf(event inside.Event) string {
	for _, thing := range event.Things {
		if thing.Kind == "group" {
			return path("groups", thing.Name)
		}
		if href := thingPath(thing); href != "" {
			return href
		}
	}
	return ""
}

// entryView is the dot of the template "entry".
type entryView struct {
	entryRow
	Cause          inside.Cause
	Bytes          int64
	All            []openEvent
	Previous, Next string
	Then, Before   string // the state after it, and before
	Changes        []tableChangesView
	NoChanges      string // why they are not known
}

// openEvent is an event as its fields.
type openEvent struct {
	eventRow
	Fields []inside.Line
}

func entryPage(r *request) (answer, error) {
	j, err := r.journal()
	if err != nil {
		return nil, err
	}
	seq, err := strconv.ParseUint(r.PathValue("seq"), 10, 64)
	if err != nil {
		return nil, notFound("There is no entry %s", clip(r.PathValue("seq"), 40))
	}
	e, err := j.Entry(r.Context(), seq)
	if err != nil {
		return nil, asPast(err)
	}
	head := j.Head()
	data := entryView{entryRow: rowOfEntry(r, e), Cause: e.Cause, Bytes: e.Bytes, Then: statePath(seq, "")}
	for _, event := range e.Events {
		data.All = append(data.All, openEvent{rowOfEvent(event), event.Fields})
	}
	if seq > head.First {
		data.Previous, data.Before = entryPath(seq-1), statePath(seq-1, "")
		changes, err := j.Changes(r.Context(), seq-1, seq)
		if err != nil {
			data.NoChanges = err.Error()
		}
		for _, table := range changes.Tables {
			data.Changes = append(data.Changes, tableChangesOf(table).brief(seq-1, seq))
		}
	}
	if seq < head.Last {
		data.Next = entryPath(seq + 1)
	}
	title := "Entry " + grouped(seq)
	return page{Title: title, Nav: "timeline", Crumbs: []crumb{{"Timeline", "/timeline"}, {title, ""}}, Name: "entry", Data: data}, nil
}

// statePath is the state as of an entry; of one table when that is named.
func statePath(seq uint64, table string) string {
	return withQuery("/timeline/state", "at", strconv.FormatUint(seq, 10), "table", table)
}
