package timeline

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"doze/console/inside"
	"doze/journal"
	"doze/projections"
)

// Bounds of a comparison.
const (
	maxChangesShown = 300       // of a table
	maxCompared     = 2_000_000 // rows of a table
	maxBetween      = 1_000_000 // entries that are read to find who did it
	maxTouched      = 100_000   // things of which is kept who touched them last
)

// keyColumns is how many columns of a table name a row; of a table that is not listed all do: its rows come and go.
var keyColumns = map[string]int{
	"topics": 1, "log-starts": 2, "configs": 2, "groups": 1, "members": 2, "member-ids": 2, "settled-groups": 1, "settled-members": 2, "offsets": 3,
	"features": 1, "transactions": 1, "staged-offsets": 4, "unsynced-markers": 3, "consumer-groups": 1, "consumer-regexes": 2, "consumer-members": 2,
	"share-groups": 1, "share-members": 2, "share-states": 3, "streams-groups": 1, "streams-subtopologies": 2, "streams-members": 2, "quotas": 2,
	"registry-contexts": 1, "schemas": 2, "subjects": 2, "registry-configs": 1, "registry-modes": 1, "associations": 3, "users": 2, "tokens": 1,
	"broker": 0,
}

// leftOut are tables whose rows say again what others say.
var leftOut = []string{"settled-groups", "settled-members"}

// Changes is what differs between the states after two entries (inside.Journal).
func (t *Timeline) Changes(ctx context.Context, from, to uint64) (inside.Changes, error) {
	if from > to {
		from, to = to, from
	}
	if err := t.catchUp(ctx); err != nil {
		return inside.Changes{}, err
	}
	before, err := t.stateAt(ctx, from)
	if err != nil {
		return inside.Changes{}, err
	}
	after, err := t.stateAt(ctx, to)
	if err != nil {
		return inside.Changes{}, err
	}
	t.learn(before.state)
	t.learn(after.state)
	d := &difference{ctx: ctx, t: t, before: before, after: after, out: inside.Changes{From: from, To: to, FromAt: before.at, ToAt: after.at}}
	if err := d.touchedBetween(from, to); err != nil {
		return d.out, err
	}
	for _, table := range projections.Tables() {
		if !slices.Contains(leftOut, table) && d.mayDiffer(table) {
			if err := d.table(table); err != nil {
				return d.out, err
			}
		}
	}
	return d.out, nil
}

// onlyIn are the tables that events of an area change; those of an area that is not listed may change any.
var onlyIn = map[int][]string{
	areaBroker:    {"broker", "features"},
	areaProducers: {"broker"},
	areaConfigs:   {"configs"},
	areaOffsets:   {"offsets", "groups"},
	areaSecurity:  {"acls", "users", "tokens", "quotas"},
	areaSchemas:   {"registry-contexts", "schemas", "subjects", "registry-configs", "registry-modes", "associations"},
}

// mayDiffer says whether any of the entries between can have changed a table.
func (d *difference) mayDiffer(table string) bool {
	if d.out.Note != "" {
		return true // not all of them were read
	}
	for area := range d.areas {
		if tables, listed := onlyIn[area]; !listed || slices.Contains(tables, table) {
			return true
		}
	}
	return false
}

// learn remembers the names of a state's topics.
func (t *Timeline) learn(s *projections.State) {
	s.Topics.Each("", func(topic *projections.Topic) bool {
		t.index.names.learn(topic.ID, topic.Name)
		return true
	})
}

// difference is a comparison under way.
type difference struct {
	ctx           context.Context
	t             *Timeline
	before, after *held
	touched       map[string]touch
	areas         map[int]bool // of the events between
	out           inside.Changes
}

// touch is the last entry that had to do with a thing.
type touch struct {
	seq   uint64
	cause inside.Cause
}

// touchedBetween reads the entries between and keeps who touched what last.
func (d *difference) touchedBetween(from, to uint64) error {
	d.touched, d.areas = map[string]touch{}, map[int]bool{}
	if to-from > maxBetween {
		d.out.Note = fmt.Sprintf("who did it is told of the last %d entries", maxBetween)
		from = to - maxBetween
	}
	return d.t.visit(d.ctx, from, func(e *journal.Entry, _ journal.Place) bool {
		if e.Seq > to {
			return false
		}
		by := touch{e.Seq, causeOf(&e.Cause)}
		for _, event := range e.Events {
			d.areas[areaOf(event.Kind())] = true
			d.touch(event, by)
		}
		return true
	})
}

func (d *difference) note(thing string, by touch) {
	if _, known := d.touched[thing]; known || len(d.touched) < maxTouched {
		d.touched[thing] = by
	}
}

// touch notes what an event is about: the names that it has, and each offset by itself.
func (d *difference) touch(event journal.Event, by touch) {
	if commit, ok := event.(*journal.OffsetsCommitted); ok {
		for _, o := range commit.Offsets {
			d.note(offsetThing(commit.Group, o.Topic, fmt.Sprint(o.Partition)), by)
		}
		return
	}
	l := &eventLines{t: d.t}
	fields := journal.Fields(event)
	l.fields(fields, 0, areaOf(event.Kind()))
	l.resource(fields)
	for _, thing := range l.things {
		d.note(thing.Kind+" "+thing.Name, by)
	}
	d.note("area "+inside.Areas[areaOf(event.Kind())], by)
}

func offsetThing(group, topic, partition string) string {
	return "offset " + group + "\x00" + topic + "\x00" + partition
}

// by finds who touched a row: by its own name, else by that of what it belongs to, else by its area.
func (d *difference) by(table string, fields []projections.Field) touch {
	text := func(name string) string { return d.t.cell(fieldOf(fields, name)) }
	var things []string
	switch table {
	case "topics", "log-starts", "unsynced-markers":
		things = []string{"topic " + text("topic")}
	case "configs":
		things = []string{"config " + text("resource"), "topic " + strings.TrimPrefix(text("resource"), "2:")}
	case "offsets":
		things = []string{offsetThing(text("group"), text("topic"), text("partition")), "group " + text("group"), "topic " + text("topic")}
	case "transactions", "staged-offsets":
		things = []string{"transaction " + text("transactional-id")}
	case "subjects", "associations":
		things = []string{"subject " + text("subject")}
	case "schemas":
		things = []string{"area schemas"}
	case "registry-configs", "registry-modes":
		things = []string{"subject " + text("scope"), "area schemas"}
	case "users":
		things = []string{"user " + text("user"), "area security"}
	case "acls", "tokens", "quotas":
		things = []string{"area security"}
	case "broker", "features":
		things = []string{"area broker", "area producers"}
	default:
		things = []string{"group " + text("group")}
	}
	for _, thing := range things {
		if by, known := d.touched[thing]; known {
			return by
		}
	}
	return touch{}
}

// compared is a table under comparison: rows by the hashes of their keys, so that a million rows take a few megabytes.
type compared struct {
	d      *difference
	table  string
	seed   maphash.Seed
	rows   map[uint64]uint64 // of the state before: key to content; what is left at the end is gone
	differ map[uint64][]projections.Field
	out    inside.TableChanges
	err    error
}

func (d *difference) table(table string) error {
	c := &compared{d: d, table: table, seed: maphash.MakeSeed(), rows: map[uint64]uint64{}, differ: map[uint64][]projections.Field{}, out: inside.TableChanges{Table: table}}
	c.each(d.before.state, func(key, content uint64, _ []projections.Field) { c.rows[key] = content })
	c.each(d.after.state, c.after)
	if len(c.rows) > 0 || len(c.differ) > 0 {
		c.each(d.before.state, c.before)
	}
	c.out.More = c.out.Created + c.out.Deleted + c.out.Changed - len(c.out.Changes)
	if len(c.out.Changes) > 0 {
		d.out.Tables = append(d.out.Tables, c.out)
	}
	return c.err
}

// each yields a state's rows with the hashes of key and content.
func (c *compared) each(s *projections.State, yield func(key, content uint64, fields []projections.Field)) {
	n := 0
	s.Dump(c.table, func(fields []projections.Field) bool {
		if n++; n > maxCompared {
			c.d.out.Note = fmt.Sprintf("of table %s the first %d rows were compared", c.table, maxCompared)
			return false
		}
		if n%1024 == 0 && c.d.ctx.Err() != nil {
			c.err = c.d.ctx.Err()
			return false
		}
		keys := c.keys(fields)
		yield(c.hash(fields[:keys]), c.hash(fields[keys:]), fields)
		return true
	})
}

func (c *compared) keys(fields []projections.Field) int {
	if n, listed := keyColumns[c.table]; listed {
		return min(n, len(fields))
	}
	return len(fields)
}

func (c *compared) hash(fields []projections.Field) uint64 {
	var h maphash.Hash
	h.SetSeed(c.seed)
	for _, f := range fields {
		h.WriteString(f.Name)
		h.WriteByte(0)
		h.WriteString(valueText(f.Value))
		h.WriteByte(0)
	}
	return h.Sum64()
}

// after looks at a row of the later state.
func (c *compared) after(key, content uint64, fields []projections.Field) {
	was, there := c.rows[key]
	delete(c.rows, key)
	switch {
	case !there:
		c.out.Created++
		c.show("created", fields, nil)
	case was != content:
		c.out.Changed++
		if len(c.differ) < maxChangesShown {
			c.differ[key] = slices.Clone(fields)
		}
	}
}

// before looks at a row of the earlier state once more: those that are gone or not what they were are shown.
func (c *compared) before(key, _ uint64, fields []projections.Field) {
	if _, gone := c.rows[key]; gone {
		c.out.Deleted++
		c.show("deleted", fields, nil)
		return
	}
	if now, differs := c.differ[key]; differs {
		c.show("changed", fields, now)
	}
}

// show adds a change; now is the row as it is, when it was changed.
func (c *compared) show(what string, fields, now []projections.Field) {
	if len(c.out.Changes) >= maxChangesShown {
		return
	}
	if c.table == "configs" {
		fields = withoutSecretValue(fields)
		if now != nil {
			now = withoutSecretValue(now)
		}
	}
	keys := c.keys(fields)
	by := c.d.by(c.table, fields)
	change := inside.Change{What: what, Key: c.name(fields[:keys]), Seq: by.seq, Cause: by.cause}
	for _, f := range fields[keys:] {
		value := c.d.t.cell(f.Value)
		switch {
		case now != nil:
			if is := c.d.t.cell(fieldOf(now, f.Name)); is != value {
				change.Fields = append(change.Fields, inside.FieldChange{Name: f.Name, Old: value, New: is, Time: isTime(f)})
			}
		case what == "created":
			change.Fields = append(change.Fields, inside.FieldChange{Name: f.Name, New: value, Time: isTime(f)})
		default:
			change.Fields = append(change.Fields, inside.FieldChange{Name: f.Name, Old: value, Time: isTime(f)})
		}
	}
	if now != nil { // what it has only now
		for _, f := range now[min(keys, len(now)):] {
			if fieldOf(fields, f.Name) == nil {
				change.Fields = append(change.Fields, inside.FieldChange{Name: f.Name, New: c.d.t.cell(f.Value), Time: isTime(f)})
			}
		}
	}
	c.out.Changes = append(c.out.Changes, change)
}

// name is a row's key in a line.
func (c *compared) name(key []projections.Field) string {
	if len(key) == 0 {
		return c.table
	}
	parts := make([]string, len(key))
	for i, f := range key {
		parts[i] = c.d.t.cell(f.Value)
	}
	return cut(strings.Join(parts, " "), maxCell)
}
