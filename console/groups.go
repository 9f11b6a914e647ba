package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
)

func (c *Console) groupRoutes() []route {
	return []route{
		{pattern: "GET /groups", do: showGroups},
		{pattern: "GET /groups/{group}", do: showGroup},
		{pattern: "GET /groups/{group}/now", do: groupNow},
		{pattern: "GET /groups/{group}/reset", do: askReset},
		{pattern: "POST /groups/{group}/reset", do: resetGroup},
		{pattern: "GET /groups/{group}/delete", do: askDeleteGroup},
		{pattern: "POST /groups/{group}/delete", do: deleteGroup},
		{pattern: "GET /groups/{group}/forget", do: askForgetOffsets},
		{pattern: "POST /groups/{group}/forget", do: forgetOffsets},
	}
}

// groups is the reader of this request's console.
func (r *request) groups() groupReader { return groupReader{r.c.kafka} }

// groupRow is a group in the list. More is loaded for the rows that are shown only, or for all when the order needs it.
type groupRow struct {
	kadm.ListedGroup
	more *group
}

// groupsPage is the dot of the list.
type groupsPage struct {
	Table  table
	Kinds  []tab
	States []choice
	State  string
	Here   string
	Keep   []hidden // of the address, when the state is chosen
}

func showGroups(r *request) (answer, error) {
	all, err := r.groups().list(r.Context())
	if err != nil {
		return nil, err
	}
	view := groupsPage{State: r.query("state"), Here: r.URL.EscapedPath()}
	rows := view.narrow(r, all)
	if view.Table, err = groupsTable(r, rows); err != nil {
		return nil, err
	}
	return page{Title: "Groups", Nav: "groups", Crumbs: []crumb{{Text: "Groups"}}, Name: "groups", Data: view}, nil
}

// narrow keeps the kind and the state that the address names, and makes the ways to others.
func (v *groupsPage) narrow(r *request, all []kadm.ListedGroup) []*groupRow {
	kind := r.query("kind")
	states, counts := map[string]bool{}, map[string]int{}
	var rows []*groupRow
	for _, l := range all {
		states[l.State] = true
		counts[l.GroupType]++
		if (kind == "" || l.GroupType == kind) && (v.State == "" || l.State == v.State) {
			rows = append(rows, &groupRow{ListedGroup: l})
		}
	}
	v.Kinds = []tab{{Text: "all", Href: r.changed("kind", "", "page", ""), Count: grouped(len(all)), Lit: kind == ""}}
	for _, k := range groupKinds {
		v.Kinds = append(v.Kinds, tab{Text: k.Label, Href: r.changed("kind", k.Value, "page", ""), Count: grouped(counts[k.Value]), Lit: kind == k.Value})
	}
	for _, s := range sortedKeys(states) {
		v.States = append(v.States, choice{s, s})
	}
	for _, name := range []string{"kind", "q", "sort"} {
		if value := r.query(name); value != "" {
			v.Keep = append(v.Keep, hidden{name, value})
		}
	}
	return rows
}

// groupsTable shows the rows. Members and lag are asked for only where they are seen, unless the order is by one of them.
func groupsTable(r *request, rows []*groupRow) (table, error) {
	var failed error
	list := groupSheet
	list.Dear = []string{"members", "lag"}
	list.Enrich = func(rows []*groupRow, columns []string) {
		failed = errors.Join(failed, r.groups().fill(r.Context(), rows, columns))
	}
	return list.show(r, rows), failed
}

// fill loads what the list does not have: members, and topics with the lag.
func (g groupReader) fill(ctx context.Context, rows []*groupRow, columns []string) error {
	if err := g.fillMembers(ctx, rows); err != nil || !slices.Contains(columns, "lag") {
		return err
	}
	groups := make([]*group, len(rows))
	for i, row := range rows {
		groups[i] = row.more
	}
	g.addOffsets(ctx, groups)
	return nil
}

// fillMembers describes groups, those that have members: of others the list says all.
func (g groupReader) fillMembers(ctx context.Context, rows []*groupRow) error {
	var ask []kadm.ListedGroup
	var asked []*groupRow
	for _, row := range rows {
		switch {
		case row.more != nil:
		case row.State == "Empty":
			row.more = &group{Name: row.Group, Kind: row.GroupType, State: row.State, ProtocolType: row.ProtocolType}
		default:
			ask, asked = append(ask, row.ListedGroup), append(asked, row)
		}
	}
	described, err := g.described(ctx, ask)
	if err != nil {
		return err
	}
	for i, one := range described {
		asked[i].more = one
	}
	return nil
}

func (row *groupRow) members() int {
	if row.more == nil {
		return 0
	}
	return len(row.more.Members)
}

func (row *groupRow) lag() int64 {
	if row.more == nil {
		return 0
	}
	return row.more.Lag
}

// groupSheet is the list's table.
var groupSheet = sheet[*groupRow]{
	ID: "t", Noun: "group", Sort: "name",
	Find: func(row *groupRow) string { return row.Group },
	Href: func(row *groupRow) string { return path("groups", row.Group) },
	Columns: []column[*groupRow]{
		{Key: "name", Title: "Group", Order: by(func(row *groupRow) string { return row.Group }), Cell: func(row *groupRow) cell {
			return linkCell(shownName(row.Group), path("groups", row.Group))
		}},
		{Key: "kind", Title: "Kind", Hint: "Which protocol of groups it speaks", Order: by(func(row *groupRow) string { return row.GroupType }), Cell: func(row *groupRow) cell { return textCell(row.GroupType) }},
		{Key: "state", Title: "State", Order: by(func(row *groupRow) string { return row.State }), Cell: func(row *groupRow) cell { return badgeCell(stateBadge(row.State)) }},
		{Key: "members", Title: "Members", Num: true, Order: by((*groupRow).members), Cell: func(row *groupRow) cell { return numCell(int64(row.members())) }},
		{Key: "topics", Title: "Topics", Hint: "With a committed offset, or read by a member", Cell: func(row *groupRow) cell { return topicsCell(row.more) }},
		{Key: "lag", Title: "Lag", Num: true, Hint: "Records that a read_committed consumer has still to be given", Order: by((*groupRow).lag), Cell: func(row *groupRow) cell { return lagCell(row.more) }},
	},
	Empty:   "No group has ever joined or committed an offset. A consumer makes one:",
	Command: "doze consume TOPIC --group my-group -b HOST:PORT",
}

// shownName is a name as a link's text: an empty one can be seen, too.
func shownName(name string) string {
	if strings.TrimSpace(name) == "" {
		return strconv.Quote(name)
	}
	return name
}

func topicsCell(g *group) cell {
	if g == nil {
		return unknownCell("not loaded")
	}
	names := g.topics()
	if len(names) <= 2 {
		return textCell(strings.Join(names, ", "))
	}
	return textCell(names[0] + " and " + strconv.Itoa(len(names)-1) + " more").hover(clip(strings.Join(names, ", "), 1000))
}

// topics are the topics of the group's offsets, each once, in order.
func (g *group) topics() []string {
	var names []string
	for _, o := range g.Offsets {
		names = append(names, o.Topic)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func lagCell(g *group) cell {
	switch {
	case g == nil || len(g.Offsets) == 0:
		return unknownCell("No partition is read and nothing is committed")
	case g.OffsetsError != "":
		return unknownCell(g.OffsetsError)
	case g.LagPartial:
		return numCell(g.Lag).with(badge{"at least", "warn", "Some partitions have no committed offset, or cannot be read"})
	}
	return numCell(g.Lag)
}

func stateBadge(state string) badge {
	tone := map[string]string{"Stable": "good", "Empty": "", "Dead": "bad", "NotReady": "bad"}
	t, known := tone[state]
	if !known {
		t = "warn" // it is on the way from one state to another
	}
	return badge{cmp.Or(state, "unknown"), t, stateWords[state]}
}

// stateWords say what the states of all kinds of groups mean.
var stateWords = map[string]string{
	"Stable":              "Every member has what it is to have",
	"Empty":               "No members; its offsets are kept",
	"Dead":                "It is gone",
	"PreparingRebalance":  "It waits until all members have joined",
	"CompletingRebalance": "It waits for its leader to assign partitions",
	"Assigning":           "A new assignment is being worked out",
	"Reconciling":         "Members are on the way to a new assignment",
	"NotReady":            "Its topology lacks a topic",
}

// groupPage is the dot of one group.
type groupPage struct {
	Name string
	Tabs []tab // to what happened to it; nil when the journal is not there to see
	Live *liveView
}

// groupAction is something to do with a group, or why it cannot be done now.
type groupAction struct{ Text, Href, WhyNot string }

// groupNowView is the dot of the group's live part.
type groupNowView struct {
	*group
	State   badge
	Actions []groupAction
	Offsets table
	Lag     cell
}

func showGroup(r *request) (answer, error) {
	name, piece, err := groupPiece(r)
	if err != nil {
		return nil, err
	}
	view := groupPage{Name: name}
	if r.c.opt.Journal != nil {
		view.Tabs = append([]tab{{Text: "Now", Href: path("groups", name), Lit: true}}, groupTabs(name, "", 0)...)
	}
	if view.Live, err = piece.view(r, path("groups", name, "now")); err != nil {
		return nil, err
	}
	return page{Title: shownName(name) + " · group", Nav: "groups", Crumbs: groupTrail(name), Name: "group", Data: view}, nil
}

func groupNow(r *request) (answer, error) {
	_, piece, err := groupPiece(r)
	return piece, err
}

func groupTrail(name string, more ...crumb) []crumb {
	own := crumb{Text: shownName(name)}
	if len(more) > 0 {
		own.Href = path("groups", name)
	}
	return append([]crumb{{Text: "Groups", Href: "/groups"}, own}, more...)
}

// groupPiece is the part of a group's page that follows what happens.
func groupPiece(r *request) (string, live, error) {
	name, err := r.named("group")
	if err != nil {
		return "", live{}, err
	}
	one, err := r.group(name)
	if err != nil {
		return "", live{}, err
	}
	view := groupNowView{group: one, State: stateBadge(one.State), Lag: lagCell(one), Offsets: offsetSheet(one.Kind).show(r.as(path("groups", name)), one.Offsets)}
	view.Actions = groupActions(one)
	return name, live{ID: "group-now", Name: "group-now", Data: view, Seconds: 2}, nil
}

// as is the request as if it were for another path, for the ways that a live part of that page shows.
func (r *request) as(path string) *request {
	to := *r.URL
	to.RawPath, to.Path = path, path
	if unescaped, err := url.PathUnescape(path); err == nil {
		to.Path = unescaped
	}
	q := to.Query()
	q.Del("seen")
	to.RawQuery = q.Encode()
	other := *r
	other.Request = r.Request.Clone(r.Context())
	other.URL = &to
	return &other
}

// group loads a group; one that is not there is a page that says so.
func (r *request) group(name string) (*group, error) {
	one, err := r.groups().load(r.Context(), name)
	if err == errNoGroup {
		return nil, problem{Status: http.StatusNotFound, Message: fmt.Sprintf("There is no group %s", shownName(clip(name, 200))), Hint: "A group is there from the first join or commit until it is deleted, or its offsets have expired."}
	}
	return one, err
}

func groupActions(one *group) []groupAction {
	busy := one.whyBusy()
	return []groupAction{
		{"Reset offsets", path("groups", one.Name, "reset"), busy},
		{"Delete offsets of a topic", path("groups", one.Name, "forget"), one.whyNoOffsets()},
		{"Delete the group", path("groups", one.Name, "delete"), busy},
	}
}

// whyBusy is why a group's offsets cannot be set nor the group deleted: only one without members lets others do that.
func (g *group) whyBusy() string {
	if len(g.Members) == 0 {
		return ""
	}
	var who []string
	for _, m := range g.Members {
		if len(who) == 3 {
			who = append(who, fmt.Sprintf("%d more", len(g.Members)-3))
			break
		}
		who = append(who, m.Client+" at "+m.Host)
	}
	return fmt.Sprintf("The group has %s (%s). Stop them first: only while it is Empty can this be done.", plural(len(g.Members), "member"), strings.Join(who, ", "))
}

func (g *group) whyNoOffsets() string {
	for _, o := range g.Offsets {
		if o.Committed >= 0 {
			return ""
		}
	}
	return "The group has no committed offset."
}

// offsetSheet is the table of a group's partitions.
func offsetSheet(kind string) sheet[groupOffset] {
	committed, hint := "Committed", "The offset of the next record that the group reads"
	if kind == shareGroup {
		committed, hint = "Start", "What is before it is done: acknowledged, or given up on"
	}
	return sheet[groupOffset]{
		ID: "p", Noun: "partition", Sort: "topic", Size: 100, Empty: "No partition is read and nothing is committed.",
		Find: func(o groupOffset) string { return o.Topic + " " + o.Member },
		Columns: []column[groupOffset]{
			{Key: "topic", Title: "Topic", Order: orderOffsets, Cell: func(o groupOffset) cell { return linkCell(o.Topic, path("topics", o.Topic)) }},
			{Title: "Partition", Num: true, Cell: func(o groupOffset) cell { return numCell(int64(o.Partition)) }},
			{Key: "committed", Title: committed, Num: true, Hint: hint, Order: by(func(o groupOffset) int64 { return o.Committed }), Cell: committedCell},
			{Title: "Log start", Num: true, Cell: func(o groupOffset) cell { return placeCell(o.Start) }},
			{Title: "End", Num: true, Hint: "Where a read_committed consumer stops: before an open transaction", Cell: func(o groupOffset) cell { return placeCell(o.End) }},
			{Key: "lag", Title: "Lag", Num: true, Hint: "Records still to be given. Where few are left they are counted; else it is the distance of the offsets", Order: by(func(o groupOffset) int64 { return o.Lag }), Cell: partitionLagCell},
			{Title: "Read by", Cell: func(o groupOffset) cell { return textCell(cmp.Or(o.Member, "nobody")) }},
		},
	}
}

func orderOffsets(a, b groupOffset) int {
	return cmp.Or(strings.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
}

func placeCell(n int64) cell {
	if n < 0 {
		return unknownCell("not known")
	}
	return numCell(n)
}

func committedCell(o groupOffset) cell {
	switch {
	case o.Committed < 0:
		return unknownCell("Nothing is committed: auto.offset.reset of the consumer says where it begins")
	case o.Behind:
		return numCell(o.Committed).with(badge{"before the log", "warn", "The records between this offset and the log's start are gone"})
	case o.Metadata != "":
		return numCell(o.Committed).hover("Metadata: " + clip(o.Metadata, 500))
	}
	return numCell(o.Committed)
}

func partitionLagCell(o groupOffset) cell {
	switch {
	case o.Problem != "":
		return unknownCell(o.Problem)
	case o.Lag < 0:
		return unknownCell("Without a committed offset there is no lag")
	case o.Counted:
		return numCell(o.Lag).hover(fmt.Sprintf("Counted; the offsets are %d apart", o.End-max(o.Committed, o.Start)))
	}
	return numCell(o.Lag)
}
