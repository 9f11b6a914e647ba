package replay

import (
	"encoding/hex"
	"encoding/json"
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/journal"
)

// appendText appends the line of one event:
//
//	SEQ TIME [CAUSE] EVENT field=value ...
func appendText(b []byte, entry *journal.Entry, event int, topics topicNames) []byte {
	b = strconv.AppendUint(b, entry.Seq, 10)
	b = append(b, ' ')
	b = append(b, Time(entry.At)...)
	b = append(appendCause(append(b, " ["...), &entry.Cause), "] "...)
	b = append(b, journal.Line(entry.Events[event])...)
	if name, ok := nameOfEvent(entry.Events[event], topics); ok {
		b = append(append(b, " # topic "...), journal.Quoted(name)...)
	}
	return append(b, '\n')
}

// nameOfEvent is the topic that an event names only by its id.
func nameOfEvent(e journal.Event, topics topicNames) (string, bool) {
	fields := journal.Fields(e)
	for _, f := range fields {
		if f.Name == "topic" {
			return "", false
		}
	}
	for _, f := range fields {
		if id, ok := f.Value.([16]byte); ok && f.Name == "topicId" {
			name, known := topics[id]
			return name, known
		}
	}
	return "", false
}

func appendCause(b []byte, c *journal.Cause) []byte {
	if c.API < 0 {
		return append(b, journal.Quoted(c.Timer)...) // the broker by itself: a timer, its start
	}
	b = append(b, kmsg.NameForKey(c.API)...)
	b = append(append(b, " client="...), journal.Quoted(c.ClientID)...)
	b = strconv.AppendUint(append(b, " conn="...), c.Conn, 10)
	b = strconv.AppendInt(append(b, " request="...), int64(c.Correlation), 10)
	if c.Principal != "" {
		b = append(append(b, " principal="...), journal.Quoted(c.Principal)...)
	}
	return b
}

// appendJSON appends the line of one entry with those of its events that are shown.
func appendJSON(b []byte, entry *journal.Entry, shown []int, topics topicNames, pos journal.Position) []byte {
	b = strconv.AppendUint(append(b, `{"seq":`...), entry.Seq, 10)
	b = strconv.AppendInt(append(b, `,"at":`...), entry.At, 10)
	b = appendString(append(b, `,"time":`...), Time(entry.At))
	b = appendCauseJSON(append(b, `,"cause":`...), &entry.Cause)
	b = append(b, `,"events":[`...)
	for i, n := range shown {
		if i > 0 {
			b = append(b, ',')
		}
		e := entry.Events[n]
		b = appendString(append(b, `{"kind":`...), e.Kind().Name())
		if name, ok := nameOfEvent(e, topics); ok {
			b = appendString(append(b, `,"topicName":`...), name)
		}
		b = append(appendObject(append(b, `,"fields":`...), journal.Fields(e)), '}')
	}
	b = appendString(append(b, `],"file":`...), pos.File)
	b = strconv.AppendInt(append(b, `,"offset":`...), pos.Offset, 10)
	b = strconv.AppendInt(append(b, `,"bytes":`...), pos.Bytes, 10)
	return append(b, "}\n"...)
}

func appendCauseJSON(b []byte, c *journal.Cause) []byte {
	if c.API < 0 {
		return append(appendString(append(b, `{"timer":`...), c.Timer), '}')
	}
	b = appendString(append(b, `{"api":`...), kmsg.NameForKey(c.API))
	b = appendString(append(b, `,"client":`...), c.ClientID)
	b = strconv.AppendUint(append(b, `,"conn":`...), c.Conn, 10)
	b = strconv.AppendInt(append(b, `,"request":`...), int64(c.Correlation), 10)
	b = appendString(append(b, `,"principal":`...), c.Principal)
	return append(b, '}')
}

func appendObject(b []byte, fields []journal.Field) []byte {
	b = append(b, '{')
	for i, f := range fields {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendJSONValue(append(appendString(b, f.Name), ':'), f.Value)
	}
	return append(b, '}')
}

func appendJSONValue(b []byte, value any) []byte {
	switch v := value.(type) {
	case []journal.Field:
		return appendObject(b, v)
	case []any:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSONValue(b, item)
		}
		return append(b, ']')
	case []string:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendString(b, item)
		}
		return append(b, ']')
	case []byte:
		return appendString(b, hex.EncodeToString(v))
	case int64, uint64, bool:
		return append(b, journal.ValueText(v)...)
	}
	return appendString(b, journal.ValueText(value))
}

func appendString(b []byte, s string) []byte {
	quoted, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always has a JSON form
	}
	return append(b, quoted...)
}
