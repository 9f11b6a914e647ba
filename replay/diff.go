package replay

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"doze/disk"
	"doze/journal"
	"doze/projections"
)

// Journal is one of two to compare.
type Journal struct {
	FS   disk.FS
	Name string
}

// Diff compares two journals: it prints the first entry in which they differ, then the rows in which the states at their
// ends (or at Until) differ. The result's status is Replayed when they are equal, Differs when not, Damaged when one
// cannot be read to its end. Of the options Until, Check, Out and Progress count.
func Diff(a, b Journal, opt Options) (*Result, error) {
	if opt.Out == nil {
		opt.Out = io.Discard
	}
	out := bufio.NewWriterSize(opt.Out, 64<<10)
	differ, err := diffEntries(out, a, b, opt.Until)
	if err != nil {
		return &Result{}, err
	}
	fold := Options{Until: opt.Until, Check: opt.Check, Progress: opt.Progress}
	left, err := Run(a.FS, a.Name, fold)
	if err != nil {
		return left, fmt.Errorf("%s: %w", a.Name, err)
	}
	right, err := Run(b.FS, b.Name, fold)
	if err != nil {
		return right, fmt.Errorf("%s: %w", b.Name, err)
	}
	if right.Status > left.Status {
		left.Status, left.Verdict = right.Status, b.Name+": "+right.Verdict
	}
	if left.State != nil && right.State != nil && left.Hash != right.Hash {
		diffStates(out, left.State, right.State)
		differ = true
	}
	if differ && left.Status == Replayed {
		left.fail(Differs, "the journals differ")
	}
	return left, out.Flush()
}

// side is one journal on the way through both.
type side struct {
	r     *journal.Reader
	entry *journal.Entry
	err   error
}

func (s *side) next(until Bound) {
	s.entry, s.err = s.r.Next()
	if s.err == nil && until.before(s.entry) {
		s.entry, s.err = nil, io.EOF
	}
}

// diffEntries finds and prints the first entry that is not in both.
func diffEntries(out io.Writer, a, b Journal, until Bound) (differ bool, err error) {
	var sides [2]side
	for i, j := range []Journal{a, b} {
		if sides[i].r, err = journal.OpenReader(j.FS, j.Name); err != nil {
			var damage *journal.DamageError
			if errors.As(err, &damage) {
				return false, nil // Run says so
			}
			return false, fmt.Errorf("%s: %w", j.Name, err)
		}
		defer sides[i].r.Close()
		sides[i].next(until)
	}
	l, r := &sides[0], &sides[1]
	if l.r.ClusterID() != r.r.ClusterID() {
		fmt.Fprintf(out, "the journals are of different clusters: %s and %s\n", journal.ID(l.r.ClusterID()), journal.ID(r.r.ClusterID()))
	}
	for l.err == nil && r.err == nil {
		switch {
		case l.entry.Seq < r.entry.Seq && l.entry.Seq < r.r.FirstSeq(): // the other has dropped it
			l.next(until)
			continue
		case r.entry.Seq < l.entry.Seq && r.entry.Seq < l.r.FirstSeq():
			r.next(until)
			continue
		case !bytes.Equal(l.r.Body(), r.r.Body()):
			fmt.Fprintf(out, "first difference at entry %d\n", min(l.entry.Seq, r.entry.Seq))
			printSide(out, "- ", l.entry)
			printSide(out, "+ ", r.entry)
			return true, nil
		}
		l.next(until)
		r.next(until)
	}
	return ending(out, a, l, "- ") || ending(out, b, r, "+ "), nil
}

// ending says that this journal goes on where the other has ended.
func ending(out io.Writer, j Journal, s *side, sign string) bool {
	if s.err != nil {
		return false
	}
	fmt.Fprintf(out, "equal up to entry %d, then %s goes on\n", s.entry.Seq-1, j.Name)
	printSide(out, sign, s.entry)
	return true
}

func printSide(out io.Writer, sign string, e *journal.Entry) {
	for i := range e.Events {
		_, _ = out.Write(appendText([]byte(sign), e, i, nil))
	}
}

// maxDiffRows bounds the rows that are printed for a table.
const maxDiffRows = 20

func diffStates(out io.Writer, a, b *projections.State) {
	for _, table := range projections.Tables() {
		left, right := rowsOf(a, table), rowsOf(b, table)
		differing := 0
		show := func(sign, row string) {
			if differing++; differing == 1 {
				fmt.Fprintf(out, "%s:\n", table)
			}
			if differing <= maxDiffRows {
				fmt.Fprintf(out, "%s %s\n", sign, row)
			}
		}
		for len(left) > 0 || len(right) > 0 {
			switch {
			case len(right) == 0 || len(left) > 0 && left[0] < right[0]:
				show("-", left[0])
				left = left[1:]
			case len(left) == 0 || right[0] < left[0]:
				show("+", right[0])
				right = right[1:]
			default:
				left, right = left[1:], right[1:]
			}
		}
		if differing > maxDiffRows {
			fmt.Fprintf(out, "  and %d more\n", differing-maxDiffRows)
		}
	}
}

func rowsOf(s *projections.State, table string) (rows []string) {
	s.Dump(table, func(fields []projections.Field) bool {
		rows = append(rows, rowText(fields))
		return true
	})
	slices.Sort(rows)
	return rows
}
