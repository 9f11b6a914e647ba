package console

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// column is one column of a table of T.
type column[T any] struct {
	Key   string // in the address; empty: it cannot be sorted by
	Title string
	Hint  string // on hover over the title
	Num   bool   // right-aligned
	Cell  func(T) cell
	Order func(a, b T) int // nil: it cannot be sorted by
}

// sheet describes a table once; show makes it of some rows and a request.
type sheet[T any] struct {
	ID      string // of the element; also the prefix of its values in the address, unless it is "t"
	Columns []column[T]
	Find    func(T) string // what the search box looks in; nil: there is no box
	Sort    string         // the column that sorts when the address says nothing; "-key" is descending
	Size    int            // rows of a page; 0: 50
	First   func(T) bool   // rows that come first, whatever sorts; nil: none does
	Href    func(T) string // where Enter on a row goes; nil: nowhere
	Empty   string         // what to say when there are no rows at all
	Command string         // the exact command to run then
	Noun    string         // of a row, for the count

	// Enrich adds what is dear to ask for, the columns of Dear: to all rows the one that they are sorted by, to the rows of the page
	// the others. nil: rows are whole.
	Enrich func(rows []T, columns []string)
	Dear   []string
}

// table is what the template "table" shows.
type table struct {
	ID, Noun       string
	Heads          []head
	Rows           []row
	Total, Matched int
	Searchable     bool
	QueryName      string
	Query          string
	Here           string   // the address without the search
	Keep           []hidden // values of the address that the search box keeps
	Page, Pages    int
	Prev, Next     string
	Empty, Command string
}

type head struct {
	Title, Hint, Href string
	Num               bool
	Sorted            string // ascending, descending, or ""
}

type row struct {
	Href  string
	Cells []cell
}

// hidden is a name with a value.
type hidden struct{ Name, Value string }

// show filters, sorts and cuts the rows as the address says. The rows are not changed.
func (s sheet[T]) show(r *request, all []T) table {
	t := table{ID: s.ID, Noun: s.Noun, Total: len(all), Searchable: s.Find != nil, Empty: s.Empty, Command: r.exact(s.Command), QueryName: s.value("q")}
	rows := s.matching(r, &t, all)
	t.Matched = len(rows)
	by := strings.TrimPrefix(r.query(s.value("sort")), "-")
	if s.Enrich != nil && slices.Contains(s.Dear, by) {
		s.Enrich(rows, []string{by})
	}
	rows = s.cut(r, &t, s.sorted(r, &t, rows))
	if s.Enrich != nil {
		s.Enrich(rows, slices.DeleteFunc(slices.Clone(s.Dear), func(column string) bool { return column == by }))
	}
	for _, item := range rows {
		made := row{}
		if s.Href != nil {
			made.Href = r.keepingAt(s.Href(item))
		}
		for _, c := range s.Columns {
			made.Cells = append(made.Cells, c.Cell(item))
		}
		t.Rows = append(t.Rows, made)
	}
	s.keep(r, &t)
	return t
}

// value is the name of a value of this table in the address.
func (s sheet[T]) value(name string) string {
	if s.ID == "t" {
		return name
	}
	return s.ID + "." + name
}

// matching are the rows that have all words of the search, and none of those behind an exclamation mark.
func (s sheet[T]) matching(r *request, t *table, all []T) []T {
	t.Query = clip(r.query(s.value("q")), 200)
	rows := slices.Clone(all)
	if s.Find == nil || t.Query == "" {
		return rows
	}
	words := strings.Fields(strings.ToLower(t.Query))
	return slices.DeleteFunc(rows, func(item T) bool {
		text := strings.ToLower(s.Find(item))
		return slices.ContainsFunc(words, func(word string) bool {
			without, leaveOut := strings.CutPrefix(word, "!")
			if leaveOut && without != "" {
				return strings.Contains(text, without)
			}
			return !strings.Contains(text, word)
		})
	})
}

// sorted orders the rows, and makes the titles that lead to other orders.
func (s sheet[T]) sorted(r *request, t *table, rows []T) []T {
	by := r.query(s.value("sort"))
	if s.orderOf(by) == nil {
		by = s.Sort
	}
	key, down := strings.TrimPrefix(by, "-"), strings.HasPrefix(by, "-")
	if order := s.orderOf(by); order != nil {
		slices.SortStableFunc(rows, func(a, b T) int {
			if down {
				return order(b, a)
			}
			return order(a, b)
		})
	}
	if s.First != nil {
		slices.SortStableFunc(rows, func(a, b T) int { return boolRank(s.First(a)) - boolRank(s.First(b)) })
	}
	for _, c := range s.Columns {
		h := head{Title: c.Title, Hint: c.Hint, Num: c.Num}
		if c.Order != nil && c.Key != "" {
			next := c.Key
			switch {
			case c.Key == key && !down:
				h.Sorted, next = "ascending", "-"+c.Key
			case c.Key == key:
				h.Sorted = "descending"
			case c.Num:
				next = "-" + c.Key
			}
			h.Href = r.changed(s.value("sort"), next, s.value("page"), "")
		}
		t.Heads = append(t.Heads, h)
	}
	return rows
}

func boolRank(first bool) int {
	if first {
		return 0
	}
	return 1
}

func (s sheet[T]) orderOf(by string) func(a, b T) int {
	key := strings.TrimPrefix(by, "-")
	for _, c := range s.Columns {
		if key != "" && c.Key == key {
			return c.Order
		}
	}
	return nil
}

func (s sheet[T]) cut(r *request, t *table, rows []T) []T {
	size := s.Size
	if size == 0 {
		size = 50
	}
	size = r.number(s.value("size"), size, 1, 1000)
	t.Pages = max(1, (len(rows)+size-1)/size)
	t.Page = r.number(s.value("page"), 1, 1, t.Pages)
	if t.Page > 1 {
		t.Prev = r.changed(s.value("page"), strconv.Itoa(t.Page-1))
	}
	if t.Page < t.Pages {
		t.Next = r.changed(s.value("page"), strconv.Itoa(t.Page+1))
	}
	from := (t.Page - 1) * size
	return rows[from:min(from+size, len(rows))]
}

// keep lists the values of the address that a search must not lose.
func (s sheet[T]) keep(r *request, t *table) {
	t.Here = r.URL.EscapedPath()
	q := r.URL.Query()
	for _, name := range sortedKeys(q) {
		if name == s.value("q") || name == s.value("page") {
			continue
		}
		for _, v := range q[name] {
			t.Keep = append(t.Keep, hidden{name, v})
		}
	}
}

// by makes an order of what a function says of a row.
func by[T any, O cmp.Ordered](of func(T) O) func(a, b T) int {
	return func(a, b T) int { return cmp.Compare(of(a), of(b)) }
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
