package console

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"doze/console/inside"
)

func (c *Console) trafficRoutes() []route {
	return []route{
		{pattern: "GET /traffic", do: trafficPage},
		{pattern: "GET /traffic/now", do: func(r *request) (answer, error) { return trafficNow(r) }},
		{pattern: "GET /traffic/requests/{id}", do: trafficRequest},
	}
}

// noInside is the answer of a page whose broker tells nothing of its inside.
func (r *request) noInside(what string) error {
	if r.c.outside {
		return problem{
			Status: http.StatusForbidden, Message: what + " is not shown to " + r.c.user,
			Hint: "It shows what everybody does: who may alter the cluster sees it (ALTER on CLUSTER).",
		}
	}
	return problem{
		Status: http.StatusNotFound, Message: what + " is not known here",
		Hint: "Only the console of a running doze sees it: start one with doze serve. This console is a client of another Kafka.",
	}
}

// trafficView is the dot of the template "traffic".
type trafficView struct {
	Live    *liveView
	Filter  inside.RequestFilter
	Here    string
	Plain   bool // nothing is filtered
	HasPast bool // the page begins before the newest request: it does not move
	Newest  string
}

// trafficList is the dot of the template "traffic-now".
type trafficList struct {
	Rows             []trafficRow
	Kept             int
	Lost             uint64
	Older            string
	Filtered, Errors bool
}

// trafficRow is one request in the list.
type trafficRow struct {
	inside.Request
	Href string
	Took string
}

// trafficFilter reads the filter of the address.
func trafficFilter(r *request) inside.RequestFilter {
	before, _ := strconv.ParseUint(r.query("before"), 10, 64)
	return inside.RequestFilter{
		Client: clip(r.query("client"), maxText), API: clip(r.query("api"), 100), Topic: clip(r.query("topic"), maxText), Group: clip(r.query("group"), maxText),
		Principal: clip(r.query("principal"), maxText), Errors: r.query("errors") != "", Before: before, Limit: r.number("limit", 100, 1, 500),
	}
}

func trafficPage(r *request) (answer, error) {
	now, err := trafficNow(r)
	if err != nil {
		return nil, err
	}
	view, err := now.view(r, "/traffic/now")
	if err != nil {
		return nil, err
	}
	f := trafficFilter(r)
	data := trafficView{Live: view, Filter: f, Here: "/traffic", HasPast: f.Before > 0, Newest: r.changed("before", "")}
	f.Before, f.Limit = 0, 0
	data.Plain = f == inside.RequestFilter{}
	return page{Title: "Traffic", Nav: "traffic", Name: "traffic", Data: data}, nil
}

func trafficNow(r *request) (live, error) {
	t := r.c.opt.Traffic
	if t == nil {
		return live{}, r.noInside("Traffic")
	}
	f := trafficFilter(r)
	found := t.Requests(f)
	list := trafficList{Kept: found.Kept, Lost: found.Lost, Errors: f.Errors}
	for _, one := range found.Requests {
		list.Rows = append(list.Rows, trafficRow{one, requestPath(one.ID), spent(one.Took)})
	}
	if found.Next > 0 {
		list.Older = withQuery("/traffic", "before", strconv.FormatUint(found.Next, 10), "client", f.Client, "api", f.API, "topic", f.Topic, "group", f.Group,
			"principal", f.Principal, "errors", r.query("errors"))
	}
	f.Before, f.Limit = 0, 0
	list.Filtered = f != inside.RequestFilter{}
	return live{ID: "traffic-now", Name: "traffic-now", Data: list}, nil
}

func requestPath(id uint64) string { return path("traffic", "requests", strconv.FormatUint(id, 10)) }

// spent is a duration in the unit that fits it.
func spent(d time.Duration) string {
	switch {
	case d < 0:
		return "0 µs"
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < time.Second:
		return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
	}
	return fmt.Sprintf("%.2f s", d.Seconds())
}

// requestView is the dot of the template "traffic-request".
type requestView struct {
	inside.OpenRequest
	Took, Sent string
	Previous   string // the page of the request before it
	Next       string
	Entries    []entryRow // of the journal that it made
}

// trafficRequest opens one request as its decoded fields.
func trafficRequest(r *request) (answer, error) {
	if r.c.opt.Traffic == nil {
		return nil, r.noInside("Traffic")
	}
	id, err := strconv.ParseUint(r.PathValue("id"), 10, 64)
	if err != nil {
		return nil, notFound("There is no request %s", clip(r.PathValue("id"), 40))
	}
	one, known := r.c.opt.Traffic.Open(id)
	if !known {
		return nil, problem{
			Status: http.StatusNotFound, Message: fmt.Sprintf("Request %d is not kept", id),
			Hint: "The last 2,000 requests are, in memory: a restart forgets them. What a request changed is in the timeline for longer.",
		}
	}
	data := requestView{OpenRequest: one, Took: spent(one.Took), Sent: spent(one.Sent)}
	for _, near := range []struct {
		id uint64
		to *string
	}{{id - 1, &data.Previous}, {id + 1, &data.Next}} {
		if _, there := r.c.opt.Traffic.Open(near.id); there {
			*near.to = requestPath(near.id)
		}
	}
	if data.Entries, err = entriesOfRequest(r, one.Request); err != nil {
		return nil, err
	}
	title := fmt.Sprintf("%s v%d", one.API, one.Version)
	return page{Title: title, Nav: "traffic", Crumbs: []crumb{{"Traffic", "/traffic"}, {fmt.Sprintf("Request %d", id), ""}}, Name: "traffic-request", Data: data}, nil
}

// entriesOfRequest are the entries of the journal that a request made.
func entriesOfRequest(r *request, one inside.Request) ([]entryRow, error) {
	j := r.c.opt.Journal
	if j == nil {
		return nil, nil
	}
	slack := time.Second
	page, err := j.Entries(r.Context(), inside.EntryFilter{
		Conn: one.Conn, Corr: one.Correlation, From: one.At.Add(-slack).UnixMilli(), To: one.At.Add(one.Sent + slack).UnixMilli(), After: j.Head().Begun, Limit: 20,
	})
	if err != nil {
		return nil, err
	}
	var rows []entryRow
	for _, e := range page.Entries {
		if e.Cause.Key == one.Key {
			rows = append(rows, rowOfEntry(r, e))
		}
	}
	return rows, nil
}
