package replay

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"doze/journal"
	"doze/projections"
)

// Dump prints tables of a state, all of them when tables is empty or holds "all": in text a line with the table's name and
// a line for each row, in JSON a line for each row.
func Dump(w io.Writer, s *projections.State, tables []string, asJSON bool) error {
	if len(tables) == 0 || slices.Contains(tables, "all") {
		tables = projections.Tables()
	}
	if err := CheckTables(tables); err != nil {
		return err
	}
	for _, table := range tables {
		if err := dumpTable(w, s, table, asJSON); err != nil {
			return err
		}
	}
	return nil
}

// CheckTables says which of the names is no table's; "all" stands for all of them.
func CheckTables(names []string) error {
	for _, name := range names {
		if name != "all" && !slices.Contains(projections.Tables(), name) {
			return fmt.Errorf("there is no table %q; there are %s, or all", name, strings.Join(projections.Tables(), ", "))
		}
	}
	return nil
}

func dumpTable(w io.Writer, s *projections.State, table string, asJSON bool) error {
	var err error
	if !asJSON {
		if _, err := fmt.Fprintf(w, "%s:\n", table); err != nil {
			return err
		}
	}
	var line []byte
	s.Dump(table, func(fields []projections.Field) bool {
		if asJSON {
			line = append(appendString(append(line[:0], `{"table":`...), table), `,"row":`...)
			line = append(appendObject(line, journalFields(fields)), "}\n"...)
		} else {
			line = append(append(append(line[:0], "  "...), rowText(fields)...), '\n')
		}
		_, err = w.Write(line)
		return err == nil
	})
	return err
}

func journalFields(fields []projections.Field) []journal.Field {
	out := make([]journal.Field, len(fields))
	for i, f := range fields {
		out[i] = journal.Field{Name: f.Name, Value: f.Value}
	}
	return out
}

// rowText is a row in a line: name=value ...
func rowText(fields []projections.Field) string {
	var b []byte
	for i, f := range fields {
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(append(b, f.Name...), '=')
		if list, ok := f.Value.([]string); ok {
			b = append(b, '[')
			for i, item := range list {
				if i > 0 {
					b = append(b, ' ')
				}
				b = append(b, journal.Quoted(item)...)
			}
			b = append(b, ']')
			continue
		}
		b = append(b, journal.Quoted(journal.ValueText(f.Value))...)
	}
	return string(b)
}
