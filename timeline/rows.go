package timeline

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/console/inside"
	"doze/journal"
	"doze/projections"
)

// stateThen is the state as of an entry, as a console asks it.
type stateThen struct {
	t *Timeline
	*held
}

func (s *stateThen) Seq() uint64 { return s.seq }
func (s *stateThen) At() int64   { return s.at }

// Release lets go of the state.
func (s *stateThen) Release() { s.state = projections.New() }

// partitionsTable is a table that no journal has: where each partition ended as of the entry.
const partitionsTable = "partitions"

// maxCounted bounds the rows that are counted of a table.
const maxCounted = 2_000

// Tables are the tables that have rows.
func (s *stateThen) Tables() []inside.TableSize {
	var all []inside.TableSize
	add := func(name string, n int) {
		if n != 0 {
			all = append(all, inside.TableSize{Name: name, Rows: n})
		}
	}
	for _, name := range projections.Tables() {
		add(name, s.rowsOf(name))
		if name == "topics" {
			add(partitionsTable, int(s.state.Topics.Partitions()))
		}
	}
	return all
}

// rowsOf counts the rows of a table; -1: there are more than are counted.
func (s *stateThen) rowsOf(table string) int {
	switch table {
	case "topics":
		return s.state.Topics.Len()
	case "groups":
		return s.state.Groups.Len()
	case "offsets":
		return s.state.Offsets.Len()
	}
	n := 0
	s.state.Dump(table, func([]projections.Field) bool { n++; return n <= maxCounted })
	if n > maxCounted {
		return -1
	}
	return n
}

// Bounds of rows.
const (
	maxRowsPage  = 500
	maxCell      = 2000
	maxRowsAsked = 2_000_000
)

// times are the columns that hold ms since 1970.
var times = []string{"created-at", "since", "committed-at", "expires-at", "at", "target-at", "created", "updated", "issued", "max", "expiry", "began", "updated-at", "started-at", "made"}

// Rows gives a part of a table's rows.
func (s *stateThen) Rows(ctx context.Context, q inside.RowQuery) (inside.Rows, error) {
	p := &rowPage{s: s, q: q, limit: min(max(q.Limit, 0), maxRowsPage)}
	if p.limit == 0 {
		p.limit = 100
	}
	known := false
	if q.Table == partitionsTable {
		known = true
		s.partitions(func(fields []projections.Field) bool { return p.add(ctx, fields) })
	} else {
		known = s.state.Dump(q.Table, func(fields []projections.Field) bool { return p.add(ctx, fields) })
	}
	if !known {
		return p.out, fmt.Errorf("there is no table %q", cut(q.Table, 40))
	}
	return p.out, ctx.Err()
}

type rowPage struct {
	s     *stateThen
	q     inside.RowQuery
	limit int
	asked int
	skip  int
	out   inside.Rows
}

func (p *rowPage) add(ctx context.Context, fields []projections.Field) bool {
	if p.asked++; p.asked > maxRowsAsked || p.asked%1024 == 0 && ctx.Err() != nil {
		p.out.More = true
		return false
	}
	if p.q.Table == "configs" {
		fields = withoutSecretValue(fields)
	}
	if !p.passes(fields) {
		return true
	}
	if p.skip < p.q.Skip {
		p.skip++
		return true
	}
	if len(p.out.Rows) == p.limit {
		p.out.More = true
		return false
	}
	fields = p.s.more(p.q.Table, fields)
	if p.out.Columns == nil {
		for _, f := range fields {
			p.out.Columns = append(p.out.Columns, f.Name)
			p.out.Times = append(p.out.Times, isTime(f))
		}
	}
	row := make([]string, 0, len(fields))
	for _, f := range fields {
		row = append(row, p.s.t.cell(f.Value))
	}
	// Rows of a table may have different fields (the registry's configs): a row is as long as the first.
	for len(row) < len(p.out.Columns) {
		row = append(row, "")
	}
	p.out.Rows = append(p.out.Rows, row[:len(p.out.Columns)])
	return true
}

func isTime(f projections.Field) bool {
	_, number := f.Value.(int64)
	return number && slices.Contains(times, f.Name)
}

func (p *rowPage) passes(fields []projections.Field) bool {
	if p.q.Column != "" && !slices.ContainsFunc(fields, func(f projections.Field) bool { return f.Name == p.q.Column && valueText(f.Value) == p.q.Is }) {
		return false
	}
	return p.q.Contains == "" || slices.ContainsFunc(fields, func(f projections.Field) bool { return strings.Contains(p.s.t.cell(f.Value), p.q.Contains) })
}

func valueText(v any) string {
	if list, ok := v.([]string); ok {
		return strings.Join(list, ", ")
	}
	return journal.ValueText(v)
}

// cell is a value as text, ids of topics with their names.
func (t *Timeline) cell(v any) string {
	list, ok := v.([]string)
	if !ok {
		return cut(t.named(journal.ValueText(v)), maxCell)
	}
	named := make([]string, 0, len(list))
	size := 0
	for _, item := range list {
		if size > maxCell {
			break
		}
		named = append(named, t.named(item))
		size += len(item)
	}
	return cut(strings.Join(named, ", "), maxCell)
}

// idLength is the length of a topic's id in text.
const idLength = 22

// named is a text whose topic's id is its name: an id alone, or one that a partition follows.
func (t *Timeline) named(text string) string {
	if len(text) < idLength || len(text) > idLength && !strings.ContainsRune(":/", rune(text[idLength])) {
		return text
	}
	name, known := t.index.names.ofText(text[:idLength])
	if !known {
		return text
	}
	return name + text[idLength:]
}

// more adds what a row does not have and a person asks for: lag, and what classic members are assigned.
func (s *stateThen) more(table string, fields []projections.Field) []projections.Field {
	switch table {
	case "offsets":
		return append(slices.Clone(fields), s.lag(fields)...)
	case "members":
		return append(slices.Clone(fields), projections.Field{Name: "assigned", Value: s.assigned(fields)})
	}
	return fields
}

func fieldOf(fields []projections.Field, name string) any {
	for _, f := range fields {
		if f.Name == name {
			return f.Value
		}
	}
	return nil
}

// lag is how far a partition was and how far behind it the group's offset.
func (s *stateThen) lag(fields []projections.Field) []projections.Field {
	topic, _ := fieldOf(fields, "topic").(string)
	partition, committed := asInt(fieldOf(fields, "partition")), asInt(fieldOf(fields, "offset"))
	end, lag := "unknown", "unknown"
	if of := s.state.Topics.Named(topic); of != nil {
		if n, known, ok := s.t.end(of.ID, int32(partition), s.seq); ok {
			end, lag = about(n, known), about(max(n-committed, 0), known)
		}
	}
	return []projections.Field{{Name: "end-then", Value: end}, {Name: "lag-then", Value: lag}}
}

func about(n int64, known bool) string {
	if known {
		return strconv.FormatInt(n, 10)
	}
	return "at most " + strconv.FormatInt(n, 10)
}

func (t *Timeline) end(topic [16]byte, partition int32, seq uint64) (end int64, known, ok bool) {
	if t.opt.End == nil {
		return 0, false, false
	}
	return t.opt.End(topic, partition, seq)
}

// assigned is what a member of a classic group of consumers is assigned, as its leader wrote it.
func (s *stateThen) assigned(fields []projections.Field) []string {
	group, _ := fieldOf(fields, "group").(string)
	member, _ := fieldOf(fields, "member").(string)
	g := s.state.Groups.Get(group)
	if g == nil || g.ProtocolType != "consumer" || g.Member(member) == nil {
		return nil
	}
	return readAssignment(g.Member(member).Assignment)
}

// maxAssignment bounds an assignment that is taken apart.
const maxAssignment = 64 << 10

// readAssignment gives the partitions in an assignment of the consumer protocol; nothing of what is none.
//
//fuzz:parser class=payload FuzzAssignment
func readAssignment(b []byte) (shown []string) {
	if len(b) > maxAssignment {
		return []string{fmt.Sprintf("%d bytes", len(b))}
	}
	var a kmsg.ConsumerMemberAssignment
	if a.ReadFrom(b) != nil {
		return nil
	}
	for _, t := range a.Topics {
		shown = append(shown, fmt.Sprintf("%s:%d", t.Topic, t.Partitions))
	}
	return shown
}

// partitions yields the rows of the table that no journal has.
func (s *stateThen) partitions(yield func([]projections.Field) bool) {
	s.state.Topics.Each("", func(topic *projections.Topic) bool {
		for p := range topic.Partitions {
			end := "unknown"
			if n, known, ok := s.t.end(topic.ID, p, s.seq); ok {
				end = about(n, known)
			}
			if !yield([]projections.Field{
				{Name: "topic", Value: topic.Name}, {Name: "partition", Value: int64(p)}, {Name: "leader-epoch", Value: int64(topic.LeaderEpoch(p, s.state.Starts))},
				{Name: "end-then", Value: end},
			}) {
				return false
			}
		}
		return true
	})
}
