package clientmetrics

import (
	"cmp"
	"encoding/base64"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"

	"doze/console/inside"
	"doze/handlers"
)

// Bounds of what is kept.
const (
	maxClients = 64  // the one that has been silent longest goes
	maxSeries  = 200 // of a client; metrics beyond are counted
	maxPoints  = 100 // of a series: with a push every five seconds, eight minutes
	maxName    = 200
	maxLabels  = 300
	maxLooked  = 4000 // data points of a push
)

// Sink takes pushes and tells of them.
type Sink struct {
	mu      sync.Mutex
	clients map[[16]byte]*client
	pushes  uint64
}

// New makes a sink.
func New() *Sink { return &Sink{clients: map[[16]byte]*client{}} }

// client is a client instance.
type client struct {
	inside.Client
	series map[seriesKey]*inside.Series
	more   int // of the last push
}

type seriesKey struct{ name, labels string }

// Push takes a push (handlers.TelemetrySink).
func (s *Sink) Push(p handlers.TelemetryPush) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pushes++
	c := s.clients[p.Instance]
	if c == nil {
		s.makeRoom()
		c = &client{series: map[seriesKey]*inside.Series{}}
		c.ID, c.First = base64.RawURLEncoding.EncodeToString(p.Instance[:]), time.UnixMilli(p.At)
		s.clients[p.Instance] = c
	}
	c.ClientID, c.Principal, c.Address = cut(p.ClientID, maxName), cut(p.Principal, maxName), cut(p.Address, maxName)
	c.Software = cut(strings.TrimSpace(p.SoftwareName+" "+p.SoftwareVersion), maxName)
	c.Last, c.Interval, c.Ended = time.UnixMilli(p.At), time.Duration(p.IntervalMs)*time.Millisecond, p.Terminating
	c.Pushes++
	c.take(p)
	return nil
}

// makeRoom forgets the client that has been silent longest when there are as many as may be.
func (s *Sink) makeRoom() {
	if len(s.clients) < maxClients {
		return
	}
	var oldest [16]byte
	var at time.Time
	for id, c := range s.clients {
		if at.IsZero() || c.Last.Before(at) {
			oldest, at = id, c.Last
		}
	}
	delete(s.clients, oldest)
}

// take adds a point to each metric's series.
func (c *client) take(p handlers.TelemetryPush) {
	c.Metrics, c.more = 0, 0
	for _, resource := range p.Metrics.GetResourceMetrics() {
		for _, scope := range resource.GetScopeMetrics() {
			for _, m := range scope.GetMetrics() {
				c.takeMetric(m, p.At)
			}
		}
	}
}

func (c *client) takeMetric(m *metrics.Metric, at int64) {
	name, unit := cut(m.GetName(), maxName), cut(m.GetUnit(), 20)
	switch data := m.GetData().(type) {
	case *metrics.Metric_Gauge:
		c.numbers(name, unit, false, data.Gauge.GetDataPoints(), at)
	case *metrics.Metric_Sum:
		grows := data.Sum.GetIsMonotonic() && data.Sum.GetAggregationTemporality() == metrics.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE
		c.numbers(name, unit, grows, data.Sum.GetDataPoints(), at)
	case *metrics.Metric_Histogram:
		for _, d := range data.Histogram.GetDataPoints() {
			c.point(name+".count", labelsOf(d.GetAttributes()), "", true, float64(d.GetCount()), at)
			c.point(name+".sum", labelsOf(d.GetAttributes()), unit, true, d.GetSum(), at)
		}
	case *metrics.Metric_Summary:
		for _, d := range data.Summary.GetDataPoints() {
			c.point(name+".count", labelsOf(d.GetAttributes()), "", true, float64(d.GetCount()), at)
			c.point(name+".sum", labelsOf(d.GetAttributes()), unit, true, d.GetSum(), at)
		}
	}
}

func (c *client) numbers(name, unit string, grows bool, points []*metrics.NumberDataPoint, at int64) {
	for _, d := range points {
		value := float64(d.GetAsInt())
		if _, double := d.GetValue().(*metrics.NumberDataPoint_AsDouble); double {
			value = d.GetAsDouble()
		}
		c.point(name, labelsOf(d.GetAttributes()), unit, grows, value, at)
	}
}

// point adds a value to a series. What is no number is left out: a client says so of what it has not measured.
func (c *client) point(name, labels, unit string, grows bool, value float64, at int64) {
	if c.Metrics++; c.Metrics > maxLooked || math.IsNaN(value) || math.IsInf(value, 0) {
		return
	}
	key := seriesKey{name, labels}
	s := c.series[key]
	if s == nil {
		if len(c.series) >= maxSeries {
			c.more++
			return
		}
		s = &inside.Series{Name: name, Labels: labels}
		c.series[key] = s
	}
	s.Unit, s.Sum = unit, grows
	if n := len(s.Points); n > 0 && s.Points[n-1].At == at {
		s.Points[n-1].Value = value
		return
	}
	if len(s.Points) == maxPoints {
		copy(s.Points, s.Points[1:])
		s.Points = s.Points[:maxPoints-1]
	}
	s.Points = append(s.Points, inside.Point{At: at, Value: value})
}

// Clients are those that have pushed, the last one first (inside.Telemetry).
func (s *Sink) Clients() []inside.Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []inside.Client
	for _, c := range s.clients {
		all = append(all, c.Client)
	}
	slices.SortFunc(all, func(a, b inside.Client) int { return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(a.ID, b.ID)) })
	return all
}

// Client is one with its metrics (inside.Telemetry).
func (s *Sink) Client(id string) (inside.ClientMetrics, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.clients {
		if c.ID == id {
			return c.told(), true
		}
	}
	return inside.ClientMetrics{}, false
}

func (c *client) told() inside.ClientMetrics {
	out := inside.ClientMetrics{Client: c.Client, More: c.more}
	for _, s := range c.series {
		one := *s
		one.Points = slices.Clone(s.Points)
		out.Series = append(out.Series, one)
	}
	slices.SortFunc(out.Series, func(a, b inside.Series) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Labels, b.Labels))
	})
	return out
}

// Pushes rises with every push (inside.Telemetry).
func (s *Sink) Pushes() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pushes
}

// cut is a text that keeps no more than max bytes.
func cut(s string, max int) string {
	if len(s) <= max {
		return s
	}
	return strings.ToValidUTF8(s[:max], "") + "..."
}
