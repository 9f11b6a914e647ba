package main

import (
	"encoding/json"
	"slices"
	"strings"

	"doze/conformance/recording"
)

// blur takes out of a recording what hangs on Kafka's hash maps: which of several tasks a member of a streams group has, and in which
// order members of a group are listed whose ids are random.
func blur(r *recording.Recording, groups string) {
	if r == nil {
		return
	}
	for i := range r.Steps {
		step := &r.Steps[i]
		switch groups {
		case "tasks":
			step.Request, step.Answer = counted(step.Request).(recording.Object), counted(step.Answer).(recording.Object)
		case "migration":
			step.Answer = ordered(step.Answer).(recording.Object)
		}
	}
}

// counted has the number of tasks where lists of them stand.
func counted(v recording.Value) recording.Value {
	return changed(v, func(name string, v recording.Value) recording.Value {
		if list, ok := v.([]recording.Value); ok && strings.HasSuffix(name, "Tasks") {
			return partitions(list)
		}
		return v
	})
}

func partitions(list []recording.Value) (n int) {
	for _, task := range list {
		for _, f := range task.(recording.Object) {
			if of, ok := f.Value.([]recording.Value); ok && f.Name == "Partitions" {
				n += len(of)
			}
		}
	}
	return n
}

// ordered has members in the order of their instance ids.
func ordered(v recording.Value) recording.Value {
	key := func(member recording.Value) string {
		var id, instance []byte
		for _, f := range member.(recording.Object) {
			switch f.Name {
			case "MemberID":
				id, _ = json.Marshal(f.Value)
			case "InstanceID":
				instance, _ = json.Marshal(f.Value)
			}
		}
		return string(instance) + string(id)
	}
	return changed(v, func(name string, v recording.Value) recording.Value {
		list, ok := v.([]recording.Value)
		if !ok || name != "Members" {
			return v
		}
		list = slices.Clone(list)
		slices.SortFunc(list, func(a, b recording.Value) int { return strings.Compare(key(a), key(b)) })
		return list
	})
}

// changed is a value with all fields below it changed.
func changed(v recording.Value, change func(name string, v recording.Value) recording.Value) recording.Value {
	switch v := v.(type) {
	case []recording.Value:
		out := make([]recording.Value, len(v))
		for i, e := range v {
			out[i] = changed(e, change)
		}
		return out
	case recording.Object:
		out := make(recording.Object, len(v))
		for i, f := range v {
			out[i] = recording.Field{Name: f.Name, Value: change(f.Name, changed(f.Value, change))}
		}
		return out
	}
	return v
}
