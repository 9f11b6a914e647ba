package console

import (
	"fmt"
	"strconv"
)

// diffForm is the choice of two versions.
type diffForm struct {
	Action   string
	Subject  string
	Other    string // the subject of the second; any other may be typed
	Versions []int
	From, To int
	Side     bool
}

// diffPage is the dot of a comparison.
type diffPage struct {
	Form        diffForm
	From, To    version
	Lines       []diffLine
	Pairs       []diffPair
	Added, Gone int
	Inline      string
	SideBySide  string
	Swap        string
	Sides       bool
	Same        bool
}

func diffHref(subject string, from int, other string, to int, view string) string {
	if other == subject {
		other = ""
	}
	return withQuery(path("schemas", "subjects", subject, "diff"), "from", strconv.Itoa(from), "other", other, "to", strconv.Itoa(to), "view", view)
}

// showDiff compares two versions: of one subject, or of two.
func showDiff(r *request) (answer, error) {
	registry, err := r.registry()
	if err != nil {
		return nil, err
	}
	name, err := r.named("subject")
	if err != nil {
		return nil, err
	}
	other := r.query("other")
	if other == "" {
		other = name
	}
	view := diffPage{Sides: r.query("view") == "side"}
	if view.From, err = registry.version(r.Context(), name, r.number("from", 0, 0, 1<<31-1)); err != nil {
		return nil, refused(err)
	}
	if view.To, err = registry.version(r.Context(), clip(other, maxText), r.number("to", 0, 0, 1<<31-1)); err != nil {
		return nil, refused(err)
	}
	numbers, _, err := registry.versions(r.Context(), name)
	if err != nil {
		return nil, refused(err)
	}
	view.Form = diffForm{
		Action: path("schemas", "subjects", name, "diff"), Subject: name, Other: other, Versions: numbers, From: view.From.Version, To: view.To.Version, Side: view.Sides,
	}
	view.compare()
	title := fmt.Sprintf("%s: %d to %d", shownName(name), view.From.Version, view.To.Version)
	return page{Title: title, Nav: "schemas", Crumbs: subjectCrumbs(name, crumb{Text: "Compare"}), Name: "schema-diff", Data: view}, nil
}

func (v *diffPage) compare() {
	v.Lines = diffTexts(v.From.Readable, v.To.Readable)
	for _, l := range v.Lines {
		switch l.Kind {
		case diffAdded:
			v.Added++
		case diffRemoved:
			v.Gone++
		}
	}
	v.Same = v.Added+v.Gone == 0
	if v.Sides {
		v.Pairs = sideBySide(v.Lines)
	}
	f := v.Form
	v.Inline = diffHref(f.Subject, f.From, f.Other, f.To, "")
	v.SideBySide = diffHref(f.Subject, f.From, f.Other, f.To, "side")
	v.Swap = diffHref(f.Other, f.To, f.Subject, f.From, map[bool]string{true: "side"}[v.Sides])
}
