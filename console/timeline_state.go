package console

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"doze/console/inside"
)

// stateView is the dot of the template "timeline-state".
type stateView struct {
	Seq            uint64
	At             time.Time
	ReadOnly       bool
	Tables         []tab
	Table, About   string
	Columns        []string
	Rows           [][]cell
	Search, Here   string
	Keep           []hidden
	Skip           int
	Previous, Next string // pages of the table
	Earlier, Later string // the same as of the entry before and behind
	Entry          string
	Compare        string
	Note           string
}

// tableNames are what people call the tables of the state.
var tableNames = map[string]string{
	"broker": "Broker", "topics": "Topics", "partitions": "Partitions", "log-starts": "Deleted records", "configs": "Configs", "groups": "Groups", "members": "Members",
	"member-ids": "Member ids given out", "settled-groups": "Groups before a rebalance", "settled-members": "Members before a rebalance", "offsets": "Offsets and lag",
	"features": "Features", "transactions": "Transactions", "staged-offsets": "Offsets in transactions", "unsynced-markers": "Markers on their way",
	"consumer-groups": "Consumer groups", "consumer-regexes": "Patterns", "consumer-members": "Consumer members", "share-groups": "Share groups",
	"share-members": "Share members", "share-states": "Share progress", "streams-groups": "Streams groups", "streams-subtopologies": "Subtopologies",
	"streams-members": "Streams members", "quotas": "Quotas", "acls": "ACLs", "users": "SCRAM users", "tokens": "Tokens", "registry-contexts": "Contexts",
	"schemas": "Schemas", "subjects": "Subjects", "registry-configs": "Registry configs", "registry-modes": "Registry modes", "associations": "Associations",
}

func tableName(table string) string {
	if name, known := tableNames[table]; known {
		return name
	}
	return table
}

// stateRows is how many rows of a table a page has.
const stateRows = 100

// statePage is the state as of an entry, a table at a time; without ?at= as it is now.
func statePage(r *request) (answer, error) {
	return stateAnswer(r, clip(r.query("table"), 60), clip(r.query("q"), 200))
}

// stateAnswer shows a table of the state, searched.
func stateAnswer(r *request, table, search string) (answer, error) {
	j, err := r.journal()
	if err != nil {
		return nil, err
	}
	head := j.Head()
	seq := r.at
	if seq == 0 {
		seq = head.Last
	}
	state, err := j.State(r.Context(), seq)
	if err != nil {
		return nil, asPast(err)
	}
	defer state.Release()
	v := &stateView{Seq: seq, At: time.UnixMilli(state.At()), ReadOnly: r.readOnly(), Search: search, Here: "/timeline/state", Entry: entryPath(seq)}
	v.tables(state.Tables(), table)
	v.Compare = withQuery("/timeline/changes", "from", strconv.FormatUint(seq, 10), "to", strconv.FormatUint(head.Last, 10))
	if seq > head.First {
		v.Earlier = withQuery("/timeline/state", "at", strconv.FormatUint(seq-1, 10), "table", v.Table, "q", search)
	}
	if seq < head.Last {
		v.Later = withQuery("/timeline/state", "at", strconv.FormatUint(seq+1, 10), "table", v.Table, "q", search)
	}
	v.Keep = []hidden{{"at", strconv.FormatUint(seq, 10)}, {"table", v.Table}}
	if err := v.rows(r, state); err != nil {
		return nil, err
	}
	return page{Title: "As of entry " + grouped(seq), Nav: "timeline", Crumbs: []crumb{{"Timeline", "/timeline"}, {"As of entry " + grouped(seq), ""}}, Name: "timeline-state", Data: v}, nil
}

// tables are the tabs; the table that is asked for, or the first that people ask for.
func (v *stateView) tables(all []inside.TableSize, table string) {
	has := func(name string) bool {
		return slices.ContainsFunc(all, func(t inside.TableSize) bool { return t.Name == name })
	}
	v.Table = table
	for _, first := range []string{"topics", "groups", "broker"} {
		if v.Table == "" && has(first) {
			v.Table = first
		}
	}
	if !has(v.Table) {
		all = append(all, inside.TableSize{Name: v.Table})
	}
	for _, t := range all {
		count := grouped(t.Rows)
		if t.Rows < 0 {
			count = "many"
		}
		v.Tables = append(v.Tables, tab{Text: tableName(t.Name), Href: statePath(v.Seq, t.Name), Count: count, Lit: t.Name == v.Table})
	}
	v.About = tableName(v.Table)
}

func (v *stateView) rows(r *request, state inside.State) error {
	v.Skip = r.number("skip", 0, 0, 1_000_000_000)
	found, err := state.Rows(r.Context(), inside.RowQuery{Table: v.Table, Contains: v.Search, Skip: v.Skip, Limit: stateRows})
	if err != nil {
		if _, known := tableNames[v.Table]; known && r.Context().Err() == nil {
			return nil // a table that had no row yet
		}
		return notFound("%s", err.Error())
	}
	v.Columns = found.Columns
	for _, row := range found.Rows {
		v.Rows = append(v.Rows, cellsOf(found, row, v.Seq, v.ReadOnly))
	}
	if v.Skip > 0 {
		v.Previous = withQuery(v.Here, "at", strconv.FormatUint(v.Seq, 10), "table", v.Table, "q", v.Search, "skip", strconv.Itoa(max(v.Skip-stateRows, 0)))
	}
	if found.More {
		v.Next = withQuery(v.Here, "at", strconv.FormatUint(v.Seq, 10), "table", v.Table, "q", v.Search, "skip", strconv.Itoa(v.Skip+stateRows))
	}
	return nil
}

// cellsOf makes a row's values cells: times as times, names of groups as links.
func cellsOf(rows inside.Rows, row []string, seq uint64, past bool) []cell {
	cells := make([]cell, len(row))
	for i, value := range row {
		n, err := strconv.ParseInt(value, 10, 64)
		switch {
		case err == nil && rows.Times[i] && n > 0:
			cells[i] = timeCell(time.UnixMilli(n))
		case err == nil && rows.Times[i]:
			cells[i] = unknownCell("not set: " + value)
		case rows.Columns[i] == "group" && past:
			cells[i] = linkCell(value, withQuery(path("timeline", "groups", value), "at", strconv.FormatUint(seq, 10)))
		case rows.Columns[i] == "group":
			cells[i] = linkCell(value, path("timeline", "groups", value))
		case err == nil && strconv.FormatInt(n, 10) == value:
			cells[i] = numCell(n)
		case rows.Columns[i] == "schema":
			cells[i] = codeCell(value)
		default:
			cells[i] = textCell(value)
		}
	}
	return cells
}

// pastInstead is the state as of an entry in place of a page that shows the present only: the table that it is about.
func pastInstead(r *request) (answer, error) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	name := ""
	if len(parts) > 1 {
		name = parts[1]
	}
	switch parts[0] {
	case "topics":
		return stateAnswer(r, "topics", name)
	case "groups":
		if name == "" {
			return stateAnswer(r, "groups", "")
		}
		return groupHistoryOf(r, name)
	case "schemas":
		if len(parts) > 2 && name == "subjects" {
			return stateAnswer(r, "subjects", parts[2])
		}
		return stateAnswer(r, "subjects", "")
	case "security":
		for _, table := range []string{"users", "quotas", "tokens"} {
			if name == table {
				return stateAnswer(r, table, "")
			}
		}
		return stateAnswer(r, "acls", "")
	case "broker":
		return stateAnswer(r, "configs", "")
	case "":
		return stateAnswer(r, "", "")
	}
	return nil, problem{Status: http.StatusNotFound, Message: "This page shows the present only", Hint: "It has no state as of an entry of the journal. Take at= out of the address to see it as it is now."}
}
