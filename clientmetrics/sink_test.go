package clientmetrics

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"

	"doze/handlers"
)

func gauge(name string, value float64, labels ...string) *metrics.Metric {
	d := &metrics.NumberDataPoint{Value: &metrics.NumberDataPoint_AsDouble{AsDouble: value}}
	for i := 0; i+1 < len(labels); i += 2 {
		d.Attributes = append(d.Attributes, &common.KeyValue{Key: labels[i], Value: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: labels[i+1]}}})
	}
	return &metrics.Metric{Name: name, Data: &metrics.Metric_Gauge{Gauge: &metrics.Gauge{DataPoints: []*metrics.NumberDataPoint{d}}}}
}

func counter(name string, value int64) *metrics.Metric {
	d := &metrics.NumberDataPoint{Value: &metrics.NumberDataPoint_AsInt{AsInt: value}}
	return &metrics.Metric{Name: name, Data: &metrics.Metric_Sum{Sum: &metrics.Sum{
		IsMonotonic: true, AggregationTemporality: metrics.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE, DataPoints: []*metrics.NumberDataPoint{d},
	}}}
}

func push(id byte, at int64, all ...*metrics.Metric) handlers.TelemetryPush {
	return handlers.TelemetryPush{
		Instance: [16]byte{15: id}, ClientID: "app", SoftwareName: "apache-kafka-java", SoftwareVersion: "4.3.1", At: at, IntervalMs: 5000,
		Metrics: &metrics.MetricsData{ResourceMetrics: []*metrics.ResourceMetrics{{ScopeMetrics: []*metrics.ScopeMetrics{{Metrics: all}}}}},
	}
}

func TestPushesBecomeSeries(t *testing.T) {
	s := New()
	for i := range int64(150) {
		if err := s.Push(push(1, 1000*i, counter("records.sent", 10*i), gauge("latency", float64(i), "topic", "b", "client", "a"), gauge("nothing", math.NaN()))); err != nil {
			t.Fatal(err)
		}
	}
	all := s.Clients()
	if len(all) != 1 || all[0].Pushes != 150 || all[0].Software != "apache-kafka-java 4.3.1" || all[0].Metrics != 3 {
		t.Fatalf("%+v", all)
	}
	one, ok := s.Client(all[0].ID)
	if !ok || len(one.Series) != 2 {
		t.Fatalf("%+v", one)
	}
	latency, sent := one.Series[0], one.Series[1]
	if latency.Labels != "client=a, topic=b" || len(latency.Points) != maxPoints || latency.Points[maxPoints-1].Value != 149 || latency.Sum {
		t.Errorf("%+v", latency)
	}
	if !sent.Sum || sent.Points[0].Value != 500 {
		t.Errorf("%+v", sent)
	}
}

func TestWhatIsKeptIsBounded(t *testing.T) {
	s := New()
	for id := range maxClients + 20 {
		var all []*metrics.Metric
		for i := range maxSeries + 50 {
			all = append(all, gauge(fmt.Sprint("m", i)+strings.Repeat("x", 1000), 1, strings.Repeat("l", 5000), strings.Repeat("v", 5000)))
		}
		if err := s.Push(push(byte(id), int64(id), all...)); err != nil {
			t.Fatal(err)
		}
	}
	all := s.Clients()
	if len(all) != maxClients || all[0].Last.UnixMilli() != maxClients+19 {
		t.Errorf("%d clients, the last at %v", len(all), all[0].Last)
	}
	one, _ := s.Client(all[0].ID)
	if len(one.Series) != maxSeries || one.More != 50 || len(one.Series[0].Name) > maxName+3 || len(one.Series[0].Labels) > maxLabels+3 {
		t.Errorf("%d series and %d more", len(one.Series), one.More)
	}
	if _, ok := s.Client("nobody"); ok {
		t.Error("a client that never pushed is there")
	}
}

func TestPushedWhileItIsRead(t *testing.T) {
	s := New()
	var writing sync.WaitGroup
	writing.Go(func() {
		for i := range int64(500) {
			if err := s.Push(push(byte(i%5), i, gauge("g", 1))); err != nil {
				t.Error(err)
			}
		}
	})
	for s.Pushes() < 500 {
		for _, c := range s.Clients() {
			s.Client(c.ID)
		}
	}
	writing.Wait()
}
