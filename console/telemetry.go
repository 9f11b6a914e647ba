package console

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"doze/console/inside"
)

func (c *Console) telemetryRoutes() []route {
	return []route{
		{pattern: "GET /telemetry", do: telemetryPage},
		{pattern: "GET /telemetry/now", do: func(r *request) (answer, error) { return telemetryNow(r) }},
		{pattern: "GET /telemetry/clients/{id}", do: telemetryClient},
		{pattern: "GET /telemetry/clients/{id}/now", do: func(r *request) (answer, error) { return telemetryClientNow(r) }},
	}
}

// telemetryList is the dot of the template "telemetry-now".
type telemetryList struct{ Table table }

var clientSheet = sheet[inside.Client]{
	ID: "clients", Noun: "client", Sort: "-last",
	Find:    func(c inside.Client) string { return c.ClientID + " " + c.Software + " " + c.Principal + " " + c.ID },
	Href:    func(c inside.Client) string { return path("telemetry", "clients", c.ID) },
	Empty:   "No client has pushed metrics. Java clients from 3.7 on do by themselves, some seconds after they connect; so does this one:",
	Command: "kafka-console-producer.sh --bootstrap-server HOST:PORT --topic orders",
	Columns: []column[inside.Client]{
		{Key: "client", Title: "Client", Cell: clientCell, Order: by(func(c inside.Client) string { return c.ClientID })},
		{Key: "software", Title: "Software", Cell: func(c inside.Client) cell { return textCell(c.Software) }, Order: by(func(c inside.Client) string { return c.Software })},
		{Title: "Principal", Cell: func(c inside.Client) cell { return textCell(c.Principal) }},
		{Title: "Address", Cell: func(c inside.Client) cell { return textCell(c.Address) }},
		{Key: "pushes", Title: "Pushes", Num: true, Cell: func(c inside.Client) cell { return numCell(int64(c.Pushes)) }, Order: by(func(c inside.Client) int { return c.Pushes })},
		{Key: "metrics", Title: "Metrics", Num: true, Cell: func(c inside.Client) cell { return numCell(int64(c.Metrics)) }, Order: by(func(c inside.Client) int { return c.Metrics })},
		{Key: "last", Title: "Last push", Cell: func(c inside.Client) cell { return timeCell(c.Last) }, Order: func(a, b inside.Client) int { return a.Last.Compare(b.Last) }},
	},
}

func clientCell(c inside.Client) cell {
	name := c.ClientID
	if name == "" {
		name = c.ID
	}
	made := linkCell(name, path("telemetry", "clients", c.ID)).hover("Client instance " + c.ID)
	if c.Ended {
		made = made.with(badge{"ended", "", "It has said that its last push was the last"})
	}
	return made
}

func telemetryPage(r *request) (answer, error) {
	now, err := telemetryNow(r)
	if err != nil {
		return nil, err
	}
	view, err := now.view(r, "/telemetry/now")
	if err != nil {
		return nil, err
	}
	return page{Title: "Telemetry", Nav: "telemetry", Name: "telemetry", Data: view}, nil
}

// asIf is the request as if it were for the page that a live piece is in: links in the piece are the page's.
func (r *request) asIf(path string) *request {
	q := r.URL.Query()
	q.Del("seen")
	of := *r
	of.Request = r.Clone(r.Context())
	of.URL.Path, of.URL.RawPath, of.URL.RawQuery = path, "", q.Encode()
	return &of
}

func telemetryNow(r *request) (live, error) {
	if r.c.opt.Telemetry == nil {
		return live{}, r.noInside("Telemetry")
	}
	list := clientSheet.show(r.asIf("/telemetry"), r.c.opt.Telemetry.Clients())
	return live{ID: "telemetry-now", Name: "telemetry-now", Data: telemetryList{list}, Seconds: 5}, nil
}

// clientView is the dot of the template "telemetry-client".
type clientView struct {
	Live   *liveView
	Client inside.Client
	Search string
	Here   string
}

// clientCharts is the dot of the template "telemetry-client-now".
type clientCharts struct {
	Client inside.Client
	Every  string
	Charts []metricChart
	More   int
	Hidden int // that the search leaves out
}

// metricChart is one series as a small picture.
type metricChart struct {
	Name, Labels, Unit string
	Last, Least, Most  string
	Rate               bool
	Line               string // points of the polyline
	Dots               int
	From, To           time.Time
}

func telemetryClient(r *request) (answer, error) {
	now, err := telemetryClientNow(r)
	if err != nil {
		return nil, err
	}
	charts := now.Data.(clientCharts)
	here := path("telemetry", "clients", charts.Client.ID)
	view, err := now.view(r, here+"/now")
	if err != nil {
		return nil, err
	}
	name := charts.Client.ClientID
	if name == "" {
		name = charts.Client.ID
	}
	data := clientView{Live: view, Client: charts.Client, Search: clip(r.query("q"), 200), Here: here}
	return page{Title: name, Nav: "telemetry", Crumbs: []crumb{{"Telemetry", "/telemetry"}, {name, ""}}, Name: "telemetry-client", Data: data}, nil
}

func telemetryClientNow(r *request) (live, error) {
	if r.c.opt.Telemetry == nil {
		return live{}, r.noInside("Telemetry")
	}
	id, err := r.named("id")
	if err != nil {
		return live{}, err
	}
	client, known := r.c.opt.Telemetry.Client(id)
	if !known {
		return live{}, problem{Status: http.StatusNotFound, Message: "No client instance " + clip(id, 60) + " has pushed metrics", Hint: "They are kept in memory, of the last 64 clients."}
	}
	data := clientCharts{Client: client.Client, Every: client.Interval.String(), More: client.More}
	search := strings.ToLower(clip(r.query("q"), 200))
	for _, s := range client.Series {
		if !strings.Contains(strings.ToLower(s.Name+" "+s.Labels), search) {
			data.Hidden++
			continue
		}
		data.Charts = append(data.Charts, chartOf(s))
	}
	return live{ID: "telemetry-client-now", Name: "telemetry-client-now", Data: data, Seconds: 5}, nil
}

// The size of a small chart.
const (
	chartWide = 240
	chartHigh = 44
	chartEdge = 3
)

// chartOf draws a series: of what only grows, by how much it grew a second.
func chartOf(s inside.Series) metricChart {
	points := s.Points
	c := metricChart{Name: s.Name, Labels: s.Labels, Unit: s.Unit, Rate: s.Sum}
	if s.Sum {
		points = ratesOf(points)
	}
	if len(s.Points) > 0 {
		c.Last = figure(s.Points[len(s.Points)-1].Value)
	}
	if len(points) == 0 {
		return c
	}
	least, most := points[0].Value, points[0].Value
	for _, p := range points {
		least, most = min(least, p.Value), max(most, p.Value)
	}
	first, last := points[0].At, points[len(points)-1].At
	c.From, c.To, c.Least, c.Most, c.Dots = time.UnixMilli(first), time.UnixMilli(last), figure(least), figure(most), len(points)
	if s.Sum {
		c.Last = figure(points[len(points)-1].Value)
	}
	var b strings.Builder
	for _, p := range points {
		fmt.Fprintf(&b, "%.1f,%.1f ", scaled(float64(p.At), float64(first), float64(last), chartEdge, chartWide-chartEdge), scaled(p.Value, least, most, chartHigh-chartEdge, chartEdge))
	}
	c.Line = strings.TrimSpace(b.String())
	return c
}

// scaled puts a value of one range into another.
func scaled(v, from, to, a, b float64) float64 {
	span := to - from
	if span <= 0 || math.IsInf(span, 0) {
		return (a + b) / 2
	}
	return a + (v-from)/span*(b-a)
}

// ratesOf are the differences of a number that only grows, by second; where it fell the client began anew.
func ratesOf(points []inside.Point) []inside.Point {
	var rates []inside.Point
	for i := 1; i < len(points); i++ {
		ms := points[i].At - points[i-1].At
		grown := points[i].Value - points[i-1].Value
		if ms > 0 && grown >= 0 {
			rates = append(rates, inside.Point{At: points[i].At, Value: grown * 1000 / float64(ms)})
		}
	}
	return rates
}

// figure is a number with as many digits as a person reads.
func figure(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return grouped(int64(v))
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
