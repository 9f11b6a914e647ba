package projections

import (
	"bytes"
	"errors"
	"slices"
	"testing"
)

// A row that is accepted is one that the state then gives back, byte for byte.
func FuzzLoadRow(f *testing.F) {
	rows := rowsOf(f, furnished(f))
	for _, row := range rows {
		f.Add(row)
	}
	f.Add([]byte{})
	f.Add([]byte{99, 1})
	f.Add([]byte{2, 1, 'x', 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, row []byte) {
		for _, s := range []*State{New(), furnished(t)} {
			if s.LoadRow(row) != nil {
				continue
			}
			_ = s.Check()
			after := rowsOf(t, s)
			if !slices.ContainsFunc(after, func(r []byte) bool { return bytes.Equal(r, row) }) {
				t.Fatalf("%x is accepted and not given back", row)
			}
			for _, table := range Tables() {
				s.Dump(table, func([]Field) bool { return true })
			}
		}
	})
}

var errMany = errors.New("more rows than were loaded")

func rowsOf(tb testing.TB, s *State) (rows [][]byte) {
	tb.Helper()
	err := s.Rows(func(row []byte) error {
		if len(rows) > 100 {
			return errMany
		}
		rows = append(rows, bytes.Clone(row))
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return rows
}

func TestRowsLoadBack(t *testing.T) {
	rows := rowsOf(t, furnished(t))
	s := New()
	for _, row := range rows {
		if err := s.LoadRow(row); err != nil {
			t.Fatal(err)
		}
	}
	if again := rowsOf(t, s); !slices.EqualFunc(rows, again, bytes.Equal) {
		t.Errorf("rows\n%x\ncome back as\n%x", rows, again)
	}
	if err := s.Check(); err != nil {
		t.Error(err)
	}
}
