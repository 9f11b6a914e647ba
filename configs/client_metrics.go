package configs

import (
	"regexp"
	"slices"
	"strings"
)

var matchNames = []string{"client_instance_id", "client_id", "client_software_name", "client_software_version",
	"client_source_address", "client_source_port"}

// CheckClientMetrics refuses values of a client-metrics subscription that do not fit, as Kafka does.
func CheckClientMetrics(values map[string]string) error {
	for _, name := range sortedNames(values) {
		if _, ok := ClientMetricsKeys.Lookup(name); !ok {
			return &Error{Message: "Unknown client metrics configuration: " + name, Request: true}
		}
	}
	if err := checkValues(ClientMetricsKeys, values); err != nil {
		return err
	}
	if s, ok := values["interval.ms"]; ok {
		d, _ := ClientMetricsKeys.Lookup("interval.ms")
		if v, _ := d.Parse(s); number(v) < 100 || number(v) > 3_600_000 {
			return &Error{Message: "Invalid value " + Format(v) + " for interval.ms, interval must be between 100 and 3600000 (1 hour)", Request: true}
		}
	}
	return checkMatch(distinct(splitList(values["match"])))
}

// checkMatch refuses what is not NAME=PATTERN of a known name. A pattern is a regular expression of the RE2 kind here.
func checkMatch(patterns []string) error {
	for _, p := range patterns {
		// Java's split drops empty texts at the end, so "a=" is one part and "a=b=" two.
		parts := strings.Split(strings.TrimRight(p, "="), "=")
		if len(parts) != 2 || !slices.Contains(matchNames, javaTrim(parts[0])) {
			return invalid("Illegal client matching pattern: " + p)
		}
		if _, err := regexp.Compile(javaTrim(parts[1])); err != nil {
			return invalid("Illegal client matching pattern: " + p)
		}
	}
	return nil
}

// Subscription is a client-metrics subscription as its values say it.
type Subscription struct {
	Metrics    []string
	IntervalMs int64
	Match      []Match // all must hold
}

// Match is a pattern of the RE2 kind that a value of a client must match as a whole.
type Match struct{ Name, Pattern string }

// ReadSubscription reads values that CheckClientMetrics takes; of several patterns for one name the last counts.
func ReadSubscription(values map[string]string) Subscription {
	s := Subscription{Metrics: distinct(splitList(values["metrics"])), IntervalMs: 300_000}
	if d, _ := ClientMetricsKeys.Lookup("interval.ms"); values["interval.ms"] != "" {
		if v, err := d.Parse(values["interval.ms"]); err == nil {
			s.IntervalMs = int64(number(v))
		}
	}
	for _, p := range distinct(splitList(values["match"])) {
		name, pattern, ok := strings.Cut(strings.TrimRight(p, "="), "=")
		if !ok {
			continue
		}
		m := Match{javaTrim(name), javaTrim(pattern)}
		s.Match = append(slices.DeleteFunc(s.Match, func(o Match) bool { return o.Name == m.Name }), m)
	}
	return s
}
