package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/vmihailenco/msgpack/v5"

	"doze/journal"
	"doze/replay"
)

// object is fields as a JSON object or a MessagePack map, in their order.
type object []field

// MarshalJSON keeps the order of fields.
func (o object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, f := range o {
		if i > 0 {
			b = append(b, ',')
		}
		name, err := json.Marshal(f.Name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(f.Value)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, name...), ':'), value...)
	}
	return append(b, '}'), nil
}

// EncodeMsgpack keeps the order of fields.
func (o object) EncodeMsgpack(e *msgpack.Encoder) error {
	if err := e.EncodeMapLen(len(o)); err != nil {
		return err
	}
	for _, f := range o {
		if err := e.EncodeString(f.Name); err != nil {
			return err
		}
		if err := e.Encode(f.Value); err != nil {
			return err
		}
	}
	return nil
}

// object is the report as one value: what it is about, then a list for each table.
func (r *report) object() object {
	o := object(slices.Clone(r.about))
	for _, s := range r.sections {
		rows := make([]object, len(s.rows))
		for i, row := range s.rows {
			rows[i] = row
		}
		o = append(o, field{Name: s.name, Value: rows})
	}
	return o
}

func (r *report) printJSON(w io.Writer) error { return printIndented(w, r.object()) }

func (r *report) printMsgpack(w io.Writer) error {
	out := bufio.NewWriter(w)
	e := msgpack.NewEncoder(out)
	e.UseCompactInts(true)
	if err := e.Encode(r.object()); err != nil {
		return err
	}
	return out.Flush()
}

// printText prints tables for people.
func (r *report) printText(w io.Writer) error {
	out := bufio.NewWriter(w)
	width := 0
	for _, f := range r.about {
		width = max(width, len(f.Name))
	}
	for _, f := range r.about {
		text, _ := inText(f)
		fmt.Fprintf(out, "%-*s  %s\n", width, f.Name, text)
	}
	for _, s := range r.sections {
		fmt.Fprintf(out, "\n%s (%d)\n", s.name, len(s.rows))
		if len(s.rows) == 0 {
			fmt.Fprintf(out, "  %s\n", cmp.Or(s.none, "none"))
		}
		printRows(out, s.rows)
		if s.note != "" {
			fmt.Fprintf(out, "  %s\n", s.note)
		}
	}
	return out.Flush()
}

// printRows aligns the columns, numbers to the right. A column that is empty in every row is left out.
func printRows(w io.Writer, rows [][]field) {
	if len(rows) == 0 {
		return
	}
	lines := make([][]string, len(rows)+1)
	var right []bool
	for column := range rows[0] {
		cells, numbers, empty := []string{rows[0][column].Name}, true, true
		for _, row := range rows {
			text, number := inText(row[column])
			cells, numbers, empty = append(cells, text), numbers && number, empty && text == ""
		}
		if empty {
			continue
		}
		right = append(right, numbers)
		for i := range cells {
			lines[i] = append(lines[i], cells[i])
		}
	}
	widths := make([]int, len(right))
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, line := range lines {
		var b strings.Builder
		for i, cell := range line {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if right[i] {
				cell = pad + cell
			} else {
				cell += pad
			}
			b.WriteString("  " + cell)
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}

// inText is a value for people: times absolute, sizes rounded, -1 where it means none as a dash.
func inText(f field) (text string, number bool) {
	switch v := f.Value.(type) {
	case int64:
		switch {
		case v == -1:
			return "-", true
		case f.Name == "since" || strings.HasSuffix(f.Name, "-at"):
			return replay.Time(v), false
		case f.Name == "bytes" || strings.HasSuffix(f.Name, "-bytes"):
			return inBytes(v), true
		}
		return strconv.FormatInt(v, 10), true
	case bool:
		if v {
			return "yes", false
		}
		return "no", false
	case []string:
		words := make([]string, len(v))
		for i, word := range v {
			words[i] = journal.Quoted(word)
		}
		return strings.Join(words, " "), false
	case string:
		if v == "" || strings.HasPrefix(v, "unknown, ") || f.Name == "kind" || f.Name == "note" || f.Name == "directory" || f.Name == "error" {
			return v, false
		}
		if _, err := strconv.ParseInt(v, 10, 64); err == nil && f.Name == "end-then" {
			return v, true
		}
		return journal.Quoted(v), false
	}
	return fmt.Sprint(f.Value), false
}

func inBytes(n int64) string {
	if n < 1<<10 {
		return strconv.FormatInt(n, 10) + " B"
	}
	size, unit := float64(n)/(1<<10), 0
	for size >= 1024 && unit < 3 {
		size, unit = size/1024, unit+1
	}
	return strconv.FormatFloat(size, 'f', 1, 64) + " " + []string{"KiB", "MiB", "GiB", "TiB"}[unit]
}
