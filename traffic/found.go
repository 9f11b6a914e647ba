package traffic

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Bounds of what is looked for in a message.
const (
	maxLooked = 4096 // values that are visited
	maxNamed  = 32   // topics, groups
	maxErrors = 4    // kinds of errors
)

// finding goes through a message once and gathers the topics, groups and errors in it.
type finding struct {
	name   TopicNamer
	left   int
	topics []string
	groups []string
	codes  []int16
	counts map[int16]int
}

// find gathers what a request and its answer name, and what the answer refuses; either may be nil.
func find(ask kmsg.Request, got kmsg.Response, name TopicNamer) finding {
	f := finding{name: name, left: maxLooked}
	if ask != nil {
		f.walk(reflect.ValueOf(ask), 0)
	}
	topics, groups := f.topics, f.groups
	if got != nil {
		f.left = maxLooked
		f.walk(reflect.ValueOf(got), 0)
	}
	if ask != nil && !tellsNames(ask.Key()) {
		f.topics, f.groups = topics, groups // what is only in an answer is no more than told
	}
	return f
}

// tellsNames says whether an API's answers name what was asked for by other means.
func tellsNames(key int16) bool { return key == 1 || key == 78 || key == 9 }

func (f *finding) walk(v reflect.Value, depth int) {
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return
		}
		v = v.Elem()
	}
	if f.left--; f.left < 0 || depth > maxDepth {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		f.walkFields(v, depth)
	case reflect.Slice:
		if k := v.Type().Elem().Kind(); k != reflect.Struct && k != reflect.Pointer {
			return
		}
		for i := 0; i < v.Len() && f.left > 0; i++ {
			f.walk(v.Index(i), depth+1)
		}
	}
}

func (f *finding) walkFields(v reflect.Value, depth int) {
	t := v.Type()
	for i := range t.NumField() {
		name, field := t.Field(i).Name, v.Field(i)
		switch name {
		case "Version", "UnknownTags":
			continue
		case "Topic", "TopicID":
			f.topic(field)
		case "TopicNames", "SubscribedTopicNames":
			f.all(&f.topics, field)
		case "Group", "GroupID":
			f.group(field)
		case "GroupIDs":
			f.all(&f.groups, field)
		case "Groups":
			if field.Type().Elem().Kind() == reflect.String {
				f.all(&f.groups, field)
				continue
			}
		case "ErrorCode":
			if field.Kind() == reflect.Int16 {
				f.code(int16(field.Int()))
			}
			continue
		}
		f.walk(field, depth+1)
	}
}

func (f *finding) topic(v reflect.Value) {
	v = reflect.Indirect(v)
	if !v.IsValid() {
		return
	}
	switch v.Kind() {
	case reflect.String:
		put(&f.topics, v.String())
	case reflect.Array:
		if id, ok := v.Interface().([16]byte); ok && id != ([16]byte{}) {
			put(&f.topics, topicName("", id, f.name))
		}
	}
}

func (f *finding) group(v reflect.Value) {
	if v = reflect.Indirect(v); v.IsValid() && v.Kind() == reflect.String {
		put(&f.groups, v.String())
	}
}

func (f *finding) all(to *[]string, v reflect.Value) {
	if v.Kind() != reflect.Slice || v.Type().Elem().Kind() != reflect.String {
		return
	}
	for i := range min(v.Len(), maxNamed) {
		put(to, v.Index(i).String())
	}
}

// put adds a name that is not there yet, cut to a length.
func put(to *[]string, name string) {
	name = cut(name, maxKeptName)
	if name != "" && len(*to) < maxNamed && !slices.Contains(*to, name) {
		*to = append(*to, name)
	}
}

func (f *finding) code(code int16) {
	if code == 0 {
		return
	}
	if f.counts == nil {
		f.counts = map[int16]int{}
	}
	if f.counts[code]++; f.counts[code] == 1 {
		f.codes = append(f.codes, code)
	}
}

// errors are the names of what was refused, with how often.
func (f *finding) errors() string {
	var all []string
	for i, code := range f.codes {
		if i == maxErrors {
			all = append(all, fmt.Sprintf("and %d others", len(f.codes)-i))
			break
		}
		name := errorName(code)
		if n := f.counts[code]; n > 1 {
			name = fmt.Sprintf("%s (%d times)", name, n)
		}
		all = append(all, name)
	}
	return strings.Join(all, ", ")
}
