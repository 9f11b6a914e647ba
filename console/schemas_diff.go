package console

import (
	"bytes"
	"encoding/json"
	"strings"
)

// diffLine is a line of a comparison of two texts. Old and New are line numbers from 1; 0 where the text does not have the line.
type diffLine struct {
	Old, New int
	Text     string
	Kind     diffKind
}

// diffKind says which of the two texts has a line.
type diffKind string

const (
	diffSame    diffKind = "same"
	diffRemoved diffKind = "removed"
	diffAdded   diffKind = "added"
)

// diffPair is a row of a comparison side by side; a nil side is a gap.
type diffPair struct{ Old, New *diffLine }

// maxDiffCells bounds the table of a comparison: 1,000 changed lines against 1,000. What is larger is shown as all removed
// and all added.
const maxDiffCells = 1_000_000

// diffTexts compares two texts by their lines. What both begin and end with is not compared further, so that two versions of a large
// schema with few changes cost little.
func diffTexts(before, after string) []diffLine {
	a, b := lines(before), lines(after)
	head := commonHead(a, b)
	tail := commonHead(reversed(a[head:]), reversed(b[head:]))
	d := differ{out: make([]diffLine, 0, len(a)+len(b)-head-tail)}
	for _, text := range a[:head] {
		d.same(text)
	}
	d.middle(a[head:len(a)-tail], b[head:len(b)-tail])
	for _, text := range a[len(a)-tail:] {
		d.same(text)
	}
	return d.out
}

// differ numbers the lines as it writes them.
type differ struct {
	out      []diffLine
	old, new int
}

func (d *differ) same(text string) {
	d.old++
	d.new++
	d.out = append(d.out, diffLine{d.old, d.new, text, diffSame})
}

func (d *differ) removed(text string) {
	d.old++
	d.out = append(d.out, diffLine{d.old, 0, text, diffRemoved})
}

func (d *differ) added(text string) {
	d.new++
	d.out = append(d.out, diffLine{0, d.new, text, diffAdded})
}

// middle compares what is left between head and tail: along a longest common subsequence, removed lines before added ones.
func (d *differ) middle(a, b []string) {
	i, j := 0, 0
	if common := commonLengths(a, b); common != nil {
		width := len(b) + 1
		for i < len(a) && j < len(b) {
			switch {
			case a[i] == b[j]:
				d.same(a[i])
				i, j = i+1, j+1
			case common[(i+1)*width+j] >= common[i*width+j+1]:
				d.removed(a[i])
				i++
			default:
				d.added(b[j])
				j++
			}
		}
	}
	for ; i < len(a); i++ {
		d.removed(a[i])
	}
	for ; j < len(b); j++ {
		d.added(b[j])
	}
}

// commonLengths is the table of the longest common subsequences of all ends of a and b, row by row; nil when it were too large.
func commonLengths(a, b []string) []int32 {
	width := len(b) + 1
	if (len(a)+1)*width > maxDiffCells {
		return nil
	}
	table := make([]int32, (len(a)+1)*width)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				table[i*width+j] = table[(i+1)*width+j+1] + 1
			} else {
				table[i*width+j] = max(table[(i+1)*width+j], table[i*width+j+1])
			}
		}
	}
	return table
}

// sideBySide puts each run of removed lines beside the added ones that follow it.
func sideBySide(diff []diffLine) []diffPair {
	var out []diffPair
	for i := 0; i < len(diff); {
		if diff[i].Kind == diffSame {
			out = append(out, diffPair{&diff[i], &diff[i]})
			i++
			continue
		}
		removed := run(diff[i:], diffRemoved)
		added := run(diff[i+len(removed):], diffAdded)
		for k := range max(len(removed), len(added)) {
			out = append(out, diffPair{at(removed, k), at(added, k)})
		}
		i += len(removed) + len(added)
	}
	return out
}

// run is how many lines of a kind a comparison begins with.
func run(diff []diffLine, kind diffKind) []diffLine {
	n := 0
	for n < len(diff) && diff[n].Kind == kind {
		n++
	}
	return diff[:n]
}

func at(lines []diffLine, i int) *diffLine {
	if i < len(lines) {
		return &lines[i]
	}
	return nil
}

func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

func commonHead(a, b []string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func reversed(s []string) []string {
	out := make([]string, len(s))
	for i, v := range s {
		out[len(s)-1-i] = v
	}
	return out
}

// readable is a schema's text as people read it: JSON indented, its numbers and the order of its keys as they are; other texts
// unchanged.
//
//fuzz:not-a-parser it indents by encoding/json and looks at nothing
func readable(schema string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(schema), "", "  ") != nil {
		return schema
	}
	return b.String()
}
