package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"
)

const pushes = 24

// telemetry has two clients push metrics of themselves, as Java's do, one of them with hostile names.
func (f *filler) telemetry(ctx context.Context) error {
	if err := f.subscription(ctx); err != nil {
		return err
	}
	names := []string{"org.apache.kafka.producer.record.queue.time.avg", "org.apache.kafka.producer.node.request.latency.avg"}
	if err := f.push(ctx, "checkout-service", names); err != nil || !f.withHostile {
		return err
	}
	names = nil
	for n := range hostileTexts {
		names = append(names, hostileText(n))
	}
	return f.push(ctx, hostileText(0), names)
}

// subscription asks for all metrics ten times a second: nobody wants to wait for a picture.
func (f *filler) subscription(ctx context.Context) error {
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	resource := kmsg.NewIncrementalAlterConfigsRequestResource()
	resource.ResourceType, resource.ResourceName = kmsg.ConfigResourceTypeClientMetrics, "all-metrics"
	for _, set := range [][2]string{{"metrics", "*"}, {"interval.ms", "100"}} {
		c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		c.Name, c.Value = set[0], &set[1]
		resource.Configs = append(resource.Configs, c)
	}
	req.Resources = append(req.Resources, resource)
	resp, err := req.RequestWith(ctx, f.client)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(resp.Resources[0].ErrorCode)
}

// push is a client that pushes values of these metrics over and over, and ends.
func (f *filler) push(ctx context.Context, id string, names []string) error {
	cl, err := f.newClient(id, kgo.SoftwareNameAndVersion("apache-kafka-java", "4.3.1"))
	if err != nil {
		return err
	}
	defer cl.Close()
	told, err := kmsg.NewPtrGetTelemetrySubscriptionsRequest().RequestWith(ctx, cl)
	if err != nil {
		return err
	}
	for n := range pushes {
		req := kmsg.NewPtrPushTelemetryRequest()
		req.ClientInstanceID, req.SubscriptionID, req.Terminating = told.ClientInstanceID, told.SubscriptionID, n == pushes-1
		if req.Metrics, err = proto.Marshal(values(names, n)); err != nil {
			return err
		}
		if err := untilTaken(ctx, cl, req); err != nil {
			return fmt.Errorf("push metrics of %q: %w", id, err)
		}
	}
	return nil
}

// untilTaken pushes again while it is too soon after the push before.
func untilTaken(ctx context.Context, cl *kgo.Client, req *kmsg.PushTelemetryRequest) error {
	for {
		resp, err := req.RequestWith(ctx, cl)
		if err != nil {
			return err
		}
		if resp.ErrorCode != kerr.ThrottlingQuotaExceeded.Code {
			return kerr.ErrorForCode(resp.ErrorCode)
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// values are the metrics at one moment: gauges that go up and down, labelled with the topic.
func values(names []string, n int) *metrics.MetricsData {
	var all []*metrics.Metric
	for i, name := range names {
		point := &metrics.NumberDataPoint{
			Value:      &metrics.NumberDataPoint_AsDouble{AsDouble: math.Round(100*(20+float64(i%7)*3+8*math.Sin(float64(n+i)/3))) / 100},
			Attributes: []*common.KeyValue{{Key: "topic", Value: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: "orders"}}}},
		}
		all = append(all, &metrics.Metric{Name: name, Unit: "ms", Data: &metrics.Metric_Gauge{Gauge: &metrics.Gauge{DataPoints: []*metrics.NumberDataPoint{point}}}})
	}
	return &metrics.MetricsData{ResourceMetrics: []*metrics.ResourceMetrics{{ScopeMetrics: []*metrics.ScopeMetrics{{Metrics: all}}}}}
}
