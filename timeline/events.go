package timeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/console/inside"
	"doze/journal"
)

// areaCount is the number of inside.Areas.
const areaCount = 9

// The areas, by their place in inside.Areas.
const (
	areaBroker = iota
	areaTopics
	areaConfigs
	areaGroups
	areaOffsets
	areaTransactions
	areaProducers
	areaSecurity
	areaSchemas
)

// areaOf is the area of a kind of events: numbers go by area (journal/kinds.go).
func areaOf(k journal.Kind) int {
	switch {
	case k < 10:
		return areaBroker
	case k < 20:
		return areaTopics
	case k < 30:
		return areaConfigs
	case k == 30:
		return areaProducers
	case k < 34:
		return areaOffsets
	case k < 90:
		return areaGroups
	case k < 110:
		return areaTransactions
	case k < 140:
		return areaSecurity
	}
	return areaSchemas
}

// kindsOf are the kinds that a filter asks for; all: it asks for any.
func kindsOf(f inside.EntryFilter) (set kindSet, all bool) {
	if f.Area == "" && f.Kind == "" {
		return set, true
	}
	for _, k := range journal.Kinds() {
		inArea := f.Area == "" || inside.Areas[areaOf(k)] == f.Area
		if inArea && (f.Kind == "" || strings.EqualFold(k.Name(), f.Kind)) {
			set.add(k)
		}
	}
	return set, false
}

// Bounds of an entry that is shown.
const (
	maxEvents     = 200
	maxEventText  = 400
	maxEventLines = 300
	maxValue      = 400
	maxThings     = 24
)

// told is an entry as a console shows it.
func (t *Timeline) told(e *journal.Entry, at journal.Place) inside.Entry {
	out := inside.Entry{Seq: e.Seq, At: e.At, Bytes: at.Bytes, Cause: causeOf(&e.Cause)}
	for i, event := range e.Events {
		if i == maxEvents {
			out.More = len(e.Events) - i
			break
		}
		out.Events = append(out.Events, t.toldEvent(event))
	}
	return out
}

func causeOf(c *journal.Cause) inside.Cause {
	if c.API < 0 {
		return inside.Cause{Key: -1, Timer: cut(c.Timer, maxValue)}
	}
	return inside.Cause{
		API: kmsg.NameForKey(c.API), Key: c.API, Conn: c.Conn, Correlation: c.Correlation, Client: cut(c.ClientID, maxValue),
		Principal: cut(c.Principal, maxValue),
	}
}

func (t *Timeline) toldEvent(event journal.Event) inside.Event {
	event = withoutSecrets(event)
	fields := journal.Fields(event)
	l := &eventLines{t: t}
	l.fields(fields, 0, areaOf(event.Kind()))
	l.resource(fields)
	line := strings.TrimPrefix(journal.Line(event), event.Kind().Name())
	out := inside.Event{
		Kind: event.Kind().Name(), Area: inside.Areas[areaOf(event.Kind())], Words: t.words(event), Text: cut(strings.TrimSpace(line), maxEventText), Things: l.things,
		Fields: l.lines,
	}
	return out
}

// eventLines turns an event's fields into lines and finds what it is about.
type eventLines struct {
	t      *Timeline
	lines  []inside.Line
	things []inside.Thing
}

func (l *eventLines) line(depth int, name, value string) {
	if len(l.lines) < maxEventLines {
		l.lines = append(l.lines, inside.Line{Depth: depth, Name: name, Value: cut(value, maxValue)})
	}
}

func (l *eventLines) thing(kind, name string) {
	if name == "" || len(l.things) >= maxThings {
		return
	}
	if thing := (inside.Thing{Kind: kind, Name: name}); !slices.Contains(l.things, thing) {
		l.things = append(l.things, thing)
	}
}

func (l *eventLines) fields(fields []journal.Field, depth, area int) {
	for _, f := range fields {
		l.value(f.Name, f.Value, depth, area)
	}
}

func (l *eventLines) value(name string, value any, depth, area int) {
	if len(l.lines) >= maxEventLines {
		return
	}
	switch v := value.(type) {
	case []journal.Field:
		l.line(depth, name, "")
		l.fields(v, depth+1, area)
	case []any:
		if len(v) > 0 {
			if _, inner := v[0].([]journal.Field); !inner {
				l.line(depth, name, l.list(name, v, area))
				return
			}
		}
		l.line(depth, name, fmt.Sprintf("%d items", len(v)))
		for i, item := range v {
			l.value(fmt.Sprintf("[%d]", i), item, depth+1, area)
		}
	case [16]byte:
		l.line(depth, name, l.id(v))
	default:
		text := journal.ValueText(value)
		l.line(depth, name, text)
		l.named(name, text, area)
	}
}

// list is a list of plain values in a line.
func (l *eventLines) list(name string, list []any, area int) string {
	var b strings.Builder
	for i, item := range list {
		if b.Len() > maxValue {
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		text := journal.ValueText(item)
		b.WriteString(text)
		if name == "topics" && area == areaGroups {
			l.thing("topic", text)
		}
	}
	return b.String()
}

// id is an id with the name of the topic that has it.
func (l *eventLines) id(id [16]byte) string {
	name, known := l.t.TopicName(id)
	if !known {
		return journal.ID(id)
	}
	l.thing("topic", name)
	return journal.ID(id) + " " + name
}

// named notes what a field names.
func (l *eventLines) named(field, text string, area int) {
	switch field {
	case "topic":
		l.thing("topic", text)
	case "group":
		if area != areaSchemas {
			l.thing("group", text)
		}
	case "member":
		l.thing("member", text)
	case "subject":
		l.thing("subject", text)
	case "scope":
		l.thing("subject", text)
	case "transactionalId":
		l.thing("transaction", text)
	case "user", "principal", "owner":
		l.thing("user", text)
	}
}

// resource notes the resource that configs are of.
func (l *eventLines) resource(fields []journal.Field) {
	kind, name, has := int64(0), "", false
	for _, f := range fields {
		switch f.Name {
		case "resourceType":
			kind, has = asInt(f.Value), true
		case "resource":
			name, _ = f.Value.(string)
		}
	}
	if !has {
		return
	}
	switch kind {
	case 2:
		l.thing("topic", name)
	case 32:
		l.thing("group", name)
	}
	l.thing("config", fmt.Sprintf("%d:%s", kind, name))
}

func asInt(v any) int64 {
	n, _ := v.(int64)
	return n
}

// cut is a text that is no longer than max bytes, and a mark when something is missing.
func cut(s string, max int) string {
	if len(s) <= max {
		return s
	}
	return strings.ToValidUTF8(s[:max], "") + "..."
}
