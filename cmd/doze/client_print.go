package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// printList prints rows: as a table for people, as a JSON array for programs. Where there are none, people are told so, beside the output.
func printList(p *process, asJSON bool, rows [][]field, none string) error {
	w := p.stdout
	if len(rows) == 0 && !asJSON {
		fmt.Fprintln(p.stderr, none)
	}
	if asJSON {
		all := make([]object, len(rows))
		for i, row := range rows {
			all[i] = row
		}
		return printIndented(w, all)
	}
	out := bufio.NewWriter(w)
	printRows(out, rows)
	return out.Flush()
}

// printReport prints what one thing is, with its tables.
func printReport(w io.Writer, asJSON bool, r *report) error {
	if asJSON {
		return r.printJSON(w)
	}
	return r.printText(w)
}

// printIndented prints JSON for people who read it too.
func printIndented(w io.Writer, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, b, "", " "); err != nil {
		return err
	}
	out.WriteByte('\n')
	_, err = out.WriteTo(w)
	return err
}
