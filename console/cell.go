package console

import "time"

// cell is what a table shows in one place. It is made by the functions below and shown by the template "cell".
type cell struct {
	Kind  string // text, code, link, num, size, time, badges, actions
	Text  string
	Href  string
	Title string // on hover
	Num   int64
	Time  time.Time
	Marks []badge
	Acts  []act
	Right bool
}

// badge is a word in a coloured frame. Tone: "", good, warn, bad, info.
type badge struct{ Text, Tone, Title string }

// act is a button of a row: it opens a dialog.
type act struct{ Text, Href, Title string }

func textCell(s string) cell            { return cell{Kind: "text", Text: s} }
func codeCell(s string) cell            { return cell{Kind: "code", Text: s} }
func linkCell(s, href string) cell      { return cell{Kind: "link", Text: s, Href: href} }
func numCell(n int64) cell              { return cell{Kind: "num", Num: n} }
func sizeCell(n int64) cell             { return cell{Kind: "size", Num: n} }
func timeCell(t time.Time) cell         { return cell{Kind: "time", Time: t} }
func badgeCell(marks ...badge) cell     { return cell{Kind: "badges", Marks: marks} }
func actCell(acts ...act) cell          { return cell{Kind: "actions", Acts: acts} }
func (c cell) hover(title string) cell  { c.Title = title; return c }
func (c cell) with(marks ...badge) cell { c.Marks = append(c.Marks, marks...); return c }
func unknownCell(why string) cell       { return cell{Kind: "text", Text: "—", Title: why} }

// right aligns a cell of text as numbers are.
func (c cell) right() cell { c.Right = true; return c }
