package recording

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Difference is one place where two recordings of a session do not say the same.
type Difference struct {
	Step  string // the step's name; "steps" when their number or order differs
	API   string
	Field string // "Answer.Topics[0].ErrorCode", "Outcome", ...
	Want  Value  // Absent where there is nothing
	Got   Value
}

// Absent is the value of a field that one side does not have.
const Absent = "(absent)"

// Diff compares two recordings step by step.
func Diff(want, got *Recording) []Difference {
	var d differ
	for i := range min(len(want.Steps), len(got.Steps)) {
		d.step(want.Steps[i], got.Steps[i])
	}
	if len(want.Steps) != len(got.Steps) {
		d.at = Difference{Step: "steps"}
		d.add("number", int64(len(want.Steps)), int64(len(got.Steps)))
	}
	return d.found
}

type differ struct {
	at    Difference
	found []Difference
}

func (d *differ) add(field string, want, got Value) {
	d.at.Field, d.at.Want, d.at.Got = field, want, got
	d.found = append(d.found, d.at)
}

func (d *differ) step(want, got Step) {
	d.at = Difference{Step: want.Name, API: want.API}
	if want.Name != got.Name {
		d.add("step", want.Name, got.Name)
		return
	}
	d.text("Conn", want.Conn, got.Conn)
	d.text("API", want.API, got.API)
	d.text("Raw", want.Raw, got.Raw)
	d.text("Outcome", want.Outcome, got.Outcome)
	d.text("Took", want.Took, got.Took)
	d.text("Wire", want.Wire, got.Wire)
	d.value("Request", objectOrNil(want.Request), objectOrNil(got.Request))
	d.value("Answer", objectOrNil(want.Answer), objectOrNil(got.Answer))
}

func objectOrNil(o Object) Value {
	if o == nil {
		return nil
	}
	return o
}

func (d *differ) text(field, want, got string) {
	if want != got {
		d.add(field, want, got)
	}
}

func (d *differ) value(field string, want, got Value) {
	switch w := want.(type) {
	case Object:
		if g, ok := got.(Object); ok {
			d.object(field, w, g)
			return
		}
	case []Value:
		if g, ok := got.([]Value); ok {
			d.list(field, w, g)
			return
		}
	default:
		if !isTree(got) && want == got {
			return
		}
	}
	d.add(field, want, got)
}

// isTree says whether a value cannot be compared with ==.
func isTree(v Value) bool {
	switch v.(type) {
	case Object, []Value:
		return true
	}
	return false
}

func (d *differ) object(field string, want, got Object) {
	for _, f := range want {
		if has(got, f.Name) {
			d.value(field+"."+f.Name, f.Value, got.Get(f.Name))
		} else {
			d.add(field+"."+f.Name, f.Value, Absent)
		}
	}
	for _, f := range got {
		if !has(want, f.Name) {
			d.add(field+"."+f.Name, Absent, f.Value)
		}
	}
}

func has(o Object, name string) bool {
	for _, f := range o {
		if f.Name == name {
			return true
		}
	}
	return false
}

func (d *differ) list(field string, want, got []Value) {
	for i := range max(len(want), len(got)) {
		at := fmt.Sprintf("%s[%d]", field, i)
		switch {
		case i >= len(got):
			d.add(at, want[i], Absent)
		case i >= len(want):
			d.add(at, Absent, got[i])
		default:
			d.value(at, want[i], got[i])
		}
	}
}

// Report lists differences for people, under the step that they belong to.
func Report(diffs []Difference, want, got string) string {
	var b strings.Builder
	last := ""
	for _, d := range diffs {
		if head := fmt.Sprintf("step %q (%s)", d.Step, d.API); head != last {
			b.WriteString(head + "\n")
			last = head
		}
		fmt.Fprintf(&b, "  %s\n    %-5s %s\n    %-5s %s\n", d.Field, want, show(d.Want), got, show(d.Got))
	}
	return b.String()
}

func show(v Value) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}
