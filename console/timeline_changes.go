package console

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"doze/console/inside"
)

// changesView is the dot of the template "timeline-changes".
type changesView struct {
	From, To       string
	Between        string
	FromAt, ToAt   time.Time
	FromState      string
	ToState        string
	Tables         []tableChangesView
	Note           string
	Text           string // the address of the same as text
	All            string // that of all tables, when the page is of one
	Asked          bool
	Earlier, Later string
}

// tableChangesView is what differs in a table.
type tableChangesView struct {
	inside.TableChanges
	Name  string
	Rows  []changeRow
	Whole string // the page of more rows of this table; empty: there are none
}

// maxTableRows is how many rows of each table a page of all tables shows.
const maxTableRows = 40

// brief shows some rows only, with a link to more of them.
func (v tableChangesView) brief(from, to uint64) tableChangesView {
	if over := len(v.Rows) - maxTableRows; over > 0 {
		v.Rows, v.More = v.Rows[:maxTableRows], v.More+over
		v.Whole = withQuery("/timeline/changes", "from", strconv.FormatUint(from, 10), "to", strconv.FormatUint(to, 10), "table", v.Table)
	}
	return v
}

// changeRow is a row that is not what it was.
type changeRow struct {
	inside.Change
	By     string // who touched it last
	Entry  string
	Fields []fieldRow
}

type fieldRow struct {
	Name           string
	Old, New       string
	OldAt, NewAt   time.Time // of times
	Time           bool
	HasOld, HasNew bool
}

// changesBetween reads the two entries of the address and compares.
func changesBetween(r *request) (inside.Changes, error) {
	j, err := r.journal()
	if err != nil {
		return inside.Changes{}, err
	}
	head := j.Head()
	from, err := entryNumber(r, "from", max(head.First, 1))
	if err != nil {
		return inside.Changes{}, err
	}
	to, err := entryNumber(r, "to", head.Last)
	if err != nil {
		return inside.Changes{}, err
	}
	changes, err := j.Changes(r.Context(), from, to)
	return changes, asPast(err)
}

func entryNumber(r *request, name string, byDefault uint64) (uint64, error) {
	text := strings.ReplaceAll(r.query(name), ",", "")
	if text == "" {
		return byDefault, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n == 0 {
		return 0, badRequest("%q names no entry: give a number from 1", clip(text, 40))
	}
	return n, nil
}

func changesPage(r *request) (answer, error) {
	changes, err := changesBetween(r)
	if err != nil {
		return nil, err
	}
	v := changesView{
		From: strconv.FormatUint(changes.From, 10), To: strconv.FormatUint(changes.To, 10), Between: plural(int64(changes.To-changes.From), "entry"),
		FromAt: time.UnixMilli(changes.FromAt), ToAt: time.UnixMilli(changes.ToAt), FromState: statePath(changes.From, ""), ToState: statePath(changes.To, ""),
		Note: changes.Note,
	}
	if changes.To-changes.From != 1 {
		v.Between = grouped(changes.To-changes.From) + " entries"
	}
	v.Text = withQuery("/timeline/changes.txt", "from", v.From, "to", v.To)
	only := r.query("table")
	for _, table := range changes.Tables {
		switch only {
		case "":
			v.Tables = append(v.Tables, tableChangesOf(table).brief(changes.From, changes.To))
		case table.Table:
			v.Tables = append(v.Tables, tableChangesOf(table))
		}
	}
	if only != "" {
		v.All = withQuery("/timeline/changes", "from", v.From, "to", v.To)
	}
	return page{Title: "What changed", Nav: "timeline", Crumbs: []crumb{{"Timeline", "/timeline"}, {"What changed", ""}}, Name: "timeline-changes", Data: v}, nil
}

func tableChangesOf(table inside.TableChanges) tableChangesView {
	v := tableChangesView{TableChanges: table, Name: tableName(table.Table)}
	for _, c := range table.Changes {
		row := changeRow{Change: c}
		if c.Seq > 0 {
			row.By, row.Entry = whoCaused(c.Cause), entryPath(c.Seq)
		}
		for _, f := range c.Fields {
			row.Fields = append(row.Fields, fieldRow{
				Name: f.Name, Old: f.Old, New: f.New, Time: f.Time, OldAt: textTime(f.Old), NewAt: textTime(f.New),
				HasOld: c.What != "created", HasNew: c.What != "deleted",
			})
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}

// textTime is a time that is written as ms; the zero time when it is none.
func textTime(s string) time.Time {
	ms, err := strconv.ParseInt(s, 10, 64)
	if err != nil || ms <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// changesText is the same as a text to put into a bug report.
func changesText(r *request) (answer, error) {
	changes, err := changesBetween(r)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("changes-%d-%d.txt", changes.From, changes.To)
	return download{Filename: name, Type: "text/plain; charset=utf-8", Write: func(w io.Writer) error { return writeChanges(w, changes) }}, nil
}

// signs stand for what happened to a row.
var signs = map[string]string{"created": "+", "deleted": "-", "changed": "~"}

func writeChanges(to io.Writer, changes inside.Changes) error {
	w := bufio.NewWriter(to)
	fmt.Fprintf(w, "From entry %d (%s) to entry %d (%s)\n", changes.From, textOf(changes.FromAt), changes.To, textOf(changes.ToAt))
	for _, t := range changes.Tables {
		fmt.Fprintf(w, "\n%s: %d created, %d deleted, %d changed\n", tableName(t.Table), t.Created, t.Deleted, t.Changed)
		for _, c := range t.Changes {
			fmt.Fprintf(w, "%s %s", signs[c.What], oneLine(c.Key))
			if c.Seq > 0 {
				fmt.Fprintf(w, "   # entry %d, %s", c.Seq, oneLine(whoCaused(c.Cause)))
			}
			fmt.Fprintln(w)
			for _, f := range c.Fields {
				writeField(w, c.What, f)
			}
		}
		if t.More > 0 {
			fmt.Fprintf(w, "  and %d more\n", t.More)
		}
	}
	if changes.Note != "" {
		fmt.Fprintln(w, "\n"+oneLine(changes.Note))
	}
	return w.Flush()
}

func writeField(w io.Writer, what string, f inside.FieldChange) {
	f.Name = oneLine(f.Name)
	switch what {
	case "created":
		fmt.Fprintf(w, "    %s = %s\n", f.Name, oneLine(f.New))
	case "deleted":
		fmt.Fprintf(w, "    %s = %s\n", f.Name, oneLine(f.Old))
	default:
		fmt.Fprintf(w, "    %s: %s -> %s\n", f.Name, oneLine(f.Old), oneLine(f.New))
	}
}

func textOf(ms int64) string { return time.UnixMilli(ms).UTC().Format(isoMillis) }

// oneLine is a text that cannot break the line that it is in.
func oneLine(s string) string {
	if s == "" || strings.ContainsFunc(s, func(c rune) bool { return !strconv.IsPrint(c) }) {
		return strconv.Quote(s)
	}
	return s
}
