package console

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"doze/console/inside"
)

// groupView is the dot of the template "timeline-group".
type groupView struct {
	Group          string
	Page           string // the group's own page
	Tabs           []tab
	Rows           []entryRow
	Commits        *toggle
	Older          string
	At             uint64
	Step           *groupStep
	Previous, Next string // steps
	Now            string
}

// groupStep is what an entry did to a group: its tables before and after.
type groupStep struct {
	Entry         entryRow
	Before, After []groupTable
	BeforeSeq     uint64
}

// groupTable is a table's rows of a group.
type groupTable struct {
	Name    string
	Columns []string
	Rows    [][]cell
	More    bool
}

// groupTables are the tables that tell of a group, in the order in which they are shown.
var groupTables = []string{"groups", "members", "member-ids", "consumer-groups", "consumer-members", "share-groups", "share-members", "streams-groups", "streams-members"}

// plainColumns are columns that say the same in every step.
var plainColumns = []string{"group", "session-ms", "rebalance-ms", "protocol-type", "assignment-bytes", "static", "instance", "rack"}

func groupTabs(group, lit string, at uint64) []tab {
	tabs := []tab{
		{Text: "Steps", Href: path("timeline", "groups", group), Lit: lit == "steps"},
		{Text: "Requests", Href: path("timeline", "groups", group, "requests"), Lit: lit == "requests"},
		{Text: "Lag", Href: path("timeline", "groups", group, "lag"), Lit: lit == "lag"},
	}
	if at > 0 {
		tabs[0].Href += "?at=" + strconv.FormatUint(at, 10)
	}
	return tabs
}

func groupCrumbs(group string) []crumb {
	return []crumb{{"Timeline", "/timeline"}, {"Group " + group, ""}}
}

// groupHistory is what happened to a group, entry by entry; with ?at= one of them as a step, with the members before and after.
func groupHistory(r *request) (answer, error) {
	group, err := r.named("group")
	if err != nil {
		return nil, err
	}
	return groupHistoryOf(r, group)
}

func groupHistoryOf(r *request, group string) (answer, error) {
	j, err := r.journal()
	if err != nil {
		return nil, err
	}
	here := path("timeline", "groups", group)
	v := &groupView{Group: group, Page: path("groups", group), Tabs: groupTabs(group, "steps", r.at), At: r.at, Now: here}
	f := inside.EntryFilter{Group: group, Area: "groups", Limit: 50}
	before, _ := strconv.ParseUint(r.query("before"), 10, 64)
	if f.Before = before; r.query("commits") != "" {
		f.Area = ""
		v.Commits = &toggle{true, "Leave commits out", r.changed("commits", "", "before", "")}
	} else {
		v.Commits = &toggle{false, "Show commits too", r.changed("commits", "yes", "before", "")}
	}
	if r.at > 0 {
		f.Before, f.Limit = r.at+1, 12
		if err := v.step(r, j, f); err != nil {
			return nil, err
		}
	}
	found, err := j.Entries(r.Context(), f)
	if err != nil {
		return nil, asPast(err)
	}
	for _, e := range found.Entries {
		row := rowOfEntry(r, e)
		row.Href = withQuery(here, "at", strconv.FormatUint(e.Seq, 10), "commits", r.query("commits"))
		v.Rows = append(v.Rows, row)
	}
	if found.Next > 0 && r.at == 0 {
		v.Older = r.changed("before", strconv.FormatUint(found.Next, 10))
	}
	return page{Title: "Group " + group, Nav: "timeline", Crumbs: groupCrumbs(group), Name: "timeline-group", Data: v}, nil
}

// step shows the entry that the page is of, or the last one of the group before it, with the group before and after.
func (v *groupView) step(r *request, j inside.Journal, f inside.EntryFilter) error {
	here := v.Now
	f.Limit = 2
	found, err := j.Entries(r.Context(), f)
	if err != nil {
		return asPast(err)
	}
	later := f
	later.Before, later.After, later.Oldest, later.Limit = 0, r.at, true, 1
	next, err := j.Entries(r.Context(), later)
	if err != nil {
		return asPast(err)
	}
	if len(next.Entries) > 0 {
		v.Next = withQuery(here, "at", strconv.FormatUint(next.Entries[0].Seq, 10), "commits", r.query("commits"))
	}
	if len(found.Entries) == 0 {
		return nil
	}
	e := found.Entries[0]
	if len(found.Entries) > 1 {
		v.Previous = withQuery(here, "at", strconv.FormatUint(found.Entries[1].Seq, 10), "commits", r.query("commits"))
	}
	step := &groupStep{Entry: rowOfEntry(r, e), BeforeSeq: e.Seq - 1}
	if step.After, err = groupThen(r, j, v.Group, e.Seq); err != nil {
		return asPast(err)
	}
	if e.Seq > j.Head().First {
		if step.Before, err = groupThen(r, j, v.Group, e.Seq-1); err != nil {
			return asPast(err)
		}
	}
	v.Step = step
	return nil
}

// groupThen are a group's tables as of an entry.
func groupThen(r *request, j inside.Journal, group string, seq uint64) ([]groupTable, error) {
	state, err := j.State(r.Context(), seq)
	if err != nil {
		return nil, err
	}
	defer state.Release()
	var all []groupTable
	for _, table := range groupTables {
		found, err := state.Rows(r.Context(), inside.RowQuery{Table: table, Column: "group", Is: group, Limit: 100})
		if err != nil {
			return nil, err
		}
		if len(found.Rows) == 0 {
			continue
		}
		all = append(all, groupTableOf(table, found, seq))
	}
	return all, nil
}

func groupTableOf(table string, found inside.Rows, seq uint64) groupTable {
	t := groupTable{Name: tableName(table), More: found.More}
	var keep []int
	for i, column := range found.Columns {
		if !slices.Contains(plainColumns, column) {
			keep = append(keep, i)
			t.Columns = append(t.Columns, column)
		}
	}
	for _, row := range found.Rows {
		cells := cellsOf(found, row, seq, true)
		var kept []cell
		for _, i := range keep {
			kept = append(kept, cells[i])
		}
		t.Rows = append(t.Rows, kept)
	}
	return t
}

// groupRequestsView is the dot of the template "timeline-group-requests".
type groupRequestsView struct {
	Group, Page string
	Tabs        []tab
	Events      []groupEventRow
}

type groupEventRow struct {
	inside.GroupEvent
	Href, Took string
}

// groupRequests is what a group's members asked for and got lately.
func groupRequests(r *request) (answer, error) {
	group, err := r.named("group")
	if err != nil {
		return nil, err
	}
	if r.c.opt.Traffic == nil {
		return nil, r.noInside("Traffic")
	}
	v := &groupRequestsView{Group: group, Page: path("groups", group), Tabs: groupTabs(group, "requests", 0)}
	for _, e := range slices.Backward(r.c.opt.Traffic.GroupEvents(group)) {
		row := groupEventRow{GroupEvent: e, Took: spent(e.Took)}
		if _, kept := r.c.opt.Traffic.Open(e.Request); kept {
			row.Href = requestPath(e.Request)
		}
		v.Events = append(v.Events, row)
	}
	return page{Title: "Group " + group, Nav: "timeline", Crumbs: groupCrumbs(group), Name: "timeline-group-requests", Data: v}, nil
}

// groupLagView is the dot of the template "timeline-group-lag".
type groupLagView struct {
	Group, Page string
	Tabs        []tab
	Charts      []lagChart
	More        int
	Since       string
	Note        string
}

// lagChart is a partition's history: what was committed below where the partition ended.
type lagChart struct {
	Topic     string
	Partition int32
	Committed string // points of polylines
	End       string
	Lag       int64 // at the last commit
	Most      int64
	Commits   int
	Known     bool
	From, To  time.Time
	Last      inside.LagPoint
	LastHref  string
}

// groupLag is a group's lag over time, as the journal shows it.
func groupLag(r *request) (answer, error) {
	group, err := r.named("group")
	if err != nil {
		return nil, err
	}
	j, err := r.journal()
	if err != nil {
		return nil, err
	}
	history, err := j.Lag(r.Context(), group)
	if err != nil {
		return nil, asPast(err)
	}
	v := &groupLagView{Group: group, Page: path("groups", group), Tabs: groupTabs(group, "lag", 0), More: history.More, Note: history.Note, Since: grouped(history.Since)}
	for _, s := range history.Series {
		if len(s.Points) > 0 {
			v.Charts = append(v.Charts, lagChartOf(s))
		}
	}
	return page{Title: "Lag of " + group, Nav: "timeline", Crumbs: groupCrumbs(group), Name: "timeline-group-lag", Data: v}, nil
}

func lagChartOf(s inside.LagSeries) lagChart {
	last := s.Points[len(s.Points)-1]
	c := lagChart{Topic: s.Topic, Partition: s.Partition, Commits: len(s.Points), Known: true, Last: last, LastHref: entryPath(last.Seq), Lag: last.End - last.Committed}
	least, most := s.Points[0].Committed, s.Points[0].End
	for _, p := range s.Points {
		least, most = min(least, p.Committed), max(most, p.End)
		c.Most, c.Known = max(c.Most, p.End-p.Committed), c.Known && p.Known
	}
	first := s.Points[0].At
	c.From, c.To = time.UnixMilli(first), time.UnixMilli(last.At)
	var committed, end strings.Builder
	for _, p := range s.Points {
		x := scaled(float64(p.At), float64(first), float64(last.At), chartEdge, chartWide-chartEdge)
		fmt.Fprintf(&committed, "%.1f,%.1f ", x, scaled(float64(p.Committed), float64(least), float64(most), chartHigh-chartEdge, chartEdge))
		fmt.Fprintf(&end, "%.1f,%.1f ", x, scaled(float64(p.End), float64(least), float64(most), chartHigh-chartEdge, chartEdge))
	}
	c.Committed, c.End = strings.TrimSpace(committed.String()), strings.TrimSpace(end.String())
	return c
}
