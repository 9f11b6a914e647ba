package console

import (
	"math"
	"strconv"
	"time"

	"doze/console/inside"
)

// stripsView is the picture of the journal: a strip for each area, a column for so many entries.
type stripsView struct {
	High    int
	Names   []stripName
	Slots   []stripSlot
	Marks   []stripMark
	From    time.Time
	To      time.Time
	First   uint64
	Last    uint64
	Here    string // x of the entry that the page is of; empty: none
	EndText int
}

type stripName struct {
	Y    int
	Text string
	Href string
}

// stripSlot is a column over all strips: it leads to its entries.
type stripSlot struct {
	X, Wide    string
	Href, Text string
}

// stripMark is a number of events as a bar.
type stripMark struct {
	X, Y, Wide, High string
	Area             string
}

// The size of the picture, in its own units.
const (
	stripColumns = 120
	stripLeft    = 90
	stripWide    = 900
	stripHigh    = 20
	stripBar     = 16
)

// stripsOf draws the whole journal that is kept.
func stripsOf(r *request, j inside.Journal, head inside.Head) (*stripsView, error) {
	s, err := j.Strips(r.Context(), head.First, min(head.Last, max(head.Read, 1)), stripColumns)
	if err != nil || len(s.Columns) == 0 {
		return nil, err
	}
	v := &stripsView{
		High: stripHigh*len(inside.Areas) + 18, From: time.UnixMilli(s.FromAt), To: time.UnixMilli(s.ToAt), First: s.From, Last: s.To,
		EndText: stripHigh*len(inside.Areas) + 13,
	}
	for i, area := range inside.Areas {
		v.Names = append(v.Names, stripName{stripHigh*i + 14, area, withQuery("/timeline", "area", area)})
	}
	most := make([]int, len(inside.Areas))
	for _, c := range s.Columns {
		for i, n := range c.Counts {
			most[i] = max(most[i], n)
		}
	}
	wide := float64(stripWide) / float64(len(s.Columns))
	for i, c := range s.Columns {
		x := stripLeft + wide*float64(i)
		v.Slots = append(v.Slots, stripSlot{unit(x), unit(wide), withQuery("/timeline", "before", strconv.FormatUint(c.Last+1, 10), "area", r.query("area")), columnText(c)})
		for area, n := range c.Counts {
			if n > 0 {
				high := barHigh(n, most[area])
				v.Marks = append(v.Marks, stripMark{unit(x), unit(float64(stripHigh*(area+1)) - 2 - high), unit(max(wide-0.5, 0.5)), unit(high), inside.Areas[area]})
			}
		}
	}
	return v, nil
}

// barHigh is how high a bar is: one event is seen beside a thousand.
func barHigh(n, most int) float64 {
	if most <= 1 {
		return stripBar
	}
	return 3 + (stripBar-3)*math.Log1p(float64(n))/math.Log1p(float64(most))
}

func columnText(c inside.Column) string {
	text := "Entries " + grouped(c.First) + " to " + grouped(c.Last)
	for area, n := range c.Counts {
		if n > 0 {
			text += ", " + inside.Areas[area] + " " + grouped(n)
		}
	}
	return text
}

func unit(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }
