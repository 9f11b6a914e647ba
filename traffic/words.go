package traffic

import (
	"encoding/base64"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"
)

// maxWords bounds what is said of a message in words: it is for a line.
const maxWords = 200

// TopicNamer gives the name of a topic that a message names only by its id; false: no topic has it (any more).
type TopicNamer func(id [16]byte) (name string, known bool)

// words is words with spaces between them, up to maxWords bytes.
type words struct {
	strings.Builder
	full bool
	name TopicNamer // nil: nobody knows names
}

func (w *words) add(format string, args ...any) {
	if w.full {
		return
	}
	word := fmt.Sprintf(format, args...)
	if w.Len()+1+len(word) > maxWords {
		w.full = true
		w.WriteString(" ...")
		return
	}
	if w.Len() > 0 {
		w.WriteByte(' ')
	}
	w.WriteString(word)
}

// topic names a topic, by its id when that is all there is, with a number of partitions.
func (w *words) topic(name string, id [16]byte, partitions int) {
	if w.full {
		return
	}
	named := shown(w.topicName(name, id))
	if partitions > 0 {
		w.add("%s[%d]", named, partitions)
		return
	}
	w.add("%s", named)
}

// topicName is the name that a message gives, or that of the id.
func (w *words) topicName(name string, id [16]byte) string { return topicName(name, id, w.name) }

func topicName(name string, id [16]byte, of TopicNamer) string {
	if name != "" || id == ([16]byte{}) {
		return name
	}
	if of != nil {
		if name, known := of(id); known {
			return name
		}
	}
	return base64.RawURLEncoding.EncodeToString(id[:])
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// longestName is what is shown of a name at most, in bytes.
const longestName = 80

// shown is a name as it may stand in a line: itself, or quoted, cut to a length.
func shown(name string) string {
	if len(name) > longestName {
		return fmt.Sprintf("%+q...", name[:longestName])
	}
	plain := name != "" && !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' })
	if plain {
		return name
	}
	return fmt.Sprintf("%+q", name)
}

// cut is a text that keeps no more than max bytes, and nothing of the text that it was cut from.
func cut(s string, max int) string {
	if len(s) <= max {
		return s
	}
	for max > 0 && !utf8.RuneStart(s[max]) {
		max--
	}
	return strings.Clone(s[:max]) + "..."
}

// plain describes a message of an API that nothing else is known of by its fields that are set.
func (w *words) plain(message any) {
	v := reflect.Indirect(reflect.ValueOf(message))
	if v.Kind() != reflect.Struct {
		return
	}
	o := &opening{name: w.name}
	for i := range min(v.NumField(), maxPlainWord) {
		f, name := v.Field(i), v.Type().Field(i).Name
		switch name {
		case "Version", "UnknownTags", "ThrottleMillis", "ErrorCode", "ErrorMessage":
			continue
		}
		f = reflect.Indirect(f)
		switch {
		case !f.IsValid() || f.IsZero():
		case f.Kind() == reflect.Slice && f.Type().Elem().Kind() == reflect.String:
			w.names(kafkaName(name), stringsOf(f))
		case f.Kind() == reflect.Slice && f.Type().Elem().Kind() != reflect.Uint8:
			w.add("%d %s", f.Len(), kafkaName(name))
		case f.Kind() == reflect.Slice || f.Kind() == reflect.Struct:
		default:
			w.add("%s=%s", kafkaName(name), shown(o.scalar(f)))
		}
	}
}

func stringsOf(v reflect.Value) []string {
	out := make([]string, min(v.Len(), 20))
	for i := range out {
		out[i] = v.Index(i).String()
	}
	return out
}
