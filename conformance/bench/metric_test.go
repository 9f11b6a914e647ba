//go:build linux

package main

import (
	"testing"

	"doze/conformance/bench/brokers"
)

func TestVerdicts(t *testing.T) {
	r := newRowReport(row{name: "r"})
	r.add(brokers.Doze, sample{"a": 10, "b": 4})
	r.add(brokers.Doze, sample{"a": 30, "b": 6})
	r.add(brokers.Doze, sample{"a": 20, "b": 5})
	r.add(brokers.Kafka, sample{"a": 40, "b": 1})
	for _, c := range []struct {
		target target
		text   string
		want   string
	}{
		{atMost(20), "<= 20", "yes"},
		{atMost(19), "<= 19", "no"},
		{atLeast(20), ">= 20", "yes"},
		{atMostOf(brokers.Kafka, 0.5), "<= 0.5x kafka", "yes"},
		{atMostOf(brokers.Kafka, 0.4), "<= 0.4x kafka", "no"},
		{atMostOf(brokers.Kfake, 1), "<= 1x kfake", "-"},
		{atLeastOf(brokers.Kafka, 5).figure("b"), ">= 5x kafka's b", "yes"},
		{atMostOf(brokers.Doze, 4).figure("b"), "<= 4x doze's b", "yes"},
		{atMostOf(brokers.Kafka, 0.05).said("1/20"), "<= 1/20x kafka", "no"},
	} {
		if got := c.target.String(); got != c.text {
			t.Errorf("printed %q, want %q", got, c.text)
		}
		if got := r.verdict(metric{key: "a"}, c.target); got != c.want {
			t.Errorf("%s: %s, want %s", c.text, got, c.want)
		}
	}
}

func TestRowsHaveNamesAndFiguresOfTheirOwn(t *testing.T) {
	names := map[string]bool{}
	for _, r := range rows() {
		if names[r.name] {
			t.Errorf("two rows are called %s", r.name)
		}
		names[r.name] = true
		keys := map[string]bool{}
		for _, m := range r.metrics {
			if keys[m.key] || m.label == "" || m.unit == "" {
				t.Errorf("%s: figure %+v", r.name, m)
			}
			keys[m.key] = true
		}
	}
}
