package console

import (
	"html/template"
	"time"
)

// navItem is an item of the navigation. Pages name theirs by Key.
type navItem struct {
	Key, Text, Href string
	Go              string // the key after g that goes there
}

// navigation is the left side of every page, from the top. Items whose page another branch brings are added with their routes.
var navigation = []navItem{
	{"overview", "Overview", "/", "o"},
	{"topics", "Topics", "/topics", "t"},
	{"groups", "Groups", "/groups", "g"},
	{"schemas", "Schemas", "/schemas", "s"},
	{"security", "Security", "/security", "a"},
	{"broker", "Broker", "/broker", "b"},
	{"traffic", "Traffic", "/traffic", "r"},
	{"telemetry", "Telemetry", "/telemetry", "m"},
	{"timeline", "Timeline", "/timeline", "l"},
}

// tab is one of the parts of a page; a list of them is shown by the template "tabs".
type tab struct {
	Text, Href string
	Count      string
	Lit        bool
}

// frame is the dot of the layout.
type frame struct {
	Title    string
	Crumbs   []crumb
	Body     template.HTML // what the page's template made
	Nav      []navItem
	Lit      string
	Theme    string
	Zone     string
	Here     string // the page's own address
	Now      string // the same page without ?at=
	At       uint64
	Toast    *toast
	User     string // who has logged in; empty: nobody has to
	Cluster  string // what is being shown, in a few words
	Rendered time.Time
}

func frameOf(r *request, p page) frame {
	return frame{
		Title: p.Title, Crumbs: p.Crumbs, Nav: navigation, Lit: p.Nav, Theme: r.look, Zone: r.loc.String(), Here: r.URL.RequestURI(),
		Now: r.changed("at", ""), At: r.at, User: r.c.user, Cluster: r.c.clusterName(), Rendered: r.c.opt.Now(),
	}
}

// clusterName says which Kafka the pages are of.
func (c *Console) clusterName() string {
	if c.opt.Broker != nil {
		if about := c.opt.Broker.About(); len(about.Endpoints) > 0 {
			return about.Endpoints[0].Address
		}
	}
	if len(c.opt.Bootstrap) > 0 {
		return c.opt.Bootstrap[0]
	}
	return ""
}
