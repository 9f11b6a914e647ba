//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"doze/conformance/bench/brokers"
	"doze/conformance/bench/machine"
)

// report is what a run found.
type report struct {
	Facts        machine.Facts   `json:"machine"`
	LoadAfter    string          `json:"load_after"`
	Quick        bool            `json:"quick"`
	Runs         int             `json:"runs"`
	FloorsBefore []machine.Floor `json:"floors_before"`
	FloorsAfter  []machine.Floor `json:"floors_after"`
	Rows         []rowReport     `json:"rows"`

	kinds []brokers.Kind
}

// rowReport holds all values of a row, by broker and metric.
type rowReport struct {
	Name    string                                `json:"name"`
	Title   string                                `json:"title"`
	Metrics []metricReport                        `json:"metrics"`
	Values  map[brokers.Kind]map[string][]float64 `json:"values"`
	Errors  map[brokers.Kind]string               `json:"errors,omitempty"`

	metrics []metric
}

// metricReport is one line of the table.
type metricReport struct {
	Key     string                   `json:"key"`
	Label   string                   `json:"label"`
	Unit    string                   `json:"unit"`
	Medians map[brokers.Kind]float64 `json:"medians"`
	Targets []targetReport           `json:"targets,omitempty"`
}

type targetReport struct {
	Target string `json:"target"`
	Met    string `json:"met"` // yes, no, or "-" where a figure is missing
}

func newRowReport(r row) rowReport {
	return rowReport{Name: r.name, Title: r.title, metrics: r.metrics,
		Values: map[brokers.Kind]map[string][]float64{}, Errors: map[brokers.Kind]string{}}
}

func (r *rowReport) fail(kind brokers.Kind, err error) { r.Errors[kind] = err.Error() }

func (r *rowReport) add(kind brokers.Kind, values sample) {
	if r.Values[kind] == nil {
		r.Values[kind] = map[string][]float64{}
	}
	for key, value := range values {
		r.Values[kind][key] = append(r.Values[kind][key], value)
	}
}

// median returns the median of a figure; ok is false where there is none.
func (r *rowReport) median(kind brokers.Kind, key string) (float64, bool) {
	values := r.Values[kind][key]
	return machine.Median(values), len(values) > 0
}

// conclude computes medians and holds them against the targets.
func (r *rowReport) conclude() {
	r.Metrics = nil
	for _, m := range r.metrics {
		line := metricReport{Key: m.key, Label: m.label, Unit: m.unit, Medians: map[brokers.Kind]float64{}}
		for _, kind := range brokers.Kinds {
			if v, ok := r.median(kind, m.key); ok {
				line.Medians[kind] = v
			}
		}
		for _, t := range m.targets {
			line.Targets = append(line.Targets, targetReport{t.String(), r.verdict(m, t)})
		}
		r.Metrics = append(r.Metrics, line)
	}
}

func (r *rowReport) verdict(m metric, t target) string {
	value, ok := r.median(brokers.Doze, m.key)
	if !ok {
		return "-"
	}
	met, known := t.met(value, r.median, m.key)
	switch {
	case !known:
		return "-"
	case met:
		return "yes"
	}
	return "no"
}

func (r *report) writeJSON(w io.Writer) error {
	for i := range r.Rows {
		r.Rows[i].conclude()
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// writeTable prints a Markdown table, so that it can go into a document as it is.
func (r *report) writeTable(w io.Writer) error {
	var out strings.Builder
	r.writeHead(&out)
	for i := range r.Rows {
		r.Rows[i].conclude()
	}
	writeAligned(&out, r.tableLines())
	r.writeErrors(&out)
	_, err := io.WriteString(w, out.String())
	return err
}

func (r *report) writeHead(out *strings.Builder) {
	f := r.Facts
	fmt.Fprintf(out, "%s, %d CPUs, %d MiB, Linux %s, %s; load before %s, after %s; medians of %d runs",
		f.CPU, f.CPUs, f.MemoryMiB, f.Kernel, f.FileSystem, f.Load, r.LoadAfter, r.Runs)
	if r.Quick {
		out.WriteString("; quick: small sizes, not for the record")
	}
	out.WriteString("\n\n")
	for i, floor := range r.FloorsBefore {
		fmt.Fprintf(out, "floor: %s %s %s before, %s after\n", floor.Name, number(floor.Value), floor.Unit, number(r.FloorsAfter[i].Value))
	}
	out.WriteString("\n")
}

func (r *report) tableLines() [][]string {
	lines := [][]string{{"row", "figure", "unit"}}
	for _, kind := range r.kinds {
		lines[0] = append(lines[0], string(kind))
	}
	lines[0] = append(lines[0], "doze/kafka", "doze/kfake", "target", "met")
	for _, row := range r.Rows {
		for _, m := range row.Metrics {
			lines = append(lines, r.tableLine(row, m))
		}
	}
	return lines
}

func (r *report) tableLine(row rowReport, m metricReport) []string {
	line := []string{row.Name, m.Label, m.Unit}
	for _, kind := range r.kinds {
		line = append(line, cell(m, kind))
	}
	line = append(line, ratio(m, brokers.Kafka), ratio(m, brokers.Kfake))
	var targets, met []string
	for _, t := range m.Targets {
		targets, met = append(targets, t.Target), append(met, t.Met)
	}
	return append(line, strings.Join(targets, ", "), strings.Join(met, ", "))
}

func cell(m metricReport, kind brokers.Kind) string {
	v, ok := m.Medians[kind]
	if !ok {
		return "-"
	}
	return number(v)
}

func ratio(m metricReport, of brokers.Kind) string {
	a, okA := m.Medians[brokers.Doze]
	b, okB := m.Medians[of]
	if !okA || !okB || b == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", a/b)
}

// number prints three significant digits, and whole numbers from 100 on.
func number(v float64) string {
	if v >= 100 || v == 0 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

func writeAligned(out *strings.Builder, lines [][]string) {
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, text := range line {
			widths[i] = max(widths[i], len(text))
		}
	}
	for n, line := range lines {
		for i, text := range line {
			fmt.Fprintf(out, "| %-*s ", widths[i], text)
		}
		out.WriteString("|\n")
		if n == 0 {
			for _, width := range widths {
				out.WriteString("|" + strings.Repeat("-", width+2))
			}
			out.WriteString("|\n")
		}
	}
}

func (r *report) writeErrors(out *strings.Builder) {
	for _, row := range r.Rows {
		for _, kind := range slices.Sorted(maps.Keys(row.Errors)) {
			fmt.Fprintf(out, "\n%s, %s: %s", row.Name, kind, row.Errors[kind])
		}
	}
	out.WriteString("\n")
}
