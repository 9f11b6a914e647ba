package conformance

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"doze/conformance/recording"
)

// sortRule names a list of an answer whose order Kafka does not promise (it walks a hash map), and the fields that
// order it here. In the path a dot goes down a level, through every element of a list.
type sortRule struct {
	path string
	by   []string
	why  string
}

// sortRules by API key. Every list that is not named here is compared in the order in which it was sent.
var sortRules = map[int16][]sortRule{
	2: {
		{"Topics", []string{"Topic"}, "answers are gathered in a hash map by partition"},
		{"Topics.Partitions", []string{"Partition"}, "answers are gathered in a hash map by partition"},
	},
	32: {
		{"Resources.Configs", []string{"Name"}, "keys are kept in a hash map; doze answers them in name order"},
	},
	74: {
		{"ConfigResources", []string{"Type", "Name"}, "names of a kind are gathered in a hash map"},
	},
	18: {
		{"SupportedFeatures", []string{"Name"}, "features are kept in a hash map"},
		{"FinalizedFeatures", []string{"Name"}, "features are kept in a hash map"},
	},
}

func sortAnswer(key int16, obj recording.Object) {
	for _, rule := range sortRules[key] {
		sortAt(obj, strings.Split(rule.path, "."), rule.by)
	}
}

func sortAt(v recording.Value, path, by []string) {
	switch v := v.(type) {
	case []recording.Value:
		for _, e := range v {
			sortAt(e, path, by)
		}
	case recording.Object:
		child := v.Get(path[0])
		if len(path) > 1 {
			sortAt(child, path[1:], by)
			return
		}
		if list, ok := child.([]recording.Value); ok {
			slices.SortStableFunc(list, func(a, b recording.Value) int {
				return strings.Compare(sortKey(a, by), sortKey(b, by))
			})
		}
	}
}

// sortKey is the text of the fields that order an element, or of the element itself when none are named.
func sortKey(v recording.Value, by []string) string {
	obj, ok := v.(recording.Object)
	if !ok || len(by) == 0 {
		return textOf(v)
	}
	var b strings.Builder
	for _, field := range by {
		b.WriteString(textOf(obj.Get(field)))
		b.WriteByte(0)
	}
	return b.String()
}

// textOf gives numbers a fixed width, so that they sort as numbers.
func textOf(v recording.Value) string {
	if n, ok := v.(int64); ok {
		return fmt.Sprintf("%020d", uint64(n)^1<<63)
	}
	if s, ok := v.(string); ok {
		return s
	}
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(text)
}
