package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"doze/conformance/recording"
)

// Deliberate is one way in which doze differs from Kafka on purpose. docs/differences.md explains each.
type Deliberate struct {
	Name       string    `json:"name"`
	Reason     string    `json:"reason"`
	Everywhere []Rewrite `json:"everywhere,omitempty"`
	At         []Place   `json:"at,omitempty"`
	// By says what takes the difference into account when that is not this file.
	By string `json:"by,omitempty"`

	used bool
}

// Rewrite is a difference wherever it occurs: an object in an answer that has these fields in Kafka's has those in doze's.
type Rewrite struct {
	API   []string         `json:"api"`
	Kafka recording.Object `json:"kafka"`
	Doze  recording.Object `json:"doze"`
}

// Place is a difference at one place of one scenario, with both sides.
type Place struct {
	Scenario string          `json:"scenario"`
	Step     string          `json:"step"`
	Field    string          `json:"field"`
	Kafka    json.RawMessage `json:"kafka"`
	Doze     json.RawMessage `json:"doze"`
}

// shownElsewhere are the By of differences that no recording of TestRecordings meets: comparing sorted lists hides one, a test shows
// each of the others, in this package where it needs a full disk, else in the package whose bytes, memory or secrets it is about.
var shownElsewhere = []string{"order.go", "full_disk_test.go", "segments/compact_test.go", "wire/gate_test.go",
	"handlers/delegation_tokens_test.go"}

// Differences are all of them. They remember which were met, so that one that is gone shows.
type Differences struct{ all []*Deliberate }

// LoadDifferences reads differences.json.
func LoadDifferences(path string) (*Differences, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read differences: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	ds := &Differences{}
	if err := dec.Decode(&ds.all); err != nil {
		return nil, fmt.Errorf("read differences %s: %w", path, err)
	}
	return ds, nil
}

// Names lists the differences.
func (ds *Differences) Names() []string {
	var names []string
	for _, d := range ds.all {
		names = append(names, d.Name)
	}
	return names
}

// Unused lists the differences that were not met since they were loaded. It is called when no scenario is running.
func (ds *Differences) Unused() []string {
	var names []string
	for _, d := range ds.all {
		if !d.used && !slices.Contains(shownElsewhere, d.By) {
			names = append(names, d.Name)
		}
	}
	return names
}

// meet notes that a difference occurred.
func (ds *Differences) meet(name string) {
	for _, d := range ds.all {
		d.used = d.used || d.Name == name
	}
}

// Expected is Kafka's recording as doze should answer it: with the rewrites applied. It gives those that were.
func (ds *Differences) Expected(rec *recording.Recording) (*recording.Recording, []*Deliberate) {
	var met []*Deliberate
	out := *rec
	out.Steps = slices.Clone(rec.Steps)
	for i := range out.Steps {
		step := &out.Steps[i]
		if step.Answer == nil {
			continue
		}
		for _, d := range ds.all {
			for _, rule := range d.Everywhere {
				if slices.Contains(rule.API, apiOf(step.API)) && rule.apply(step) {
					met = append(met, d)
				}
			}
		}
	}
	return &out, met
}

// apiOf is "CreateTopics" of "CreateTopics v7".
func apiOf(step string) string {
	name, _, _ := bytes.Cut([]byte(step), []byte(" "))
	return string(name)
}

func (r Rewrite) apply(step *recording.Step) bool {
	changed := false
	step.Answer = r.value(step.Answer, &changed).(recording.Object)
	return changed
}

func (r Rewrite) value(v recording.Value, changed *bool) recording.Value {
	switch v := v.(type) {
	case []recording.Value:
		out := make([]recording.Value, len(v))
		for i, e := range v {
			out[i] = r.value(e, changed)
		}
		return out
	case recording.Object:
		out := make(recording.Object, len(v))
		for i, f := range v {
			out[i] = recording.Field{Name: f.Name, Value: r.value(f.Value, changed)}
		}
		if r.matches(out) {
			*changed = true
			for i, f := range out {
				if r.Doze.Has(f.Name) {
					out[i].Value = r.Doze.Get(f.Name)
				}
			}
		}
		return out
	}
	return v
}

func (r Rewrite) matches(obj recording.Object) bool {
	for _, want := range r.Kafka {
		if !obj.Has(want.Name) || !sameJSON(want.Value, obj.Get(want.Name)) {
			return false
		}
	}
	return true
}

// Unexplained is what remains of a scenario's differences when those that are on purpose are taken away.
func (ds *Differences) Unexplained(scenario string, found []recording.Difference) (rest []recording.Difference, met []*Deliberate) {
	for _, f := range found {
		if d := ds.explains(scenario, f); d != nil {
			met = append(met, d)
			continue
		}
		rest = append(rest, f)
	}
	return rest, met
}

func (ds *Differences) explains(scenario string, f recording.Difference) *Deliberate {
	for _, d := range ds.all {
		for _, p := range d.At {
			if p.Scenario == scenario && p.Step == f.Step && p.Field == f.Field && sameJSON(p.Kafka, f.Want) && sameJSON(p.Doze, f.Got) {
				return d
			}
		}
	}
	return nil
}

// sameJSON compares values as their texts.
func sameJSON(a, b any) bool {
	x, errA := json.Marshal(a)
	y, errB := json.Marshal(b)
	return errA == nil && errB == nil && bytes.Equal(x, y)
}
