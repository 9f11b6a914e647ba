package configs

import (
	"bufio"
	"encoding/json"
	"os"
	"reflect"
	"testing"
)

// described is one line of testdata/described.jsonl: a key as Apache Kafka 4.3.1 described it, with synonyms.
type described struct {
	kind  string
	entry Entry
}

func (d *described) UnmarshalJSON(b []byte) error {
	var synonyms [][3]any
	e := &d.entry
	if err := json.Unmarshal(b, &[]any{&d.kind, &e.Name, &e.Value, &e.ReadOnly, &e.Source, &e.Sensitive, &synonyms, &e.Type}); err != nil {
		return err
	}
	for _, s := range synonyms {
		one := Synonym{Name: s[0].(string), Source: Source(s[2].(float64))}
		if v, ok := s[1].(string); ok {
			one.Value = &v
		}
		e.Synonyms = append(e.Synonyms, one)
	}
	return nil
}

func describedByKafka(t *testing.T) []described {
	t.Helper()
	f, err := os.Open("testdata/described.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []described
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var d described
		if err := json.Unmarshal(lines.Bytes(), &d); err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	return all
}

// deliberate are the keys whose default doze chose itself.
var deliberate = map[string]string{
	"topic min.cleanable.dirty.ratio":                 "0.0",
	"topic retention.ms":                              "-1",
	"topic segment.bytes":                             "134217728",
	"broker group.initial.rebalance.delay.ms":         "200",
	"broker group.consumer.heartbeat.interval.ms":     "1000",
	"broker group.consumer.min.heartbeat.interval.ms": "100",
	"broker group.share.heartbeat.interval.ms":        "1000",
	"broker group.share.min.heartbeat.interval.ms":    "100",
	"broker group.streams.heartbeat.interval.ms":      "1000",
	"broker group.streams.initial.rebalance.delay.ms": "200",
	"broker group.streams.min.heartbeat.interval.ms":  "100",
	"group consumer.heartbeat.interval.ms":            "1000",
	"group share.heartbeat.interval.ms":               "1000",
	"group streams.heartbeat.interval.ms":             "1000",
	"group streams.initial.rebalance.delay.ms":        "200",
	"broker log.cleaner.min.cleanable.ratio":          "0.0",
	"broker log.retention.hours":                      "-1",
	"broker log.segment.bytes":                        "134217728",
}

// TestDescribedAsByKafka lays the recorded broker's static values under doze's tables and compares every key's value, source,
// type, flags and synonyms: all are Kafka's, but for the deliberate defaults.
func TestDescribedAsByKafka(t *testing.T) {
	recorded := describedByKafka(t)
	b := recordedBroker(recorded)
	got := map[string][]Entry{
		"topic":          b.DescribeTopic(nil),
		"broker":         b.DescribeBroker(),
		"cluster":        b.DescribeCluster(),
		"group":          b.DescribeGroup(nil),
		"client-metrics": DescribeClientMetrics(nil),
	}
	for _, want := range recorded {
		all := got[want.kind]
		if len(all) == 0 {
			t.Fatalf("%s %s: not described", want.kind, want.entry.Name)
		}
		e := all[0]
		got[want.kind] = all[1:]
		if own, ok := deliberate[want.kind+" "+want.entry.Name]; ok {
			if *e.Value != own || *want.entry.Value == own {
				t.Errorf("%s %s: %s, want doze's own %s", want.kind, e.Name, *e.Value, own)
			}
			continue
		}
		e.Doc = ""
		if !reflect.DeepEqual(e, want.entry) {
			t.Errorf("%s %s:\n got %s\nwant %s", want.kind, want.entry.Name, show(e), show(want.entry))
		}
	}
	for kind, rest := range got {
		for _, e := range rest {
			t.Errorf("%s %s: described, but not by Kafka", kind, e.Name)
		}
	}
}

// recordedBroker is a broker that was started as the recorded one.
func recordedBroker(recorded []described) *Broker {
	static := map[string]string{}
	for _, d := range recorded {
		for _, s := range d.entry.Synonyms {
			if s.Source == StaticBroker && s.Name == d.entry.Name && s.Value != nil {
				static[s.Name] = *s.Value
			}
		}
	}
	return NewBroker(static, map[string]string{"min.insync.replicas": "1"}, nil)
}

func show(e Entry) string { b, _ := json.Marshal(e); return string(b) }
